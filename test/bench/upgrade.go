package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

//go:embed testdata
var testdata embed.FS

// The upgrade that is measured: three minors.
const (
	oldVersion = "v1.31.14"
	newVersion = "v1.34.4"
)

// upgrade measures an upgrade of 3 + 3 x 3 machines beside the same one by
// Cluster API's topology controller, both at the same time, at the given
// concurrency of groups.
func (b bench) upgrade(ctx context.Context) (err error) {
	if _, err := b.exec(ctx, b.cli, "management", "start"); err != nil {
		return err
	}
	defer func() {
		_, stopErr := b.exec(ctx, b.cli, "management", "stop", "--remove")
		err = errors.Join(err, stopErr)
	}()
	if err := b.kubectlApply(ctx, "class.yaml", "", "", 0); err != nil {
		return err
	}
	for _, concurrency := range []int{1, 3} {
		if err := b.upgradeAt(ctx, concurrency); err != nil {
			return err
		}
		if err := b.out.print(); err != nil {
			return err
		}
	}
	return nil
}

// pairs of clusters are upgraded at the same time: a control plane now and then
// waits half a minute for its etcd, and medians leave that out.
const pairs = 3

func (b bench) upgradeAt(ctx context.Context, concurrency int) error {
	var our, their [pairs]timeline
	var tasks errgroup.Group
	for i := range pairs {
		tasks.Go(func() (err error) {
			our[i], their[i], err = b.upgradePair(ctx, fmt.Sprintf("%d-%d", concurrency, i), concurrency)
			return err
		})
	}
	if err := tasks.Wait(); err != nil {
		return err
	}
	ours, theirs := middle(our[:]), middle(their[:])
	what := fmt.Sprintf("upgrade over three minors, 3 + 9 machines, %d group(s) at a time", concurrency)
	b.row(what, usage{wall: ours.lasted()}, "topology", "topology")
	b.row(what+", topology controller", usage{wall: theirs.lasted()}, "", "")
	b.ratio("  ratio", usage{wall: ours.lasted()}, usage{wall: theirs.lasted()})
	var gaps timeline
	var idle, lasted time.Duration
	for _, t := range our {
		gaps.gaps = append(gaps.gaps, t.gaps...)
		idle, lasted = idle+t.idle(), lasted+t.lasted()
	}
	b.row("  from a step's end to the next one's first write, median", usage{wall: gaps.between(0.5)}, "250ms", "")
	b.row("  from a step's end to the next one's first write, longest", usage{wall: gaps.between(1)}, "1s", "")
	b.out.line("  share of time without a rollout under way\t%.1f %%\t\t3 %%\t", 100*float64(idle)/float64(lasted))
	for _, side := range []struct {
		name string
		all  []timeline
	}{{"ours", our[:]}, {"topology controller", their[:]}} {
		var controlPlanes []usage
		for _, t := range side.all {
			controlPlanes = append(controlPlanes, usage{wall: t.rolling[v1alpha1.ControlPlaneName]})
		}
		b.row("  "+side.name+": of that the control plane", median(controlPlanes), "", "")
	}
	return nil
}

// upgradePair upgrades one cluster each.
func (b bench) upgradePair(ctx context.Context, suffix string, concurrency int) (our, their timeline, err error) {
	ours, theirs := "ours-"+suffix, "theirs-"+suffix
	connection, err := b.connect(ctx)
	if err != nil {
		return our, their, err
	}
	version := v1alpha1.MustParseVersion
	if err := b.kubectlApply(ctx, "topology.yaml", theirs, oldVersion, concurrency); err != nil {
		return our, their, err
	}
	file, err := b.fill("cluster.yaml", ours, oldVersion, concurrency)
	if err != nil {
		return our, their, err
	}
	if _, err := b.exec(ctx, b.cli, "create", "cluster", "-f", file); err != nil {
		return our, their, err
	}
	if _, err := watch(ctx, connection, theirs, version(oldVersion)); err != nil {
		return our, their, err
	}
	if file, err = b.fill("cluster.yaml", ours, newVersion, concurrency); err != nil {
		return our, their, err
	}
	var tasks errgroup.Group
	tasks.Go(func() (err error) { our, err = watch(ctx, connection, ours, version(newVersion)); return err })
	tasks.Go(func() (err error) { their, err = watch(ctx, connection, theirs, version(newVersion)); return err })
	tasks.Go(func() error { return b.kubectlApply(ctx, "topology.yaml", theirs, newVersion, concurrency) })
	tasks.Go(func() error {
		_, err := b.exec(ctx, b.cli, "upgrade", "cluster", "-f", file)
		return err
	})
	return our, their, tasks.Wait()
}

// middle is the median by time.
func middle(all []timeline) timeline {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b timeline) int { return int(a.lasted() - b.lasted()) })
	return sorted[len(sorted)/2]
}

// timeline is what an observer saw of an upgrade.
type timeline struct {
	began, ended time.Time
	// gaps between the end of a rollout and the beginning of the next one, where
	// nothing else was under way.
	gaps []time.Duration
	// rolling is how long each part was at work.
	rolling map[string]time.Duration
}

func (t timeline) lasted() time.Duration { return t.ended.Sub(t.began) }

// between is a quantile of the gaps.
func (t timeline) between(quantile float64) time.Duration {
	if len(t.gaps) == 0 {
		return 0
	}
	slices.Sort(t.gaps)
	return t.gaps[int(quantile*float64(len(t.gaps)-1))]
}

// idle is how long nothing was under way.
func (t timeline) idle() time.Duration {
	var idle time.Duration
	for _, gap := range t.gaps {
		idle += gap
	}
	return idle
}

// watch observes a cluster until all its parts are done at a version.
func watch(ctx context.Context, c *management.Client, name string, version v1alpha1.Version) (timeline, error) {
	seen := timeline{rolling: map[string]time.Duration{}}
	var last time.Time
	var quiet time.Time // since when nothing is under way
	before := map[string]bool{}
	err := c.Watch(ctx, client.ObjectKey{Namespace: "default", Name: name}, func(cluster state.Cluster, exists bool) (bool, error) {
		now, rolling, done := time.Now(), map[string]bool{}, exists
		for _, part := range cluster.Parts() {
			rolling[part.Name] = !part.Done()
			done = done && part.Done() && part.Version == version
			if before[part.Name] && !last.IsZero() {
				seen.rolling[part.Name] += now.Sub(last)
			}
		}
		busy := slices.Contains(values(rolling), true)
		switch {
		case busy && seen.began.IsZero():
			seen.began = now
		case busy && !quiet.IsZero():
			seen.gaps = append(seen.gaps, now.Sub(quiet))
			quiet = time.Time{}
		case !busy && !seen.began.IsZero() && quiet.IsZero():
			quiet = now
		}
		before, last, seen.ended = rolling, now, now
		return done, nil
	})
	return seen, err
}

func values(m map[string]bool) []bool {
	var all []bool
	for _, v := range m {
		all = append(all, v)
	}
	return all
}

func (b bench) connect(ctx context.Context) (*management.Client, error) {
	config, err := clientcmd.BuildConfigFromFlags("", b.kubeconfig())
	if err != nil {
		return nil, err
	}
	return management.Connect(ctx, config, management.Options{})
}

func (b bench) kubeconfig() string {
	return filepath.Join(b.dir, "embedded", "default", "kubeconfig")
}

// fill writes a file of testdata with its blanks filled in.
func (b bench) fill(name, cluster, version string, concurrency int) (string, error) {
	data, err := fs.ReadFile(testdata, "testdata/"+name)
	if err != nil {
		return "", err
	}
	text := strings.NewReplacer("NAME", cluster, "VERSION", version, "CONCURRENCY", fmt.Sprint(concurrency)).Replace(string(data))
	file := filepath.Join(b.dir, cluster+version+name)
	return file, os.WriteFile(file, []byte(text), 0o600)
}

func (b bench) kubectlApply(ctx context.Context, name, cluster, version string, concurrency int) error {
	file, err := b.fill(name, cluster, version, concurrency)
	if err != nil {
		return err
	}
	_, err = b.exec(ctx, b.kubectl, "--kubeconfig", b.kubeconfig(), "apply", "-f", file)
	return err
}
