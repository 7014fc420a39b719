package e2e_test

import (
	"maps"
	"regexp"
	"slices"
	"testing"
)

// TestUpgradeWaitsForALostMachine: a group that loses its machine while the control plane
// rolls has another one that is ready before the next step of the control plane begins.
func TestUpgradeWaitsForALostMachine(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "mended")
	spec := clusterSpec{name: "mended", version: "1.32", groups: []groupSpec{{name: "md-0"}}}
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t))
	spec.version = "1.34"
	file := spec.path(t)
	assertPlan(t, planOf(t, namespace, file), "ControlPlane v1.32.13->v1.33.13", "ControlPlane v1.33.13->v1.34.4", "Workers md-0 v1.32.13->v1.34.4")
	made := observe(t, shared, namespace, "mended")
	old := namesOf(t, namespace, "mended", controlPlane)
	hold(t, namespace, old)
	run := begin(t, "upgrade", "cluster", "-n", namespace, "-f", file)
	run.until(t, "step 1 of 3: "+step1+"\n")
	for _, lost := range slices.Sorted(maps.Keys(namesOf(t, namespace, "mended", "md-0"))) {
		kubectl(t, shared, nil, "delete", "machine", lost, "-n", namespace)
	}
	run.until(t, "md-0 v1.32.13: 0 of 1 machines ready\n")
	release(t, namespace, old)
	r := run.end(t)
	want := regexp.MustCompile(`(?s)  step 2 of 3 waits at most 10m0s until md-0 is healthy: Cluster API creates no worker machines while the control plane rolls\n` +
		`.*  md-0 v1\.32\.13: 1 of 1 machines ready\n.*  step 2 of 3: ` + step2 + `\n`)
	if r.code != 0 || !want.MatchString(r.stderr) {
		t.Errorf("exit code %d, and it said %s, want %s", r.code, r.stderr, want)
	}
	assertMachines(t, shared, namespace, "mended", "control-plane v1.34.4", "md-0 v1.34.4")
	if got := made(); got["md-0"] != 2 || got[controlPlane] != 2 {
		t.Errorf("machines made: %v, want 2 of each part", got)
	}
}
