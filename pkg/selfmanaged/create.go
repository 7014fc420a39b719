package selfmanaged

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/clusterctl-x/clusterctl-x/pkg/backup"
	"github.com/clusterctl-x/clusterctl-x/pkg/files"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
)

// Creation is how a cluster is created.
type Creation struct {
	Cluster
	// Kubeconfig is the file that the kubeconfig of the cluster is written to. Itself connects
	// with it.
	Kubeconfig string
	// Create creates the cluster on the bootstrap, and waits until it is ready.
	Create func(context.Context, ManagementCluster) error
	// Install installs Cluster API and the providers into the cluster of the kubeconfig, and waits
	// until they are available.
	Install func(context.Context) error
	// Ready waits until the cluster is ready as its own management cluster has it.
	Ready func(context.Context, ManagementCluster) error
}

// Run creates the cluster, or completes its creation. It reports whether anything was to be done.
func (c Creation) Run(ctx context.Context) (bool, error) {
	started, err := c.Bootstrap.Exists()
	if err != nil {
		return false, err
	}
	written, err := exists(c.Kubeconfig)
	if err != nil {
		return false, err
	}
	if written && !started {
		return false, c.moved(ctx)
	}
	bootstrap, err := c.look(ctx, c.Bootstrap.Connect)
	if err != nil {
		return true, err
	}
	switch bootstrap.has {
	case backup.Arriving, backup.Arrived:
		return true, &management.RefusedError{Check: checkMoving, Reason: fmt.Sprintf("cluster %s is being deleted; complete that with '%s', and create it again", c.Key, deleteCommand)}
	case backup.Leaving:
	case backup.Absent:
		if written { // it is moved, and the bootstrap is left
			return true, errors.Join(c.moved(ctx), c.removeBootstrap(ctx))
		}
		fallthrough
	default:
		if err := c.Create(ctx, bootstrap.ManagementCluster); err != nil {
			return true, err
		}
		if err := c.writeKubeconfig(ctx, bootstrap.ManagementCluster); err != nil {
			return true, err
		}
	}
	return true, c.move(ctx, bootstrap)
}

// move moves the cluster into itself, and removes the bootstrap.
func (c Creation) move(ctx context.Context, bootstrap place) error {
	var itself place
	err := bootstrap.moves.Move(ctx, c.Key, backup.Moving{Why: "move it into itself", Command: createCommand}, func(ctx context.Context) (*backup.Service, error) {
		err := c.Install(ctx)
		if err == nil {
			c.Say("moving cluster %s into itself", c.Key)
			itself, err = c.look(ctx, c.Itself)
		}
		return itself.moves, err
	})
	if err != nil {
		return err
	}
	if err := c.Ready(ctx, itself.ManagementCluster); err != nil {
		return err
	}
	return c.removeBootstrap(ctx)
}

// moved completes the creation of a cluster that the bootstrap does not have any more.
func (c Creation) moved(ctx context.Context) error {
	itself, err := c.look(ctx, c.Itself)
	switch {
	case err != nil:
		return &management.RefusedError{Check: checkKubeconfig, Reason: fmt.Sprintf("%s exists, and is not the kubeconfig of a management cluster that answers (%v); remove the file if its cluster is gone, or name another one with --write-kubeconfig", c.Kubeconfig, err)}
	case itself.has == backup.Absent:
		return &management.RefusedError{Check: checkKubeconfig, Reason: fmt.Sprintf("%s exists, and its cluster does not have cluster %s; remove the file, or name another one with --write-kubeconfig", c.Kubeconfig, c.Key)}
	case itself.has == backup.Leaving:
		return &management.RefusedError{Check: checkMoving, Reason: fmt.Sprintf("cluster %s is being deleted; complete that with '%s', and create it again", c.Key, deleteCommand)}
	case itself.has != backup.Present:
		if err := itself.moves.Finish(ctx, c.Key); err != nil {
			return err
		}
	}
	return c.Ready(ctx, itself.ManagementCluster)
}

// removeBootstrap removes the bootstrap, which has nothing any more.
func (c Cluster) removeBootstrap(ctx context.Context) error {
	if err := c.Bootstrap.Remove(ctx); err != nil {
		return fmt.Errorf("removing the bootstrap of cluster %s: %w", c.Key, err)
	}
	return nil
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
