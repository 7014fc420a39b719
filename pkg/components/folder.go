package components

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/config"
	"sigs.k8s.io/yaml"
)

const layout = "it holds LABEL/VERSION/*-components.yaml with metadata.yaml, such as cluster-api/" + TestedVersion + "/core-components.yaml, and cert-manager/VERSION/cert-manager.yaml"

// reader is clusterctl's configuration for a folder of components.
type reader struct {
	*config.MemoryReader
	getenv func(string) string
}

// Get returns a variable of a template: one of the configuration, else of the environment.
func (r reader) Get(key string) (string, error) {
	if value, err := r.MemoryReader.Get(key); err == nil {
		return value, nil
	}
	if value := r.getenv(key); value != "" {
		return value, nil
	}
	return "", fmt.Errorf("variable %s is not set", key)
}

// readFolder returns the configuration with the components of a folder, and their names.
func readFolder(dir string, getenv func(string) string) (config.Reader, map[string]bool, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("finding the folder of components %s: %w", dir, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the folder of components: %w; %s", err, layout)
	}
	r, found := reader{config.NewMemoryReader(), getenv}, map[string]bool{}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		label := entry.Name()
		file, err := newest(filepath.Join(dir, label))
		if err != nil {
			return nil, nil, err
		}
		found[label] = true
		if label == certManager {
			if err := r.setCertManager(file); err != nil {
				return nil, nil, err
			}
			continue
		}
		name, kind, err := parseLabel(label)
		if err != nil {
			return nil, nil, fmt.Errorf("folder of components %s: %w", dir, err)
		}
		if _, err := r.AddProvider(name, kind, filepath.ToSlash(file)); err != nil {
			return nil, nil, fmt.Errorf("folder of components %s: %w", filepath.Join(dir, label), err)
		}
	}
	for _, label := range []string{config.ClusterAPIProviderName, certManager} {
		if !found[label] {
			return nil, nil, fmt.Errorf("folder of components %s has no folder %s; %s", dir, label, layout)
		}
	}
	return r, found, nil
}

// setCertManager sets where cert-manager comes from. The version is that of the folder.
func (r reader) setCertManager(file string) error {
	value, err := yaml.Marshal(map[string]string{"url": filepath.ToSlash(file), "version": filepath.Base(filepath.Dir(file))})
	if err != nil {
		return err
	}
	r.Set(config.CertManagerConfigKey, string(value))
	return nil
}

// newest returns the file with the components in the folder of the newest version.
func newest(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("reading the folder of components: %w", err)
	}
	versions := map[string]*version.Version{}
	for _, entry := range entries {
		if v, err := version.ParseSemantic(entry.Name()); err == nil && entry.IsDir() {
			versions[entry.Name()] = v
		}
	}
	if len(versions) == 0 {
		return "", fmt.Errorf("%s has no folder that is named as a version, such as %s; %s", dir, TestedVersion, layout)
	}
	var names []string
	for name := range versions {
		names = append(names, name)
	}
	last := slices.MaxFunc(names, func(a, b string) int {
		if versions[a].LessThan(versions[b]) {
			return -1
		}
		return 1
	})
	return componentsFile(filepath.Join(dir, last))
}

// componentsFile returns the only file of a folder that can be the components.
func componentsFile(dir string) (string, error) {
	var files []string
	for _, pattern := range []string{"*components*.yaml", certManager + ".yaml"} {
		matches, err := fs.Glob(os.DirFS(dir), pattern)
		if err != nil {
			return "", err
		}
		files = append(files, matches...)
	}
	if len(files) != 1 {
		return "", fmt.Errorf("%s must have one file of components, and has %d; %s", dir, len(files), layout)
	}
	return filepath.Join(dir, files[0]), nil
}

// parseLabel returns the name and the type of the provider that clusterctl gives a label.
func parseLabel(label string) (string, clusterctlv1.ProviderType, error) {
	if label == config.ClusterAPIProviderName {
		return label, clusterctlv1.CoreProviderType, nil
	}
	for _, kind := range []clusterctlv1.ProviderType{
		clusterctlv1.BootstrapProviderType, clusterctlv1.ControlPlaneProviderType, clusterctlv1.InfrastructureProviderType,
		clusterctlv1.IPAMProviderType, clusterctlv1.RuntimeExtensionProviderType, clusterctlv1.AddonProviderType,
	} {
		if name, ok := strings.CutPrefix(label, clusterctlv1.ManifestLabel("", kind)); ok && name != "" {
			return name, kind, nil
		}
	}
	return "", "", errors.New("no provider is labelled " + label + ": use cluster-api, cert-manager, or the type of the provider and its name, such as infrastructure-NAME")
}
