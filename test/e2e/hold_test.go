package e2e_test

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// TestHoldsWithoutClass takes a cluster without a ClusterClass through an upgrade with
// a hold at every place: the step under way ends, and the next one waits.
func TestHoldsWithoutClass(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "holds")
	spec := clusterSpec{name: "held", version: "1.33", groups: []groupSpec{{name: "md-0"}}}
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t))
	spec.version = "1.34"
	file := spec.path(t)
	places := []struct{ point, at string }{
		{"before-upgrade", "control-plane v1.33.13 md-0 v1.33.13"},
		{"before-control-plane", "control-plane v1.33.13 md-0 v1.33.13"},
		{"after-control-plane", "control-plane v1.34.4 md-0 v1.33.13"},
		{"before-workers", "control-plane v1.34.4 md-0 v1.33.13"},
		{"after-workers", "control-plane v1.34.4 md-0 v1.34.4"},
		{"after-upgrade", "control-plane v1.34.4 md-0 v1.34.4"},
	}
	of := func(command, point string, more ...string) []string {
		when, what, _ := strings.Cut(point, "-")
		return append([]string{command, "cluster", "held", "-n", namespace, "--" + when, what}, more...)
	}
	for _, place := range places {
		cli(t, 0, of("hold", place.point, "--reason", place.point)...)
	}
	t.Run("refused", func(t *testing.T) {
		if got := cli(t, 0, of("hold", "before-workers", "--reason", "before-workers")...).stdout; got != "cluster holds/held is held before workers for that reason already; nothing to do\n" {
			t.Errorf("the same again: %q", got)
		}
		if got := cli(t, 3, of("hold", "before-workers", "--reason", "another")...).stderr; !strings.Contains(got, "error: cluster holds/held is held before workers by ") || !strings.HasSuffix(got, " lifts it; lift that hold first\n") {
			t.Errorf("for another reason: %q", got)
		}
	})
	t.Run("planned", func(t *testing.T) {
		text := cli(t, 0, "plan", "upgrade", "-n", namespace, "-f", file).stdout
		for _, note := range []string{"step 1 waits: held before upgrade by ", "step 2 waits: held before workers by ", "the end of the upgrade waits: held after upgrade by "} {
			if !strings.Contains(text, note) {
				t.Errorf("the plan does not say %q: %s", note, text)
			}
		}
	})
	upgrade := []string{"upgrade", "cluster", "-n", namespace, "-f", file}
	made := observe(t, shared, namespace, "held")
	p := planOf(t, namespace, file)
	if left := cli(t, 0, append(upgrade, "--no-wait")...).stdout; !strings.Contains(left, "cluster holds/held: waiting for the hold to be lifted: held before upgrade by ") ||
		!strings.Contains(left, "; nothing was started; still to do: step 1 ") {
		t.Errorf("stdout of a run that does not wait is %q", left)
	}
	r := cli(t, 5, append(upgrade, "--timeout", "1m")...)
	if want := "step 1 (the control plane from v1.33.13 to v1.34.4), step 2 (md-0 from v1.33.13 to v1.34.4): run the same command again to continue\n"; !strings.Contains(r.stderr, "error: timed out waiting for the hold to be lifted: held before upgrade by ") || !strings.HasSuffix(r.stderr, want) {
		t.Errorf("the first run ends with %q", r.stderr)
	}
	run := begin(t, upgrade...)
	for i, place := range places {
		when, what, _ := strings.Cut(place.point, "-")
		run.until(t, "s  held "+when+" "+strings.ReplaceAll(what, "-", " ")+" by ")
		held := assertHeld(t, shared, namespace, "held", place.point, place.point)
		assertCondition(t, shared, namespace, "held", v1alpha1.HeldCondition, held)
		assertMachines(t, shared, namespace, "held", strings.SplitN(strings.Replace(place.at, " md-0", "\nmd-0", 1), "\n", 2)...)
		if i == 2 { // whoever comes after a crash finds the hold
			run.signal(t, syscall.SIGKILL)
			run.end(t)
			run = begin(t, upgrade...)
			run.until(t, "s  held after control plane by ")
		}
		cli(t, 0, of("release", place.point)...)
	}
	if r := run.end(t); r.code != 0 || !strings.HasPrefix(r.stdout, "cluster holds/held is at v1.34.4 after ") {
		t.Errorf("upgrade: exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	assertMade(t, made(), p)
	var cluster clusterv1.Cluster
	if err := json.Unmarshal([]byte(kubectl(t, shared, nil, "get", "cluster", "held", "-n", namespace, "-o", "json")), &cluster); err != nil {
		t.Fatal(err)
	}
	if left := meta.FindStatusCondition(cluster.Status.Conditions, v1alpha1.HeldCondition); left != nil {
		t.Errorf("the condition is left: %+v", left)
	}
	if got := cli(t, 0, "release", "cluster", "held", "-n", namespace, "--all").stdout; got != "cluster holds/held has no hold of clusterctl-x there; nothing to do\n" {
		t.Errorf("release again: %q", got)
	}
}

// TestHoldNobodyKeeps: without the runtime extension Cluster API would not stop, so
// such a hold is refused; it keeps to its own annotation by itself.
func TestHoldNobodyKeeps(t *testing.T) {
	t.Parallel()
	namespace := applyClass(t, "class-holds")
	spec := clusterSpec{name: "held", version: "1.33", class: "name: inmemory", groups: []groupSpec{{name: "md-0"}}}
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t))
	r := cli(t, 3, "hold", "cluster", "held", "-n", namespace, "--before", "workers", "--reason", "x")
	if want := "error: cluster class-holds/held is from a ClusterClass, and Cluster API calls no runtime extension before workers: run 'clusterctl-x serve runtime-extension --register', or deploy it as docs/runtime-extension.md says\n"; !strings.HasSuffix(r.stderr, want) {
		t.Errorf("stderr is %q, want the end %q", r.stderr, want)
	}
	cli(t, 0, "hold", "cluster", "held", "-n", namespace, "--before", "upgrade", "--reason", "backup first")
	kubectl(t, shared, nil, "annotate", "cluster", "held", "-n", namespace, "clusterctl-x.io/hold-after-control-plane=look first")
	spec.version = "1.34"
	run := begin(t, "upgrade", "cluster", "-n", namespace, "-f", spec.path(t))
	run.until(t, "warning: Cluster API calls no runtime extension after control plane, so the upgrade does not wait there, although cluster class-holds/held is held after control plane: look first; ")
	run.until(t, ": backup first; 'clusterctl-x release cluster held -n class-holds --before upgrade' lifts it\n")
	assertHeld(t, shared, namespace, "held", "before-upgrade", "backup first")
	assertCondition(t, shared, namespace, "held", clusterv1.ClusterTopologyReconciledCondition, "annotation before-upgrade.hook.cluster.cluster.x-k8s.io/clusterctl-x is set")
	cli(t, 0, "release", "cluster", "held", "-n", namespace, "--all")
	if r := run.end(t); r.code != 0 {
		t.Errorf("upgrade: exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	assertMachines(t, shared, namespace, "held", "control-plane v1.34.4", "md-0 v1.34.4")
}
