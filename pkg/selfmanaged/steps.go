package selfmanaged

import (
	"fmt"

	"github.com/clusterctl-x/clusterctl-x/pkg/backup"
)

// step is a part of a creation.
type step string

const (
	// startBootstrap starts the bootstrap.
	startBootstrap step = "start"
	// createOnBootstrap creates the cluster on the bootstrap, waits until it is ready, and writes its
	// kubeconfig.
	createOnBootstrap step = "create"
	// moveIntoItself installs the components into the cluster, and moves it into itself.
	moveIntoItself step = "move"
	// finishMove ends the pause of a cluster that is moved as a whole, if it has one.
	finishMove step = "finish"
	// removeBootstrap removes the bootstrap.
	removeBootstrap step = "remove"
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
	for _, line := range c.lines(steps) {
		c.Say("%s", line)
	}
}

// lines describes steps.
func (c Creation) lines(steps []step) []string {
	lines := make([]string, len(steps))
	for i, s := range steps {
		lines[i] = fmt.Sprintf(" %d. %s", i+1, c.describe(s))
	}
	return lines
}

func (c Creation) describe(s step) string {
	switch s {
	case startBootstrap:
		return fmt.Sprintf("start its bootstrap, embedded management cluster %q", c.Bootstrap.InstanceName)
	case createOnBootstrap:
		return "create the cluster on the bootstrap, wait until it is ready, and write its kubeconfig to " + c.Kubeconfig
	case moveIntoItself:
		return fmt.Sprintf("install %s and cert-manager into the cluster, wait until they answer, and move the cluster into itself", c.Wanted)
	case finishMove:
		return "wait until the cluster is ready by itself"
	default:
		return "remove the bootstrap"
	}
}
