package selfmanaged

import (
	"fmt"

	"github.com/clusterctl-x/clusterctl-x/pkg/backup"
)

// step is a part of a creation or of a deletion.
type step string

// The first and the last step of both.
const (
	// startBootstrap starts the bootstrap.
	startBootstrap step = "start"
	// removeBootstrap removes the bootstrap.
	removeBootstrap step = "remove"
)

// The steps of a creation.
const (
	// createOnBootstrap creates the cluster on the bootstrap, waits until it is ready, and writes its
	// kubeconfig.
	createOnBootstrap step = "create"
	// moveIntoItself installs the components into the cluster, and moves it into itself.
	moveIntoItself step = "move"
	// finishMove ends the pause of a cluster that is moved as a whole, if it has one.
	finishMove step = "finish"
)

// The steps of a deletion.
const (
	// moveToBootstrap moves the cluster to its bootstrap.
	moveToBootstrap step = "move back"
	// finishMoveBack ends the pause of a cluster that is moved to its bootstrap as a whole.
	finishMoveBack step = "finish the move back"
	// deleteOnBootstrap deletes the cluster on its bootstrap, and waits until it is gone.
	deleteOnBootstrap step = "delete"
)

// found is what there is of a cluster before its creation is begun or continued.
type found struct {
	// bootstrap says whether there is one, and kubeconfig whether the file of the cluster is there.
	bootstrap, kubeconfig bool
	// on is what the bootstrap has of the cluster.
	on backup.Place
}

// steps returns what is left of the creation; nothing where the cluster is being deleted.
func (f found) steps() []step {
	switch {
	case !f.bootstrap && f.kubeconfig:
		return []step{finishMove}
	case !f.bootstrap:
		return []step{startBootstrap, createOnBootstrap, moveIntoItself, removeBootstrap}
	case f.on == backup.Arriving, f.on == backup.Arrived:
		return nil
	case f.on == backup.Leaving:
		return []step{moveIntoItself, removeBootstrap}
	case f.on == backup.Absent && f.kubeconfig: // it is moved, and the bootstrap is left
		return []step{finishMove, removeBootstrap}
	default:
		return []step{createOnBootstrap, moveIntoItself, removeBootstrap}
	}
}

// deletionSteps returns what is left of a deletion, by what the bootstrap, if there is one, has of the
// cluster; nothing where the cluster is being created.
func deletionSteps(bootstrap bool, on backup.Place) []step {
	switch {
	case !bootstrap:
		return []step{startBootstrap, moveToBootstrap, deleteOnBootstrap, removeBootstrap}
	case on == backup.Leaving:
		return nil
	case on == backup.Present:
		return []step{deleteOnBootstrap, removeBootstrap}
	case on == backup.Arrived:
		return []step{finishMoveBack, deleteOnBootstrap, removeBootstrap}
	default:
		return []step{moveToBootstrap, deleteOnBootstrap, removeBootstrap}
	}
}

// SayPlan says the steps of a creation that is not begun yet. Components that the folder of
// components does not have are an error.
func (c Creation) SayPlan() error {
	c = c.complete()
	if err := c.Components.Check(c.Wanted); err != nil {
		return err
	}
	c.say(found{}.steps())
	return nil
}

// say says which steps are to be taken.
func (c Creation) say(steps []step) {
	c.Say("Plan for cluster %s, which will manage itself, %d steps:", c.Key.Name, len(steps))
	c.sayEach(steps, c.describe)
}

func (c Creation) describe(s step) string {
	switch s {
	case createOnBootstrap:
		return "create the cluster on the bootstrap, wait until it is ready, and write its kubeconfig to " + c.Kubeconfig
	case moveIntoItself:
		return fmt.Sprintf("install %s and cert-manager into the cluster, wait until they answer, and move the cluster into itself", c.Wanted)
	case finishMove:
		return "wait until the cluster is ready by itself"
	default:
		return c.Cluster.describe(s)
	}
}

// say says which steps are to be taken.
func (d Deletion) say(steps []step) {
	d.Say("Plan to delete cluster %s, which manages itself, %d steps:", d.Key.Name, len(steps))
	d.sayEach(steps, d.describe)
}

func (d Deletion) describe(s step) string {
	switch s {
	case moveToBootstrap:
		return "move the cluster to the bootstrap"
	case finishMoveBack:
		return "end the pause of the cluster, which is moved to the bootstrap"
	case deleteOnBootstrap:
		return "delete the cluster on the bootstrap, and wait until it is gone"
	default:
		return d.Cluster.describe(s)
	}
}

// sayEach says what each step does, in a line with its number.
func (c Cluster) sayEach(steps []step, describe func(step) string) {
	for i, s := range steps {
		c.Say(" %d. %s", i+1, describe(s))
	}
}

// describe describes a step that creations and deletions have.
func (c Cluster) describe(s step) string {
	if s == startBootstrap {
		return fmt.Sprintf("start its bootstrap, embedded management cluster %q", c.Bootstrap.InstanceName)
	}
	return "remove the bootstrap"
}
