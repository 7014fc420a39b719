package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// createTimeout and deleteTimeout are the defaults of --timeout.
const (
	createTimeout = 30 * time.Minute
	deleteTimeout = 30 * time.Minute
)

// Values of --dry-run.
const (
	dryRunNone   = "none"
	dryRunClient = "client"
	dryRunServer = "server"
)

type createOptions struct {
	file     string
	wait     bool
	takeOver bool
	dryRun   string
}

func (a *app) createClusterCommand() *cobra.Command {
	var o createOptions
	cmd := &cobra.Command{
		Use:   "cluster -f FILE",
		Short: "Create the cluster that a file describes and wait until it is ready",
		Example: `  clusterctl-x create cluster -f cluster.yaml
  clusterctl-x create cluster -f cluster.yaml --dry-run=server`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if modes := []string{dryRunNone, dryRunClient, dryRunServer}; !slices.Contains(modes, o.dryRun) {
				return usageError{fmt.Errorf("--dry-run must be one of %s, not %q", strings.Join(modes, ", "), o.dryRun)}
			}
			ctx, cancel := a.withTimeout(cmd.Context(), createTimeout)
			defer cancel()
			return a.createCluster(ctx, o)
		},
	}
	addFile(cmd, &o.file, "file that describes the cluster; - is standard input")
	cmd.Flags().BoolVar(&o.wait, "wait", true, "wait until control plane and worker node groups are ready")
	addTakeOver(cmd, &o.takeOver)
	cmd.Flags().StringVar(&o.dryRun, "dry-run", dryRunNone, "none, client (check the file only) or server (let the management cluster check every object); nothing is created")
	return cmd
}

func (a *app) createCluster(ctx context.Context, o createOptions) error {
	if o.dryRun == dryRunClient {
		return a.createOffline(o.file)
	}
	spec, err := a.readSpec(o.file)
	if err != nil {
		return err
	}
	warnings, err := spec.CheckCreation()
	if err != nil {
		a.warn(warnings)
		return err
	}
	service, err := a.service(ctx)
	if err != nil {
		return err
	}
	a.warn(warnings)
	n, err := service.PlanCreation(ctx, spec)
	if err != nil {
		return err
	}
	if o.dryRun == dryRunServer {
		for _, reference := range n.Missing {
			a.warning("%s; without it the cluster is not created", reference)
		}
		tried, err := service.DryRunCreation(ctx, n)
		if err != nil {
			return err
		}
		return a.result("cluster %s: %d objects would be created (server dry run)", n.Key, countCreated(tried))
	}
	done, err := service.Create(ctx, n, lifecycle.CreateOptions{TakeOver: o.takeOver})
	switch {
	case errors.Is(err, management.ErrTimeout):
		return fmt.Errorf("%w; run the same command again to go on", err)
	case err != nil:
		return err
	}
	created := countCreated(done)
	if created > 0 {
		a.say("cluster %s: %d objects created", n.Key, created)
	}
	if !o.wait {
		return a.result("cluster %s: created; 'clusterctl-x describe cluster %s -n %s' shows how far it is", n.Key, n.Key.Name, n.Key.Namespace)
	}
	return a.waitReady(ctx, service, n.Key, waiting{goesOn: "creating", unchanged: created == 0})
}

// createOffline says what would be created, from the file alone.
func (a *app) createOffline(file string) error {
	spec, resolved, err := a.validSpec(file)
	if err != nil {
		return err
	}
	objects, err := spec.Render(a.namespaceOffline())
	if err != nil {
		return err
	}
	return a.result("cluster %s: %d objects would be created (client dry run)", resolved.Config.Cluster.Metadata.Name, len(objects))
}

func countCreated(all []management.Change) int {
	created := 0
	for _, change := range all {
		if change.Action == management.Created {
			created++
		}
	}
	return created
}

// waiting is what a command waits for.
type waiting struct {
	// goesOn is what Cluster API does meanwhile.
	goesOn string
	// unchanged is set where nothing was written: a cluster that is done is not shown.
	unchanged bool
}

// waitReady waits until a cluster is as it was asked for.
func (a *app) waitReady(ctx context.Context, service *lifecycle.Service, key types.NamespacedName, w waiting) error {
	began := time.Now()
	progress := a.progress()
	last, err := service.WaitReady(ctx, key, func(cluster state.Cluster) {
		if w.unchanged = w.unchanged && cluster.Done() && cluster.Held == nil; !w.unchanged {
			progress.Show(cluster)
		}
	})
	progress.Close()
	switch {
	case errors.Is(err, management.ErrTimeout) && last.Name == "":
		return fmt.Errorf("%w; nothing was seen of it yet, and Cluster API goes on %s cluster %s: run the same command again to go on watching", err, w.goesOn, key)
	case errors.Is(err, management.ErrTimeout):
		return fmt.Errorf("%w waiting for %s; Cluster API goes on %s cluster %s: run the same command again to go on watching", err, last.Waiting(), w.goesOn, key)
	case errors.Is(err, context.Canceled):
		return interruptedError(fmt.Sprintf("Cluster API goes on %s cluster %s: run the same command again to go on watching", w.goesOn, key))
	case err != nil:
		return err
	case w.unchanged:
		return a.result("cluster %s exists and is as the file describes it; nothing to do", key)
	default:
		return a.result("cluster %s is ready after %s", key, time.Since(began).Round(time.Second))
	}
}
