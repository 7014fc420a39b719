package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// broken is the embedded management cluster that these tests break, one after
// the other. After each cause is gone, the same command works.
const broken = "broken"

func TestFailures(t *testing.T) {
	t.Parallel()
	cli(t, 0, "management", "start", "--name", broken)
	t.Run("killed supervisor", func(t *testing.T) {
		kill(t, progressOf(t, broken).SupervisorPID, syscall.SIGKILL)
		// A signal takes effect when the kernel comes to it.
		until(t, "the supervisor and what it started are gone", func(context.Context) bool {
			return strings.Contains(cli(t, 0, "management", "status", "--name", broken).stdout, "not running")
		})
		const want = "error: embedded management cluster \"broken\" is stopped, and this command starts nothing; start it with 'clusterctl-x management start --name broken'\n"
		if diff := cmp.Diff(want, cli(t, 3, "get", "clusters", "--name", broken).stderr); diff != "" {
			t.Errorf("stderr (-want +got):\n%s", diff)
		}
		cli(t, 0, "management", "start", "--name", broken)
	})
	t.Run("killed API server", func(t *testing.T) {
		kill(t, progressOf(t, broken).Processes["kube-apiserver"], syscall.SIGKILL)
		until(t, "the API server is back", func(ctx context.Context) bool { return get(ctx).code == 0 })
	})
	t.Run("killed controllers", func(t *testing.T) {
		before := progressOf(t, broken).Processes["cluster-api-providers"]
		kill(t, before, syscall.SIGKILL)
		until(t, "the controllers are back", func(context.Context) bool { return progressOf(t, broken).Processes["cluster-api-providers"] != before })
	})
	t.Run("API server that hangs", apiServerHangs)
	t.Run("port taken", portTaken)
	t.Run("no permission", noPermission)
	t.Run("management cluster without Cluster API", withoutClusterAPI)
}

func get(ctx context.Context) result {
	return everyone.run(ctx, nil, "get", "clusters", "--name", broken)
}

func apiServerHangs(t *testing.T) {
	pid := progressOf(t, broken).Processes["kube-apiserver"]
	kill(t, pid, syscall.SIGSTOP)
	began := time.Now()
	r := get(t.Context())
	took := time.Since(began)
	kill(t, pid, syscall.SIGCONT)
	if r.code != 5 || !strings.Contains(r.stderr, "timed out: the management cluster https://127.0.0.1:") {
		t.Errorf("exit code %d, want 5; stderr: %s", r.code, r.stderr)
	}
	if took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	cli(t, 0, "get", "clusters", "--name", broken)
}

func portTaken(t *testing.T) {
	cli(t, 0, "management", "stop", "--name", broken)
	var ports struct{ ProvidersWebhook int }
	data, err := os.ReadFile(filepath.Join(everyone.home, "embedded", broken, "ports.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &ports); err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", ports.ProvidersWebhook))
	if err != nil {
		t.Fatal(err)
	}
	r := cli(t, 1, "management", "start", "--name", broken)
	want := fmt.Sprintf(`management cluster: embedded "broken", which is starting
error: starting embedded management cluster "broken": port %d of embedded management cluster "broken" is taken by another process: end that process, or use another instance with --name; its logs are in %s
`, ports.ProvidersWebhook, filepath.Join(everyone.home, "embedded", broken, "logs"))
	if diff := cmp.Diff(want, r.stderr); diff != "" {
		t.Errorf("stderr (-want +got):\n%s", diff)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	cli(t, 0, "management", "start", "--name", broken)
}

// noPermission uses the token of an account that may do nothing.
func noPermission(t *testing.T) {
	kubeconfig := accountKubeconfig(t, broken, "default", "nobody")
	r := cli(t, 3, "create", "cluster", "--management", "kubeconfig", "--kubeconfig", kubeconfig, "-f", specFile(t, "forbidden", "1.34", "md-0"))
	if !strings.Contains(r.stderr, `User "system:serviceaccount:default:nobody" cannot get resource "clusters"`) || !strings.Contains(r.stderr, "'clusterctl-x generate rbac'") {
		t.Errorf("stderr does not name privilege and remedy: %s", r.stderr)
	}
}

func withoutClusterAPI(t *testing.T) {
	kubectl(t, broken, nil, "delete", "crd", "kubeadmcontrolplanes.controlplane.cluster.x-k8s.io")
	until(t, "the kind is gone", func(ctx context.Context) bool { return get(ctx).code == 3 })
	r := cli(t, 3, "get", "clusters", "--name", broken)
	if !strings.Contains(r.stderr, "has no Cluster API v1beta2: install Cluster API 1.14 or newer") {
		t.Errorf("stderr: %s", r.stderr)
	}
	// The next start puts the kind back.
	cli(t, 0, "management", "stop", "--name", broken)
	const want = "error: embedded management cluster \"broken\" is stopped, and this command starts nothing; start it with 'clusterctl-x management start --name broken'\n"
	if diff := cmp.Diff(want, cli(t, 3, "get", "clusters", "--name", broken).stderr); diff != "" {
		t.Errorf("stderr (-want +got):\n%s", diff)
	}
	cli(t, 0, "management", "start", "--name", broken)
	cli(t, 0, "get", "clusters", "--name", broken)
}

// TestCreateInterruptedAndTimedOut stops create twice; what it began goes on,
// and the same command finishes the job.
func TestCreateInterruptedAndTimedOut(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "interrupted")
	args := []string{"create", "cluster", "-n", namespace, "-f", specFile(t, "stopped", "1.34", "md-0")}

	r := cli(t, 5, append(args, "--timeout", "3s")...)
	ends := regexp.MustCompile(`\nerror: timed out (while [^;]+; run the same command again to continue|` +
		`(waiting for .+|before its state was known); Cluster API continues creating cluster interrupted/stopped: run the same command again to keep watching)\n$`)
	if !ends.MatchString(r.stderr) {
		t.Errorf("stderr is %q, want the end %s", r.stderr, ends)
	}

	run := begin(t, args...)
	run.until(t, "machines ready")
	run.signal(t, syscall.SIGINT)
	if r := run.end(t); r.code != 130 || !strings.Contains(r.stderr, "interrupted; Cluster API continues creating cluster interrupted/stopped") {
		t.Errorf("exit code %d, want 130; stderr: %s", r.code, r.stderr)
	}
	if r := cli(t, 0, args...); strings.Contains(r.stderr, "objects created") || !strings.Contains(r.stdout, "cluster interrupted/stopped is ready after") {
		t.Errorf("the third run did not finish the job of the first: %s%s", r.stderr, r.stdout)
	}
}

func kill(t *testing.T, pid int, signal syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatalf("sending %s to process %d: %v", signal, pid, err)
	}
}
