package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/skew"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

func (a *app) watchClusterCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "cluster NAME",
		Short:             "Show what happens to a cluster until it is as its spec asks for, with the steps that are left and what holds them up",
		Args:              oneName,
		ValidArgsFunction: a.completeClusters,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.withTimeout(cmd.Context(), 0)
			defer cancel()
			return a.watchCluster(ctx, args[0])
		},
	}
}

func (a *app) watchCluster(ctx context.Context, name string) error {
	l, err := a.find(ctx, name)
	if err != nil {
		return err
	}
	asked, err := a.lastAsked(ctx, l.connection, l.key)
	if err != nil {
		return err
	}
	began := time.Now()
	progress := a.progress()
	var seen watched
	unplanned := asked.unplanned()
	err = l.Watch(ctx, l.key, func(cluster state.Cluster, exists bool) (bool, error) {
		if seen.gone = !exists; seen.gone {
			return true, nil
		}
		seen.cluster = cluster
		seen.left, seen.unknown = asked.left(cluster)
		if text := unplanned(cluster); text != "" {
			a.warning("%s", text)
		}
		progress.ShowLeft(seen.left, cluster)
		if !cluster.Done() || seen.left.Empty() {
			return cluster.Done(), management.Stuck(cluster)
		}
		// Somebody takes the next step, or nobody does.
		turns, err := l.Turns(ctx, l.key)
		return len(turns) == 0, err
	})
	progress.Close()
	switch {
	case errors.Is(err, management.ErrTimeout) && seen.cluster.Name == "":
		return fmt.Errorf("%w; nothing was seen of cluster %s yet", err, l.key)
	case errors.Is(err, management.ErrTimeout):
		return fmt.Errorf("%w watching; cluster %s waits for %s", err, l.key, seen.cluster.Waiting())
	case errors.Is(err, context.Canceled):
		return interruptedError("watching changes nothing, and nothing stops with it")
	case err != nil:
		return err
	}
	return a.result("%s", seen.result(l.key, time.Since(began).Round(time.Second)))
}

// watched is what was seen of a cluster in the end.
type watched struct {
	cluster state.Cluster
	gone    bool
	left    plan.Plan
	unknown error // why the steps that are left cannot be told
}

func (w watched) result(key client.ObjectKey, after time.Duration) string {
	switch {
	case w.gone:
		return fmt.Sprintf("cluster %s is gone", key)
	case w.unknown != nil:
		return fmt.Sprintf("cluster %s is at %s after %s; whether that is all that was asked for cannot be told: %v", key, w.cluster.ControlPlane.Version, after, w.unknown)
	case !w.left.Empty():
		return fmt.Sprintf("cluster %s is at %s after %s, and nobody takes the next step (%s): 'clusterctl-x upgrade cluster' does", key, w.cluster.ControlPlane.Version, after, w.left.Steps[0])
	default:
		return fmt.Sprintf("cluster %s is at %s and as its spec asks for, after %s", key, w.cluster.ControlPlane.Version, after)
	}
}

// asked is what a cluster was last asked for; the zero value where that is not
// known.
type asked struct {
	resolved validations.Resolved
	releases spec
	// plan that was followed last; nil for a cluster without a ClusterClass.
	plan *plan.Plan
	// chain is topology.Road.Chain, for a cluster from a ClusterClass.
	chain chainFunc
	// unread is why the way of a cluster from a ClusterClass cannot be told.
	unread error
}

// lastAsked reads it from the cluster's record.
func (a *app) lastAsked(ctx context.Context, c *connection, key client.ObjectKey) (asked, error) {
	record, _, err := c.Record(ctx, key)
	if err != nil {
		return asked{}, err
	}
	bundles, err := a.readBundles()
	if err != nil {
		return asked{}, err
	}
	s, config := spec{bundles: bundles}.withRecord(record, key.String())
	if config == nil {
		return asked{}, nil
	}
	s.config = config
	k := asked{resolved: validations.Resolved{Config: config, Versions: record.Versions}, releases: s, plan: record.Plan, chain: chainOf(ctx, c, key)}
	if s.managed() {
		// Without its class nothing can be told of the way, and all else can.
		class, exists, err := c.ClassAlone(ctx, s.classKey(key.Namespace))
		switch {
		case err != nil:
			k.unread = fmt.Errorf("its ClusterClass cannot be read: %w", err)
		case !exists:
			k.unread = errors.New("its ClusterClass is gone")
		default:
			k.releases.class = &class
		}
	}
	return k, nil
}

// unplanned returns a function that says in what a cluster is otherwise than
// planned, each thing once.
func (k asked) unplanned() func(state.Cluster) string {
	step, said := 0, ""
	return func(cluster state.Cluster) string {
		if k.plan == nil || cluster.Topology == nil || cluster.Topology.Version.After(k.plan.To.ControlPlane) {
			return ""
		}
		reached, planned := k.plan.Reached(step, cluster)
		step = reached
		text := ""
		if !planned && !cluster.Done() {
			text = k.plan.Unplanned(step, cluster)
		}
		if text == said {
			return ""
		}
		said = text
		return text
	}
}

// left is the way that is left from the cluster as it is, by its versions. The
// error says why it cannot be told.
func (k asked) left(cluster state.Cluster) (plan.Plan, error) {
	if k.resolved.Config == nil {
		return plan.Plan{}, errors.New("the cluster has no record of this version of clusterctl-x")
	}
	cluster = cluster.Claim(spec{config: k.resolved.Config}.claims())
	start := plan.StartOf(cluster)
	in := plan.Input{
		Start: start, Target: target(k.resolved, start), Releases: k.releases.releases().Offered(validations.Needs(k.resolved.Config)),
		Policy: validations.Policy(k.resolved.Config.Cluster),
	}
	if k.unread != nil {
		return plan.Plan{}, k.unread
	}
	if k.releases.managed() && cluster.Topology != nil {
		in.Chain = &plan.Chain{From: cluster.Topology.Version}
		chain, err := wayOf(k.releases, in, *cluster.Topology, k.chain)
		if err != nil {
			return plan.Plan{}, err
		}
		in.Chain = chain
	}
	return plan.Compute(in)
}

// pinned tells whether the spec gives a group a version of its own.
func (k asked) pinned(group string) bool {
	if k.resolved.Config == nil {
		return false
	}
	for _, g := range k.resolved.Config.Cluster.Spec.WorkerNodeGroupConfigurations {
		if g.Name == group {
			return g.Pinned()
		}
	}
	return false
}

func (k asked) lags(cluster state.Cluster) []plan.Lag {
	var policy skew.Policy
	if k.resolved.Config != nil {
		policy = validations.Policy(k.resolved.Config.Cluster)
	}
	return plan.Lags(cluster, k.pinned, policy)
}
