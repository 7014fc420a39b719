package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/hack/source"
)

const (
	// certManagerVersion is the one that clusterctl of Cluster API 1.14 installs.
	certManagerVersion = "v1.21.1"
	certManagerModule  = "github.com/cert-manager/cert-manager@" + certManagerVersion
)

// certManagerFiles makes cert-manager.yaml as a release of cert-manager does, from the chart and with
// the arguments that make/manifests.mk of the module has: its namespace, and all that the chart
// gives. The module does not know its version, which the images have as their tag.
func certManagerFiles(ctx context.Context) (fileSet, error) {
	namespace, err := source.ReadModuleFile(ctx, certManagerModule, "deploy/manifests/namespace.yaml")
	if err != nil {
		return nil, err
	}
	dir, err := source.ModuleDir(ctx, certManagerModule)
	if err != nil {
		return nil, err
	}
	rendered, err := source.RenderChart(ctx, "cert-manager", filepath.Join(dir, "deploy", "charts", "cert-manager"),
		"--namespace", "cert-manager", "--kube-version", "1.29.0",
		"--set", "creator=static", "--set", "startupapicheck.enabled=false", "--set", "crds.enabled=true")
	if err != nil {
		return nil, err
	}
	rendered, err = withVersion(rendered, certManagerVersion)
	if err != nil {
		return nil, err
	}
	return fileSet{"cert-manager/" + certManagerVersion + "/cert-manager.yaml": []byte(string(namespace) + "\n" + rendered)}, nil
}

// unversioned is what the chart in a module has for the version of its release.
const unversioned = "v0.0.0"

// withVersion puts the version where a packaged chart has it: in labels and the tags of images.
func withVersion(rendered, version string) (string, error) {
	if !strings.Contains(rendered, ":"+unversioned) {
		return "", errors.New("the chart has no image of " + unversioned + "; it has a version of its own now")
	}
	rendered = strings.ReplaceAll(rendered, unversioned, version)
	for _, image := range regexp.MustCompile(`(?m)^ *image: *"?([^"\n]*)"?$`).FindAllStringSubmatch(rendered, -1) {
		if !strings.HasSuffix(image[1], ":"+version) {
			return "", fmt.Errorf("image %q is not one of the release %s", image[1], version)
		}
	}
	return rendered, nil
}
