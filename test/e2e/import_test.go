package e2e_test

import (
	"encoding/json"
	"fmt"
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
	for shape, test := range map[string]struct {
		cluster, to string
		pausedGroup string // MachineDeployment that is paused when the cluster is imported
	}{
		"shared-template": {cluster: "shared", to: next}, "one-template": {cluster: "onetemplate", to: next}, "v1beta1": {cluster: "older", to: next},
		"own-class": {cluster: "classy", to: next}, "other-names": {cluster: "names", to: third}, "own-kubeadm": {cluster: "kubeadm", to: next},
		"paused-group": {cluster: "paused", to: next, pausedGroup: "paused-md-0"},
	} {
		cluster, to := test.cluster, test.to
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			namespace := newNamespace(t, shared, "import-"+shape)
			kubectl(t, shared, nil, "apply", "-n", namespace, "-f", filepath.Join("testdata", "existing", shape+".yaml"))
			cli(t, 0, "watch", "cluster", cluster, "-n", namespace)
			before, own := specsOfShape(t, namespace), names(t, shared, namespace, cluster)

			file := filepath.Join(t.TempDir(), "cluster.yaml")
			if test.pausedGroup != "" {
				importPaused(t, namespace, cluster, test.pausedGroup, file)
			} else {
				cli(t, 0, "import", "cluster", cluster, "-n", namespace, "--to", file)
			}
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

// importPaused imports a cluster while a group of it is paused, which the import says. Nothing is
// adopted until the pause is lifted.
func importPaused(t *testing.T, namespace, cluster, group, file string) {
	t.Helper()
	const annotation = "cluster.x-k8s.io/paused"
	kubectl(t, shared, nil, "annotate", "machinedeployment", group, "-n", namespace, annotation+"=true")
	r := cli(t, 0, "import", "cluster", cluster, "-n", namespace, "--to", file)
	if want := "annotation " + annotation + " of MachineDeployment " + group + ": the object stays paused until the annotation is removed\n"; !strings.Contains(r.stderr, want) {
		t.Errorf("stderr is %q, want %q in it", r.stderr, want)
	}
	paused := specsOfShape(t, namespace)
	const takesOver = "Note: MachineDeployment/paused-md-%[1]d has the name of group md-%[1]d, and no label of clusterctl-x: the upgrade takes it over as that group, and a later file without the group removes it.\n"
	refused(t, 3, namespace, file, fmt.Sprintf(takesOver, 0)+fmt.Sprintf(takesOver, 1)+
		"Note: adopts 5 objects, no machine replaced: labels of clusterctl-x, and shared ownership of the fields that the file has.\n"+
		"error: cluster "+namespace+"/"+cluster+" cannot be upgraded in its current state; --skip-preflight NAME skips a check\n"+
		"  paused: MachineDeployment/"+group+" is paused, so Cluster API would do nothing: remove its annotation "+annotation+", or set its spec.paused to false\n")
	assertSpecs(t, paused, specsOfShape(t, namespace))
	kubectl(t, shared, nil, "annotate", "machinedeployment", group, "-n", namespace, annotation+"-")
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
