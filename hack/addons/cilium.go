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
	ciliumVersion   = "v1.20.2"
	ciliumModule    = "github.com/cilium/cilium@" + ciliumVersion
	ciliumChart     = "install/kubernetes/cilium"
	ciliumCopyright = "Copyright Authors of Cilium"
	ciliumConfig    = "cilium-config"

	// ciliumKubeVersion is what the chart is rendered for. For 1.30 to 1.32 it
	// would leave out hostUsers, which API servers of these versions drop
	// themselves; otherwise 1.30 to 1.36 make no difference.
	ciliumKubeVersion = "v1.34.0"
)

// ciliumValues are the defaults of EKS Anywhere. Without Hubble the chart makes
// no certificates, so that the same values always give the same text.
func ciliumValues() []string {
	return []string{
		"ipam.mode=kubernetes",
		"routingMode=tunnel",
		"tunnelProtocol=geneve",
		"cni.chainingMode=portmap",
		"hubble.enabled=false",
		"envoy.enabled=false",
		"operator.replicas=1",
	}
}

// generateCilium makes one file of the ConfigMap that the program changes and
// one of everything else.
func generateCilium(ctx context.Context) (fileSet, error) {
	dir, err := source.ModuleDir(ctx, ciliumModule)
	if err != nil {
		return nil, err
	}
	rendered, err := renderChart(ctx, filepath.Join(dir, filepath.FromSlash(ciliumChart)))
	if err != nil {
		return nil, err
	}
	config, rest, err := splitCilium(rendered)
	if err != nil {
		return nil, err
	}
	comment := header(ciliumModule+" "+ciliumChart, ciliumCopyright,
		"rendered with helm for Kubernetes "+ciliumKubeVersion+" with "+strings.Join(ciliumValues(), ", ")+
			"; the ConfigMap "+ciliumConfig+" has a file of its own.")
	return fileSet{
		"cilium-config.yaml": joinDocuments(comment, config),
		"cilium.yaml":        joinDocuments(comment, rest...),
	}, nil
}

func renderChart(ctx context.Context, chart string) (string, error) {
	args := []string{"cilium", chart, "--namespace", "kube-system", "--kube-version", ciliumKubeVersion}
	for _, value := range ciliumValues() {
		args = append(args, "--set", value)
	}
	return source.RenderChart(ctx, args...)
}

// splitCilium finds the one ConfigMap that the program changes, and refuses
// what must not reach a cluster from here.
func splitCilium(rendered string) (config document, rest []document, err error) {
	if err := checkImages(rendered); err != nil {
		return document{}, nil, err
	}
	documents, err := splitDocuments(rendered)
	if err != nil {
		return document{}, nil, err
	}
	for _, d := range documents {
		switch {
		case d.Kind == "Secret":
			return document{}, nil, fmt.Errorf("%s: keys must not be the same in all clusters", d.id())
		case d.Kind == "ConfigMap" && d.Name == ciliumConfig:
			config = d
		default:
			rest = append(rest, d)
		}
	}
	if config.Text == "" {
		return document{}, nil, fmt.Errorf("the chart has no ConfigMap %s", ciliumConfig)
	}
	return config, rest, nil
}

// checkImages insists on images of the release: the chart of a branch has
// those of its last build.
func checkImages(rendered string) error {
	images := regexp.MustCompile(`(?m)^ *(?:- )?image: *"?([^"\n]*)"?$`).FindAllStringSubmatch(rendered, -1)
	if len(images) == 0 {
		return errors.New("the chart has no image")
	}
	for _, image := range images {
		name, _, _ := strings.Cut(image[1], "@")
		if !strings.HasPrefix(name, "quay.io/cilium/") || !strings.HasSuffix(name, ":"+ciliumVersion) {
			return fmt.Errorf("image %q is not one of the release %s", image[1], ciliumVersion)
		}
	}
	return nil
}
