package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// repository is a bare Git repository that a loop applies as Flux would, and a clone of it
// that a person works in.
type repository struct{ bare, clone string }

func git(t *testing.T, directory string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", directory, "-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// newRepository has one file, which is in a directory of its own.
func newRepository(t *testing.T, path string, text []byte) repository {
	t.Helper()
	r := repository{filepath.Join(t.TempDir(), "fleet.git"), filepath.Join(t.TempDir(), "fleet")}
	git(t, t.TempDir(), "init", "--quiet", "--bare", "--initial-branch=main", r.bare)
	git(t, t.TempDir(), "clone", "--quiet", r.bare, r.clone)
	git(t, r.clone, "checkout", "--quiet", "-B", "main")
	file := filepath.Join(r.clone, path)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	r.commit(t, "the cluster")
	return r
}

// commit commits all changes, pushes them, and returns what it changed, without context.
func (r repository) commit(t *testing.T, message string) string {
	t.Helper()
	git(t, r.clone, "add", "--all")
	git(t, r.clone, "commit", "--quiet", "--message", message)
	git(t, r.clone, "push", "--quiet", "origin", "main")
	var lines []string
	for line := range strings.Lines(git(t, r.clone, "show", "--format=", "--unified=0", "--root")) {
		if (line[0] == '+' || line[0] == '-') && !strings.HasPrefix(line, "+++") && !strings.HasPrefix(line, "---") {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	return strings.Join(lines, "\n")
}

// reconcile applies a file at the head of the repository every second, as Flux does: with its
// name and its labels, and by force.
func (r repository) reconcile(t *testing.T, instance, namespace, path string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	t.Cleanup(func() { stop(); <-ended })
	once := func() {
		text, err := exec.CommandContext(ctx, "git", "-C", r.bare, "show", "main:"+path).Output()
		if err != nil {
			return // it is being pushed
		}
		result := execute(ctx, fluxed(text), everyone.environment(), everyone.kubectl, "--kubeconfig", kubeconfigOf(instance),
			"apply", "--server-side", "--force-conflicts", "--field-manager=kustomize-controller", "-n", namespace, "-f", "-")
		if result.code != 0 && ctx.Err() == nil {
			t.Logf("applying the head: %s", result.stderr)
		}
	}
	go func() {
		defer close(ended)
		for {
			once()
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return
			}
		}
	}()
}

// otherNames is the cluster of other-names.yaml for server-side apply: the development provider
// stops at a DevCluster without any annotation, of which client-side apply makes one.
func otherNames(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/existing/other-names.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return []byte(strings.Replace(string(text), "metadata: {name: names-infra}", "metadata: {name: names-infra, annotations: {example.com/team: platform}}", 1))
}

// fluxed gives objects the labels of Flux.
func fluxed(text []byte) []byte {
	const labels = "{kustomize.toolkit.fluxcd.io/name: clusters, kustomize.toolkit.fluxcd.io/namespace: flux-system"
	s := strings.ReplaceAll(string(text), "labels: {example.com/team: platform}", "@@")
	s = strings.ReplaceAll(s, "metadata:\n  name:", "metadata:\n  labels: "+labels+"}\n  name:")
	s = strings.ReplaceAll(s, "metadata: {name:", "metadata: {labels: "+labels+"}, name:")
	return []byte(strings.ReplaceAll(s, "  @@\n", ""))
}

// TestGitWay: a cluster that a GitOps tool applies from Git, and that clusterctl-x never
// writes, goes over three minors: each step of the plan is a commit to its file.
func TestGitWay(t *testing.T) {
	t.Parallel()
	const path = "clusters/prod/names.yaml"
	namespace := newNamespace(t, shared, "git-way")
	r := newRepository(t, path, otherNames(t))
	r.reconcile(t, shared, namespace, path)
	until(t, "the cluster is applied", func(context.Context) bool {
		return len(list[map[string]any](t, shared, namespace, "clusters")) == 1
	})
	cli(t, 0, "watch", "cluster", "names", "-n", namespace)

	saved := filepath.Join(t.TempDir(), "plan.json")
	to := []string{"names", "-n", namespace, "--kubernetes-version", "1.36"}
	cli(t, 0, append([]string{"plan", "upgrade", "--out", saved}, to...)...)
	data, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	p := decodePlan(t, string(data))
	assertPlan(t, p, "ControlPlane v1.33.13->v1.34.4", "ControlPlane v1.34.4->v1.35.4", "ControlPlane v1.35.4->v1.36.3", "Workers general-pool v1.33.13->v1.36.3")
	made := observe(t, shared, namespace, "names")
	want := []string{
		"-  version: v1.33.13\n+  version: v1.34.4", "-  version: v1.34.4\n+  version: v1.35.4", "-  version: v1.35.4\n+  version: v1.36.3",
		"-      version: v1.33.13\n+      version: v1.36.3",
	}
	for i := range p.Steps {
		// The plan is made anew, so that the next step is the first one.
		cli(t, 0, append([]string{"generate", "manifests", "--step", "1", "--to", filepath.Join(r.clone, "clusters")}, to...)...)
		if diff := cmp.Diff(want[i], r.commit(t, "step "+strconv.Itoa(i+1))); diff != "" {
			t.Errorf("changes of step %d (-want +got):\n%s", i+1, diff)
		}
		cli(t, 0, "watch", "cluster", "names", "-n", namespace, "--plan", saved, "--until-step", strconv.Itoa(i+1))
	}
	assertMade(t, made(), p)
	assertMachines(t, shared, namespace, "names", "control-plane v1.36.3", "general-pool v1.36.3", "general-pool v1.36.3")
	if got := managersOf(t, namespace); strings.Contains(got, "clusterctl-x:") {
		t.Errorf("clusterctl-x wrote to the cluster:\n%s", got)
	}
}
