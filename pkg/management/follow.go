package management

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	// differs is what was said last about steps that are not the plan's.
	differs string
}

func newFollower(c *Client, key client.ObjectKey, upgrade Upgrade) *follower {
	return &follower{run: newRun(c, key, upgrade)}
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
		if written, err := f.writeOrWait(ctx, object); !written {
			return err
		}
	}
	f.through = f.legEnd(stage)
	return nil
}

// writeOrWait is false without an error while Cluster API takes no other version,
// because it has not quite ended the upgrade before. The end of it is a change of
// the Cluster.
func (f *follower) writeOrWait(ctx context.Context, object *unstructured.Unstructured) (bool, error) {
	err := f.write(ctx, object)
	if !apierrors.IsInvalid(err) || !isKind(object, "Cluster") {
		return err == nil, err
	}
	live, unread := f.c.LiveCluster(ctx, f.key)
	if unread != nil {
		return false, err
	}
	if upgradePending(live) {
		delete(f.last, changes.ObjectName(object))
		return false, nil
	}
	err = f.write(ctx, object) // it may have ended since
	return err == nil, err
}

// legEnd is the last stage that is rendered as one is.
func (f *follower) legEnd(stage int) int {
	end := stage
	for end+1 < len(f.Stages) && reflect.DeepEqual(f.Stages[end+1], f.Stages[stage]) {
		end++
	}
	return end
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
		if f.written() && cluster.Done() && !planned {
			f.step = len(f.Plan.Steps) // is where it was to go, by another way
		}
	}
	f.Show(Progress{Plan: f.Plan, Step: f.step, Through: f.through, Cluster: cluster})
	if cluster.Generation < f.generations[wholeCluster] || !cluster.Done() {
		return false, nil
	}
	if f.step == len(f.Plan.Steps) {
		return true, nil
	}
	if _, planned := f.Plan.Reached(f.step, cluster); !planned {
		return false, &MovedError{Cluster: f.key.String(), Reasons: []string{f.Plan.Unplanned(f.step, cluster)}}
	}
	if f.written() {
		return false, &MovedError{Cluster: f.key.String(), Reasons: []string{fmt.Sprintf("Cluster API is through with everything, and does not take step %d (%s)", f.step+1, f.Plan.Steps[f.step])}}
	}
	return false, f.nextLeg(ctx, cluster)
}

// written tells whether the last leg was begun.
func (f *follower) written() bool { return f.through == len(f.Stages)-1 }

// nextLeg begins the next leg, unless it would leave nodes behind that nobody
// knew of.
func (f *follower) nextLeg(ctx context.Context, cluster state.Cluster) error {
	stage := max(f.step, f.through) + 1
	moved := &MovedError{Cluster: f.key.String()}
	for _, step := range f.Plan.Steps[f.step:f.legEnd(stage)] {
		moved.Reasons = append(moved.Reasons, step.LeavesBehind(foreignOf(cluster), f.Policy)...)
	}
	if len(moved.Reasons) > 0 {
		return moved
	}
	return f.writeStage(ctx, stage)
}

// foreignOf is a cluster with those groups alone that Cluster API does not upgrade.
func foreignOf(cluster state.Cluster) state.Cluster {
	cluster.WorkerNodeGroups = slices.DeleteFunc(slices.Clone(cluster.WorkerNodeGroups), func(p state.Part) bool { return !p.Foreign })
	return cluster
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
