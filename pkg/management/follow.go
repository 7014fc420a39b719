package management

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// follower is an upgrade of a cluster from a ClusterClass on its way: Cluster API
// takes the steps of a leg by itself, and the follower begins the legs and looks
// whether what happens is what was planned.
type follower struct {
	*run
	// through is how many steps there are to the end of the leg that was begun.
	through int
	// confirm looks at the cluster itself, not at what is known of it.
	confirm func(ctx context.Context) (state.Cluster, bool, error)
	// differs is what was said last about steps that are not the plan's.
	differs string
}

func newFollower(c *Client, key client.ObjectKey, upgrade Upgrade) *follower {
	return &follower{run: newRun(c, key, upgrade), confirm: func(ctx context.Context) (state.Cluster, bool, error) { return c.Observe(ctx, key) }}
}

// begin writes the first leg, with every change beside the steps.
func (f *follower) begin(ctx context.Context, cluster state.Cluster) error {
	f.c.tell(ctx, f.key, cluster.UID, "UpgradeBegun", fmt.Sprintf("upgrade to %s in %d steps", f.Plan.To.ControlPlane, len(f.Plan.Steps)))
	first := 0
	for first+1 < len(f.Stages) && f.Plan.Steps[first].Beside {
		first++
	}
	return f.writeStage(ctx, min(first+1, len(f.Stages)-1))
}

// writeStage writes what is rendered otherwise than at the stage before. The
// Cluster comes last: what its machines need is there then.
func (f *follower) writeStage(ctx context.Context, stage int) error {
	f.through = stage
	for f.through+1 < len(f.Stages) && reflect.DeepEqual(f.Stages[f.through+1], f.Stages[stage]) {
		f.through++
	}
	objects := slices.Clone(f.Stages[stage].Cluster)
	slices.Reverse(objects)
	for _, object := range objects {
		rendered, err := object.MarshalJSON()
		if err != nil {
			return err
		}
		if f.last[changes.ObjectName(object)] == string(rendered) {
			continue
		}
		if err := f.write(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// advance looks how far the cluster is, and begins the next leg where one is
// done. It is true when the plan has come to its end.
func (f *follower) advance(ctx context.Context, cluster state.Cluster, exists bool) (bool, error) {
	if !exists || cluster.Deleting {
		return false, gone(f.key)
	}
	if cluster.Generation >= f.generations[wholeCluster] {
		before := f.step
		reached, planned := f.Plan.Reached(f.step, cluster)
		f.step = reached
		f.compareWithPlan(cluster, planned)
		for i := before; i < f.step; i++ {
			if step := f.Plan.Steps[i]; !step.Beside {
				f.c.tell(ctx, f.key, cluster.UID, "UpgradeStepDone", fmt.Sprintf("step %d of %d: %s", i+1, len(f.Plan.Steps), step))
			}
		}
		if cluster.Done() && !planned {
			f.step = len(f.Plan.Steps)
		}
	}
	f.Show(Progress{Plan: f.Plan, Step: f.step, Through: f.through, Cluster: cluster})
	if cluster.Generation < f.generations[wholeCluster] || !cluster.Done() {
		return false, nil
	}
	// The kinds of objects are watched apart, and one may be seen before another.
	now, exists, err := f.confirm(ctx)
	if err != nil || !exists || !now.Done() {
		return false, err
	}
	if f.step == len(f.Plan.Steps) {
		return true, nil
	}
	return false, f.writeStage(ctx, f.step+1)
}

// compareWithPlan says once what is otherwise than planned.
func (f *follower) compareWithPlan(cluster state.Cluster, planned bool) {
	text := ""
	if !planned {
		text = f.Plan.Unplanned(f.step, cluster)
	}
	if text != "" && text != f.differs {
		f.Warn(text)
	}
	f.differs = text
}

// finish looks whether somebody else changed the cluster meanwhile, and removes
// what it no longer needs.
func (f *follower) finish(ctx context.Context) error {
	last := f.Stages[len(f.Stages)-1]
	if err := f.unchanged(ctx, last.Cluster); err != nil {
		return err
	}
	f.prune(ctx, last)
	return nil
}
