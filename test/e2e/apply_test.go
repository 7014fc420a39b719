package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// TestApply: the pipeline of a repository of cluster specs. apply creates what is not
// there, diff and plan say with their exit codes whether there is anything to do, and a
// saved plan is enough to carry it out. A restart
// replaces machines and changes no spec.
func TestApply(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "apply")
	dir := t.TempDir()
	spec := clusterSpec{name: "applied", version: "1.34", groups: []groupSpec{{name: "md-0"}, {name: "md-1"}}}
	write := func() { rename(t, spec.path(t), filepath.Join(dir, "applied.yaml")) }
	// run returns the result of a command on the directory, whatever its exit code is.
	run := func(args ...string) result {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), longest)
		defer cancel()
		r := everyone.run(ctx, nil, append(args, "-n", namespace, "--quiet")...)
		r.stderr = strings.ReplaceAll(r.stderr, dir+"/", "")
		return r
	}
	expect := func(want, got result) {
		t.Helper()
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(result{})); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	}
	write()
	created := run("apply", "-f", dir)
	if created.code != 0 || !strings.HasPrefix(created.stdout, "cluster apply/applied is ready after ") {
		t.Fatalf("%+v", created)
	}
	expect(result{}, run("diff", "-f", dir))
	expect(result{stdout: "cluster apply/applied matches the file; nothing to do\n"}, run("plan", "upgrade", "-f", dir, "--detailed-exitcode"))
	expect(result{stdout: "cluster apply/applied matches the file; nothing to do\n"}, run("apply", "-f", dir))

	spec.version, spec.groups = "1.35", []groupSpec{{name: "md-0", count: 2}}
	write()
	expect(result{code: 1, stdout: `KubeadmControlPlane/applied
- spec.version: v1.34.4
+ spec.version: v1.35.4
MachineDeployment/applied-md-0
- spec.template.spec.version: v1.34.4
+ spec.template.spec.version: v1.35.4
- spec.replicas: 1
+ spec.replicas: 2
MachineDeployment/applied-md-1
- (the whole object)
`}, run("diff", "-f", dir))
	saved := filepath.Join(t.TempDir(), "plan.json")
	const plan = `Plan for cluster apply/applied, 4 steps:
 1. md-0           scaled              1 machine added
      replaces no machine; started at once, concurrent with the other steps
 2. control plane  v1.34.4 -> v1.35.4  1 machine replaced
      the version that is asked for
 3. md-0           v1.34.4 -> v1.35.4  2 machines replaced
      the version that is asked for
 4. md-1           removed             1 machine removed
      no longer in the spec
In all: 1 control plane machine and 2 worker machines replaced; 1 worker machine added; 1 worker machine removed.
Worker node groups removed with all their machines: md-1 (1 machine).
`
	expect(result{code: 2, stdout: plan}, run("plan", "upgrade", "-f", dir, "--detailed-exitcode", "--out", saved))
	before := everything(t, namespace)
	expect(result{code: 3, stderr: "error: the upgrade of cluster apply/applied removes worker node group md-1 (machines: 1); confirm it with --yes\n"}, run("apply", "-f", dir))
	if diff := cmp.Diff(before, everything(t, namespace)); diff != "" {
		t.Errorf("objects after a refusal (-before +after):\n%s", diff)
	}
	upgraded := run("upgrade", "cluster", "--plan", saved)
	if upgraded.code != 0 || !strings.HasPrefix(upgraded.stdout, "cluster apply/applied is at v1.35.4 after ") {
		t.Fatalf("%+v", upgraded)
	}
	assertMachines(t, shared, namespace, "applied", "control-plane v1.35.4", "md-0 v1.35.4", "md-0 v1.35.4")
	expect(result{}, run("diff", "-f", dir))

	machines := names(t, shared, namespace, "applied")
	restarted := run("rollout", "restart", "applied", "--worker-node-groups", "md-0")
	if restarted.code != 0 || !strings.HasPrefix(restarted.stdout, "cluster apply/applied is ready after ") {
		t.Fatalf("%+v", restarted)
	}
	var kept []string
	for name := range names(t, shared, namespace, "applied") {
		if _, was := machines[name]; was {
			kept = append(kept, name)
		}
	}
	if len(kept) != 1 || strings.Contains(kept[0], "md-0") {
		t.Errorf("machines that are no others after the restart of md-0: %q, want the one of the control plane", kept)
	}
	assertHistory(t, namespace)
	expect(result{code: 3, stderr: "error: cluster apply/applied has no worker node group md-9; it has md-0\n"}, run("rollout", "restart", "applied", "--worker-node-groups", "md-9"))
	expect(result{}, run("diff", "-f", dir))
}

// assertHistory compares the history of the cluster of TestApply, by what does not differ
// from one test to the next.
func assertHistory(t *testing.T, namespace string) {
	t.Helper()
	history := historyOf(t, namespace, "applied")
	for i, run := range history.Runs {
		if run.Ended.Before(run.Began) || i > 0 && run.Began.Before(history.Runs[i-1].Ended) || !strings.Contains(run.Client, "process ") {
			t.Errorf("run %+v", run)
		}
		history.Runs[i].Began, history.Runs[i].Ended, history.Runs[i].Client = time.Time{}, time.Time{}, ""
	}
	versions := func(controlPlane, group string, version string) v1alpha1.ClusterVersions {
		return v1alpha1.ClusterVersions{ControlPlane: v1alpha1.MustParseVersion(controlPlane), WorkerNodeGroups: map[string]v1alpha1.Version{group: v1alpha1.MustParseVersion(version)}}
	}
	created, before, after := versions("v1.34.4", "md-0", "v1.34.4"), versions("v1.34.4", "md-0", "v1.34.4"), versions("v1.35.4", "md-0", "v1.35.4")
	created.WorkerNodeGroups["md-1"], before.WorkerNodeGroups["md-1"] = created.ControlPlane, created.ControlPlane
	const user = "clusterctl-x-admin"
	want := state.History{Namespace: "apply", Name: "applied", Runs: []state.Run{
		{Command: "apply", User: user, To: created, Result: state.RunDone},
		{Command: "upgrade cluster", User: user, From: before, To: after, Steps: 4, Result: state.RunDone},
		{Command: "rollout restart", User: user, Parts: []string{"md-0"}, Result: state.RunDone},
	}}
	var events []string
	for _, event := range history.Events {
		events = append(events, event.Reason+": "+event.Message)
	}
	history.Events = nil
	if diff := cmp.Diff(want, history, cmpopts.EquateComparable(v1alpha1.Version{})); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	wantEvents := []string{
		"UpgradeBegun: upgrade to v1.35.4 in 4 steps",
		"UpgradeStepDone: step 2 of 4: the control plane from v1.34.4 to v1.35.4",
		"UpgradeStepDone: step 3 of 4: md-0 from v1.34.4 to v1.35.4",
		"UpgradeStepDone: step 4 of 4: group md-1 is removed",
	}
	slices.Sort(events) // several steps can be done within one second
	if diff := cmp.Diff(wantEvents, events); diff != "" {
		t.Errorf("Events (-want +got):\n%s", diff)
	}
}
