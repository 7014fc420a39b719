package e2e_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// kindsOfOthers are the kinds that the clusters of testdata/existing are of.
const kindsOfOthers = "clusters,kubeadmcontrolplanes,machinedeployments,machinepools,machinehealthchecks,clusterclasses,devclusters,devmachinetemplates,devclustertemplates,devmachinepools,kubeadmconfigtemplates,kubeadmcontrolplanetemplates"

// objects are the objects of a cluster as people wrote them, by Kind/name: without status and
// what API servers and Cluster API count. The random end of names in a topology is left out.
func (c *existingCluster) objects(t *testing.T) map[string]map[string]any {
	t.Helper()
	kinds := kindsOfOthers
	if c.older {
		kinds += ",clusters.v1beta1.cluster.x-k8s.io,machinedeployments.v1beta1.cluster.x-k8s.io,kubeadmcontrolplanes.v1beta1.controlplane.cluster.x-k8s.io"
	}
	all := map[string]map[string]any{}
	for _, o := range list[unstructured.Unstructured](t, shared, c.namespace, kinds) {
		name := o.GetKind() + "/" + o.GetName()
		_, owned := o.GetLabels()[clusterv1.ClusterTopologyOwnedLabel]
		if end := strings.LastIndex(name, "-"); owned && end > 0 {
			name = name[:end] + "-*"
		}
		if _, version, _ := strings.Cut(o.GetAPIVersion(), "/"); version == "v1beta1" {
			name = "v1beta1 " + name
		}
		delete(o.Object, "status")
		for _, counted := range []string{"managedFields", "resourceVersion", "generation"} {
			unstructured.RemoveNestedField(o.Object, "metadata", counted)
		}
		for _, counted := range []string{"machinedeployment.clusters.x-k8s.io/revision", "cluster.x-k8s.io/conversion-data", clusterv1.ClusterTopologyUpgradeStepAnnotation} {
			unstructured.RemoveNestedField(o.Object, "metadata", "annotations", counted)
		}
		all[name] = o.Object
	}
	return all
}

// changesOf are the differences of objects, sorted, one line for each field.
func changesOf(before, after map[string]map[string]any) []string {
	lines := []string{}
	for name := range before {
		if after[name] == nil {
			lines = append(lines, name+" was deleted")
		}
	}
	for name, object := range after {
		if before[name] == nil {
			lines = append(lines, name+" was created")
			continue
		}
		lines = append(lines, changesWithin(name+" ", before[name], object)...)
	}
	slices.Sort(lines)
	return lines
}

// changesWithin are the differences of the fields of two maps.
func changesWithin(path string, before, after map[string]any) []string {
	var lines []string
	both := maps.Clone(before)
	maps.Copy(both, after)
	for field := range both {
		was, isMap := before[field].(map[string]any)
		is, isStill := after[field].(map[string]any)
		switch {
		case isMap && isStill:
			lines = append(lines, changesWithin(path+field+".", was, is)...)
		case !reflect.DeepEqual(before[field], after[field]):
			lines = append(lines, fmt.Sprintf("%s%s: %v -> %v", path, field, before[field], after[field]))
		}
	}
	return lines
}

// withImages has the upgrade make the machines of one of two groups that share a template from
// something else at 1.36. The template belongs to a tool that keeps it.
func withImages(t *testing.T, c *existingCluster) {
	kubectl(t, shared, nil, "label", "devmachinetemplate", "shared-worker", "-n", c.namespace, "kustomize.toolkit.fluxcd.io/name=apps")
	kubectl(t, shared, nil, "annotate", "devmachinetemplate", "shared-worker", "-n", c.namespace, "example.com/contact=apps")
	c.flags = append(c.flags, "--images", textFile(t, "images.yaml", []byte(`apiVersion: clusterctl-x.io/v1alpha1
kind: MachineImages
images:
- kubernetesVersion: "1.36"
  parts: [a]
  spec: {backend: {inMemory: {vm: {provisioning: {startupDuration: 1s}}}}}
`)))
}

// assertClone compares the template that images made of another one: it has the content and
// the marks of this cluster, and of the other object nothing.
func assertClone(t *testing.T, c *existingCluster) {
	clone := c.objects(t)["DevMachineTemplate/shared-a-81327abb0e"]
	type fields = map[string]any
	metadata, _ := clone["metadata"].(fields)
	owners, _ := metadata["ownerReferences"].([]any)
	got := fields{"spec": clone["spec"], "labels": metadata["labels"], "annotations": metadata["annotations"], "owners": len(owners)}
	want := fields{
		"spec":        fields{"template": fields{"spec": fields{"backend": fields{"inMemory": fields{"vm": fields{"provisioning": fields{"startupDuration": "1s"}}}}}}},
		"labels":      fields{"cluster.x-k8s.io/cluster-name": "shared", "clusterctl-x.io/cluster": "shared"},
		"annotations": nil,
		"owners":      1, // the Cluster, by Cluster API
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("template (-want +got):\n%s", diff)
	}
}

// pauseGroup has the owner of a group pause it: an upgrade that would move it is refused.
func pauseGroup(t *testing.T, c *existingCluster) {
	kubectl(t, shared, nil, "annotate", "machinedeployment", "paused-md-0", "-n", c.namespace, "cluster.x-k8s.io/paused=true")
	r := cli(t, 3, "upgrade", "cluster", c.cluster, "-n", c.namespace, "--kubernetes-version", "1.36")
	if want := "paused: MachineDeployment/paused-md-0 is paused, so Cluster API would do nothing: remove its annotation cluster.x-k8s.io/paused"; !strings.Contains(r.stderr, want) {
		t.Errorf("stderr is %q, want %q in it", r.stderr, want)
	}
}

// groupOfTopology: Cluster API upgrades the groups of a topology with it, so that a version
// for one of them is refused.
func groupOfTopology(t *testing.T, c *existingCluster) {
	r := cli(t, 3, c.command("plan", "upgrade", "--worker-node-group", "first=1.34")...)
	if want := "error: --worker-node-group first: the group is part of the topology of cluster classy, and Cluster API upgrades it with the rest; "; !strings.Contains(r.stderr, want) {
		t.Errorf("stderr is %q, want %q in it", r.stderr, want)
	}
}

// pinByFile: what is refused without a file is done by an imported one. The group leaves the
// topology with its machines, and from then on has its version without a file too.
func pinByFile(t *testing.T, c *existingCluster) {
	const group = "second"
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	cli(t, 0, "import", "cluster", c.cluster, "-n", c.namespace, "--to", file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pinned := strings.Replace(string(text), "- name: "+group+"\n", "- name: "+group+"\n    kubernetesVersion: v1.36.3\n", 1)
	if err := os.WriteFile(file, []byte(pinned), 0o600); err != nil {
		t.Fatal(err)
	}
	// The labels of clusterctl-x go in place.
	assertPlan(t, upgradeAsPlanned(t, c.namespace, c.cluster, file), "Detach "+group+" v1.36.3->v1.36.3", "InPlace "+group+" ->", "InPlace", "InPlace first ->")
	assertMachines(t, shared, c.namespace, c.cluster, c.machines...)
	c.flags = append(c.flags, "--worker-node-group", group+"=1.36")
	assertPlan(t, c.plan(t))
}
