package components

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/config"
)

// TestReadFolder: what is in a folder, and what is wrong with it.
func TestReadFolder(t *testing.T) {
	t.Parallel()
	const core, manager = "cluster-api/v1.14.0/core-components.yaml", "cert-manager/v1.21.1/cert-manager.yaml"
	tests := map[string]struct {
		files     []string
		providers map[string]string // URLs, by name
		err       string
	}{
		"two providers, the newest versions": {
			[]string{core, "cluster-api/v1.9.0/core-components.yaml", manager, "infrastructure-docker/v1.14.0/infrastructure-components-development.yaml", "README.md"},
			map[string]string{"cluster-api": "DIR/" + core, "docker": "DIR/infrastructure-docker/v1.14.0/infrastructure-components-development.yaml"}, "",
		},
		"no cert-manager":  {[]string{core}, nil, "folder of components DIR has no folder cert-manager; " + layout},
		"no core":          {[]string{manager}, nil, "folder of components DIR has no folder cluster-api; " + layout},
		"no version":       {[]string{core, manager, "bootstrap-kubeadm/latest/bootstrap-components.yaml"}, nil, "DIR/bootstrap-kubeadm has no folder that is named as a version, such as v1.14.0; " + layout},
		"no components":    {[]string{core, "cert-manager/v1.21.1/README.md"}, nil, "DIR/cert-manager/v1.21.1 must have one file of components, and has 0; " + layout},
		"two files":        {[]string{core, manager, "cluster-api/v1.14.0/components.yaml"}, nil, "DIR/cluster-api/v1.14.0 must have one file of components, and has 2; " + layout},
		"an unknown label": {[]string{core, manager, "docker/v1.14.0/components.yaml"}, nil, "folder of components DIR: no provider is labelled docker: use cluster-api, cert-manager, or the type of the provider and its name, such as infrastructure-NAME"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, file := range test.files {
				path := filepath.Join(dir, file)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			read, _, err := readFolder(dir, os.Getenv)
			text := ""
			if err != nil {
				text = strings.ReplaceAll(err.Error(), dir, "DIR")
			}
			if diff := cmp.Diff(test.err, text); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if err == nil {
				assertProviders(t, read, dir, test.providers)
			}
		})
	}
}

// assertProviders compares the providers of a configuration that are in a folder.
func assertProviders(t *testing.T, read config.Reader, dir string, want map[string]string) {
	t.Helper()
	configuration, err := config.New(t.Context(), "", config.InjectReader(read))
	if err != nil {
		t.Fatal(err)
	}
	all, err := configuration.Providers().List()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, one := range all {
		if file, in := strings.CutPrefix(one.URL(), dir); in {
			got[one.Name()] = "DIR" + file
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("providers (-want +got):\n%s", diff)
	}
	manager, err := configuration.CertManager().Get()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(manager.Version(), " ", strings.ReplaceAll(manager.URL(), dir, "DIR")), "v1.21.1 DIR/cert-manager/v1.21.1/cert-manager.yaml"; got != want {
		t.Errorf("cert-manager: %s, want %s", got, want)
	}
}

// TestVariables: a variable of a template comes from the environment.
func TestVariables(t *testing.T) {
	t.Parallel()
	r := reader{config.NewMemoryReader(), func(name string) string { return map[string]string{"TOKEN": "secret"}[name] }}
	r.Set("OF_CONFIGURATION", "yes")
	for name, want := range map[string]string{"TOKEN": "secret", "OF_CONFIGURATION": "yes", "NONE": "variable NONE is not set"} {
		got, err := r.Get(name)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
