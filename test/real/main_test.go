//go:build real

// Package real_test runs clusterctl-x on real machines: containers in which systemd, containerd,
// kubelet and etcd run. 'make e2e-real' makes what it needs, and docs/real-machines.md tells more.
package real_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	// builtDir is where hack/realnodes puts what it builds.
	builtDir = "../../bin/real"
	// network is the network of Docker that Cluster API starts machines in.
	network = "kind"
	// longest is how long one command may take: several times what it takes.
	longest = 40 * time.Minute
)

// setup is what all tests share.
type setup struct {
	cli, kubectl string
	home         string // state of clusterctl-x
	versions     versions
	workload     string   // file with the image of the workload
	networks     []string // of the engine, before there is a cluster
}

var suite setup //nolint:gochecknoglobals // TestMain has no other way to tests

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e-real:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	ctx := context.Background()
	if os.Getenv("DOCKER_HOST") == "" {
		return 1, errors.New("DOCKER_HOST is not set: run these tests by 'make e2e-real', or 'hack/realnodes/engine bin/real/engine go test -tags real ./test/real'")
	}
	bin, err := filepath.Abs("../../bin")
	if err != nil {
		return 1, err
	}
	suite = setup{cli: filepath.Join(bin, "clusterctl-x"), kubectl: filepath.Join(bin, "kubectl")}
	for _, program := range []string{suite.cli, suite.kubectl} {
		if _, err := os.Stat(program); err != nil {
			return 1, fmt.Errorf("%w: run 'make build kubectl' first", err)
		}
	}
	if suite.home, err = os.MkdirTemp("", "clusterctl-x-real-"); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, suite.tearDown(ctx)) }()
	if err := makeNetwork(ctx); err != nil {
		return 1, err
	}
	if suite.networks, err = networks(ctx); err != nil {
		return 1, err
	}
	if suite.workload, err = buildWorkload(ctx, suite.home); err != nil {
		return 1, err
	}
	if os.Getenv("REAL_IMAGES") == "registry" {
		suite.versions, err = publishedVersions()
	} else {
		suite.versions, err = builtVersions()
	}
	if err != nil {
		return 1, err
	}
	if err := suite.versions.try(ctx); err != nil {
		return 1, err
	}
	if r := suite.run(ctx, "management", "start"); r.code != 0 {
		return 1, fmt.Errorf("starting the management cluster: %s", r.stderr)
	}
	return m.Run(), nil
}

func (s setup) tearDown(ctx context.Context) error {
	if r := s.run(ctx, "management", "stop", "--remove", "--abandon-clusters"); r.code != 0 {
		return fmt.Errorf("stopping the management cluster: %s", r.stderr)
	}
	return os.RemoveAll(s.home)
}

// makeNetwork makes the network of the machines if there is none.
func makeNetwork(ctx context.Context) error {
	if _, err := docker(ctx, nil, "network", "inspect", network); err == nil {
		return nil
	}
	_, err := docker(ctx, nil, "network", "create", network)
	return err
}

// networks returns the names of the networks of the engine.
func networks(ctx context.Context) ([]string, error) {
	names, err := docker(ctx, nil, "network", "ls", "--format", "{{.Name}}")
	return strings.Fields(names), err
}

// docker runs the client of Docker and returns its output without the last line end.
func docker(ctx context.Context, stdin []byte, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "docker", args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("docker %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSuffix(stdout.String(), "\n"), nil
}

// result of a program.
type result struct {
	stdout, stderr string
	code           int
}

// environment of the programs.
func (s setup) environment() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "CLUSTERCTL_X_HOME=" + s.home, "CLUSTERCTL_X_MANAGEMENT=embedded",
		"CLUSTERCTL_X_EMBEDDED=" + os.Getenv("CLUSTERCTL_X_EMBEDDED"), "DOCKER_HOST=" + os.Getenv("DOCKER_HOST"),
	}
}

// run runs clusterctl-x.
func (s setup) run(ctx context.Context, args ...string) result {
	return execute(ctx, s.environment(), s.cli, args...)
}

func execute(ctx context.Context, env []string, program string, args ...string) result {
	cmd := exec.CommandContext(ctx, program, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Env = &stdout, &stderr, env
	err := cmd.Run()
	r := result{stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode()}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		r.stderr += err.Error()
	}
	return r
}

// cli runs clusterctl-x and fails the test unless it ends with the code.
func cli(t *testing.T, code int, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	start := time.Now()
	r := suite.run(ctx, slices.Concat(suite.versions.flags, args)...)
	t.Logf("clusterctl-x %s: %s", strings.Join(args, " "), time.Since(start).Round(time.Second))
	if r.code != code {
		t.Fatalf("exit code %d, want %d\nstdout: %s\nstderr: %s", r.code, code, r.stdout, r.stderr)
	}
	return r
}
