// Package e2e_test runs the built programs as a user does, against embedded
// management clusters, and looks at the outcome with kubectl. What the library refuses is
// asked of it in the process of the tests.
package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// shared is the embedded management cluster that most tests use side by side,
// each with clusters of its own.
const shared = "e2e"

// programs are what 'make build kubectl' makes.
type programs struct{ cli, kubectl, supervisor string }

func findPrograms() (programs, error) {
	bin, err := filepath.Abs("../../bin")
	if err != nil {
		return programs{}, err
	}
	p := programs{
		cli:        filepath.Join(bin, "clusterctl-x"),
		kubectl:    filepath.Join(bin, "kubectl"),
		supervisor: filepath.Join(bin, "embedded", "clusterctl-x-embedded"),
	}
	for _, path := range []string{p.cli, p.kubectl, p.supervisor} {
		if _, err := os.Stat(path); err != nil {
			return programs{}, fmt.Errorf("%w: these tests run the built programs: run 'make build kubectl' first", err)
		}
	}
	return p, nil
}

// user is a person with a state directory of their own.
type user struct {
	programs
	home    string
	readers *readers
}

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

var everyone user //nolint:gochecknoglobals // TestMain has no other way to tests

func runTests(m *testing.M) (code int, err error) {
	if err := chooseTests(); err != nil {
		return 1, err
	}
	p, err := findPrograms()
	if err != nil {
		return 1, err
	}
	home, err := os.MkdirTemp("", "clusterctl-x-e2e-")
	if err != nil {
		return 1, err
	}
	everyone = user{programs: p, home: home, readers: &readers{}}
	defer func() { err = errors.Join(err, everyone.tearDown()) }()
	if r := everyone.run(context.Background(), nil, "management", "start", "--name", shared); r.code != 0 {
		return 1, fmt.Errorf("starting the shared management cluster: %s", r.stderr)
	}
	return m.Run(), nil
}

func (u user) tearDown() error {
	instances, err := os.ReadDir(filepath.Join(u.home, "embedded"))
	if err != nil {
		return err
	}
	for _, instance := range instances {
		if instance.IsDir() {
			if r := u.run(context.Background(), nil, "management", "stop", "--remove", "--abandon-clusters", "--name", instance.Name()); r.code != 0 {
				err = errors.Join(err, errors.New(r.stderr))
			}
		}
	}
	return errors.Join(err, os.RemoveAll(u.home))
}

// result of a program.
type result struct {
	stdout, stderr string
	code           int
}

// run runs clusterctl-x on the shared management cluster, unless args name another.
func (u user) run(ctx context.Context, stdin []byte, args ...string) result {
	return execute(ctx, stdin, u.environment(), u.cli, args...)
}

// environment of the programs. Dozens of clusters keep two cores busy, a third of
// the API server's time with collecting garbage unless that may take more memory.
func (u user) environment() []string {
	return []string{
		"GOGC=300",
		"PATH=" + os.Getenv("PATH"), "HOME=" + u.home, "CLUSTERCTL_X_HOME=" + u.home,
		"CLUSTERCTL_X_MANAGEMENT=embedded", "CLUSTERCTL_X_NAME=" + shared,
	}
}

var outOfSupport = regexp.MustCompile(`(?m)^warning: .* has been out of support since .*\n`)

func execute(ctx context.Context, stdin []byte, env []string, program string, args ...string) result {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = bytes.NewReader(stdin), &stdout, &stderr, env
	err := cmd.Run()
	// Kubernetes ends its support of the minors of these tests one after the other.
	r := result{stdout: stdout.String(), stderr: outOfSupport.ReplaceAllString(stderr.String(), ""), code: cmd.ProcessState.ExitCode()}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		r.stderr += err.Error()
	}
	return r
}

// longest is how long a command, or what a test waits for, may take at most: much longer
// than it takes, since tests share the machine.
const longest = 15 * time.Minute

// cli runs clusterctl-x and fails the test unless it ends with the code.
func cli(t *testing.T, code int, args ...string) result {
	t.Helper()
	return cliWith(t, code, nil, args...)
}

func cliWith(t *testing.T, code int, stdin []byte, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	r := everyone.run(ctx, stdin, args...)
	if r.code != code {
		t.Fatalf("clusterctl-x %s: exit code %d, want %d\nstdout: %s\nstderr: %s", strings.Join(args, " "), r.code, code, r.stdout, r.stderr)
	}
	if code != 0 && r.stdout != "" {
		t.Errorf("clusterctl-x %s failed and wrote to stdout: %s", strings.Join(args, " "), r.stdout)
	}
	return r
}

// kubectl runs kubectl on an instance and returns its output.
func kubectl(t *testing.T, instance string, stdin []byte, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := execute(ctx, stdin, everyone.environment(), everyone.kubectl, append([]string{"--kubeconfig", kubeconfigOf(instance)}, args...)...)
	if r.code != 0 {
		t.Fatalf("kubectl %s: %s%s", strings.Join(args, " "), r.stdout, r.stderr)
	}
	return r.stdout
}

// newNamespace makes a namespace for one test.
func newNamespace(t *testing.T, instance, name string) string {
	t.Helper()
	r, err := everyone.readers.of(instance)
	if err != nil {
		t.Fatal(err)
	}
	namespaces := schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}}
	if _, err := r.client.Resource(namespaces).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return name
}

// specFile writes a file that describes a cluster with one control plane
// machine and one machine in each group; a group is "name" or "name=version".
func specFile(t *testing.T, name, version string, groups ...string) string {
	t.Helper()
	spec := clusterSpec{name: name, version: version}
	for _, group := range groups {
		groupName, pin, _ := strings.Cut(group, "=")
		spec.groups = append(spec.groups, groupSpec{name: groupName, version: pin})
	}
	return spec.path(t)
}
