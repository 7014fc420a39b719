package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// running is a program that is at work, mostly clusterctl-x.
type running struct {
	cmd            *exec.Cmd
	stdout, stderr buffer
	ended          chan struct{}
}

// buffer is written to and read at the same time.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// begin starts clusterctl-x and does not wait for its end.
func begin(t *testing.T, args ...string) *running {
	t.Helper()
	r := newRunning(t, everyone.cli, args...)
	r.start(t)
	return r
}

// newRunning is a program that is to be started, and ends with the test at the latest.
func newRunning(t *testing.T, program string, args ...string) *running {
	t.Helper()
	r := &running{cmd: exec.CommandContext(t.Context(), program, args...), ended: make(chan struct{})}
	r.cmd.Env, r.cmd.Stdout, r.cmd.Stderr = everyone.environment(), &r.stdout, &r.stderr
	return r
}

func (r *running) start(t *testing.T) {
	t.Helper()
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(r.ended)
		_ = r.cmd.Wait() // its exit code is the result
	}()
}

// until waits until the program has said something on stderr.
func (r *running) until(t *testing.T, text string) {
	t.Helper()
	until(t, "it says "+text, func(context.Context) bool {
		// In this order: what is said at the very end counts.
		ended := r.hasEnded()
		if strings.Contains(r.stderr.String(), text) {
			return true
		}
		if ended {
			t.Fatalf("it ended with code %d before it said %q: %s%s", r.cmd.ProcessState.ExitCode(), text, r.stdout.String(), r.stderr.String())
		}
		return false
	})
}

func (r *running) hasEnded() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

func (r *running) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := r.cmd.Process.Signal(signal); err != nil {
		t.Fatalf("sending %s: %v", signal, err)
	}
}

// end waits until the program has ended.
func (r *running) end(t *testing.T) result {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), longest, errors.New("it did not end"))
	defer cancel()
	select {
	case <-r.ended:
	case <-ctx.Done():
		t.Fatalf("%v: %s", context.Cause(ctx), r.stderr.String())
	}
	return result{stdout: r.stdout.String(), stderr: r.stderr.String(), code: r.cmd.ProcessState.ExitCode()}
}
