package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// clusterSpec is a file to be edited.
type clusterSpec struct {
	name, version string
	controlPlanes int // 1 unless set
	groups        []groupSpec
	pods          string // network; one of its own unless set
	class         string // what spec.clusterClass has, such as "name: inmemory"
	ownClass      bool   // the class is none of clusterctl-x: with no datacenterRef
	more          string // further lines of the spec
	documents     string // further documents
}

type groupSpec struct {
	name, version string
	count         int               // 1 unless set
	autoscaled    bool              // with no count then
	labels        map[string]string // at most one
	more          string            // further fields, in one line
}

// path writes the file anew.
func (s clusterSpec) path(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: clusterctl-x.io/v1alpha1\nkind: Cluster\nmetadata: {name: %s}\nspec:\n  kubernetesVersion: %q\n", s.name, s.version)
	if !strings.Contains(s.more, "controlPlaneConfiguration") {
		fmt.Fprintf(&b, "  controlPlaneConfiguration: {count: %d}\n", max(1, s.controlPlanes))
	}
	pods := s.pods
	if pods == "" {
		pods = "192.168.0.0/16"
	}
	fmt.Fprintf(&b, "  clusterNetwork:\n    pods: {cidrBlocks: [%s]}\n    services: {cidrBlocks: [10.96.0.0/12]}\n", pods)
	b.WriteString("  workerNodeGroupConfigurations:\n")
	for _, group := range s.groups {
		fmt.Fprintf(&b, "  - name: %s\n", group.name)
		if group.autoscaled {
			b.WriteString("    autoscalingConfiguration: {minCount: 1, maxCount: 3}\n")
		} else {
			fmt.Fprintf(&b, "    count: %d\n", max(1, group.count))
		}
		if group.version != "" {
			fmt.Fprintf(&b, "    kubernetesVersion: %q\n", group.version)
		}
		for key, value := range group.labels {
			fmt.Fprintf(&b, "    labels: {%s: %s}\n", key, value)
		}
		if group.more != "" {
			fmt.Fprintf(&b, "    %s\n", group.more)
		}
	}
	if s.class != "" {
		fmt.Fprintf(&b, "  clusterClass: {%s}\n", s.class)
	}
	if !s.ownClass && !strings.Contains(s.more, "datacenterRef") {
		b.WriteString("  datacenterRef: {kind: InMemoryDatacenterConfig, name: any}\n")
	}
	b.WriteString(s.more + s.documents)
	path := filepath.Join(t.TempDir(), s.name+".yaml")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// planOf asks for the plan from the cluster as it is to the file.
func planOf(t *testing.T, namespace, file string, args ...string) upgradePlan {
	t.Helper()
	return decodePlan(t, cli(t, 0, append([]string{"plan", "upgrade", "-n", namespace, "-f", file, "-o", "json"}, args...)...).stdout)
}

func decodePlan(t *testing.T, text string) upgradePlan {
	t.Helper()
	var p upgradePlan
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return p
}

// assertPlan compares the steps of a plan, one line each.
func assertPlan(t *testing.T, p upgradePlan, want ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), p.lines()); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

// upgradeAsPlanned asks for the plan, follows it, and looks whether the cluster
// came to what the plan said by no other way. It returns the plan.
func upgradeAsPlanned(t *testing.T, namespace, cluster, file string, args ...string) upgradePlan {
	t.Helper()
	p := planOf(t, namespace, file, args...)
	made, planArgs := observe(t, shared, namespace, cluster), args
	if slices.ContainsFunc(p.lines(), func(line string) bool { return strings.HasPrefix(line, "RemoveWorkers ") }) {
		args = append(slices.Clone(args), "--yes")
	}
	cli(t, 0, append([]string{"upgrade", "cluster", "-n", namespace, "-f", file}, args...)...)
	assertMade(t, made(), p)
	assertPlan(t, planOf(t, namespace, file, planArgs...))
	return p
}

// assertMachines compares the machines of a cluster; a want is "part version".
func assertMachines(t *testing.T, instance, namespace, cluster string, want ...string) {
	t.Helper()
	var all []machine
	for _, text := range want {
		part, v, _ := strings.Cut(text, " ")
		all = append(all, machine{part, "Running", v, v})
	}
	if diff := cmp.Diff(all, machines(t, instance, namespace, cluster)); diff != "" {
		t.Errorf("machines (-want +got):\n%s", diff)
	}
}

// names maps the machines of a cluster to their UIDs.
func names(t *testing.T, instance, namespace, cluster string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, m := range list[clusterv1.Machine](t, instance, namespace, "machines", clusterv1.ClusterNameLabel+"="+cluster) {
		all[m.Name] = string(m.UID)
	}
	return all
}
