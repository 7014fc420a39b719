// Command bench measures the built programs against the figures that the
// project promises, each beside its peer in the same run, and prints medians.
// Arguments name the measurements to make; without any all of them are made.
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

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// bench has the programs and a directory to work in.
type bench struct {
	cli, kubectl, helm, clusterctl string
	dir                            string
	out                            *table
}

// table is what is printed next.
type table struct{ lines bytes.Buffer }

// line adds a line, whose columns tabs separate.
func (t *table) line(format string, args ...any) { fmt.Fprintf(&t.lines, format+"\n", args...) }

// print prints the lines since the last time.
func (t *table) print() error {
	aligned := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	if _, err := t.lines.WriteTo(aligned); err != nil {
		return err
	}
	return aligned.Flush()
}

func main() {
	log.SetLogger(logr.Discard())
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only []string) (err error) {
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
		dir: dir, out: &table{},
	}
	b.out.line("WHAT\tMEDIAN\tMEMORY\tTARGET\tAIM")
	for _, m := range []struct {
		name    string
		measure func(context.Context) error
	}{
		{"version", b.version}, {"validate", b.validate}, {"manifests", b.manifests}, {"start", b.start}, {"create", b.create}, {"plan", b.plan}, {"upgrade", b.upgrade}, {"extension", b.extension}, {"fleet", b.fleet},
	} {
		if len(only) > 0 && !slices.Contains(only, m.name) {
			continue
		}
		if err := m.measure(ctx); err != nil {
			return fmt.Errorf("measuring %s: %w", m.name, err)
		}
		if err := b.out.print(); err != nil {
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
	b.out.line("%s\t%s\t%s\t%s\t%s", what, u.wall.Round(time.Millisecond), memory, target, aim)
}

func (b bench) ratio(what string, x, y usage) {
	b.out.line("%s\t%.2f\t\t\t", what, float64(x.wall)/float64(y.wall))
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
