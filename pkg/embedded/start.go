//go:build unix

package embedded

import (
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

// ErrNoProgram says that the supervisor program is not installed.
var ErrNoProgram = errors.New("the program " + Exec + " is missing")

// poll is how often files and locks are looked at while waiting for another
// process; neither tells of its changes in a portable way.
const poll = 25 * time.Millisecond

// stopGrace is how long the processes have for an orderly end.
const stopGrace = 20 * time.Second

// Start starts the instance and returns when it is ready. An instance that
// runs already is left as it is. On failure, or when ctx ends first, nothing
// of it goes on running.
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
	log, err := os.OpenFile(filepath.Join(i.LogsDir(), "supervisor.log"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	outcome, outcomeWriter, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, outcome.Close()) }()

	cmd := exec.Command(program, "run", "--name", i.Name, "--dir", i.Dir) //nolint:noctx // it outlives ctx
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{outcomeWriter}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	startErr := cmd.Start()
	if err := errors.Join(startErr, outcomeWriter.Close()); err != nil {
		return fmt.Errorf("starting %s: %w", program, err)
	}

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
		return errors.Join(i.startInterrupted(ctx), cmd.Process.Kill(), cmd.Wait())
	case text := <-failure:
		return i.afterStart(ctx, cmd, text)
	}
}

func (i Instance) afterStart(ctx context.Context, cmd *exec.Cmd, failure string) error {
	status, err := i.Status()
	if err != nil {
		return err
	}
	if failure == "" && status.Ready {
		return cmd.Process.Release()
	}
	waitErr := cmd.Wait()
	if status.Running {
		return i.waitReady(ctx) // another command was faster
	}
	if failure == "" {
		failure = fmt.Sprintf("it ended before it was ready (%v)", waitErr)
	}
	return fmt.Errorf("starting embedded management cluster %q: %s; its logs are in %s", i.Name, failure, i.LogsDir())
}

func (i Instance) waitReady(ctx context.Context) error {
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		status, err := i.Status()
		switch {
		case err != nil:
			return err
		case status.Ready:
			return nil
		case !status.Running:
			return fmt.Errorf("embedded management cluster %q ended before it was ready; its logs are in %s", i.Name, i.LogsDir())
		}
		select {
		case <-ctx.Done():
			return i.startInterrupted(ctx)
		case <-ticker.C:
		}
	}
}

func (i Instance) startInterrupted(ctx context.Context) error {
	return fmt.Errorf("waiting for embedded management cluster %q to become ready: %w; its logs are in %s", i.Name, context.Cause(ctx), i.LogsDir())
}

// findProgram looks for the supervisor in CLUSTERCTL_X_EMBEDDED, in the
// directory "embedded" beside this executable, and in PATH.
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
	return "", fmt.Errorf("%w: run 'make build' in a checkout of clusterctl-x, then use bin/clusterctl-x or set CLUSTERCTL_X_EMBEDDED to bin/embedded/%s; or use a management cluster of your own with --management kubeconfig", ErrNoProgram, Exec)
}

// Stop ends all processes of the instance and returns when they are gone.
// Its state stays. It returns false where nothing ran.
func (i Instance) Stop(ctx context.Context) (bool, error) {
	status, err := i.Status()
	if err != nil || !status.Running {
		return false, err
	}
	if err := i.reap(ctx); err != nil {
		return true, err
	}
	if err := i.signal(status.SupervisorPID, syscall.SIGTERM); err != nil {
		return true, err
	}
	orderly, cancel := context.WithTimeout(ctx, stopGrace)
	defer cancel()
	if i.waitGone(orderly) == nil {
		return true, nil
	}
	if ctx.Err() != nil {
		return true, fmt.Errorf("waiting for embedded management cluster %q to end: %w", i.Name, context.Cause(ctx))
	}
	if err := i.signal(-status.SupervisorPID, syscall.SIGKILL); err != nil {
		return true, err
	}
	return true, i.waitGone(ctx)
}

func (i Instance) waitGone(ctx context.Context) error {
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		if held, err := i.locked(); err != nil || !held {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}

// Remove deletes everything that the stopped instance keeps.
func (i Instance) Remove() error {
	held, err := i.locked()
	if err != nil {
		return err
	}
	if held {
		return fmt.Errorf("removing embedded management cluster %q: %w", i.Name, ErrRunning)
	}
	return os.RemoveAll(i.Dir)
}

// reap ends the processes that a killed supervisor left behind.
func (i Instance) reap(ctx context.Context) error {
	status, err := i.Status()
	if err != nil || !status.Running || status.SupervisorPID == 0 {
		return err
	}
	if syscall.Kill(status.SupervisorPID, 0) == nil {
		return nil
	}
	// The group exists as long as one member lives, and its number is used for
	// no other process until then: it can only be ours.
	if err := i.signal(-status.SupervisorPID, syscall.SIGKILL); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 5*time.Second, errors.New("processes of a killed run do not end"))
	defer cancel()
	return i.waitGone(ctx)
}

// signal sends sig to a process, or to a process group where pid is negative.
func (i Instance) signal(pid int, sig syscall.Signal) error {
	if pid == 0 {
		return fmt.Errorf("embedded management cluster %q runs, but does not say as which process: end the processes that use %s", i.Name, i.Dir)
	}
	if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("ending embedded management cluster %q: %w", i.Name, err)
	}
	return nil
}
