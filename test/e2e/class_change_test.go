package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// withKubeletArgument gives the workers of a class another bootstrap template,
// which tells their kubelets something more.
func withKubeletArgument(t *testing.T, text []byte) []byte {
	t.Helper()
	var all []byte
	for _, document := range documents(t, text) {
		var err error
		switch document.GetKind() {
		case "KubeadmConfigTemplate":
			document.SetName("more-verbose")
			err = unstructured.SetNestedSlice(document.Object, []any{map[string]any{"name": "v", "value": "3"}}, "spec", "template", "spec", "joinConfiguration", "nodeRegistration", "kubeletExtraArgs")
		case "ClusterClass":
			workers, _, _ := unstructured.NestedSlice(document.Object, "spec", "workers", "machineDeployments")
			for _, class := range workers {
				err = unstructured.SetNestedField(class.(map[string]any), "more-verbose", "bootstrap", "templateRef", "name")
			}
			if err == nil {
				err = unstructured.SetNestedSlice(document.Object, workers, "spec", "workers", "machineDeployments")
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := yaml.Marshal(document.Object)
		if err != nil {
			t.Fatal(err)
		}
		all = append(append(all, "---\n"...), data...)
	}
	return all
}

// classPlan is as much of a plan for a class as tests look at.
type classPlan struct {
	Clusters []struct {
		upgradePlan
		Metadata struct{ Name string }
		Notes    []string
	}
	MachinesReplaced struct{ ControlPlane, Workers int }
}

// lines are the clusters with their steps, one line each, and the machines.
func (p classPlan) lines() []string {
	var lines []string
	for _, cluster := range p.Clusters {
		lines = append(lines, cluster.Metadata.Name+": "+strings.Join(cluster.lines(), "; "))
	}
	return append(lines, fmt.Sprintf("%d and %d machines", p.MachinesReplaced.ControlPlane, p.MachinesReplaced.Workers))
}

func planOfClass(t *testing.T, namespace, file string) classPlan {
	t.Helper()
	var p classPlan
	if err := json.Unmarshal([]byte(cli(t, 0, "plan", "clusterclass", "-n", namespace, "-f", file, "-o", "json").stdout), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestClassChange is story 4: a change of a class replaces the machines of its
// clusters that the plan has, and no others.
func TestClassChange(t *testing.T) {
	t.Parallel()
	namespace := applyClass(t, "class-change")
	specs := []clusterSpec{
		{name: "alone"}, // with no workers
		{name: "one", groups: []groupSpec{{name: "md-0"}}},
		{name: "two", groups: []groupSpec{{name: "md-0"}, {name: "md-1"}}},
	}
	for i := range specs {
		specs[i].version, specs[i].class = "1.34", "name: inmemory"
		cli(t, 0, "create", "cluster", "-n", namespace, "-f", specs[i].path(t), "--wait=false")
	}
	for _, spec := range specs {
		cli(t, 0, "watch", "cluster", spec.name, "-n", namespace)
	}
	class := withKubeletArgument(t, classText(t, namespace))
	file := textFile(t, "class.yaml", class)
	p := planOfClass(t, namespace, file)
	const rolls = "v1.34.4->v1.34.4"
	want := []string{"alone: ", "one: Template md-0 " + rolls, "two: Template md-0 " + rolls + " md-1 " + rolls, "0 and 3 machines"}
	if diff := cmp.Diff(want, p.lines()); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	const said = "ClusterClass class-change/inmemory: 3 clusters, 1 of them unchanged; at most 0 control plane machines and 3 worker machines replaced.\n"
	if got := cli(t, 0, "plan", "clusterclass", "-n", namespace, "-f", file).stdout; !strings.HasSuffix(got, said) {
		t.Errorf("plan clusterclass said %q, want the end %q", got, said)
	}

	made := map[string]func() map[string]int{}
	for _, spec := range specs {
		made[spec.name] = observe(t, shared, namespace, spec.name)
	}
	applyTo(t, namespace, class)
	// Cluster API comes to each cluster in its time, and what it has not come to
	// looks done.
	kubectl(t, shared, nil, "wait", "machinedeployment", "-n", namespace, "--all", "--for=jsonpath={.metadata.generation}=2", "--timeout=50s")
	for i, spec := range specs {
		cli(t, 0, "watch", "cluster", spec.name, "-n", namespace)
		assertMade(t, made[spec.name](), p.Clusters[i].upgradePlan)
		assertPlan(t, planOf(t, namespace, spec.path(t)))
	}
	if diff := cmp.Diff([]string{"alone: ", "one: ", "two: ", "0 and 0 machines"}, planOfClass(t, namespace, file).lines()); diff != "" {
		t.Errorf("plan afterwards (-want +got):\n%s", diff)
	}
	if arguments := strings.Count(kubectl(t, shared, nil, "get", "kubeadmconfigs", "-n", namespace, "-o", "jsonpath={.items[*].spec.joinConfiguration.nodeRegistration.kubeletExtraArgs}"), `"name":"v"`); arguments != 3 {
		t.Errorf("%d machines have the argument, want 3", arguments)
	}
}
