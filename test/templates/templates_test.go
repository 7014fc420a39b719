// Package templates_test imports the templates of Cluster API's providers for AWS, GCP and tests,
// as 'import -f' does, renders the specs again, and compares.
package templates_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/importer"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/conversion"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestImport: what the spec of an imported template renders are the objects of the template,
// but for what the notes name, and the labels and defaults that compare_test.go lists. The golden
// files have the notes of each template, or why it is refused.
func TestImport(t *testing.T) {
	t.Parallel()
	bundles, err := versionsbundle.Parse("bundles", config.Bundles)
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]struct{ goMod, module string }{
		"aws":  {"test/providerwebhooks", "sigs.k8s.io/cluster-api-provider-aws/v2"},
		"gcp":  {"test/providerwebhooks", "sigs.k8s.io/cluster-api-provider-gcp"},
		"test": {"cmd/clusterctl-x-embedded", "sigs.k8s.io/cluster-api/test"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var outcomes strings.Builder
			for _, template := range templatesBelow(t, moduleDir(t, of.goMod, of.module)) {
				text := filled(t, template.text)
				imported, lines := importTemplate(t, text, bundles)
				fmt.Fprintf(&outcomes, "%s\n", template.path)
				for _, line := range lines {
					fmt.Fprintf(&outcomes, "  %s\n", line)
				}
				if imported == nil {
					continue
				}
				if diff := differences(content(t, given(t, text)), content(t, rendered(t, imported, bundles)), lines); len(diff) > 0 {
					t.Errorf("%s: what is rendered differs, and no note says it:\n%s", template.path, strings.Join(diff, "\n"))
				}
			}
			golden(t, name, outcomes.String())
		})
	}
}

// importTemplate returns the specs of a template, and the lines of the golden file; no specs where it
// is refused.
func importTemplate(t *testing.T, text string, bundles *versionsbundle.Bundles) ([]importer.Imported, []string) {
	t.Helper()
	imported, notes, err := lifecycle.ImportManifests(t.Context(), []lifecycle.Manifest{{Name: "template", Data: []byte(text)}}, providers.BuiltIn(), bundles)
	if refused, wrong := (*management.RefusedError)(nil), (*lifecycle.ManifestError)(nil); errors.As(err, &refused) || errors.As(err, &wrong) {
		return nil, []string{"refused: " + strings.ReplaceAll(err.Error(), "\n", "; ")}
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range imported {
		notes = append(notes, of.Notes...)
	}
	return imported, append([]string{"imported"}, notes...)
}

// given are the objects of a template, those of Cluster API in its current version.
func given(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := importer.Parse("template", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if objects, err = conversion.Current(t.Context(), objects); err != nil {
		t.Fatal(err)
	}
	return objects
}

// rendered are the objects that 'generate manifests' writes of specs.
func rendered(t *testing.T, imported []importer.Imported, bundles *versionsbundle.Bundles) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for _, of := range imported {
		objects, err := lifecycle.ReadSpec("spec", of.YAML, providers.BuiltIn(), bundles).Manifests("")
		if err != nil {
			t.Fatalf("rendering the imported cluster %s: %v\n%s", of.Name, err, of.YAML)
		}
		for _, object := range objects {
			decoded, err := object.Unstructured()
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, decoded)
		}
	}
	return all
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s, which -update writes anew (-want +got):\n%s", file, diff)
	}
}
