package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/test/observer"
)

// deviates is how a program reports that Cluster API does not follow the plan.
const deviates = "deviates from the plan"

// TestClassUpgradeAcrossFourMinors takes a control plane and two groups of a class from
// 1.31 to 1.35 with one edit.
func TestClassUpgradeAcrossFourMinors(t *testing.T) {
	t.Parallel()
	namespace := applyClass(t, "class-four-minors")
	spec := clusterSpec{
		name: "four", version: "1.31", class: "name: inmemory", groups: []groupSpec{{name: "md-0"}, {name: "md-1"}},
		more: "  upgradePolicy: {maxConcurrentWorkerGroups: 2}\n", // takes half a minute less
	}
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t))

	spec.version = "1.35"
	file := spec.path(t)
	p := planOf(t, namespace, file)
	assertPlan(t, p,
		"ControlPlane v1.31.14->v1.32.13",
		"ControlPlane v1.32.13->v1.33.13",
		"ControlPlane v1.33.13->v1.34.4",
		"Workers md-0 v1.31.14->v1.34.4 md-1 v1.31.14->v1.34.4",
		"ControlPlane v1.34.4->v1.35.4",
		"Workers md-0 v1.34.4->v1.35.4 md-1 v1.34.4->v1.35.4",
	)
	made := observe(t, shared, namespace, "four")
	upgrade := begin(t, "upgrade", "cluster", "-n", namespace, "-f", file)
	upgrade.until(t, "step 1 of 6: the control plane from v1.31.14 to v1.32.13\n")
	watch := begin(t, "watch", "cluster", "four", "-n", namespace)
	if r := upgrade.end(t); r.code != 0 || !strings.HasPrefix(r.stdout, "cluster class-four-minors/four is at v1.35.4 after ") || strings.Contains(r.stderr, deviates) {
		t.Errorf("upgrade: exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	assertMade(t, made(), p)
	if r := watch.end(t); r.code != 0 || !strings.HasPrefix(r.stdout, "cluster class-four-minors/four is at v1.35.4 and matches its spec, after ") || strings.Contains(r.stderr, deviates) {
		t.Errorf("watch: exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	assertMachines(t, shared, namespace, "four", "control-plane v1.35.4", "md-0 v1.35.4", "md-1 v1.35.4")
	assertPlan(t, planOf(t, namespace, file))
	if got, want := cli(t, 0, "upgrade", "cluster", "-n", namespace, "-f", file).stdout, "cluster class-four-minors/four matches the file; nothing to do\n"; got != want {
		t.Errorf("upgrade again said %q, want %q", got, want)
	}
}

// TestClassWithoutVersions: a class that does not say what versions there are has
// Cluster API take one minor at a time, and clusterctl-x begins each.
func TestClassWithoutVersions(t *testing.T) {
	t.Parallel()
	namespace := applyClass(t, "class-no-versions", kubernetesVersions())
	spec := clusterSpec{name: "minors", version: "1.33", class: "name: inmemory", groups: []groupSpec{{name: "md-0"}}}
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t))
	spec.version = "1.35"
	assertPlan(t, upgradeAsPlanned(t, namespace, "minors", spec.path(t)),
		"ControlPlane v1.33.13->v1.34.4", "Workers md-0 v1.33.13->v1.34.4", "ControlPlane v1.34.4->v1.35.4", "Workers md-0 v1.34.4->v1.35.4")
	assertMachines(t, shared, namespace, "minors", "control-plane v1.35.4", "md-0 v1.35.4")
}

// TestClassUpgradeWithOneMinorOfLag: a policy that is stricter than that of
// Kubernetes holds for clusters from a class too.
func TestClassUpgradeWithOneMinorOfLag(t *testing.T) {
	t.Parallel()
	namespace := applyClass(t, "class-lag")
	spec := clusterSpec{
		name: "lag", version: "1.32", class: "name: inmemory", groups: []groupSpec{{name: "md-0"}},
		more: "  upgradePolicy: {maxWorkerVersionSkew: 1}\n",
	}
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t))
	spec.version = "1.34"
	file := spec.path(t)
	p := planOf(t, namespace, file)
	assertPlan(t, p, "ControlPlane v1.32.13->v1.33.13", "Workers md-0 v1.32.13->v1.33.13", "ControlPlane v1.33.13->v1.34.4", "Workers md-0 v1.33.13->v1.34.4")
	seen := observeAll(t, shared, namespace, "lag")
	cli(t, 0, "upgrade", "cluster", "-n", namespace, "-f", file)
	report := seen()
	assertMade(t, report.Created, p)
	if report.Lag != 1 {
		t.Errorf("a worker was %d minors behind, want 1", report.Lag)
	}
	assertPlan(t, planOf(t, namespace, file))
}

// TestClassUpgradeOfTwoGroupsAtOnce is Cluster API's upgrade-concurrency, in an
// upgrade by a patch.
func TestClassUpgradeOfTwoGroupsAtOnce(t *testing.T) {
	t.Parallel()
	namespace := applyClass(t, "class-concurrency")
	spec := clusterSpec{
		name: "both", version: "1.34.1", class: "name: inmemory, variables: {nodeStartup: 5s}", groups: []groupSpec{{name: "md-0"}, {name: "md-1"}},
		more: "  upgradePolicy: {maxConcurrentWorkerGroups: 2}\n",
	}
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t))
	if got := kubectl(t, shared, nil, "get", "cluster", "both", "-n", namespace, "-o", `jsonpath={.metadata.annotations.topology\.cluster\.x-k8s\.io/upgrade-concurrency}`); got != "2" {
		t.Errorf("upgrade-concurrency is %q, want 2", got)
	}
	spec.version = "1.34.4"
	file := spec.path(t)
	p := planOf(t, namespace, file)
	assertPlan(t, p, "ControlPlane v1.34.1->v1.34.4", "Workers md-0 v1.34.1->v1.34.4 md-1 v1.34.1->v1.34.4")
	made := observe(t, shared, namespace, "both")
	upgrade := begin(t, "upgrade", "cluster", "-n", namespace, "-f", file)
	until(t, "a machine of each group comes up", func(context.Context) bool {
		if upgrade.hasEnded() {
			t.Fatal("the groups had their turns one after the other")
		}
		coming := map[string]bool{}
		for _, m := range list[clusterv1.Machine](t, shared, namespace, "machines") {
			if m.Spec.Version == "v1.34.4" && m.Status.NodeInfo == nil {
				coming[observer.PartOf(m)] = true
			}
		}
		return coming["md-0"] && coming["md-1"]
	})
	if r := upgrade.end(t); r.code != 0 || strings.Contains(r.stderr, deviates) {
		t.Errorf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	assertMade(t, made(), p)
	assertMachines(t, shared, namespace, "both", "control-plane v1.34.4", "md-0 v1.34.4", "md-1 v1.34.4")
}

// TestClassUpgradeStoppedAndResumed stops an upgrade of a cluster from a class in
// every way: Cluster API goes on, and the same command waits for it. Another
// version is not taken meanwhile.
func TestClassUpgradeStoppedAndResumed(t *testing.T) {
	t.Parallel()
	namespace := applyClass(t, "class-stopped")
	spec := clusterSpec{name: "stopped", version: "1.33", class: "name: inmemory", groups: []groupSpec{{name: "md-0"}}}
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t))
	spec.version = "1.35"
	file := spec.path(t)
	upgrade := []string{"upgrade", "cluster", "-n", namespace, "-f", file}
	p := planOf(t, namespace, file)
	assertPlan(t, p, "ControlPlane v1.33.13->v1.34.4", "ControlPlane v1.34.4->v1.35.4", "Workers md-0 v1.33.13->v1.35.4")
	assertOnlyClusterCounts(t, namespace, file)
	const first, second, third = "the control plane from v1.33.13 to v1.34.4", "the control plane from v1.34.4 to v1.35.4", "md-0 from v1.33.13 to v1.35.4"
	made := observe(t, shared, namespace, "stopped")
	old, worker := namesOf(t, namespace, "stopped", controlPlane), namesOf(t, namespace, "stopped", "md-0")
	hold(t, namespace, old)
	hold(t, namespace, worker)

	t.Run("timeout", func(t *testing.T) {
		assertGoesOn(t, cli(t, 5, append(upgrade, "--timeout", "40s")...).stderr, `error: timed out waiting for control-plane: [^;]*(; .*)?`, first, second, third)
	})
	t.Run("another version", func(t *testing.T) {
		retargeted(t, namespace, spec, old)
	})
	release(t, namespace, old)
	t.Run("interrupt", func(t *testing.T) {
		run := begin(t, upgrade...)
		run.until(t, ": "+second+"\n")
		run.signal(t, syscall.SIGINT)
		r := run.end(t)
		if r.code != 130 || r.stdout != "" {
			t.Errorf("exit code %d, want 130: %s%s", r.code, r.stdout, r.stderr)
		}
		assertGoesOn(t, r.stderr, "error: interrupted", second, third)
	})
	t.Run("two at once", func(t *testing.T) {
		run := begin(t, upgrade...)
		run.until(t, ": "+third+"\n")
		held := holder(t, namespace, "stopped")
		r := cli(t, 4, upgrade...)
		want := regexp.MustCompile(`\nerror: ` + regexp.QuoteMeta(held) + ` works on cluster class-stopped/stopped, at least until \d\d:\d\d:\d\d; wait until it is done, or take over its lock with --take-over\n$`)
		if held == "" || !want.MatchString(r.stderr) {
			t.Errorf("stderr is %q, want %s", r.stderr, want)
		}
		release(t, namespace, worker)
		if r := run.end(t); r.code != 0 || !strings.HasPrefix(r.stdout, "cluster class-stopped/stopped is at v1.35.4 after ") || strings.Contains(r.stderr, deviates) {
			t.Errorf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
		}
	})
	assertMade(t, made(), p)
	assertMachines(t, shared, namespace, "stopped", "control-plane v1.35.4", "md-0 v1.35.4")
	assertPlan(t, planOf(t, namespace, file))
}

// assertOnlyClusterCounts: Cluster API changes the parts by itself while it goes
// on, which must not stop the run that comes back to it.
func assertOnlyClusterCounts(t *testing.T, namespace, file string) {
	t.Helper()
	var p struct {
		Metadata struct{ Generations map[string]int64 }
	}
	if err := json.Unmarshal([]byte(cli(t, 0, "plan", "upgrade", "-n", namespace, "-f", file, "-o", "json").stdout), &p); err != nil {
		t.Fatal(err)
	}
	if of := p.Metadata.Generations; len(of) != 1 || of["Cluster/stopped"] == 0 {
		t.Errorf("the plan is made for the generations %v, want that of the Cluster alone", of)
	}
}

// retargeted asks for another version while the old control plane machine is held.
func retargeted(t *testing.T, namespace string, spec clusterSpec, old map[string]string) {
	for name := range old {
		kubectl(t, shared, nil, "wait", "machine/"+name, "-n", namespace, `--for=jsonpath={.status.conditions[?(@.type=="Deleting")].reason}=WaitingForPreDrainHook`, "--timeout=60s")
	}
	before := everything(t, namespace)
	const on = "cluster stopped is still being upgraded to v1.35.4 (control-plane at v1.33.13, md-0 at v1.33.13), and Cluster API accepts no other version until that is done: " +
		"use v1.35.4 first; 'clusterctl-x watch cluster stopped -n class-stopped' waits for it\n"
	for _, version := range []string{"1.36", "1.34"} {
		spec.version = version
		refused(t, 3, namespace, spec.path(t), fmt.Sprintf("stopped.yaml:5: spec.kubernetesVersion: Invalid value: %q: ", version)+on)
	}
	if diff := cmp.Diff(before, everything(t, namespace)); diff != "" {
		t.Errorf("objects (-before +after):\n%s", diff)
	}
}
