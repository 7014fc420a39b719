package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/clusterctl-x/clusterctl-x/hack/source"
)

const (
	kubernetesModule = "k8s.io/kubernetes"
	constantsFile    = "cmd/kubeadm/app/constants/constants.go"
	defaultsFiles    = "cmd/kubeadm/app/apis/kubeadm/v1beta*/defaults.go"
)

// kubeadmFacts is what the kubeadm of one release says about images.
type kubeadmFacts struct {
	ImageRepository string
	Constants       kubeadmConstants
}

// readKubeadm reads the facts from the sources of the release itself: patch
// releases change the etcd and CoreDNS versions, so a neighbour will not do.
func readKubeadm(ctx context.Context, version releaseVersion) (kubeadmFacts, error) {
	dir, err := source.ModuleDir(ctx, kubernetesModule+"@"+version.String())
	if err != nil {
		return kubeadmFacts{}, err
	}
	repository, err := readImageRepository(dir)
	if err != nil {
		return kubeadmFacts{}, err
	}
	path := filepath.Join(dir, constantsFile)
	src, err := os.ReadFile(path)
	if err != nil {
		return kubeadmFacts{}, fmt.Errorf("read kubeadm's constants: %w", err)
	}
	constants, err := parseConstants(path, src, version.Minor)
	if err != nil {
		return kubeadmFacts{}, err
	}
	return kubeadmFacts{ImageRepository: repository, Constants: constants}, nil
}

// readImageRepository reads DefaultImageRepository. Every version of kubeadm's
// API declares one; they must agree, or there is no one answer.
func readImageRepository(dir string) (string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, defaultsFiles))
	if err != nil {
		return "", fmt.Errorf("find kubeadm's defaults: %w", err)
	}
	repository := ""
	for _, path := range paths {
		src, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("read kubeadm's defaults: %w", err)
		}
		found, err := parseImageRepository(path, src)
		if err != nil {
			return "", err
		}
		if repository != "" && found != repository {
			return "", fmt.Errorf("%s: image repository is %q, elsewhere %q", path, found, repository)
		}
		repository = found
	}
	if repository == "" {
		return "", fmt.Errorf("%s has no %s", dir, defaultsFiles)
	}
	return repository, nil
}
