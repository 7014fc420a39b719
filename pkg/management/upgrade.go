package management

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
	"github.com/clusterctl-x/clusterctl-x/pkg/skew"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Upgrade is a plan with what is written for it.
type Upgrade struct {
	Plan plan.Plan
	// Stages are complete renderings: the first one of the versions that the plan
	// begins with, then one of the versions at the end of each step.
	Stages []rollout.Objects
	// Record makes what is kept about the cluster, from the first write on, of what was
	// kept before.
	Record func(Record) Record
	// Policy is the skew policy that holds.
	Policy skew.Policy
	// Concurrency is how many groups of a step move at the same time.
	Concurrency int
	// Managed is true for a cluster from a ClusterClass, through whose steps Cluster
	// API goes by itself.
	Managed bool
	// Native is true where Cluster API itself takes versions for groups of a topology.
	Native bool
	// Templates are of the kinds that the ClusterClass of a managed cluster names.
	Templates []*unstructured.Unstructured
	// Partial is true for a plan about a part of the cluster only: what the other
	// parts no longer need is left alone then.
	Partial bool
	// Claimed are the groups of the file whose MachineDeployments others made, and that
	// have no label of clusterctl-x yet.
	Claimed []string
	// Groups are the worker node groups that the upgrade is about, where it is about
	// nothing else. What other runs do to other groups does not disturb it.
	Groups []string
	// Continued is true for what is left of an upgrade that an earlier run began.
	Continued bool
	// NodeStartup is how long the machines of worker node groups may take to become nodes.
	NodeStartup time.Duration
	// Skip are the names of checks to be left out, as in PreflightOptions.
	Skip []string
	// Force takes over fields that others own.
	Force bool
	// Warn is told what is left undone that does not matter to the cluster.
	Warn func(string)
	// Show is told of every change.
	Show func(rollout.Status)
}

// Upgrade takes a cluster through the steps of a plan. It stops before its next
// write when ctx ends or when the cluster is not what the plan expects; what
// was begun goes on, and planning anew goes on from there.
func (c *Client) Upgrade(ctx context.Context, key client.ObjectKey, upgrade Upgrade) error {
	cluster, _, err := c.Observe(ctx, key)
	if err != nil {
		return err
	}
	if err := fits(upgrade, cluster); err != nil {
		return err
	}
	if err := c.ChangeRecord(ctx, key, upgrade.Record); err != nil {
		return err
	}
	var x executor = newRun(c, key, upgrade)
	if upgrade.Managed {
		x = newFollower(c, key, upgrade)
	}
	if err := x.begin(ctx, cluster); err != nil {
		return c.explain(ctx, err)
	}
	if err := c.watch(ctx, key, x.again(), func(cluster state.Cluster, _ bool) (bool, error) {
		done, err := x.advance(ctx, cluster)
		if !done && err == nil {
			err = Stuck(cluster)
		}
		return done, err
	}); err != nil {
		return c.explain(ctx, err)
	}
	return c.explain(ctx, x.finish(ctx))
}

// executor takes a cluster through a plan.
type executor interface {
	// begin writes what waits for nothing.
	begin(ctx context.Context, cluster state.Cluster) error
	// advance does what can be done at a state of the cluster. It is true at the
	// end of the plan.
	advance(ctx context.Context, cluster state.Cluster) (bool, error)
	// again signals when to look at the cluster though nothing changed.
	again() <-chan struct{}
	// finish looks back, and tidies up.
	finish(ctx context.Context) error
}

// isGone reports whether a cluster is not there, which is one without a name, or is
// being deleted.
func isGone(cluster state.Cluster) bool { return cluster.Name == "" || cluster.Deleting }

// fits compares a cluster with what a plan was made for.
func fits(upgrade Upgrade, cluster state.Cluster) error {
	made := upgrade.Plan.Metadata
	moved := &rollout.StalePlanError{Cluster: made.Namespace + "/" + made.Name}
	if cluster.Name == "" || made.UID != cluster.UID {
		moved.Reasons = []string{"the cluster was deleted, or is another one of the same name"}
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

// finish looks whether what the upgrade wrote is as it is to be, and removes what
// it left unused.
func (r *run) finish(ctx context.Context) error {
	if err := r.compare(ctx); err != nil {
		return err
	}
	r.prune(ctx, r.Stages[len(r.Stages)-1])
	return nil
}

// compare looks at the objects of every part that the upgrade wrote.
func (r *run) compare(ctx context.Context) error {
	last := r.Stages[len(r.Stages)-1]
	var wrote []*unstructured.Unstructured
	for _, name := range slices.Sorted(maps.Keys(r.generations)) {
		wrote = append(wrote, last.Parts[name]...)
	}
	return r.unchanged(ctx, wrote)
}

// prune removes what the cluster no longer needs. That it cannot be removed does
// not matter to the cluster.
func (r *run) prune(ctx context.Context, last rollout.Objects) {
	keep := append(last.All(), r.Templates...)
	kinds := prunedKinds(keep)
	if r.Partial {
		kinds = prunedTemplates(keep)
	}
	if err := r.c.prune(ctx, r.key, keep, kinds); err != nil {
		r.Warn(fmt.Sprintf("the upgrade is done, and what it no longer needs could not be removed: %v", err))
	}
}

// unchanged looks whether somebody else changed what the upgrade wrote.
func (r *run) unchanged(ctx context.Context, wrote []*unstructured.Unstructured) error {
	all, err := r.c.Compare(ctx, wrote)
	if err != nil {
		return err
	}
	moved := &rollout.StalePlanError{Cluster: r.key.String()}
	for _, change := range all {
		for _, field := range change.Fields {
			moved.Reasons = append(moved.Reasons, fmt.Sprintf("somebody changed %s: %s", change.Object, field))
		}
		if change.Action == Created {
			moved.Reasons = append(moved.Reasons, "somebody deleted "+change.Object)
		}
	}
	if len(moved.Reasons) > 0 {
		return moved
	}
	return nil
}

// gone is the error for a cluster that somebody deletes meanwhile.
func gone(key client.ObjectKey) error {
	return &rollout.StalePlanError{Cluster: key.String(), Reasons: []string{"somebody deleted it"}}
}

func isKind(object *unstructured.Unstructured, kind string) bool {
	return object.GetKind() == kind && object.GroupVersionKind().Group == clusterv1.GroupVersion.Group
}
