package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// The steps of TestUpgradeStoppedAndResumed, as they are told.
const (
	step1 = "the control plane from v1.32.13 to v1.33.13"
	step2 = "the control plane from v1.33.13 to v1.34.4"
	step3 = "the control plane from v1.34.4 to v1.35.4"
	step4 = "md-0 from v1.32.13 to v1.35.4"
	step5 = "the control plane from v1.35.4 to v1.36.3"
	step6 = "md-0 from v1.35.4 to v1.36.3"
)

// TestUpgradeStoppedAndResumed stops one upgrade in every way there is: it goes
// on with the same command, and nothing is replaced twice.
func TestUpgradeStoppedAndResumed(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "stopped")
	spec := clusterSpec{name: "stopped", version: "1.32", groups: []groupSpec{{name: "md-0"}}}
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t))
	spec.version = "1.36"
	file := spec.path(t)
	upgrade := []string{"upgrade", "cluster", "-n", namespace, "-f", file}
	p := planOf(t, namespace, file)
	assertPlan(t, p,
		"ControlPlane v1.32.13->v1.33.13", "ControlPlane v1.33.13->v1.34.4", "ControlPlane v1.34.4->v1.35.4", "Workers md-0 v1.32.13->v1.35.4",
		"ControlPlane v1.35.4->v1.36.3", "Workers md-0 v1.35.4->v1.36.3")
	made := observe(t, shared, namespace, "stopped")

	// A hook holds a step up for as long as a test needs it.
	old := namesOf(t, namespace, "stopped", controlPlane)
	hold(t, namespace, old)
	worker := namesOf(t, namespace, "stopped", "md-0")
	hold(t, namespace, worker)

	t.Run("no wait", func(t *testing.T) {
		r := cli(t, 0, append(upgrade, "--no-wait")...)
		want := fmt.Sprintf("cluster stopped/stopped: Cluster API continues with step 1 (%s); still to do: step 2 (%s), step 3 (%s), step 4 (%s), step 5 (%s), step 6 (%s): run the same command again to continue\n",
			step1, step2, step3, step4, step5, step6)
		if diff := cmp.Diff(want, r.stdout); diff != "" {
			t.Errorf("stdout (-want +got):\n%s", diff)
		}
	})
	t.Run("timeout", func(t *testing.T) {
		r := cli(t, 5, append(upgrade, "--timeout", "40s")...)
		assertLeft(t, r.stderr, `error: timed out waiting for control-plane: [^;]*(; .*)?`, step1, step2, step3, step4, step5, step6)
	})
	release(t, namespace, old)
	t.Run("interrupt", func(t *testing.T) {
		run := begin(t, upgrade...)
		run.until(t, ": "+step2+"\n")
		run.signal(t, syscall.SIGINT)
		r := run.end(t)
		if r.code != 130 || r.stdout != "" {
			t.Errorf("exit code %d, want 130: %s%s", r.code, r.stdout, r.stderr)
		}
		assertLeft(t, r.stderr, "error: interrupted", step2, step3, step4, step5, step6)
	})
	t.Run("killed", func(t *testing.T) {
		run := begin(t, upgrade...)
		run.until(t, ": "+step3+"\n")
		run.signal(t, syscall.SIGKILL)
		if r := run.end(t); r.code != -1 {
			t.Errorf("exit code %d: %s", r.code, r.stderr)
		}
	})
	t.Run("two at once", func(t *testing.T) {
		first := begin(t, upgrade...)
		first.until(t, " holds cluster stopped/stopped; waiting to see whether it is still running\n") // the killed one
		first.until(t, ": "+step4+"\n")
		held := holder(t, namespace, "stopped")
		if runs := runsOf(t, namespace, "stopped"); runs[len(runs)-1] != "upgrade cluster: Running" {
			t.Errorf("runs are %q, and the last one is to be running", runs)
		}
		r := cli(t, 4, upgrade...)
		want := regexp.MustCompile(`\nerror: ` + regexp.QuoteMeta(held) + ` works on cluster stopped/stopped, at least until \d\d:\d\d:\d\d; wait until it is done, or take over its lock with --take-over\n$`)
		if held == "" || !want.MatchString(r.stderr) {
			t.Errorf("stderr is %q, want %s", r.stderr, want)
		}

		second := begin(t, append(upgrade, "--take-over")...)
		second.until(t, ": "+step4+"\n")
		ousted := first.end(t)
		if want := fmt.Sprintf("error: %s works on cluster stopped/stopped now, so this run wrote nothing more, and what it started continues\n", holder(t, namespace, "stopped")); ousted.code != 4 || !strings.HasSuffix(ousted.stderr, want) {
			t.Errorf("exit code %d, want 4; stderr is %q, want the end %q", ousted.code, ousted.stderr, want)
		}
		release(t, namespace, worker)
		second.until(t, ": "+step5+"\n")

		// A run that is fast asleep does not learn that another one had its turn,
		// for a file in which the next step of the first is no longer wanted.
		second.signal(t, syscall.SIGSTOP)
		spec.groups = []groupSpec{{name: "md-0", version: "1.35"}}
		if r := cli(t, 0, "upgrade", "cluster", "-n", namespace, "-f", spec.path(t), "--take-over", "--yes"); !strings.HasPrefix(r.stdout, "cluster stopped/stopped is at v1.36.3 after ") {
			t.Errorf("stdout is %q", r.stdout)
		}
		before := everything(t, namespace)
		second.signal(t, syscall.SIGCONT)
		r = second.end(t)
		// It names the run that had its turn where the API server answered it meanwhile.
		want = regexp.MustCompile(`\nerror: (the lock of cluster stopped/stopped was taken over, so this run|process \d+ on \S+, started \S+ works on cluster stopped/stopped now, so this run) wrote nothing more, and what it started continues\n$`)
		if r.code != 4 || r.stdout != "" || !want.MatchString(r.stderr) {
			t.Errorf("exit code %d, want 4 and the end %s: %s%s", r.code, want, r.stdout, r.stderr)
		}
		if diff := cmp.Diff(before, everything(t, namespace)); diff != "" {
			t.Errorf("objects that a run without its turn wrote (-before +after):\n%s", diff)
		}
	})
	cli(t, 0, upgrade...)
	assertMade(t, made(), p)
	assertMachines(t, shared, namespace, "stopped", "control-plane v1.36.3", "md-0 v1.36.3")
	assertPlan(t, planOf(t, namespace, file))
	// The no-wait run, the one that was killed, and those that were ousted and asleep.
	wantRuns := []string{
		"create cluster: Done", "upgrade cluster: Left", "upgrade cluster: Interrupted", "upgrade cluster: Interrupted", "upgrade cluster: Lost",
		"upgrade cluster: Lost", "upgrade cluster: Lost", "upgrade cluster: Done", "upgrade cluster: Done",
	}
	if diff := cmp.Diff(wantRuns, runsOf(t, namespace, "stopped")); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if held := holder(t, namespace, "stopped"); held != "" {
		t.Errorf("%s still holds the cluster", held)
	}
}

// runsOf are the runs in the history of a cluster, with their results.
func runsOf(t *testing.T, namespace, cluster string) []string {
	t.Helper()
	var runs []string
	for _, run := range historyOf(t, namespace, cluster).Runs {
		runs = append(runs, run.Command+": "+string(run.Result))
	}
	return runs
}

func historyOf(t *testing.T, namespace, cluster string) state.History {
	t.Helper()
	var document struct{ Data state.History }
	if err := json.Unmarshal([]byte(cli(t, 0, "history", "cluster", cluster, "-n", namespace, "-o", "json").stdout), &document); err != nil {
		t.Fatal(err)
	}
	return document.Data
}

const preDrainHook = "pre-drain.delete.hook.machine.cluster.x-k8s.io/backup"

// hold keeps machines from going away, until they are released.
func hold(t *testing.T, namespace string, machines map[string]string) {
	t.Helper()
	for name := range machines {
		kubectl(t, shared, nil, "annotate", "machine", name, "-n", namespace, preDrainHook+"=somebody")
	}
}

func release(t *testing.T, namespace string, machines map[string]string) {
	t.Helper()
	for name := range machines {
		kubectl(t, shared, nil, "annotate", "machine", name, "-n", namespace, preDrainHook+"-")
	}
}

// assertLeft compares what an upgrade says at its end: which step goes on, and
// which wait.
func assertLeft(t *testing.T, stderr, begins, goesOn string, wait ...string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
	last := lines[len(lines)-1]
	var n int
	text := last[strings.Index(last, "Cluster API continues with")+len("Cluster API continues with"):]
	if _, err := fmt.Sscanf(text, " step %d ", &n); err != nil {
		t.Fatalf("stderr names no step: %s", stderr)
	}
	want := fmt.Sprintf("Cluster API continues with step %d (%s)", n, goesOn)
	for i, step := range wait {
		want += fmt.Sprintf("%s step %d (%s)", map[bool]string{true: "; still to do:", false: ","}[i == 0], n+1+i, step)
	}
	want += ": run the same command again to continue"
	if !regexp.MustCompile(`^` + begins + `; ` + regexp.QuoteMeta(want) + `$`).MatchString(last) {
		t.Errorf("the last line is\n%s\nwant\n%s; %s", last, begins, want)
	}
}

// holder is who works on a cluster.
func holder(t *testing.T, namespace, cluster string) string {
	t.Helper()
	for _, lease := range list[coordinationv1.Lease](t, shared, namespace, "leases") {
		if lease.Name == cluster+"-clusterctl-x" && lease.Spec.HolderIdentity != nil {
			return *lease.Spec.HolderIdentity
		}
	}
	return ""
}

// TestUpgradeDisturbed: somebody else changes, while an upgrade goes on, what it
// is about to change. How many machines an autoscaled group has is not its
// business.
func TestUpgradeDisturbed(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "disturbed")
	spec := clusterSpec{name: "disturbed", version: "1.34.2", groups: []groupSpec{{name: "auto", autoscaled: true}, {name: "md-0"}}}
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t))
	spec.version = "1.34.4"
	file := spec.path(t)
	upgrade := []string{"upgrade", "cluster", "-n", namespace, "-f", file}

	deployment := "machinedeployment/disturbed-md-0"
	scale := func(count string, deployments ...string) {
		kubectl(t, shared, nil, append([]string{"scale", "-n", namespace, "--replicas=" + count}, deployments...)...)
	}
	setVersion := func(version string) { // down too, which the guardrails let through for a reason only
		kubectl(t, shared, nil, "patch", deployment, "-n", namespace, "--type=merge", "-p",
			`{"metadata":{"annotations":{"clusterctl-x.io/skip-guardrails":"a test"}},"spec":{"template":{"spec":{"version":"`+version+`"}}}}`)
	}
	// ends runs an upgrade, does something once it has begun a step, and compares
	// the end of what it says.
	ends := func(step string, do func(), want string) {
		t.Helper()
		run := begin(t, upgrade...)
		run.until(t, ": "+step+"\n")
		do()
		if r := run.end(t); r.code != 4 || r.stdout != "" || !strings.HasSuffix(r.stderr, want) {
			t.Errorf("exit code %d, want 4 and the end %q: %s%s", r.code, want, r.stdout, r.stderr)
		}
	}
	atRest := func(version string, count int) {
		t.Helper()
		until(t, "md-0 is at rest", func(context.Context) bool {
			var rest []machine
			for range count {
				rest = append(rest, machine{"md-0", "Running", version, version})
			}
			d := list[clusterv1.MachineDeployment](t, shared, namespace, "machinedeployments", "clusterctl-x.io/worker-node-group=md-0")[0]
			all := machines(t, shared, namespace, "disturbed")
			return slices.Equal(rest, slices.DeleteFunc(all, func(m machine) bool { return m.Owner != "md-0" })) &&
				d.Status.ObservedGeneration == d.Generation && meta.IsStatusConditionTrue(d.Status.Conditions, clusterv1.MachineDeploymentAvailableCondition)
		})
	}

	const owned = "other field managers own fields that the upgrade would change; set their values in the file, or take the fields over with --force-conflicts\n"
	ends("the control plane from v1.34.2 to v1.34.4", func() { scale("2", deployment, "machinedeployment/disturbed-auto") },
		"\nerror: "+owned+"  MachineDeployment/disturbed-md-0 spec.replicas: conflict with \"kubectl\" with subresource \"scale\" using cluster.x-k8s.io/v1beta2\n")
	atRest("v1.34.2", 2)
	scale("1", deployment)
	atRest("v1.34.2", 1)

	const moved = "error: cluster disturbed/disturbed has changed since the plan was made; run the same command again: it plans from where the cluster is\n"
	ends("md-0 from v1.34.2 to v1.34.4", func() { setVersion("v1.34.1") },
		moved+"  MachineDeployment/disturbed-md-0 was changed by someone else: its version is v1.34.1, and the plan has v1.34.4\n"+
			"  MachineDeployment/disturbed-md-0 was changed by \"kubectl-patch\"\n")
	setVersion("v1.34.2")
	atRest("v1.34.2", 1)
	r := cli(t, 4, upgrade...)
	if want := "\nerror: " + owned + "  MachineDeployment/disturbed-md-0 spec.template.spec.version: conflict with \"kubectl-patch\" using cluster.x-k8s.io/v1beta2\n"; !strings.HasSuffix(r.stderr, want) {
		t.Errorf("stderr is %q, want the end %q", r.stderr, want)
	}
	cli(t, 0, append(upgrade, "--force-conflicts")...)
	assertMachines(t, shared, namespace, "disturbed", "auto v1.34.4", "auto v1.34.4", "control-plane v1.34.4", "md-0 v1.34.4")
	assertPlan(t, planOf(t, namespace, file))
}
