package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// trial is one thing that is in the way.
type trial struct {
	name string
	run  func(context.Context) error
}

func (s soak) trials(kills int) []trial {
	// extra machines may be made by the disturbance itself.
	disturbed := func(name string, extra int, disturb func(context.Context, *cluster) error) trial {
		return trial{name, func(ctx context.Context) error {
			return s.disturbed(ctx, strings.ReplaceAll(strings.ToLower(name), " ", "-"), extra, disturb)
		}}
	}
	return []trial{
		{"kills of the command line", func(ctx context.Context) error { return s.killed(ctx, kills) }},
		disturbed("restart of the API server", 0, s.restart("kube-apiserver")),
		disturbed("restart of the controllers", 0, s.restart("providers")),
		disturbed("restart of the core controllers", 0, s.restart("core")),
		disturbed("two upgrades at once", 0, s.second),
		disturbed("a person edits", 1, s.edit),
		{"class change of twenty clusters", s.classChange},
	}
}

// killAfter runs the upgrade and kills it. It takes over from the run before,
// whose lock has not run out yet.
func (s soak) killAfter(ctx context.Context, c *cluster, moment time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, moment)
	defer cancel()
	r := s.exec(ctx, s.cli, "upgrade", "cluster", "-f", c.file, "--take-over")
	if r.code > 0 {
		return fmt.Errorf("a run ended with %d before it was killed: %s", r.code, r.stderr)
	}
	return nil
}

// inTheMiddle runs the upgrade until it is in its second step, does something,
// and returns how the run ended.
func (s soak) inTheMiddle(ctx context.Context, c *cluster, something func() error) (result, error) {
	middle := make(chan struct{})
	cmd := s.command(ctx, s.cli, "upgrade", "cluster", "-f", c.file)
	var stdout bytes.Buffer
	stderr := &waiter{text: "step 2 of", reached: middle}
	cmd.Stdout, cmd.Stderr = &stdout, stderr
	if err := cmd.Start(); err != nil {
		return result{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-middle:
	case err := <-ended:
		return result{}, errors.Join(fmt.Errorf("the upgrade ended before its second step: %s", stderr), err)
	}
	err := something()
	var exit *exec.ExitError
	if endErr := <-ended; !errors.As(endErr, &exit) {
		err = errors.Join(err, endErr)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}, err
}

// restart kills a process of the management cluster, which its supervisor
// starts again. The upgrade goes on, or says that it could not.
func (s soak) restart(process string) func(context.Context, *cluster) error {
	return func(ctx context.Context, c *cluster) error {
		r, err := s.inTheMiddle(ctx, c, func() error {
			pid, err := s.pid(ctx, process)
			if err != nil {
				return err
			}
			return syscall.Kill(pid, syscall.SIGKILL)
		})
		if err == nil && r.code != 0 && !strings.Contains(r.stderr, "run the same command again") && !strings.Contains(r.stderr, "cannot be reached") {
			err = fmt.Errorf("the upgrade ended with %d and without a remedy: %s", r.code, r.stderr)
		}
		return err
	}
}

func (s soak) pid(ctx context.Context, process string) (int, error) {
	r := s.exec(ctx, s.cli, "management", "status", "-o", "json")
	var status struct {
		Data []struct{ Processes map[string]int }
	}
	if err := json.Unmarshal([]byte(r.stdout), &status); err != nil {
		return 0, fmt.Errorf("reading the status: %w: %s", err, r.stderr)
	}
	for name, pid := range status.Data[0].Processes {
		if strings.Contains(name, process) {
			return pid, nil
		}
	}
	return 0, fmt.Errorf("no process %q among %v", process, status.Data[0].Processes)
}

// second starts another upgrade of the cluster, which is refused.
func (s soak) second(ctx context.Context, c *cluster) error {
	const locked = 4
	first, err := s.inTheMiddle(ctx, c, func() error {
		if r := s.exec(ctx, s.cli, "upgrade", "cluster", "-f", c.file); r.code != locked || !strings.Contains(r.stderr, "works on cluster") {
			return fmt.Errorf("the second upgrade ended with %d: %s", r.code, r.stderr)
		}
		return nil
	})
	if err == nil && first.code != 0 {
		err = fmt.Errorf("the first upgrade ended with %d: %s", first.code, first.stderr)
	}
	return err
}

// edit scales a group by hand. The upgrade stops and names who did it; once that
// is undone it goes on.
func (s soak) edit(ctx context.Context, c *cluster) error {
	const moved = 4
	r, err := s.inTheMiddle(ctx, c, func() error {
		return s.scale(ctx, c, 3)
	})
	if err == nil && (r.code != moved || !strings.Contains(r.stderr, "kubectl-patch")) {
		err = fmt.Errorf("the upgrade ended with %d and does not name who edits: %s", r.code, r.stderr)
	}
	if err != nil {
		return err
	}
	if err := s.scale(ctx, c, 2); err != nil {
		return err
	}
	if r := s.exec(ctx, s.kubectl, "--kubeconfig", s.kubeconfig(), "wait", "machinedeployment", c.name+"-md-1", "--for=jsonpath={.status.replicas}=2", "--timeout=5m"); r.code != 0 {
		return errors.New(r.stderr)
	}
	return nil
}

func (s soak) scale(ctx context.Context, c *cluster, count int) error {
	r := s.exec(ctx, s.kubectl, "--kubeconfig", s.kubeconfig(), "patch", "machinedeployment", c.name+"-md-1", "--type=merge", "-p", fmt.Sprintf(`{"spec":{"replicas":%d}}`, count))
	if r.code != 0 {
		return errors.New(r.stderr)
	}
	return nil
}

// waiter tells when a text was written.
type waiter struct {
	written bytes.Buffer
	text    string
	reached chan struct{}
	told    bool
}

func (w *waiter) String() string { return w.written.String() }

func (w *waiter) Write(p []byte) (int, error) {
	n, err := w.written.Write(p)
	if !w.told && strings.Contains(w.String(), w.text) {
		w.told = true
		close(w.reached)
	}
	return n, err
}
