//go:build real

package real_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/test/observer"
)

// TestUpgradeWithAPinnedGroup upgrades a control plane machine and a group by one minor, while
// another group stays where it is, and a workload watches.
func TestUpgradeWithAPinnedGroup(t *testing.T) {
	t.Parallel()
	c := cluster{name: "one", version: "1.34", groups: []group{{name: "moves"}, {name: "stays", version: "1.34"}}}
	api := c.create(t)
	assertFacts(t, c, api)
	w := startWorkload(t, c, api, "stays")

	c.version = "1.35"
	upgradeAsPlanned(t, c)
	assertFacts(t, c, api)
	lost := w.finish(t)
	// There is no other machine that could answer for the only one of the control plane.
	lost.assertServed(t)

	c.delete(t)
}

// assertFacts compares what a cluster is with what its spec says.
func assertFacts(t *testing.T, c cluster, api kubernetesClient) {
	t.Helper()
	eventually(t, func() string { return cmp.Diff(c.want(t), c.look(t, api)) })
}

// upgradePlan is as much of a plan as tests look at.
type upgradePlan struct {
	Steps []struct {
		MachinesReplaced, MachinesAdded int
		WorkerNodeGroups                []struct {
			Name                            string
			MachinesReplaced, MachinesAdded int
		}
	}
}

// machines counts those that the plan makes, by part.
func (p upgradePlan) machines() map[string]int {
	counts := map[string]int{}
	for _, step := range p.Steps {
		counts[observer.ControlPlane] += step.MachinesReplaced + step.MachinesAdded
		for _, g := range step.WorkerNodeGroups {
			counts[g.Name] += g.MachinesReplaced + g.MachinesAdded
		}
	}
	maps.DeleteFunc(counts, func(_ string, count int) bool { return count == 0 })
	return counts
}

func planOf(t *testing.T, file string) (p upgradePlan) {
	t.Helper()
	text := cli(t, 0, "plan", "upgrade", "-f", file, "-o", "json").stdout
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return p
}

// upgradeAsPlanned upgrades a cluster and compares the machines that were made with the plan.
func upgradeAsPlanned(t *testing.T, c cluster) {
	t.Helper()
	file := c.file(t)
	p, made := planOf(t, file), observe(t, c)
	cli(t, 0, "upgrade", "cluster", "-f", file)
	if diff := cmp.Diff(p.machines(), made()); diff != "" {
		t.Errorf("machines created (-plan +seen):\n%s", diff)
	}
	if left := planOf(t, file); len(left.Steps) > 0 {
		t.Errorf("a plan of what has just been upgraded: %+v", left)
	}
}

// observe looks at a cluster until the returned function is called, which fails the test for
// everything that was wrong, and returns the machines that were created, by part.
func observe(t *testing.T, c cluster) (finish func() map[string]int) {
	t.Helper()
	o, err := observer.Start(t.Context(), managementClient(t), client.ObjectKey{Namespace: "default", Name: c.name})
	if err != nil {
		t.Fatal(err)
	}
	return func() map[string]int {
		t.Helper()
		seen, err := o.Stop(t.Context())
		if err != nil {
			t.Error(err)
		}
		for _, wrong := range seen.Wrong {
			t.Error(wrong)
		}
		return seen.Created
	}
}

// managementKubeconfig is the path of the kubeconfig of the management cluster.
func managementKubeconfig() string {
	return filepath.Join(suite.home, "embedded", "default", "kubeconfig")
}
