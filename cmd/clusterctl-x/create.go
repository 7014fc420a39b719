package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
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
	s, err := a.readSpec(o.file)
	if err != nil {
		return err
	}
	if o.dryRun == dryRunClient {
		return a.createOffline(s)
	}
	n, err := a.prepareCreation(ctx, s)
	if err != nil {
		return err
	}
	if err := a.checkReferences(ctx, n.connection, n.resolved.Config, n.key.Namespace, o.dryRun == dryRunServer); err != nil {
		return err
	}
	if o.dryRun == dryRunServer {
		tried, err := n.TryCreate(ctx, n.key, n.objects)
		if err != nil {
			return n.spec.admission(err)
		}
		return a.result("cluster %s: %d objects would be created (server dry run)", n.key, countCreated(tried))
	}
	done, err := n.CreateCluster(ctx, n.key, management.Creation{
		Objects: n.objects, Record: recordOf(n.spec, n.resolved.Versions), TakeOver: o.takeOver, Waiting: a.sayWaiting,
	})
	switch {
	case errors.Is(err, management.ErrTimeout):
		return fmt.Errorf("%w; run the same command again to go on", err)
	case err != nil:
		return n.spec.admission(err)
	}
	if created := countCreated(done); created > 0 {
		a.say("cluster %s: %d objects created", n.key, created)
	}
	if !o.wait {
		return a.result("cluster %s: created; 'clusterctl-x describe cluster %s -n %s' shows how far it is", n.key, n.key.Name, n.key.Namespace)
	}
	return a.waitReady(ctx, n.connection, n.key, waiting{goesOn: "creating", unchanged: countCreated(done) == 0})
}

// newCluster is a cluster that can be created.
type newCluster struct {
	*connection
	key      client.ObjectKey
	spec     spec
	resolved validations.Resolved
	objects  []*unstructured.Unstructured
}

// prepareCreation resolves and renders a cluster for the management cluster, which may
// have the class that its versions come from, or what an earlier create made of it.
func (a *app) prepareCreation(ctx context.Context, s spec) (newCluster, error) {
	resolved, err := a.resolve(s, noVersions())
	if s.managed() && versionsbundle.OnlyMissing(err) {
		resolved, err = validations.Resolved{}, nil // the class may have the version
	}
	if err != nil {
		return newCluster{}, err
	}
	connection, err := a.connect(ctx)
	if err != nil {
		return newCluster{}, err
	}
	a.warn(resolved)
	n := newCluster{connection: connection, key: a.key(s.config.Cluster.Metadata.Name, s.config.Cluster.Metadata.Namespace, connection), resolved: resolved}
	live, exists, err := n.Observe(ctx, n.key)
	if err != nil {
		return newCluster{}, err
	}
	if exists {
		if err := s.sameMaker(live); err != nil {
			return newCluster{}, err
		}
	}
	if n.spec, err = a.withClass(ctx, connection, s, n.key.Namespace); err != nil {
		return newCluster{}, err
	}
	if exists || n.spec.managed() {
		if n.resolved, err = a.resolve(n.spec, runningOf(live)); err != nil {
			return newCluster{}, err
		}
	}
	if err := sameVersionsAs(live, n.resolved.Versions, n.key.String()); err != nil {
		return newCluster{}, err
	}
	n.objects, err = a.objectsOf(ctx, n, live)
	return n, err
}

// objectsOf are all objects of a new cluster.
func (a *app) objectsOf(ctx context.Context, n newCluster, live state.Cluster) ([]*unstructured.Unstructured, error) {
	rendered, err := a.render(n.spec, n.resolved, n.key.Namespace)
	if err != nil {
		return nil, err
	}
	objects, err := decodeAll(rendered)
	if err != nil || !n.spec.managed() {
		return objects, err
	}
	return a.managedObjects(ctx, n.spec, n.resolved, objects, live)
}

// sameVersionsAs refuses to create a cluster that is there with other versions: what the
// API server says against them is about an upgrade, which create is not.
func sameVersionsAs(live state.Cluster, wanted v1alpha1.ClusterVersions, key string) error {
	var all []management.Change
	differs := func(object string, is, wanted v1alpha1.Version) {
		if !is.IsZero() && !wanted.IsZero() && is != wanted {
			all = append(all, management.Change{Object: object, Action: management.Changed, Fields: []changes.Field{{Path: "version", Change: fmt.Sprintf("is %s, and the file asks for %s", is, wanted)}}})
		}
	}
	if live.Topology != nil {
		differs("Cluster/"+live.Name, live.Topology.Version, wanted.ControlPlane)
	} else {
		differs(live.ControlPlane.Object, live.ControlPlane.Version, wanted.ControlPlane)
	}
	for _, group := range live.WorkerNodeGroups {
		if live.Topology == nil && !group.Foreign || group.Detached {
			differs(group.Object, group.Version, wanted.WorkerNodeGroups[group.Name])
		}
	}
	if len(all) == 0 {
		return nil
	}
	return &management.DifferentError{Cluster: key, Changes: all}
}

// createOffline says what would be created, from the file alone.
func (a *app) createOffline(s spec) error {
	resolved, err := a.resolve(s, noVersions())
	if err != nil {
		return err
	}
	a.warn(resolved)
	objects, err := a.render(s, resolved, "default")
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
func (a *app) waitReady(ctx context.Context, c *connection, key client.ObjectKey, w waiting) error {
	began := time.Now()
	progress := a.progress()
	var last state.Cluster
	err := c.Watch(ctx, key, func(cluster state.Cluster, exists bool) (bool, error) {
		if !exists {
			return false, fmt.Errorf("cluster %s was deleted meanwhile", key)
		}
		last = cluster
		if w.unchanged && cluster.Done() && cluster.Held == nil {
			return true, nil
		}
		w.unchanged = false
		progress.Show(cluster)
		return cluster.Done() && cluster.Held == nil, management.Stuck(cluster)
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
