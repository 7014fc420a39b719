package selfmanaged

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/backup"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// Deletion is how a cluster is deleted, whether it manages itself or not.
type Deletion struct {
	Cluster
	// Delete deletes the cluster from a management cluster and, if Wait is true, waits until it is
	// gone. It reports whether the cluster existed.
	Delete func(context.Context, types.NamespacedName, ManagementCluster) (bool, error)
	Wait   bool
}

// Run deletes the cluster, or completes its deletion, and reports whether it existed. One that
// manages itself and others is refused. The name is complete once a management cluster was found.
func (d Deletion) Run(ctx context.Context) (key types.NamespacedName, existed bool, err error) {
	started, err := d.begun()
	if err != nil {
		return d.Key, false, err
	}
	if started {
		d.Itself.Starts = false // the cluster is on the bootstrap, or answers already
	}
	itself, err := d.look(ctx, d.Itself)
	if err != nil && (!started || ctx.Err() != nil) {
		return d.Key, false, err
	}
	answers := err == nil // it does not once it is being deleted
	if answers {
		d.Key = itself.key
		applies, err := d.applies(ctx, itself, started)
		if err != nil {
			return d.Key, false, err
		}
		if !applies {
			existed, err = d.Delete(ctx, d.Key, itself.ManagementCluster)
			return d.Key, existed, err
		}
	}
	if !d.Wait {
		return d.Key, true, usage.Errorf("cluster %s manages itself, so that it is deleted from another management cluster, which is removed at the end: leave out --wait=false", d.Key)
	}
	key, err = d.run(ctx, itself, err)
	return key, true, err
}

// applies reports whether the cluster manages itself, or is on its bootstrap.
func (d Deletion) applies(ctx context.Context, itself place, started bool) (bool, error) {
	switch itself.has {
	case backup.Absent:
		return started, nil
	case backup.Leaving:
		return true, nil
	default:
		return itself.ManagesItself(ctx, d.Key)
	}
}

// run deletes a cluster that manages itself. Unreachable is why it does not answer, or nil.
func (d Deletion) run(ctx context.Context, itself place, unreachable error) (types.NamespacedName, error) {
	if unreachable == nil && itself.has == backup.Present {
		if err := d.checkManagesNone(ctx, itself); err != nil {
			return d.Key, err
		}
	}
	var bootstrap place
	started, err := d.begun()
	if err != nil {
		return d.Key, err
	}
	if started {
		if bootstrap, err = d.look(ctx, d.Bootstrap); err != nil {
			return d.Key, err
		}
		d.Key = bootstrap.key
	}
	steps := deletionSteps(started, bootstrap.has)
	if len(steps) == 0 {
		return d.Key, &management.RefusedError{Check: checkMoving, Reason: fmt.Sprintf("cluster %s is being created, and its move into itself is not complete; complete that with '%s' first", d.Key, createCommand)}
	}
	if slices.Contains(steps, moveToBootstrap) {
		if err := d.checkMovable(itself, unreachable); err != nil {
			return d.Key, err
		}
	}
	d.say(steps)
	for _, s := range steps {
		if bootstrap, err = d.do(ctx, s, itself, bootstrap); err != nil {
			return d.Key, err
		}
	}
	return d.Key, nil
}

// do takes one step. It returns the bootstrap, which a step may start.
func (d Deletion) do(ctx context.Context, s step, itself, bootstrap place) (place, error) {
	var err error
	switch s {
	case startBootstrap:
		bootstrap, err = d.look(ctx, d.Bootstrap)
	case moveToBootstrap:
		d.Say("moving cluster %s to its bootstrap", d.Key)
		err = itself.moves.Move(ctx, d.Key, backup.Moving{Why: "move it to its bootstrap", Command: deleteCommand}, func(context.Context) (*backup.Service, error) { return bootstrap.moves, nil })
	case finishMoveBack:
		err = bootstrap.moves.Finish(ctx, d.Key)
	case deleteOnBootstrap:
		_, err = d.Delete(ctx, d.Key, bootstrap.ManagementCluster)
	case removeBootstrap:
		err = d.removeBootstrap(ctx, bootstrap)
	}
	return bootstrap, err
}

// checkMovable refuses to move a cluster back that does not answer, or does not have itself.
func (d Deletion) checkMovable(itself place, unreachable error) error {
	const removal = "if the cluster is gone, 'clusterctl-x management stop --remove' removes its bootstrap, which 'clusterctl-x management status --all' names"
	switch {
	case unreachable != nil:
		return fmt.Errorf("%w; %s", unreachable, removal)
	case itself.has == backup.Absent:
		return fmt.Errorf("cluster %s: %w in this management cluster, and its bootstrap does not have it; name its kubeconfig with --kubeconfig; %s", d.Key, management.ErrNotFound, removal)
	}
	return nil
}

// checkManagesNone refuses to delete a cluster that manages others.
func (d Deletion) checkManagesNone(ctx context.Context, itself place) error {
	clusters, err := itself.Client.Clusters(ctx, management.Filter{})
	if err != nil {
		return err
	}
	var others []string
	for _, cluster := range clusters {
		if cluster.Name != d.Key.Name || cluster.Namespace != d.Key.Namespace {
			others = append(others, cluster.Namespace+"/"+cluster.Name)
		}
	}
	if len(others) == 0 {
		return nil
	}
	return &management.RefusedError{Check: checkManages, Reason: fmt.Sprintf("cluster %s is the management cluster of %s; delete these first, or move them to another management cluster", d.Key, strings.Join(others, ", "))}
}
