package selfmanaged

import (
	"context"
	"errors"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/backup"
	"github.com/clusterctl-x/clusterctl-x/pkg/components"
	"github.com/clusterctl-x/clusterctl-x/pkg/files"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
)

// Creation is how a cluster is created.
type Creation struct {
	Cluster
	Spec lifecycle.Spec
	// Kubeconfig is the file that the kubeconfig of the cluster is written to. Itself and
	// Components connect with it.
	Kubeconfig string
	// Components are those of the cluster as a management cluster, and Wanted their versions. The
	// provider of the infrastructure is added.
	Components *components.Client
	Wanted     components.Wanted
	// Ready waits until the cluster is ready, as one of its management clusters has it, which
	// changed it or not.
	Ready func(ctx context.Context, key types.NamespacedName, on ManagementCluster, changed bool) error
}

// Run creates the cluster, or completes its creation. It reports whether anything was to be done.
// The name is complete once a management cluster was found.
func (c Creation) Run(ctx context.Context) (key types.NamespacedName, changed bool, err error) {
	infrastructure := c.Spec.ManagesItselfBy()
	if _, given := c.Wanted.Providers[infrastructure]; !given {
		c.Wanted.Providers[infrastructure] = ""
	}
	if err := c.Components.Check(c.Wanted); err != nil {
		return c.Key, false, err
	}
	started, err := c.begun()
	if err != nil {
		return c.Key, false, err
	}
	written, err := exists(c.Kubeconfig)
	if err != nil {
		return c.Key, false, err
	}
	if written && !started {
		key, err := c.moved(ctx)
		return key, false, err
	}
	bootstrap, err := c.look(ctx, c.Bootstrap)
	if err != nil {
		return c.Key, true, err
	}
	c.Key = bootstrap.key
	switch bootstrap.has {
	case backup.Arriving, backup.Arrived:
		return c.Key, true, c.beingDeleted()
	case backup.Leaving:
	case backup.Absent:
		if written { // it is moved, and the bootstrap is left
			if _, err := c.moved(ctx); err != nil {
				return c.Key, true, err
			}
			return c.Key, true, c.removeBootstrap(ctx, bootstrap)
		}
		fallthrough
	default:
		if err := c.create(ctx, bootstrap.ManagementCluster); err != nil {
			return c.Key, true, err
		}
	}
	return c.Key, true, c.move(ctx, bootstrap)
}

// create creates the cluster on the bootstrap, waits until it is ready, and writes its kubeconfig.
func (c Creation) create(ctx context.Context, bootstrap ManagementCluster) error {
	n, err := bootstrap.Clusters.PlanCreation(ctx, c.Spec)
	if err != nil {
		return err
	}
	done, err := bootstrap.Clusters.Create(ctx, n, lifecycle.CreateOptions{TakeOver: c.Moves.TakeOver})
	if err != nil {
		return err
	}
	if len(done) > 0 {
		c.Say("cluster %s: %d objects created", c.Key, len(done))
	}
	if err := c.Ready(ctx, c.Key, bootstrap, len(done) > 0); err != nil {
		return err
	}
	return c.writeKubeconfig(ctx, bootstrap)
}

// move moves the cluster into itself, and removes the bootstrap.
func (c Creation) move(ctx context.Context, bootstrap place) error {
	var itself place
	err := bootstrap.moves.Move(ctx, c.Key, backup.Moving{Why: "move it into itself", Command: createCommand}, func(ctx context.Context) (*backup.Service, error) {
		err := c.install(ctx)
		if err == nil {
			c.Say("moving cluster %s into itself", c.Key)
			itself, err = c.look(ctx, c.Itself)
		}
		return itself.moves, err
	})
	if err != nil {
		return err
	}
	if err := c.Ready(ctx, c.Key, itself.ManagementCluster, false); err != nil {
		return err
	}
	return c.removeBootstrap(ctx, bootstrap)
}

// install installs the components into the cluster, and waits until they are available.
func (c Creation) install(ctx context.Context) error {
	_, err := c.Components.Init(ctx, c.Wanted, components.Run{
		Show: func(p components.Plan) error {
			c.Say("installing into the cluster: %s", p)
			return nil
		},
		Waiting: func(what string) { c.Say("waiting for %s", what) },
	})
	return err
}

// beingDeleted refuses to create a cluster whose deletion is under way.
func (c Creation) beingDeleted() error {
	return &management.RefusedError{Check: checkMoving, Reason: fmt.Sprintf("cluster %s is being deleted; complete that with '%s', and create it again", c.Key, deleteCommand)}
}

// moved completes the creation of a cluster that the bootstrap does not have any more.
func (c Creation) moved(ctx context.Context) (types.NamespacedName, error) {
	itself, err := c.look(ctx, c.Itself)
	if err == nil {
		c.Key = itself.key
	}
	switch {
	case err != nil:
		return c.Key, &management.RefusedError{Check: checkKubeconfig, Reason: fmt.Sprintf("%s exists, and is not the kubeconfig of a management cluster that answers (%v); remove the file if its cluster is gone, or name another one with --write-kubeconfig", c.Kubeconfig, err)}
	case itself.has == backup.Absent:
		return c.Key, &management.RefusedError{Check: checkKubeconfig, Reason: fmt.Sprintf("%s exists, and its cluster does not have cluster %s; remove the file, or name another one with --write-kubeconfig", c.Kubeconfig, c.Key)}
	case itself.has == backup.Leaving:
		return c.Key, c.beingDeleted()
	case itself.has != backup.Present:
		if err := itself.moves.Finish(ctx, c.Key); err != nil {
			return c.Key, err
		}
	}
	return c.Key, c.Ready(ctx, c.Key, itself.ManagementCluster, false)
}

// writeKubeconfig writes the kubeconfig of the cluster. A file with that of another cluster is
// refused.
func (c Creation) writeKubeconfig(ctx context.Context, bootstrap ManagementCluster) error {
	kubeconfig, err := bootstrap.Kubeconfig(ctx, c.Key)
	if err != nil {
		return err
	}
	there, err := os.ReadFile(c.Kubeconfig)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return fmt.Errorf("reading the kubeconfig: %w", err)
	case !management.SameAuthority(there, kubeconfig):
		return &management.RefusedError{Check: checkKubeconfig, Reason: fmt.Sprintf("%s is not the kubeconfig of cluster %s; name another file with --write-kubeconfig", c.Kubeconfig, c.Key)}
	}
	if err := files.WritePrivate(c.Kubeconfig, kubeconfig); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	return nil
}

// exists reports whether there is a file.
func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking for the kubeconfig: %w", err)
	}
	return true, nil
}
