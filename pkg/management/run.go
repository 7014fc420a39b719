package management

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// wholeCluster is the name of the cluster among its parts.
const wholeCluster = ""

// run is an upgrade on its way.
type run struct {
	c   *Client
	key client.ObjectKey
	Upgrade

	step int
	// begun are the parts of the present step that were written.
	begun map[string]bool
	// scaled are the groups whose count was changed; they come to rest before
	// their machines are replaced, so that no more are made than planned.
	scaled    map[string]bool
	replacing replacing
	// last holds the rendering of every object as it was last dealt with.
	last map[string]string
	// generations that the written objects of the parts have now.
	generations map[string]int64
	// waits is what was told last of the hold that the next step waits for.
	waits string
	// mending is what the next step waits for besides, waited what it waited for when the
	// cluster was last looked at; wake signals that the time is over.
	mending, waited *state.Mending
	wake            chan struct{}
}

func newRun(c *Client, key client.ObjectKey, upgrade Upgrade) *run {
	return &run{
		c: c, key: key, Upgrade: upgrade,
		begun: map[string]bool{}, scaled: map[string]bool{}, last: map[string]string{}, generations: map[string]int64{},
		wake: make(chan struct{}, 1), replacing: replacingOf(upgrade),
	}
}

// begin makes the changes that wait for nothing.
func (r *run) begin(ctx context.Context, cluster state.Cluster) error {
	r.c.tell(ctx, r.key, cluster.UID, "UpgradeBegun", fmt.Sprintf("upgrade to %s in %d steps", r.Plan.To.ControlPlane, len(r.Plan.Steps)))
	stage := r.Stages[0]
	for _, object := range stage.All() {
		if err := r.remember(object); err != nil {
			return err
		}
	}
	if err := r.restore(ctx, stage); err != nil {
		return err
	}
	for _, step := range r.Plan.Steps {
		if !step.Beside {
			continue
		}
		for _, group := range step.WorkerNodeGroups {
			r.scaled[group.Name] = r.scaled[group.Name] || group.Scales()
		}
	}
	r.replacing.open = true
	r.replacing.next(r.Concurrency)
	for _, step := range r.Plan.Steps {
		if err := r.beside(ctx, step); err != nil {
			return err
		}
	}
	r.begun = map[string]bool{}
	return nil
}

// advance does what can be done at a state of the cluster. It is true when the
// plan has come to its end.
func (r *run) advance(ctx context.Context, cluster state.Cluster) (bool, error) {
	if isGone(cluster) {
		return false, gone(r.key)
	}
	cluster = cluster.Claim(r.Claimed)
	r.waited, r.mending = r.mending, nil
	if err := r.undisturbed(cluster); err != nil {
		return false, err
	}
	if err := r.replaceBeside(ctx, cluster); err != nil {
		return false, err
	}
	// What is done is told after the next step was begun: machines come first.
	first := r.step
	defer func() {
		for i, step := range r.Plan.Steps[first:r.step] {
			if !step.Beside {
				r.c.tell(ctx, r.key, cluster.UID, "UpgradeStepDone", fmt.Sprintf("step %d of %d: %s", first+i+1, len(r.Plan.Steps), step))
			}
		}
	}()
	for r.step < len(r.Plan.Steps) {
		step := r.Plan.Steps[r.step]
		if !step.Beside {
			if waits, err := r.waitsBefore(ctx, &cluster); waits || err != nil {
				if err != nil {
					return false, err
				}
				break
			}
			if err := r.take(ctx, cluster, step); err != nil {
				return false, err
			}
			if !r.done(cluster, step) {
				break
			}
		}
		r.step++
		r.begun = map[string]bool{}
	}
	ended := r.step == len(r.Plan.Steps)
	if ended {
		cluster.Held = r.waitsAt(ctx, cluster)
	}
	r.Show(rollout.Status{Plan: r.Plan, Step: r.step, Begun: slices.Sorted(maps.Keys(r.begun)), Replacing: slices.Clone(r.replacing.moving), Queued: r.replacing.queue, Cluster: cluster})
	return ended && cluster.Held == nil && r.rested(cluster), nil
}

// take writes what the step may write at this state of the cluster.
func (r *run) take(ctx context.Context, cluster state.Cluster, step plan.Step) error {
	if step.UnderWay {
		return nil
	}
	if step.Moves(v1alpha1.ControlPlaneName) {
		return r.takeControlPlane(ctx, cluster, step)
	}
	moving, bounded := r.moving(cluster, step), step.Kind == plan.Workers || step.Kind == plan.Template
	for _, group := range step.WorkerNodeGroups {
		part, exists := cluster.Group(group.Name)
		if bounded && moving >= r.Concurrency {
			return nil
		}
		if r.begun[group.Name] || group.UnderWay || r.scaled[group.Name] && exists && !r.settled(part) {
			continue
		}
		r.begun[group.Name] = true
		moving++
		if err := r.takeGroup(ctx, step, group.Name, part); err != nil {
			return err
		}
	}
	return nil
}

// moving counts the groups of a step that were begun and are not done.
func (r *run) moving(cluster state.Cluster, step plan.Step) int {
	moving := 0
	for _, group := range step.WorkerNodeGroups {
		part, _ := cluster.Group(group.Name)
		if (r.begun[group.Name] || group.UnderWay) && (part.Generation < r.generations[group.Name] || !step.GroupDone(cluster, group.Name)) {
			moving++
		}
	}
	return moving
}

// takeGroup takes one group through a step; part is empty where there is none yet.
func (r *run) takeGroup(ctx context.Context, step plan.Step, group string, part state.Part) error {
	if moves := step.Group(group); step.Kind == plan.Workers && moves.To.Before(moves.From) && part.Ready() > 0 {
		return &rollout.StalePlanError{Cluster: r.key.String(), Reasons: []string{fmt.Sprintf("a machine of group %s became ready at %s, so it cannot go back to %s", group, part.Version, moves.To)}}
	}
	if step.Kind != plan.RemoveWorkers {
		return r.writePart(ctx, r.step+1, group)
	}
	if part.Object == "" {
		return nil
	}
	return r.removeGroup(ctx, part)
}

func (r *run) removeGroup(ctx context.Context, part state.Part) error {
	_, name, _ := strings.Cut(part.Object, "/")
	deployment := &clusterv1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: r.key.Namespace, Name: name}}
	err := whileHeld(ctx, func() error {
		return client.IgnoreNotFound(r.c.Delete(ctx, deployment, client.PropagationPolicy(metav1.DeletePropagationForeground)))
	})
	if err != nil {
		return fmt.Errorf("deleting %s: %w", part.Object, err)
	}
	return nil
}

// takeControlPlane writes the control plane first: everything else that its
// step changes only matters to machines made afterwards.
func (r *run) takeControlPlane(ctx context.Context, cluster state.Cluster, step plan.Step) error {
	const name = v1alpha1.ControlPlaneName
	if r.begun[name] {
		return nil
	}
	if reasons := step.LeavesBehind(cluster, r.Policy); len(reasons) > 0 {
		return &rollout.StalePlanError{Cluster: r.key.String(), Reasons: reasons}
	}
	r.begun[name] = true
	if err := r.writePart(ctx, r.step+1, name); err != nil {
		return err
	}
	stage := r.Stages[r.step+1]
	if err := r.writeChanged(ctx, stage.Cluster); err != nil {
		return err
	}
	for _, group := range r.Plan.Groups() {
		if err := r.writeChanged(ctx, stage.Parts[group]); err != nil {
			return err
		}
	}
	return r.annotateOthers(ctx, stage)
}

// annotateOthers lets groups that the upgrade is not about have new machines
// beside the control plane's next version. Nothing else of them is written.
func (r *run) annotateOthers(ctx context.Context, stage rollout.Objects) error {
	for _, group := range slices.Sorted(maps.Keys(stage.Others)) {
		for _, object := range stage.Others[group] {
			value, wanted := object.GetAnnotations()[clusterv1.MachineSetSkipPreflightChecksAnnotation]
			if !wanted || !isKind(object, "MachineDeployment") {
				continue
			}
			patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, clusterv1.MachineSetSkipPreflightChecksAnnotation, value))
			if err := whileHeld(ctx, func() error { return client.IgnoreNotFound(r.c.Patch(ctx, object.DeepCopy(), patch, FieldOwner)) }); err != nil {
				return fmt.Errorf("annotating %s: %w", changes.ObjectName(object), err)
			}
		}
	}
	return nil
}

// settled tells whether a part is at rest as it was last written.
func (r *run) settled(part state.Part) bool {
	return part.Generation >= r.generations[part.Name] && part.Done()
}

// done tells whether the step has come to its end, as it was written.
func (r *run) done(cluster state.Cluster, step plan.Step) bool {
	for _, name := range step.Parts() {
		part, exists := cluster.Part(name)
		if exists && part.Generation < r.generations[name] || !step.UnderWay && !step.Group(name).UnderWay && !r.begun[name] {
			return false
		}
	}
	return step.Done(cluster)
}

// rested reports whether every part that the upgrade changes is as it is to be.
func (r *run) rested(cluster state.Cluster) bool {
	if len(r.replacing.queue) > 0 {
		return false
	}
	for name := range r.generations {
		if part, exists := cluster.Part(name); exists && !r.settled(part) {
			return false
		}
	}
	return true
}

// undisturbed looks whether somebody else changes the versions of the cluster.
func (r *run) undisturbed(cluster state.Cluster) error {
	if r.step == len(r.Plan.Steps) {
		return nil
	}
	before, after := r.Plan.Versions(r.step), r.Plan.Versions(r.step+1)
	moved := &rollout.StalePlanError{Cluster: r.key.String()}
	check := func(part state.Part, allowed ...v1alpha1.Version) {
		if !slices.Contains(allowed, part.Version) {
			moved.Reasons = append(moved.Reasons, fmt.Sprintf("somebody changed %s: its version is %s, and the plan has %s", part.Object, part.Version, allowed[len(allowed)-1]))
		}
	}
	check(cluster.ControlPlane, before.ControlPlane, after.ControlPlane)
	for name, version := range before.WorkerNodeGroups {
		if len(r.Groups) > 0 && !slices.Contains(r.Groups, name) {
			continue // another run may be at work on it
		}
		part, exists := cluster.Group(name)
		next, stays := after.WorkerNodeGroups[name]
		switch {
		case exists && stays:
			check(part, version, next)
		case !exists && stays:
			moved.Reasons = append(moved.Reasons, "somebody deleted the MachineDeployment of group "+name)
		}
	}
	if len(moved.Reasons) > 0 {
		slices.Sort(moved.Reasons)
		return moved
	}
	return nil
}
