// Package watch shows what happens to a cluster.
package watch

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/failure"
	"github.com/clusterctl-x/clusterctl-x/pkg/input"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// New returns the command watch.
func New(a *cli.App) *cobra.Command {
	const short = "Show what happens to a cluster until it matches its spec, with the steps that are left and what holds them up"
	o := options{App: a}
	cmd := a.ClusterCommand(short, a.ServiceWithBundles, func(ctx context.Context, service *lifecycle.Service, key types.NamespacedName) error {
		return o.run(ctx, service, key)
	})
	cmd.Flags().IntVar(&o.step, "until-step", 0, "wait until this step of --plan is done, by clusterctl-x or by a GitOps tool")
	cmd.Flags().StringVar(&o.plan, "plan", "", "file with the plan that --until-step is about, from 'plan upgrade --out'")
	return commandline.Group("watch", "Show what happens to a cluster", cmd)
}

type options struct {
	*cli.App
	step int
	plan string
}

// follow calls show until the cluster is done, or the step is.
func (o *options) follow(ctx context.Context, service *lifecycle.Service, key types.NamespacedName, show func(lifecycle.Watched)) (lifecycle.Watched, error) {
	saved, err := input.ReadPlanOfStep(o.plan, o.step)
	if err != nil {
		return lifecycle.Watched{}, err
	}
	if saved == nil {
		return service.Watch(ctx, key, show)
	}
	return service.WatchStep(ctx, key, *saved, o.step, show)
}

func (o *options) run(ctx context.Context, service *lifecycle.Service, key types.NamespacedName) error {
	a, began := o.App, time.Now()
	var progress *view.Progress // nil until anything was seen
	seen, err := o.follow(ctx, service, key, func(seen lifecycle.Watched) {
		if progress == nil {
			progress = a.Progress()
		}
		progress.ShowLeft(seen.Left, seen.Cluster)
	})
	if progress != nil {
		progress.Close()
	}
	if err != nil {
		return failure.Ended(err, view.Watched(seen).Late(key), "watching changes nothing, and the cluster continues without it")
	}
	after := time.Since(began).Round(time.Second)
	if o.step > 0 && !seen.Gone {
		return a.Result("cluster %s: step %d is done after %s", key, o.step, after)
	}
	return a.Result("%s", view.Watched(seen).End(key, after))
}

// Waiting is what UntilReady waits for.
type Waiting struct {
	// GoesOn is what Cluster API does meanwhile.
	GoesOn string
	// Unchanged is set where nothing was written: a cluster that is done is not shown.
	Unchanged bool
}

// UntilReady shows a cluster until it is as it was asked for, and says so.
func UntilReady(ctx context.Context, a *cli.App, service *lifecycle.Service, key types.NamespacedName, w Waiting) error {
	result, err := Ready(ctx, a, service, key, w)
	if err != nil {
		return err
	}
	return a.Result("%s", result)
}

// Ready shows a cluster until it is as it was asked for, and returns what to say then.
func Ready(ctx context.Context, a *cli.App, service *lifecycle.Service, key types.NamespacedName, w Waiting) (string, error) {
	began := time.Now()
	progress := a.Progress()
	last, err := service.WaitReady(ctx, key, func(cluster state.Cluster) {
		if w.Unchanged = w.Unchanged && cluster.Ready(); !w.Unchanged {
			progress.Show(cluster)
		}
	})
	progress.Close()
	if err != nil {
		left := fmt.Sprintf("Cluster API continues %s cluster %s: run the same command again to keep watching", w.GoesOn, key)
		return "", failure.Ended(err, view.WaitedFor(last)+"; "+left, left)
	}
	if w.Unchanged {
		return fmt.Sprintf("cluster %s exists and matches the file; nothing to do", key), nil
	}
	return fmt.Sprintf("cluster %s is ready after %s", key, time.Since(began).Round(time.Second)), nil
}
