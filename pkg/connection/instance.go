package connection

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
	"github.com/clusterctl-x/clusterctl-x/pkg/embedded/containerengine"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// DefaultInstance is the embedded management cluster that is meant by default.
const DefaultInstance = "default"

// StartTimeout is how long an embedded management cluster may take to start.
const StartTimeout = 2 * time.Minute

// whichHome is the remedy where the state directory cannot be used.
const whichHome = "CLUSTERCTL_X_HOME names the directory of embedded management clusters"

// Instance is the embedded management cluster that is meant.
func (c *Choice) Instance() (embedded.Instance, error) {
	home, err := embedded.DefaultHome()
	if err != nil {
		return embedded.Instance{}, err
	}
	instance, err := embedded.Find(home, c.InstanceName)
	if err != nil {
		return embedded.Instance{}, usage.Wrap(err)
	}
	return instance, nil
}

// Status is what the files of an instance say.
func Status(instance embedded.Instance) (embedded.Status, error) {
	status, err := instance.Status()
	if err != nil {
		err = fmt.Errorf("looking at embedded management cluster %q: %w; %s", instance.Name, err, whichHome)
	}
	return status, err
}

// ReadKubeconfig reads the kubeconfig of the administrator of the embedded management
// cluster that is meant.
func (c *Choice) ReadKubeconfig() ([]byte, error) {
	instance, err := c.Instance()
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(instance.Kubeconfig())
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("embedded management cluster %q has no kubeconfig, since it was never started: start it with 'clusterctl-x management start --name %s'", instance.Name, instance.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of embedded management cluster %q: %w; %s", instance.Name, err, whichHome)
	}
	return data, nil
}

// Start starts the embedded management cluster, unless it runs.
func (c *Choice) Start(ctx context.Context) (embedded.Instance, error) {
	instance, status, err := c.status()
	if err != nil || status.Ready {
		return instance, err
	}
	ctx, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	c.Report("management cluster: embedded %q, which is starting", instance.Name)
	began := time.Now()
	err = instance.Start(ctx)
	if errors.Is(err, embedded.ErrNoProgram) && os.Getenv("CLUSTERCTL_X_EMBEDDED") != "" {
		err = fmt.Errorf("%w; set it to the program that 'make build' puts at bin/embedded/%s, or unset it", err, embedded.Exec)
	}
	if err != nil {
		return instance, err
	}
	c.Report("it is ready after %.1fs", time.Since(began).Seconds())
	return instance, nil
}

// UseEmbedded makes the embedded management cluster the one that is meant, whatever else names one,
// and starts it unless it runs. Later calls do not report which one it is: who named it knows.
func (c *Choice) UseEmbedded(ctx context.Context) error {
	if _, err := c.Start(ctx); err != nil {
		return err
	}
	c.Kind, c.Kubeconfig = Embedded, management.Kubeconfig{}
	c.Report = func(string, ...any) {}
	return nil
}

// Created returns the embedded management cluster that is meant, and whether it was ever started.
func (c *Choice) Created() (embedded.Instance, bool, error) {
	instance, status, err := c.status()
	return instance, status.Created, err
}

// Stop stops the embedded management cluster. It reports whether that was ever started, and
// whether it ran.
func (c *Choice) Stop(ctx context.Context) (instance embedded.Instance, started, ran bool, err error) {
	if instance, _, err = c.status(); err != nil {
		return instance, false, false, err
	}
	if _, err := os.Stat(instance.Dir); errors.Is(err, os.ErrNotExist) {
		return instance, false, false, nil
	}
	ran, err = instance.Stop(ctx)
	return instance, true, ran, err
}

// running is the embedded management cluster that is meant, which runs.
func (c *Choice) running(ctx context.Context) (embedded.Instance, error) {
	if c.Starts {
		return c.Start(ctx)
	}
	instance, status, err := c.status()
	if err != nil || status.Ready {
		return instance, err
	}
	start := "clusterctl-x management start"
	if instance.Name != DefaultInstance {
		start += " --name " + instance.Name
	}
	refused := &management.RefusedError{Check: "not-running"}
	switch {
	case status.Running:
		refused.Reason = fmt.Sprintf("embedded management cluster %q is not ready yet; '%s' waits until it is", instance.Name, start)
	case status.Created:
		refused.Reason = fmt.Sprintf("embedded management cluster %q is stopped, and this command starts nothing; start it with '%s'", instance.Name, start)
	default:
		refused.Reason = fmt.Sprintf("there is no management cluster: no kubeconfig was found, and embedded management cluster %q was never started; name a kubeconfig with --kubeconfig, or start the embedded one with '%s' or by creating a cluster", instance.Name, start)
		if c.Kind == Embedded {
			refused.Reason = fmt.Sprintf("embedded management cluster %q was never started, so it has no clusters; start it with '%s' or by creating a cluster", instance.Name, start)
		}
	}
	return instance, refused
}

// status returns the embedded management cluster that is meant, and how it is.
func (c *Choice) status() (embedded.Instance, embedded.Status, error) {
	instance, err := c.Instance()
	if err != nil {
		return instance, embedded.Status{}, err
	}
	status, err := Status(instance)
	return instance, status, err
}

// prepareContainers makes sure that the container engine which the controllers of an instance
// use has a network.
func (c *Choice) prepareContainers(ctx context.Context, instance embedded.Instance, network string) error {
	status, err := Status(instance)
	if err != nil {
		return err
	}
	engine := containerengine.Of(status.Environment)
	made, err := engine.EnsureNetwork(ctx, network)
	if made {
		c.Report("network %s is made for containers, at %s", network, engine.Host)
	}
	return err
}
