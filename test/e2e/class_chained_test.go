package e2e_test

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestClassVersionsExtended: the versions of a class get another one in the
// middle of an upgrade. Cluster API thinks again, and goes through it.
func TestClassVersionsExtended(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "class-extended")
	applyTo(t, namespace, edited(t, ownClass(t), kubernetesVersions("v1.32.13", "v1.33.13", "v1.34.3", "v1.35.4")))
	spec := clusterSpec{name: "chained", version: "1.32", class: "name: own, variables: {region: us-east-1}", ownClass: true, groups: []groupSpec{{name: "md-0"}}}
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t))
	spec.version = "1.35"
	file := spec.path(t)
	assertPlan(t, planOf(t, namespace, file), "ControlPlane v1.32.13->v1.33.13", "ControlPlane v1.33.13->v1.34.3", "ControlPlane v1.34.3->v1.35.4", "Workers md-0 v1.32.13->v1.35.4")

	made := observe(t, shared, namespace, "chained")
	old := namesOf(t, namespace, "chained", controlPlane)
	hold(t, namespace, old)
	upgrade := begin(t, "upgrade", "cluster", "-n", namespace, "-f", file)
	upgrade.until(t, "control-plane v1.33.13: 0 of 1 machines updated")
	watch := begin(t, "watch", "cluster", "chained", "-n", namespace)
	watch.until(t, "steps left: ")
	applyTo(t, namespace, edited(t, ownClass(t), kubernetesVersions("v1.32.13", "v1.33.13", "v1.34.3", "v1.34.4", "v1.35.4")))
	release(t, namespace, old)

	const said = "warning: Cluster API deviates from the plan: control-plane is at v1.34.4, and the plan has "
	if r := upgrade.end(t); r.code != 0 || !strings.HasPrefix(r.stdout, "cluster class-extended/chained is at v1.35.4 after ") || strings.Count(r.stderr, said) != 1 {
		t.Errorf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if r := watch.end(t); r.code != 0 || strings.Count(r.stderr, said) != 1 {
		t.Errorf("watch: exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if diff := cmp.Diff(map[string]int{controlPlane: 3, "md-0": 1}, made()); diff != "" {
		t.Errorf("machines created (-want +seen):\n%s", diff)
	}
	assertMachines(t, shared, namespace, "chained", "control-plane v1.35.4", "md-0 v1.35.4")
	assertPlan(t, planOf(t, namespace, file))
}

// TestClassDeferAndHold are the annotations hold-upgrade-sequence and
// defer-upgrade.
func TestClassDeferAndHold(t *testing.T) {
	t.Parallel()
	namespace := applyClass(t, "class-waits")
	spec := clusterSpec{name: "waits", version: "1.34", class: "name: inmemory", groups: []groupSpec{{name: "md-0"}, {name: "md-1"}}}
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t))
	t.Run("hold-upgrade-sequence", func(t *testing.T) { heldSequence(t, namespace, &spec) })
	t.Run("defer-upgrade", func(t *testing.T) { deferredUpgrade(t, namespace, &spec) })
}

// heldSequence: no group gets a new version, the first for its own sake and the
// other because it comes after it.
func heldSequence(t *testing.T, namespace string, spec *clusterSpec) {
	workers := namesOf(t, namespace, "waits", "md-0", "md-1")
	spec.version, spec.groups[0].more = "1.35", "holdUpgradeSequence: true"
	file := spec.path(t)
	p := planOf(t, namespace, file)
	assertPlan(t, p, "InPlace", "ControlPlane v1.34.4->v1.35.4", "Workers md-0 v1.34.4->v1.35.4 md-1 v1.34.4->v1.35.4")
	made := observe(t, shared, namespace, "waits")
	upgrade := begin(t, "upgrade", "cluster", "-n", namespace, "-f", file)
	const step = "md-0 from v1.34.4 to v1.35.4, md-1 from v1.34.4 to v1.35.4"
	upgrade.until(t, ": "+step+"\n")
	upgrade.signal(t, syscall.SIGINT)
	assertGoesOn(t, upgrade.end(t).stderr, "error: interrupted", step)
	const first = "md-0 stays at v1.34.4, with its count and labels, and holds up the upgrade to v1.35.4, until holdUpgradeSequence is removed"
	const second = "md-1 stays at v1.34.4, with its count and labels, and holds up the upgrade to v1.35.4, until holdUpgradeSequence of md-0 is removed"
	assertFrozen(t, namespace, first, second)
	spec.version = "1.36"
	refused(t, 3, namespace, spec.path(t), "waits.yaml:5: spec.kubernetesVersion: Invalid value: \"1.36\": cluster waits is still being upgraded to v1.35.4 (md-0 at v1.34.4, md-1 at v1.34.4), and Cluster API accepts no other version until that is done: "+
		"use v1.35.4 first; "+first+"; "+second+"\n")
	spec.version = "1.35"
	assertSame(t, workers, namesOf(t, namespace, "waits", "md-0", "md-1"))

	spec.groups[0].more = ""
	file = spec.path(t)
	assertPlan(t, planOf(t, namespace, file), "InPlace", "Workers md-0 v1.34.4->v1.35.4 md-1 v1.34.4->v1.35.4")
	cli(t, 0, "upgrade", "cluster", "-n", namespace, "-f", file)
	assertMade(t, made(), p)
	assertFrozen(t, namespace)
	assertMachines(t, shared, namespace, "waits", "control-plane v1.35.4", "md-0 v1.35.4", "md-1 v1.35.4")
}

// deferredUpgrade: the other group goes on, and what is asked of the one that
// waits comes with its new version.
func deferredUpgrade(t *testing.T, namespace string, spec *clusterSpec) {
	spec.version, spec.groups[0].more = "1.36", "deferUpgrade: true"
	file := spec.path(t)
	p := planOf(t, namespace, file)
	assertPlan(t, p, "InPlace", "ControlPlane v1.35.4->v1.36.3", "Workers md-0 v1.35.4->v1.36.3 md-1 v1.35.4->v1.36.3")
	made := observe(t, shared, namespace, "waits")
	upgrade := begin(t, "upgrade", "cluster", "-n", namespace, "-f", file)
	upgrade.until(t, "md-1 v1.36.3: 1 of 1 machines ready\n")
	r := cli(t, 5, "watch", "cluster", "waits", "-n", namespace, "--timeout", "20s")
	const frozen = "md-0 stays at v1.35.4, with its count and labels, and holds up the upgrade to v1.36.3, until deferUpgrade is removed"
	if want := "error: timed out watching; cluster class-waits/waits waits for deferUpgrade for md-0 to be removed\n"; !strings.HasSuffix(r.stderr, want) {
		t.Errorf("watch said %q, want the end %q", r.stderr, want)
	}
	assertFrozen(t, namespace, frozen)
	assertMachines(t, shared, namespace, "waits", "control-plane v1.36.3", "md-0 v1.35.4", "md-1 v1.36.3")
	upgrade.signal(t, syscall.SIGINT)
	upgrade.end(t)
	class := textFile(t, "class.yaml", withKubeletArgument(t, classText(t, namespace)))
	planned := []string{"waits: Template md-1 v1.36.3->v1.36.3; Workers md-0 v1.35.4->v1.36.3", "0 and 2 machines"}
	if diff := cmp.Diff(planned, planOfClass(t, namespace, class).lines()); diff != "" {
		t.Errorf("plan of another class (-want +got):\n%s", diff)
	}

	spec.version = "1.36.1"
	refused(t, 3, namespace, spec.path(t), "waits.yaml:5: spec.kubernetesVersion: Invalid value: \"v1.36.1\": the control plane runs v1.36.3 and cannot be downgraded; use v1.36.3 or newer\n")
	spec.version, spec.groups[0].more, spec.groups[0].count = "1.36", "", 2
	file = spec.path(t)
	rest := planOf(t, namespace, file)
	assertPlan(t, rest, "InPlace", "Workers md-0 v1.35.4->v1.36.3")
	if diff := cmp.Diff(map[string]int{"md-0": 2}, rest.machines()); diff != "" {
		t.Errorf("machines that are left to make (-want +got):\n%s", diff)
	}
	cli(t, 0, "upgrade", "cluster", "-n", namespace, "-f", file)
	want := p.machines()
	want["md-0"]++ // which it was scaled by
	if diff := cmp.Diff(want, made()); diff != "" {
		t.Errorf("machines created (-want +seen):\n%s", diff)
	}
	assertMachines(t, shared, namespace, "waits", "control-plane v1.36.3", "md-0 v1.36.3", "md-0 v1.36.3", "md-1 v1.36.3")
}

// assertFrozen compares what 'describe' says of groups that wait.
func assertFrozen(t *testing.T, namespace string, want ...string) {
	t.Helper()
	var described struct{ Data struct{ Frozen []string } }
	if err := json.Unmarshal([]byte(cli(t, 0, "describe", "cluster", "waits", "-n", namespace, "-o", "json").stdout), &described); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, described.Data.Frozen); diff != "" {
		t.Errorf("what waits (-want +got):\n%s", diff)
	}
}
