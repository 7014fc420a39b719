//go:build real

package real_test

import (
	"bytes"
	"context"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// running is a run of clusterctl-x that a test looks at.
type running struct {
	cmd    *exec.Cmd
	stderr synchronized
	ended  chan struct{}
}

// synchronized is a buffer that may be read while a program writes.
type synchronized struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (s *synchronized) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buffer.Write(p)
}

func (s *synchronized) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buffer.String()
}

// start runs clusterctl-x while the test goes on.
func start(t *testing.T, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	r := &running{cmd: exec.CommandContext(ctx, suite.cli, slices.Concat(suite.versions.flags, args)...), ended: make(chan struct{})}
	r.cmd.Stderr, r.cmd.Env = &r.stderr, suite.environment()
	begin := time.Now()
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(r.ended)
		defer cancel()
		_ = r.cmd.Wait() // the exit code says more
	}()
	t.Cleanup(func() {
		<-r.ended
		t.Logf("clusterctl-x %s: began at %s", strings.Join(args, " "), begin.Format(time.TimeOnly))
	})
	return r
}

// waitFor waits until the run ends, and fails the test unless with the code.
func (r *running) waitFor(t *testing.T, code int) {
	t.Helper()
	<-r.ended
	if r.cmd.ProcessState.ExitCode() != code {
		t.Fatalf("%s: exit code %d, want %d\n%s", r.cmd, r.cmd.ProcessState.ExitCode(), code, r.stderr.String())
	}
}

// line waits until the run wrote a line with all of some texts.
func (r *running) line(t *testing.T, texts ...string) {
	t.Helper()
	await(t, "a line with "+strings.Join(texts, " and "), func() bool {
		over := r.over() // before its output is read, so that nothing comes after that
		found := lineWith(r.stderr.String(), texts...)
		if found != "" {
			t.Log(found)
		} else if over {
			t.Errorf("it ended without a line with %q", texts)
		}
		return found != "" || over
	})
	if t.Failed() {
		t.Fatalf("it wrote\n%s", r.stderr.String())
	}
}

// kill kills the run, and waits until it is gone.
func (r *running) kill(t *testing.T) {
	t.Helper()
	if err := r.cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	<-r.ended
}

// killAt runs a command and kills it once it wrote a line with all of some texts.
func killAt(t *testing.T, args []string, texts ...string) {
	t.Helper()
	r := start(t, args...)
	r.line(t, texts...)
	r.kill(t)
}

// over reports whether the run has ended.
func (r *running) over() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// lineWith returns the first line with all of some texts.
func lineWith(output string, texts ...string) string {
	for line := range strings.Lines(output) {
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) }) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// await waits until something is so.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, 10*time.Minute, true, func(context.Context) (bool, error) {
		return is(), nil
	})
	if err != nil {
		t.Errorf("waiting for %s: %v", what, err)
	}
}
