// Command bench measures the built programs against the figures that the
// project promises, each beside its peer in the same run, and prints medians.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"text/tabwriter"
	"time"
)

// bench has the programs and a directory to work in.
type bench struct {
	cli, kubectl, helm, clusterctl string
	dir                            string
	out                            *tabwriter.Writer
}

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	bin, err := filepath.Abs("bin")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "clusterctl-x-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b := bench{
		cli: filepath.Join(bin, "clusterctl-x"), kubectl: filepath.Join(bin, "kubectl"),
		helm: filepath.Join(bin, "peers", "helm"), clusterctl: filepath.Join(bin, "peers", "clusterctl"),
		dir: dir, out: tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0),
	}
	fmt.Fprintln(b.out, "WHAT\tMEDIAN\tMEMORY\tTARGET\tAIM")
	for _, measure := range []func(context.Context) error{b.version, b.validate, b.manifests, b.start, b.create} {
		if err := measure(ctx); err != nil {
			return err
		}
		if err := b.out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// usage of one run of a program.
type usage struct {
	wall time.Duration
	rss  int64 // bytes, at its highest
	out  []byte
}

func (b bench) exec(ctx context.Context, program string, args ...string) (usage, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Env = append(os.Environ(), "CLUSTERCTL_X_HOME="+b.dir, "CLUSTERCTL_X_MANAGEMENT=embedded", "HOME="+b.dir)
	began := time.Now()
	err := cmd.Run()
	u := usage{wall: time.Since(began), out: stdout.Bytes()}
	if err != nil {
		return u, fmt.Errorf("%s %v: %w: %s", filepath.Base(program), args, err, stderr.String())
	}
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.rss = r.Maxrss << 10
	}
	return u, nil
}

// command is one side of a comparison.
type command struct {
	name    string
	program string
	args    []string
}

// compare runs the commands in turns, so that noise meets all of them.
func (b bench) compare(ctx context.Context, rounds int, commands ...command) (map[string]usage, error) {
	runs := map[string][]usage{}
	for range rounds {
		for _, c := range commands {
			u, err := b.exec(ctx, c.program, c.args...)
			if err != nil {
				return nil, err
			}
			runs[c.name] = append(runs[c.name], u)
		}
	}
	medians := map[string]usage{}
	for name, all := range runs {
		medians[name] = median(all)
	}
	return medians, nil
}

// median run by time; memory is the highest of all runs.
func median(all []usage) usage {
	slices.SortFunc(all, func(a, b usage) int { return int(a.wall - b.wall) })
	m := all[len(all)/2]
	for _, u := range all {
		m.rss = max(m.rss, u.rss)
	}
	return m
}

func (b bench) row(what string, u usage, target, aim string) {
	memory := "-"
	if u.rss > 0 {
		memory = fmt.Sprintf("%d MiB", u.rss>>20)
	}
	fmt.Fprintf(b.out, "%s\t%s\t%s\t%s\t%s\n", what, u.wall.Round(time.Millisecond), memory, target, aim)
}

func (b bench) ratio(what string, x, y usage) {
	fmt.Fprintf(b.out, "%s\t%.2f\t\t\t\n", what, float64(x.wall)/float64(y.wall))
}

func (b bench) version(ctx context.Context) error {
	m, err := b.compare(ctx, 21,
		command{"ours", b.cli, []string{"version"}},
		command{"kubectl", b.kubectl, []string{"version", "--client"}},
		command{"clusterctl", b.clusterctl, []string{"version", "-o", "short"}})
	if err != nil {
		return err
	}
	b.row("clusterctl-x version", m["ours"], "kubectl", "clusterctl")
	b.row("kubectl version --client", m["kubectl"], "", "")
	b.row("clusterctl version", m["clusterctl"], "", "")
	b.ratio("ratio to kubectl", m["ours"], m["kubectl"])
	b.ratio("ratio to clusterctl", m["ours"], m["clusterctl"])
	return nil
}
