package management

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/owners"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Upgrade is a program with what else there is to say about carrying it out.
type Upgrade struct {
	engine.Program
	// Command is what the history of the cluster calls the run.
	Command string
	// Record makes what is kept about the cluster, from the first write on, of what was
	// kept before.
	Record func(Record) Record
	// Templates are of the kinds that the ClusterClass of a cluster names.
	Templates []*unstructured.Unstructured
	// Partial is true for a plan about a part of the cluster only: what the other
	// parts no longer need is left alone then.
	Partial bool
	// Takeover says which fields of others are taken over.
	Takeover owners.Takeover
	// NoWait ends the run as soon as nothing more can be written without waiting for
	// machines.
	NoWait bool
	// Warn is called with failures that do not affect the cluster.
	Warn func(string)
	// Show is called with every change.
	Show func(engine.Status)
}

// Upgrade takes a cluster through the steps of a plan. It stops before its next write
// when ctx ends or when the cluster is not what the plan expects; started steps
// continue, and a new plan continues from there.
func (c *Client) Upgrade(ctx context.Context, key client.ObjectKey, upgrade Upgrade) error {
	cluster, _, err := c.Observe(ctx, key)
	if err != nil {
		return err
	}
	if err := fits(upgrade, cluster); err != nil {
		return err
	}
	run := c.runOf(ctx, upgrade.Command, upgrade.Plan, upgrade.Groups)
	if err := c.ChangeRecord(ctx, key, func(before Record) Record { return upgrade.Record(before).with(run) }); err != nil {
		return err
	}
	done, err := c.carryOut(ctx, key, upgrade, cluster)
	if !done {
		run.Result = state.RunLeft
	}
	c.endRun(ctx, key, run, err, upgrade.Warn)
	return err
}

// carryOut takes the steps, and reports whether all of them are done.
func (c *Client) carryOut(ctx context.Context, key client.ObjectKey, upgrade Upgrade, cluster state.Cluster) (bool, error) {
	x := newExecution(c, key, upgrade)
	if err := x.begin(ctx, cluster); err != nil {
		return false, c.explain(ctx, err)
	}
	err := c.watch(ctx, key, func(cluster state.Cluster, _ bool) (verdict, error) {
		v, err := x.advance(ctx, cluster)
		if !v.done && err == nil {
			err = Stuck(cluster)
		}
		return v, err
	})
	if err == nil && x.done {
		err = x.finish(ctx)
	}
	return x.done, c.explain(ctx, err)
}

// isGone reports whether a cluster is not there, which is one without a name, or is
// being deleted.
func isGone(cluster state.Cluster) bool { return cluster.Name == "" || cluster.Deleting }

// fits compares a cluster with what a plan was made for.
func fits(upgrade Upgrade, cluster state.Cluster) error {
	made := upgrade.Plan.Metadata
	moved := &engine.StalePlanError{Cluster: made.Namespace + "/" + made.Name}
	if cluster.Name == "" || made.UID != cluster.UID {
		moved.Reasons = []string{"the cluster was deleted, or replaced by another one of the same name"}
		return moved
	}
	if cluster.Deleting {
		moved.Reasons = append(moved.Reasons, "the cluster is being deleted")
	}
	moved.Reasons = append(moved.Reasons, made.Moved(plan.MetadataOf(cluster, "", upgrade.Groups...))...)
	if len(moved.Reasons) > 0 {
		return moved
	}
	return nil
}

// finish checks that the objects of the upgrade are as it wrote them, and removes
// unused ones.
func (x *execution) finish(ctx context.Context) error {
	if err := x.unchanged(ctx, x.engine.Written(x.progress)); err != nil {
		return err
	}
	x.prune(ctx, x.Desired[len(x.Desired)-1])
	return nil
}

// prune removes what the cluster no longer needs. That it cannot be removed does
// not matter to the cluster.
func (x *execution) prune(ctx context.Context, last engine.Objects) {
	keep := append(last.All(), x.Templates...)
	kinds := prunedKinds(keep)
	if x.Partial {
		kinds = prunedTemplates(keep)
	}
	if err := x.c.prune(ctx, x.key, keep, kinds); err != nil {
		x.Warn(fmt.Sprintf("the upgrade is done, but objects that it no longer needs could not be removed: %v", err))
	}
}

// unchanged checks that no one else changed the objects of the upgrade.
func (x *execution) unchanged(ctx context.Context, wrote []*unstructured.Unstructured) error {
	all, err := x.c.Compare(ctx, wrote)
	if err != nil {
		return err
	}
	moved := &engine.StalePlanError{Cluster: x.key.String()}
	var who []string
	for _, change := range all {
		switch {
		case change.Creates():
			moved.Reasons = append(moved.Reasons, change.Object+" was deleted")
		case change.Path != "":
			is := change.Reversed()
			is.Object = ""
			moved.Reasons = append(moved.Reasons, fmt.Sprintf("%s was changed by someone else: %s", change.Object, is))
			who = append(who, x.whoChanged(ctx, wrote, change)...)
		}
	}
	if len(moved.Reasons) > 0 {
		slices.Sort(who)
		moved.Reasons = append(moved.Reasons, slices.Compact(who)...)
		return moved
	}
	return nil
}
