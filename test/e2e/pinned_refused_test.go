package e2e_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPins are what a pin makes possible and what it forbids, on a cluster that is
// created with groups of their own versions: "Admission Control and Validation",
// "Chained Upgrades" and "Failed Upgrade Recovery" of "Independent Worker Topology
// Versions".
func TestPins(t *testing.T) {
	t.Parallel()
	namespace := applyClass(t, "pins-refused")
	class := objectsIn(t, namespace)
	spec := clusterSpec{name: "refused", version: "1.33", class: "name: inmemory", groups: []groupSpec{{name: "md-0"}, {name: "old", version: "1.31"}, {name: "new", version: "1.32"}}}
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t))
	assertMachines(t, shared, namespace, "refused", "control-plane v1.33.13", "md-0 v1.33.13", "new v1.32.13", "old v1.31.14")
	assertPlan(t, planOf(t, namespace, spec.path(t)))

	t.Run("Admission Control and Validation", func(t *testing.T) { refusedPins(t, namespace, spec) })
	t.Run("Chained Upgrades", func(t *testing.T) {
		spec.version, spec.groups[1].version, spec.groups[2].version = "1.36", "1.34", "1.33"
		p := upgradeAsPlanned(t, namespace, "refused", spec.path(t))
		assertPlan(t, p,
			"ControlPlane v1.33.13->v1.34.4",
			"Workers md-0 v1.33.13->v1.34.4", // Cluster API takes all parts to where it has to halt
			"Workers old v1.31.14->v1.34.4 new v1.32.13->v1.33.13",
			"ControlPlane v1.34.4->v1.35.4", "ControlPlane v1.35.4->v1.36.3", "Workers md-0 v1.34.4->v1.36.3",
		)
	})
	t.Run("Failed Upgrade Recovery", func(t *testing.T) { stoppedPin(t, namespace, spec) })
	t.Run("cluster with pinned groups is deleted", func(t *testing.T) {
		cli(t, 0, "delete", "cluster", "refused", "-n", namespace)
		if left := strings.Join(objectsIn(t, namespace), " "); left != strings.Join(class, " ") {
			t.Errorf("left are %s, want %s", left, class)
		}
	})
}

// refusedPins are files that the cluster, with a control plane at 1.33 and pins at
// 1.31 and 1.32, cannot be taken to.
func refusedPins(t *testing.T, namespace string, spec clusterSpec) {
	for name, test := range map[string]struct {
		version, old, newer string
		code                int
		want                string
	}{
		"newer than the control plane": {
			"1.33", "1.31", "1.34", 2,
			"refused.yaml:18: spec.workerNodeGroupConfigurations[2].kubernetesVersion: Invalid value: \"1.34\": group new must not be newer than the control plane (v1.33.13); use 1.30 to v1.33.13, or change spec.kubernetesVersion\n",
		},
		"down": {
			"1.33", "1.31", "1.31", 3,
			"refused.yaml:18: spec.workerNodeGroupConfigurations[2].kubernetesVersion: Invalid value: \"1.31\": group new runs v1.32.13 and cannot be downgraded; use v1.32.13 or newer\n",
		},
		"version that the class does not have": {
			"1.33", "1.31.2", "1.32", 3, "refused.yaml:15: spec.workerNodeGroupConfigurations[1].kubernetesVersion: Invalid value: \"v1.31.2\": ClusterClass inmemory does not have this version; ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			wanted := spec
			wanted.groups = []groupSpec{spec.groups[0], spec.groups[1], spec.groups[2]}
			wanted.version, wanted.groups[1].version, wanted.groups[2].version = test.version, test.old, test.newer
			for _, verb := range []string{"plan upgrade", "upgrade cluster"} {
				r := cli(t, test.code, append(strings.Fields(verb), "-n", namespace, "-f", wanted.path(t))...)
				if _, said, _ := strings.Cut(r.stderr, "refused.yaml"); !strings.HasPrefix("refused.yaml"+said, test.want) {
					t.Errorf("%s said %q, want %q", verb, r.stderr, test.want)
				}
			}
		})
	}
}

// stoppedPin: a rollout of a pinned group that was stopped is under way until it
// has come to its end, and the same command goes on with it.
func stoppedPin(t *testing.T, namespace string, spec clusterSpec) {
	old := namesOf(t, namespace, "refused", "old")
	hold(t, namespace, old)
	spec.groups[1].version = "1.35"
	file := spec.path(t)
	made := observe(t, shared, namespace, "refused")
	upgrade := begin(t, "upgrade", "cluster", "-n", namespace, "-f", file)
	upgrade.until(t, "old v1.35.4: 1 of 1 machines updated, 1 serving, 1 old machine still to be removed")
	upgrade.signal(t, syscall.SIGINT)
	assertGoesOn(t, upgrade.end(t).stderr, "error: interrupted", "old from v1.34.4 to v1.35.4")
	assertPlan(t, planOf(t, namespace, file), "Workers old v1.34.4->v1.35.4")
	release(t, namespace, old)
	cli(t, 0, "upgrade", "cluster", "-n", namespace, "-f", file)
	if diff := cmp.Diff(map[string]int{"old": 1}, made()); diff != "" {
		t.Errorf("machines created (-want +seen):\n%s", diff)
	}
	assertPlan(t, planOf(t, namespace, file))
	// A change of the count alone is done when the machines are there.
	spec.groups[1].count = 2
	upgradeAsPlanned(t, namespace, "refused", spec.path(t))
	assertMachines(t, shared, namespace, "refused", "control-plane v1.36.3", "md-0 v1.36.3", "new v1.33.13", "old v1.35.4", "old v1.35.4")
}
