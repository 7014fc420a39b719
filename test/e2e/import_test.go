package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestImport: clusters that kubectl made, in shapes that clusterctl-x would write otherwise, are
// imported, adopted without a new machine, and upgraded by the file. Of their objects nothing but
// the version changes.
func TestImport(t *testing.T) {
	t.Parallel()
	const from, next, third = "v1.33.13", "v1.34.4", "v1.36.3"
	for shape, test := range map[string]struct{ cluster, to string }{
		"shared-template": {"shared", next}, "one-template": {"onetemplate", next}, "v1beta1": {"older", next}, "own-class": {"classy", next},
		"other-names": {"names", third}, "own-kubeadm": {"kubeadm", next},
	} {
		cluster, to := test.cluster, test.to
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			namespace := newNamespace(t, shared, "import-"+shape)
			kubectl(t, shared, nil, "apply", "-n", namespace, "-f", filepath.Join("testdata", "existing", shape+".yaml"))
			cli(t, 0, "watch", "cluster", cluster, "-n", namespace)
			before, own := specsOfShape(t, namespace), names(t, shared, namespace, cluster)

			file := filepath.Join(t.TempDir(), "cluster.yaml")
			cli(t, 0, "import", "cluster", cluster, "-n", namespace, "--to", file)
			upgradeAsPlanned(t, namespace, cluster, file)
			assertSame(t, own, names(t, shared, namespace, cluster))
			assertSpecs(t, before, specsOfShape(t, namespace))

			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(text), from, to)), 0o600); err != nil {
				t.Fatal(err)
			}
			made, p := observe(t, shared, namespace, cluster), planOf(t, namespace, file)
			cli(t, 0, "upgrade", "cluster", "-n", namespace, "-f", file, "--force-conflicts") // kubectl owns the version
			assertMade(t, made(), p)
			assertPlan(t, planOf(t, namespace, file))
			assertSpecs(t, strings.ReplaceAll(before, from, to), specsOfShape(t, namespace))
		})
	}
}

// specsOfShape are those of the objects that describe the clusters of a namespace, by Kind/name,
// without the label of a group and what Cluster API counts in a topology.
func specsOfShape(t *testing.T, namespace string) string {
	t.Helper()
	var list struct {
		Items []struct {
			Kind     string
			Metadata struct{ Name string }
			Spec     map[string]any
		}
	}
	objects := kubectl(t, shared, nil, "get", "clusters,devclusters,kubeadmcontrolplanes,machinedeployments,machinehealthchecks,devmachinetemplates,kubeadmconfigtemplates", "-n", namespace, "-o", "json")
	if err := json.Unmarshal([]byte(objects), &list); err != nil {
		t.Fatal(err)
	}
	all := map[string]any{}
	for _, object := range list.Items {
		withoutGroupLabel(object.Spec)
		all[object.Kind+"/"+object.Metadata.Name] = object.Spec
	}
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// withoutGroupLabel removes the label of clusterctl-x from everything in a spec, and mappings
// that have nothing else.
func withoutGroupLabel(of any) {
	switch of := of.(type) {
	case map[string]any:
		for name, value := range of {
			withoutGroupLabel(value)
			below, is := value.(map[string]any)
			if name == "clusterctl-x.io/worker-node-group" || is && len(below) == 0 {
				delete(of, name)
			}
		}
	case []any:
		for _, item := range of {
			withoutGroupLabel(item)
		}
	}
}

func assertSpecs(t *testing.T, want, got string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}
