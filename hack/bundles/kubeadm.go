package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	dir, err := moduleDir(ctx, kubernetesModule+"@"+version.String())
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

// moduleDir has the go command fetch a module and says where it is.
//
// It runs in an empty directory, so that the go.mod of this repository can
// neither replace the module nor be changed.
func moduleDir(ctx context.Context, module string) (dir string, err error) {
	work, err := os.MkdirTemp("", "bundles-")
	if err != nil {
		return "", fmt.Errorf("create a working directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()

	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "PWD="+work)
	output, runErr := cmd.Output()
	return parseDownload(module, output, runErr)
}

// parseDownload reads what `go mod download -json` printed. That command also
// prints JSON when it fails, and then says there what went wrong.
func parseDownload(module string, output []byte, runErr error) (string, error) {
	var result struct{ Dir, Error string }
	if err := json.Unmarshal(output, &result); err != nil {
		return "", fmt.Errorf("download %s: %w", module, errors.Join(runErr, err))
	}
	if result.Error != "" {
		return "", fmt.Errorf("download %s: %s", module, result.Error)
	}
	if runErr != nil {
		return "", fmt.Errorf("download %s: %w", module, runErr)
	}
	return result.Dir, nil
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
