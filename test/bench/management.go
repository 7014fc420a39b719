package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// start measures the embedded management cluster: from nothing, from kept
// state, and its memory at rest.
func (b bench) start(ctx context.Context) error {
	var cold, kept []usage
	for range 3 {
		u, err := b.exec(ctx, b.cli, "management", "start")
		if err != nil {
			return err
		}
		cold = append(cold, u)
		if _, err := b.exec(ctx, b.cli, "management", "stop"); err != nil {
			return err
		}
		if u, err = b.exec(ctx, b.cli, "management", "start"); err != nil {
			return err
		}
		kept = append(kept, u)
		if _, err := b.exec(ctx, b.cli, "management", "stop", "--remove"); err != nil {
			return err
		}
	}
	for _, u := range [][]usage{cold, kept} {
		for i := range u {
			u[i].rss = 0 // of the command, which is not the question
		}
	}
	b.row("management start, from nothing", median(cold), "10s", "6s")
	b.row("management start, from kept state", median(kept), "5s", "3s")
	return nil
}

// create makes a cluster of 3 + 6 machines and compares the moment at which
// the last machine is ready in the API with the moment the command returns.
func (b bench) create(ctx context.Context) (err error) {
	if _, err := b.exec(ctx, b.cli, "management", "start"); err != nil {
		return err
	}
	defer func() {
		_, stopErr := b.exec(ctx, b.cli, "management", "stop", "--remove")
		err = errors.Join(err, stopErr)
	}()
	select { // a minute after its start it is at rest
	case <-time.After(time.Minute):
	case <-ctx.Done():
		return ctx.Err()
	}
	memory, err := b.residentMemory(ctx)
	if err != nil {
		return err
	}
	b.out.line("embedded management cluster at rest\t-\t%d MiB\t1126 MiB\t900 MiB", memory>>20)
	if err := b.out.print(); err != nil {
		return err
	}

	ready := make(chan time.Time, 1)
	observed, stop := context.WithCancel(ctx)
	defer stop()
	go func() { ready <- b.lastMachineReady(observed, 9) }()
	u, err := b.exec(ctx, b.cli, "create", "cluster", "-f", "test/bench/testdata/create.yaml")
	if err != nil {
		return err
	}
	returned := time.Now()
	b.row("create cluster, 3 + 6 machines", u, "", "")
	select {
	case at := <-ready:
		b.out.line("returns after the last machine is ready\t%s\t\t1s\t", returned.Sub(at).Round(10*time.Millisecond))
	case <-time.After(10 * time.Second):
		return errors.New("the observer saw no ready machines")
	}
	return nil
}

// residentMemory adds up all processes of the instance.
func (b bench) residentMemory(ctx context.Context) (int64, error) {
	u, err := b.exec(ctx, b.cli, "management", "status", "-o", "json")
	if err != nil {
		return 0, err
	}
	var status struct {
		Data []struct {
			SupervisorPID int
			Processes     map[string]int
		}
	}
	if err := json.Unmarshal(u.out, &status); err != nil {
		return 0, err
	}
	pids := []string{strconv.Itoa(status.Data[0].SupervisorPID)}
	for _, pid := range status.Data[0].Processes {
		pids = append(pids, strconv.Itoa(pid))
	}
	out, err := exec.CommandContext(ctx, "ps", "-o", "rss=", "-p", strings.Join(pids, ",")).Output()
	if err != nil {
		return 0, fmt.Errorf("reading the memory of the processes: %w", err)
	}
	var total int64
	for field := range strings.FieldsSeq(string(out)) {
		kib, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		total += kib << 10
	}
	return total, nil
}

// lastMachineReady reads a watch of kubectl, an observer of its own, and
// returns when the given number of machines was ready for the first time.
func (b bench) lastMachineReady(ctx context.Context, machines int) time.Time {
	kubeconfig := filepath.Join(b.dir, "embedded", "default", "kubeconfig")
	cmd := exec.CommandContext(ctx, b.kubectl, "--kubeconfig", kubeconfig, "get", "machines", "--watch", "-o",
		`jsonpath={.metadata.name}{" "}{.status.conditions[?(@.type=="Ready")].status}{"\n"}`)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return time.Time{}
	}
	ready := map[string]bool{}
	buffer := make([]byte, 1<<16)
	pending := ""
	for {
		n, err := out.Read(buffer)
		pending += string(buffer[:n])
		for {
			line, rest, whole := strings.Cut(pending, "\n")
			if !whole {
				break
			}
			pending = rest
			name, status, _ := strings.Cut(line, " ")
			ready[name] = status == "True"
		}
		count := 0
		for _, is := range ready {
			if is {
				count++
			}
		}
		if count == machines {
			return time.Now()
		}
		if err != nil {
			return time.Time{}
		}
	}
}
