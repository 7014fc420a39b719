package selfmanaged

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"

	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/backup"
	"github.com/clusterctl-x/clusterctl-x/pkg/components"
	"github.com/clusterctl-x/clusterctl-x/pkg/files"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
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
	// Wait must be true: what comes after the creation is done once the cluster is ready.
	Wait bool
	// Ready waits until the cluster is ready, as one of its management clusters has it, which
	// changed it or not.
	Ready func(ctx context.Context, key types.NamespacedName, on ManagementCluster, changed bool) error
}

// Run creates the cluster, or completes its creation. It reports whether anything was to be done.
// The name is complete once a management cluster was found.
func (c Creation) Run(ctx context.Context) (key types.NamespacedName, changed bool, err error) {
	if !c.Wait {
		return c.Key, false, usage.Errorf("cluster %s is to manage itself, which this command sees to once it is ready: leave out --wait=false", c.Key.Name)
	}
	c = c.complete()
	if err := c.Components.Check(c.Wanted); err != nil {
		return c.Key, false, err
	}
	there, bootstrap, err := c.find(ctx)
	if err != nil {
		return c.Key, there.bootstrap, err
	}
	if there.bootstrap {
		c.Key = bootstrap.key
	}
	steps := there.steps()
	switch len(steps) {
	case 0:
		return c.Key, true, c.beingDeleted()
	case 1: // it manages itself already
		key, err := c.moved(ctx)
		return key, false, err
	}
	c.say(steps)
	for _, s := range steps {
		if c.Key, bootstrap, err = c.do(ctx, s, bootstrap); err != nil {
			return c.Key, true, err
		}
	}
	return c.Key, true, nil
}

// complete adds the provider of the infrastructure to the components that are wanted.
func (c Creation) complete() Creation {
	providers := map[string]string{c.Spec.ManagesItselfBy(): ""}
	maps.Copy(providers, c.Wanted.Providers)
	c.Wanted.Providers = providers
	return c
}

// find returns what there is, and the bootstrap where there is one.
func (c Creation) find(ctx context.Context) (there found, bootstrap place, err error) {
	if there.bootstrap, err = c.begun(); err != nil {
		return there, bootstrap, err
	}
	if there.kubeconfig, err = exists(c.Kubeconfig); err != nil || !there.bootstrap {
		return there, bootstrap, err
	}
	bootstrap, err = c.look(ctx, c.Bootstrap)
	there.on = bootstrap.has
	return there, bootstrap, err
}

// do takes one step. It returns the name of the cluster and the bootstrap, which a step may find.
func (c Creation) do(ctx context.Context, s step, bootstrap place) (types.NamespacedName, place, error) {
	var err error
	switch s {
	case startBootstrap:
		bootstrap, err = c.look(ctx, c.Bootstrap)
		if err == nil {
			c.Key = bootstrap.key
		}
	case createOnBootstrap:
		err = c.create(ctx, bootstrap.ManagementCluster)
	case moveIntoItself:
		err = c.move(ctx, bootstrap)
	case finishMove:
		c.Key, err = c.moved(ctx)
	case removeBootstrap:
		err = c.removeBootstrap(ctx, bootstrap)
	}
	return c.Key, bootstrap, err
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

// move installs the components into the cluster, moves it into itself, and waits until it is ready
// there.
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
	return c.Ready(ctx, c.Key, itself.ManagementCluster, false)
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
	if err := files.Save(c.Kubeconfig, kubeconfig); err != nil {
		return fmt.Errorf("writing the kubeconfig to %s: %w", c.Kubeconfig, err)
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
