package e2e_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestUpgradeOutlivesTheManagementCluster kills the API server and then the
// controllers of a management cluster of its own in the middle of steps: the
// upgrade goes on, or ends and the same command goes on.
func TestUpgradeOutlivesTheManagementCluster(t *testing.T) {
	t.Parallel()
	const instance = "restarted"
	spec := clusterSpec{name: "outlives", version: "1.34", groups: []groupSpec{{name: "md-0"}}}
	cli(t, 0, "create", "cluster", "--name", instance, "-f", spec.path(t))
	spec.version = "1.36"
	file := spec.path(t)
	upgrade := []string{"upgrade", "cluster", "--name", instance, "-f", file}
	p := decodePlan(t, cli(t, 0, "plan", "upgrade", "--name", instance, "-f", file, "-o", "json").stdout)
	assertPlan(t, p, "ControlPlane v1.34.4->v1.35.4", "ControlPlane v1.35.4->v1.36.3", "Workers md-0 v1.34.4->v1.36.3")
	made := observe(t, instance, "default", "outlives")

	run := begin(t, upgrade...)
	for _, test := range []struct{ program, step string }{
		{"kube-apiserver", "the control plane from v1.34.4 to v1.35.4"},
		{"cluster-api-providers", "the control plane from v1.35.4 to v1.36.3"},
		{"cluster-api-core", "md-0 from v1.34.4 to v1.36.3"},
	} {
		title := ": " + test.step + "\n"
		until(t, test.step, func(context.Context) bool {
			run = goOn(t, run, upgrade)
			return strings.Contains(run.stderr.String(), title)
		})
		before := progressOf(t, instance).Processes[test.program]
		kill(t, before, syscall.SIGKILL)
		until(t, test.program+" runs again", func(context.Context) bool {
			now := progressOf(t, instance).Processes[test.program]
			return now != 0 && now != before
		})
	}
	until(t, "it comes to the end", func(context.Context) bool {
		run = goOn(t, run, upgrade)
		return run.hasEnded()
	})
	if r := run.end(t); !strings.HasPrefix(r.stdout, "cluster default/outlives is at v1.36.3 after ") {
		t.Errorf("stdout is %q", r.stdout)
	}
	assertMade(t, made(), p)
	assertMachines(t, instance, "default", "outlives", "control-plane v1.36.3", "md-0 v1.36.3")
}

// goOn begins an upgrade again that has ended before its time. It must have said
// so, and that the same command goes on.
func goOn(t *testing.T, run *running, args []string) *running {
	t.Helper()
	if !run.hasEnded() || run.end(t).code == 0 {
		return run
	}
	r := run.end(t)
	t.Logf("it ended with code %d: %s", r.code, r.stderr)
	if r.stdout != "" || !strings.Contains(r.stderr, "run the same command again to continue") {
		t.Errorf("it does not say how to go on: exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	return begin(t, args...)
}

// progress is what the supervisor of a management cluster writes about it.
type progress struct {
	SupervisorPID int
	Processes     map[string]int
}

func progressOf(t *testing.T, instance string) progress {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(everyone.home, "embedded", instance, "progress.json"))
	if err != nil {
		t.Fatal(err)
	}
	var p progress
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatal(err)
	}
	return p
}
