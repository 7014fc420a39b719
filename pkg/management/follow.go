package management

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
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

// begin writes the first leg, with every change beside the steps. What Cluster API
// does not do comes before it.
func (f *follower) begin(ctx context.Context, cluster state.Cluster) error {
	f.c.tell(ctx, f.key, cluster.UID, "UpgradeBegun", fmt.Sprintf("upgrade to %s in %d steps", f.Plan.To.ControlPlane, len(f.Plan.Steps)))
	if err := f.restore(ctx, f.Stages[0]); err != nil {
		return err
	}
	if f.Plan.NextDetached(0) == 0 && len(f.Plan.Steps) > 0 {
		return nil
	}
	return f.writeLeg(ctx, 0)
}

// writeLeg begins the leg whose first step is the one of an index, with what stands
// beside it.
func (f *follower) writeLeg(ctx context.Context, first int) error {
	end := f.Plan.NextDetached(first)
	for first+1 < end && f.Plan.Steps[first].Beside {
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
	// It may have ended since, or be about to: the webhooks look at more than is seen.
	err = f.write(ctx, object)
	for began, pause := time.Now(), firstPause; versionRefused(err) && time.Since(began) < maxEnding; pause = min(2*pause, longestPause) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return false, timedOut(ctx)
		}
		err = f.write(ctx, object)
	}
	return err == nil, err
}

// maxEnding is how long Cluster API has time to end an upgrade all of whose parts are
// there.
const maxEnding = 10 * time.Second

// versionRefused tells whether Cluster API does not take the version of a topology.
func versionRefused(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(cause metav1.StatusCause) bool { return cause.Field == "spec.topology.version" })
}

// legEnd is the last stage that is rendered as one is.
func (f *follower) legEnd(stage int) int {
	end := stage
	for end < f.Plan.NextDetached(stage-1) && end+1 < len(f.Stages) && reflect.DeepEqual(f.Stages[end+1].Cluster, f.Stages[stage].Cluster) {
		end++
	}
	return end
}

// advance does what can be done at a state of the cluster. It is true when the
// plan has come to its end.
func (f *follower) advance(ctx context.Context, cluster state.Cluster) (bool, error) {
	if isGone(cluster) {
		return false, gone(f.key)
	}
	cluster = cluster.Claim(f.Claimed)
	if reason := cluster.PutBack(); reason != "" {
		return false, &rollout.StalePlanError{Cluster: f.key.String(), Reasons: []string{reason}}
	}
	f.waited, f.mending = f.mending, nil
	defer func() {
		cluster.Mending = f.mending
		f.Show(rollout.Status{Plan: f.Plan, Step: f.step, Begun: slices.Sorted(maps.Keys(f.begun)), Through: f.through, Replacing: slices.Clone(f.replacing.moving), Queued: f.replacing.queue, Cluster: cluster})
	}()
	if err := f.replaceBeside(ctx, cluster); err != nil {
		return false, err
	}
	for f.step < len(f.Plan.Steps) {
		take := f.follow
		if f.Plan.Steps[f.step].Detached {
			take = f.move
			if len(f.begun) == 0 {
				if cluster.Held = f.waitsAt(ctx, cluster); cluster.Held != nil {
					return false, nil
				}
			}
		}
		if on, err := take(ctx, cluster); err != nil || !on {
			return false, err
		}
	}
	if !cluster.Done() || cluster.Generation < f.generations[wholeCluster] {
		return false, nil
	}
	if f.Plan.EndsDetached() { // of which Cluster API knows nothing
		if cluster.Held = f.waitsAt(ctx, cluster); cluster.Held != nil {
			return false, nil
		}
	}
	return f.rested(cluster), nil
}

// follow looks how far Cluster API is with its steps, and begins the next leg where
// one is done. It is true where no step of its own is next.
func (f *follower) follow(ctx context.Context, cluster state.Cluster) (bool, error) {
	if f.through <= f.step {
		if err := f.nextLeg(ctx, cluster, f.step); err != nil {
			return false, err
		}
	}
	if f.through <= f.step || cluster.Generation < f.generations[wholeCluster] {
		return false, nil
	}
	before, end := f.step, f.Plan.NextDetached(f.step)
	reached, planned := f.Plan.Reached(f.step, cluster)
	f.step = reached
	differs := ""
	if !planned {
		differs = f.Plan.Unplanned(f.step, cluster)
	}
	f.warnOnce(differs)
	f.tellDone(ctx, cluster, before)
	if !cluster.Attached().Done() {
		return false, nil
	}
	if f.written() && !planned {
		f.step = len(f.Plan.Steps) // is where it was to go, by another way
	}
	if f.step >= end {
		return true, nil
	}
	if _, planned := f.Plan.Reached(f.step, cluster); !planned {
		return false, &rollout.StalePlanError{Cluster: f.key.String(), Reasons: []string{f.Plan.Unplanned(f.step, cluster)}}
	}
	if f.through >= end {
		return false, &rollout.StalePlanError{Cluster: f.key.String(), Reasons: []string{fmt.Sprintf("Cluster API is through with everything, and does not take step %d (%s)", f.step+1, f.Plan.Steps[f.step])}}
	}
	return false, f.nextLeg(ctx, cluster, max(f.step, f.through))
}

// tellDone tells of the steps that were taken since one.
func (f *follower) tellDone(ctx context.Context, cluster state.Cluster, since int) {
	for i := since; i < f.step; i++ {
		if step := f.Plan.Steps[i]; !step.Beside {
			f.c.tell(ctx, f.key, cluster.UID, "UpgradeStepDone", fmt.Sprintf("step %d of %d: %s", i+1, len(f.Plan.Steps), step))
		}
	}
}

// written tells whether the last leg was begun.
func (f *follower) written() bool { return f.through == len(f.Stages)-1 }

// nextLeg begins the leg that begins with a step, unless it would leave nodes
// behind that nobody knew of.
func (f *follower) nextLeg(ctx context.Context, cluster state.Cluster, first int) error {
	moved := &rollout.StalePlanError{Cluster: f.key.String()}
	for _, step := range f.Plan.Steps[first:f.legEnd(first+1)] {
		moved.Reasons = append(moved.Reasons, step.LeavesBehind(othersOf(cluster), f.Policy)...)
	}
	if len(moved.Reasons) > 0 {
		return moved
	}
	if err := f.mends(cluster, first, f.legEnd(first+1)); err != nil || f.mending != nil {
		return err
	}
	return f.writeLeg(ctx, first)
}

// othersOf is a cluster with those groups alone that Cluster API does not upgrade.
func othersOf(cluster state.Cluster) state.Cluster {
	cluster.WorkerNodeGroups = slices.DeleteFunc(slices.Clone(cluster.WorkerNodeGroups), func(p state.Part) bool { return !p.Foreign && !p.Detached })
	return cluster
}

// warnOnce says in which way the cluster differs from what is planned, unless that was
// said last.
func (f *follower) warnOnce(text string) {
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
	if err := f.compare(ctx); err != nil {
		return err
	}
	f.prune(ctx, last)
	return nil
}
