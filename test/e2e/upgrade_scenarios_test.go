package e2e_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/wait"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/test/observer"
)

// TestModularUpgrades are the stories of "Kubernetes Version Modular Upgrades"
// and "Independent Worker Topology Versions", one after the other on one cluster.
func TestModularUpgrades(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "modular")
	spec := clusterSpec{name: "modular", version: "1.33", groups: []groupSpec{{name: "md-0"}, {name: "md-1", version: "1.33"}}}
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t))

	t.Run("story 1: the control plane without worker node groups", func(t *testing.T) {
		spec.version = "1.34"
		before := namesOf(t, namespace, "modular", "md-0", "md-1")
		assertPlan(t, upgradeAsPlanned(t, namespace, "modular", spec.path(t), "--control-plane-only"), "ControlPlane v1.33.13->v1.34.4")
		assertMachines(t, shared, namespace, "modular", "control-plane v1.34.4", "md-0 v1.33.13", "md-1 v1.33.13")
		assertSame(t, before, namesOf(t, namespace, "modular", "md-0", "md-1"))
	})
	t.Run("story 4: one group without the others", func(t *testing.T) {
		before := namesOf(t, namespace, "modular", controlPlane, "md-1")
		assertPlan(t, upgradeAsPlanned(t, namespace, "modular", spec.path(t), "--worker-node-groups", "md-0"), "Workers md-0 v1.33.13->v1.34.4")
		assertMachines(t, shared, namespace, "modular", "control-plane v1.34.4", "md-0 v1.34.4", "md-1 v1.33.13")
		assertSame(t, before, namesOf(t, namespace, "modular", controlPlane, "md-1"))
	})
	t.Run("both cluster version and independent worker version at once", func(t *testing.T) {
		spec.version, spec.groups[1].version = "1.35", "1.34"
		assertPlan(t, upgradeAsPlanned(t, namespace, "modular", spec.path(t)),
			"ControlPlane v1.34.4->v1.35.4", "Workers md-0 v1.34.4->v1.35.4 md-1 v1.33.13->v1.34.4")
		assertMachines(t, shared, namespace, "modular", "control-plane v1.35.4", "md-0 v1.35.4", "md-1 v1.34.4")
	})
	t.Run("stories 2 and 5: a pinned group when its time has come", func(t *testing.T) {
		spec.groups[1].version = "1.35"
		before := namesOf(t, namespace, "modular", controlPlane, "md-0")
		assertPlan(t, upgradeAsPlanned(t, namespace, "modular", spec.path(t)), "Workers md-1 v1.34.4->v1.35.4")
		assertMachines(t, shared, namespace, "modular", "control-plane v1.35.4", "md-0 v1.35.4", "md-1 v1.35.4")
		assertSame(t, before, namesOf(t, namespace, "modular", controlPlane, "md-0"))
	})
	t.Run("pin taken away and added where versions are equal", func(t *testing.T) {
		before := names(t, shared, namespace, "modular")
		for _, pin := range []string{"", "1.35"} {
			spec.groups[1].version = pin
			file := spec.path(t)
			assertPlan(t, planOf(t, namespace, file))
			if got, want := cli(t, 0, "upgrade", "cluster", "-n", namespace, "-f", file).stdout, "cluster modular/modular matches the file; nothing to do\n"; got != want {
				t.Errorf("upgrade said %q, want %q", got, want)
			}
		}
		assertSame(t, before, names(t, shared, namespace, "modular"))
	})
	t.Run("group renamed", func(t *testing.T) {
		spec.groups[1].name = "md-2"
		before := namesOf(t, namespace, "modular", controlPlane, "md-0")
		all := names(t, shared, namespace, "modular")
		r := cli(t, 3, "upgrade", "cluster", "-n", namespace, "-f", spec.path(t), "--quiet")
		if want := "error: the upgrade of cluster modular/modular removes worker node group md-1 (machines: 1); confirm it with --yes\n"; r.stderr != want {
			t.Errorf("without --yes it said %q, want %q", r.stderr, want)
		}
		assertSame(t, all, names(t, shared, namespace, "modular"))
		assertPlan(t, upgradeAsPlanned(t, namespace, "modular", spec.path(t)), "CreateWorkers md-2 ->v1.35.4", "RemoveWorkers md-1 v1.35.4->")
		assertMachines(t, shared, namespace, "modular", "control-plane v1.35.4", "md-0 v1.35.4", "md-2 v1.35.4")
		assertSame(t, before, namesOf(t, namespace, "modular", controlPlane, "md-0"))
		assertNoUnusedTemplates(t, namespace)
	})
}

// namesOf are the machines of some parts of a cluster with their UIDs.
func namesOf(t *testing.T, namespace, cluster string, parts ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, m := range list[clusterv1.Machine](t, shared, namespace, "machines", clusterv1.ClusterNameLabel+"="+cluster) {
		if slices.Contains(parts, observer.PartOf(m)) {
			all[m.Name] = string(m.UID)
		}
	}
	return all
}

func assertSame(t *testing.T, before, after map[string]string) {
	t.Helper()
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("machines that were to stay (-before +after):\n%s", diff)
	}
}

// TestUpgradeAroundAPinnedGroup goes through patches of one minor, and then
// upgrades the cluster while a pinned group is scaled.
func TestUpgradeAroundAPinnedGroup(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "around")
	spec := clusterSpec{name: "around", version: "1.34.1", groups: []groupSpec{{name: "md-0"}, {name: "pinned", version: "1.33.6"}}}
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t))

	t.Run("patch of the cluster", func(t *testing.T) {
		spec.version = "1.34.3"
		assertPlan(t, upgradeAsPlanned(t, namespace, "around", spec.path(t)), "ControlPlane v1.34.1->v1.34.3", "Workers md-0 v1.34.1->v1.34.3")
		assertMachines(t, shared, namespace, "around", "control-plane v1.34.3", "md-0 v1.34.3", "pinned v1.33.6")
	})
	t.Run("a minor is any patch of it that runs", func(t *testing.T) {
		spec.version, spec.groups[1].version = "1.34", "1.33"
		assertPlan(t, planOf(t, namespace, spec.path(t)))
	})
	t.Run("latest patches", func(t *testing.T) {
		assertPlan(t, upgradeAsPlanned(t, namespace, "around", spec.path(t), "--latest-patches"),
			"ControlPlane v1.34.3->v1.34.4", "Workers md-0 v1.34.3->v1.34.4 pinned v1.33.6->v1.33.13")
		assertMachines(t, shared, namespace, "around", "control-plane v1.34.4", "md-0 v1.34.4", "pinned v1.33.13")
	})
	t.Run("the cluster upgraded while a pinned group is scaled", func(t *testing.T) {
		spec.version, spec.groups[1].count = "1.35", 2
		before := namesOf(t, namespace, "around", "pinned")
		p := upgradeAsPlanned(t, namespace, "around", spec.path(t))
		assertPlan(t, p, "InPlace pinned ->", "ControlPlane v1.34.4->v1.35.4", "Workers md-0 v1.34.4->v1.35.4")
		assertMachines(t, shared, namespace, "around", "control-plane v1.35.4", "md-0 v1.35.4", "pinned v1.33.13", "pinned v1.33.13")
		after := namesOf(t, namespace, "around", "pinned")
		maps.DeleteFunc(after, func(name, _ string) bool { return before[name] == "" })
		assertSame(t, before, after)
	})
}

// TestBisDoneBeforeA: while group a rolls, group b is scaled, its label changed,
// and one of its machines deleted and replaced.
func TestBisDoneBeforeA(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "b-before-a")
	const label = "node-restriction.kubernetes.io/tenant"
	spec := clusterSpec{
		name: "ab", version: "1.34", groups: []groupSpec{{name: "a", version: "1.33", count: 3}, {name: "b", labels: map[string]string{label: "old"}}},
		more:      "  datacenterRef: {kind: InMemoryDatacenterConfig, name: slow}\n",
		documents: "---\napiVersion: clusterctl-x.io/v1alpha1\nkind: InMemoryDatacenterConfig\nmetadata: {name: slow}\nspec: {nodeStartup: 10s}\n",
	}
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t))
	first := slices.Collect(maps.Keys(namesOf(t, namespace, "ab", "b")))

	spec.groups = []groupSpec{{name: "a", count: 3}, {name: "b", count: 2, labels: map[string]string{label: "new"}}}
	file := spec.path(t)
	p := planOf(t, namespace, file)
	assertPlan(t, p, "InPlace b ->", "Workers a v1.33.13->v1.34.4")
	made := observe(t, shared, namespace, "ab")
	upgrade := begin(t, "upgrade", "cluster", "-n", namespace, "-f", file)
	upgrade.until(t, "a v1.34.4: 1 of 3 machines updated")
	watch := begin(t, "watch", "cluster", "ab", "-n", namespace)
	kubectl(t, shared, nil, "delete", "machine", "-n", namespace, first[0], "--wait=false")

	// b is as it is to be, without the machine that was deleted, before a is.
	until(t, "b is done", func(context.Context) bool {
		left := map[string]int{}
		for _, m := range list[clusterv1.Machine](t, shared, namespace, "machines") {
			done := m.Status.Phase == "Running" && m.Status.NodeInfo != nil && m.Spec.Version == "v1.34.4" && m.DeletionTimestamp.IsZero()
			switch {
			case observer.PartOf(m) == "a" && !done, observer.PartOf(m) == "b" && (!done || m.Labels[label] != "new" || m.Name == first[0]):
				left[observer.PartOf(m)]++
			case observer.PartOf(m) == "b":
				left["b is ready"]++
			}
		}
		if left["a"] == 0 {
			t.Fatal("a was done before b")
		}
		return left["b"] == 0 && left["b is ready"] == 2
	})
	if r := upgrade.end(t); r.code != 0 || !strings.HasPrefix(r.stdout, "cluster b-before-a/ab is at v1.34.4 after ") {
		t.Errorf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if r := watch.end(t); r.code != 0 || !strings.HasPrefix(r.stdout, "cluster b-before-a/ab is at v1.34.4 and matches its spec, after ") {
		t.Errorf("watch: exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	want := p.machines()
	want["b"]++ // in the place of the one that was deleted
	if diff := cmp.Diff(want, made()); diff != "" {
		t.Errorf("machines created (-want +got):\n%s", diff)
	}
	assertMachines(t, shared, namespace, "ab", "a v1.34.4", "a v1.34.4", "a v1.34.4", "b v1.34.4", "b v1.34.4", "control-plane v1.34.4")
}

// until asks until the answer is yes.
func until(t *testing.T, what string, is func(ctx context.Context) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), observer.Rate, longest, true, func(ctx context.Context) (bool, error) { return is(ctx), nil })
	if err != nil {
		t.Fatalf("waiting until %s: %v", what, err)
	}
}
