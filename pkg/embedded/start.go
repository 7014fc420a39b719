//go:build unix

package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// poll is the interval at which files and locks of another process are checked; neither
// has portable notifications.
const poll = 25 * time.Millisecond

// killGrace is how long killed processes may take to be gone.
const killGrace = 5 * time.Second

// Start starts the instance and returns when it is ready. A running instance is left as
// it is. On failure, or when ctx ends first, no process of it keeps running.
func (i Instance) Start(ctx context.Context) error {
	if err := os.MkdirAll(i.LogsDir(), 0o700); err != nil {
		return fmt.Errorf("making the directory of embedded management cluster %q: %w; set CLUSTERCTL_X_HOME to a directory that can be written to", i.Name, err)
	}
	if err := i.reap(ctx); err != nil {
		return err
	}
	running, err := i.locked()
	if err != nil {
		return err
	}
	if running {
		return i.waitReady(ctx)
	}
	return i.spawn(ctx)
}

// spawn runs the supervisor in a session of its own, so that it outlives this
// process. What goes wrong until it is ready comes back through a pipe, which
// ends empty when it is ready.
func (i Instance) spawn(ctx context.Context) (err error) {
	program, err := findProgram()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(i.LogsDir(), "supervisor.log"), os.O_CREATE|os.O_TRUNC|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("starting embedded management cluster %q: %w; set CLUSTERCTL_X_HOME to a directory that can be written to", i.Name, err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	outcome, outcomeWriter, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, outcome.Close()) }()

	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, "run", "--name", i.Name, "--dir", i.Dir)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{outcomeWriter}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	startErr := cmd.Start()
	if err := errors.Join(startErr, outcomeWriter.Close()); err != nil {
		return fmt.Errorf("starting %s: %w", program, err)
	}

	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	failure := make(chan string, 1)
	go func() {
		text, readErr := io.ReadAll(outcome)
		if readErr != nil {
			text = []byte(readErr.Error())
		}
		failure <- strings.TrimSpace(string(text))
	}()
	select {
	case <-ctx.Done():
		return i.abandon(ctx, i.startInterrupted(ctx), cmd.Process, ended)
	case text := <-failure:
		return i.afterStart(ctx, cmd.Process, ended, text)
	}
}

func (i Instance) afterStart(ctx context.Context, supervisor *os.Process, ended <-chan error, failure string) error {
	if failure == "" {
		switch status, err := i.Status(); {
		case err != nil:
			return i.abandon(ctx, err, supervisor, ended)
		case status.Ready:
			return nil
		}
	}
	var endErr error
	select {
	case <-ctx.Done():
		return i.abandon(ctx, i.startInterrupted(ctx), supervisor, ended)
	case endErr = <-ended:
	}
	if err := i.reap(ctx); err != nil {
		return err
	}
	status, err := i.Status()
	if err != nil {
		return err
	}
	if status.Running {
		return i.waitReady(ctx) // another command was faster
	}
	if failure == "" {
		failure = fmt.Sprintf("it ended before it was ready (%v)", endErr)
	}
	return fmt.Errorf("starting embedded management cluster %q: %s; its logs are in %s", i.Name, failure, i.LogsDir())
}

// abandon ends, because of err, a supervisor that is not ready, and its children.
func (i Instance) abandon(ctx context.Context, err error, supervisor *os.Process, ended <-chan error) error {
	if killErr := supervisor.Kill(); !errors.Is(killErr, os.ErrProcessDone) {
		err = errors.Join(err, killErr)
	}
	var exit *exec.ExitError
	if endErr := <-ended; !errors.As(endErr, &exit) {
		err = errors.Join(err, endErr)
	}
	return errors.Join(err, i.reap(context.WithoutCancel(ctx)))
}

func (i Instance) waitReady(ctx context.Context) error {
	err := until(ctx, func() (bool, error) {
		status, err := i.Status()
		if err == nil && !status.Running {
			err = fmt.Errorf("embedded management cluster %q ended before it was ready; its logs are in %s", i.Name, i.LogsDir())
		}
		return status.Ready, err
	})
	if err != nil && ctx.Err() != nil {
		return i.startInterrupted(ctx)
	}
	return err
}

// until asks again and again, until the answer is yes or an error, or ctx ends.
func until(ctx context.Context, ask func() (bool, error)) error {
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		if yes, err := ask(); yes || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}

func (i Instance) startInterrupted(ctx context.Context) error {
	return fmt.Errorf("waiting for embedded management cluster %q to become ready: %w; its logs are in %s", i.Name, context.Cause(ctx), i.LogsDir())
}

// findProgram looks for the supervisor in CLUSTERCTL_X_EMBEDDED, in the directory
// "embedded" next to this executable, and in PATH.
func findProgram() (string, error) {
	if path := os.Getenv("CLUSTERCTL_X_EMBEDDED"); path != "" {
		if _, err := exec.LookPath(path); err != nil {
			return "", fmt.Errorf("%w: CLUSTERCTL_X_EMBEDDED names %s: %w", ErrNoProgram, path, err)
		}
		return path, nil
	}
	if self, err := os.Executable(); err == nil {
		if self, err = filepath.EvalSymlinks(self); err == nil {
			beside := filepath.Join(filepath.Dir(self), "embedded", Exec)
			if _, err := exec.LookPath(beside); err == nil {
				return beside, nil
			}
		}
	}
	if path, err := exec.LookPath(Exec); err == nil {
		return path, nil
	}
	return "", fmt.Errorf("%w: it is in the directory embedded next to clusterctl-x where a release archive was unpacked or 'make build' has run; use clusterctl-x from there, or set CLUSTERCTL_X_EMBEDDED to the program; or use a management cluster of your own with --management kubeconfig", ErrNoProgram)
}

// Stop ends all processes of the instance and returns when they are gone.
// Its state stays. It returns false where nothing ran.
func (i Instance) Stop(ctx context.Context) (bool, error) {
	held, err := i.locked()
	if err != nil || !held {
		return false, err
	}
	if err := i.reap(ctx); err != nil {
		return true, err
	}
	supervisor, err := i.supervisor(ctx)
	if err != nil || supervisor == 0 {
		return true, err
	}
	if err := i.signal(supervisor, syscall.SIGTERM); err != nil {
		return true, err
	}
	tooSlow := errors.New("no orderly end")
	orderly, cancel := context.WithTimeoutCause(ctx, i.stopGrace(), tooSlow)
	defer cancel()
	err = i.waitGone(orderly)
	if errors.Is(err, tooSlow) {
		if err := i.signal(-supervisor, syscall.SIGKILL); err != nil {
			return true, err
		}
		err = i.waitGone(ctx)
	}
	if err != nil {
		return true, fmt.Errorf("waiting for embedded management cluster %q to end: %w", i.Name, err)
	}
	return true, nil
}

func (i Instance) stopGrace() time.Duration { return cmp.Or(i.StopGrace, 20*time.Second) }

// supervisor is the process ID of the supervisor, or 0 when nothing runs any
// more. It waits out the moments, at a supervisor's start and at its end, in
// which it has the lock and does not say who it is.
func (i Instance) supervisor(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, i.stopGrace(),
		fmt.Errorf("embedded management cluster %q is running, but its process ID is unknown: end the processes that use %s", i.Name, i.Dir))
	defer cancel()
	var status Status
	err := until(ctx, func() (_ bool, err error) {
		status, err = i.Status()
		return !status.Running || status.SupervisorPID != 0, err
	})
	return status.SupervisorPID, err
}

func (i Instance) waitGone(ctx context.Context) error {
	return until(ctx, func() (bool, error) {
		held, err := i.locked()
		return !held, err
	})
}

// reap ends the processes that a killed supervisor left behind.
func (i Instance) reap(ctx context.Context) error {
	status, err := i.Status()
	if err != nil || !status.Running || status.SupervisorPID == 0 {
		return err
	}
	if supervised, err := i.supervised(); err != nil || supervised {
		return err
	}
	// The group exists as long as one member lives, and its number is used for
	// no other process until then: it can only be ours.
	killed := status.SupervisorPID
	if err := i.signal(-killed, syscall.SIGKILL); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, killGrace, fmt.Errorf("the processes of a killed run of embedded management cluster %q do not end: end those that use %s", i.Name, i.Dir))
	defer cancel()
	return until(ctx, func() (bool, error) {
		status, err := i.Status()
		return !status.Running || status.SupervisorPID != killed, err // another start may have been faster
	})
}

// signal sends sig to a process, or to a process group where pid is negative.
func (i Instance) signal(pid int, sig syscall.Signal) error {
	if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("ending embedded management cluster %q: %w", i.Name, err)
	}
	return nil
}
