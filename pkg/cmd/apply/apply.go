// Package apply creates clusters, or upgrades those that exist.
package apply

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/create"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/upgrade"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/input"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

type command struct {
	*cli.App
	upgrade.Options
	files []string
}

// New returns the command apply.
func New(a *cli.App) *cobra.Command {
	c := command{App: a}
	cmd := commandline.New("apply -f FILE", "Create the clusters that files describe, or upgrade those that exist", a.Within(0, c.run))
	cli.AddFiles(cmd, &c.files)
	c.AddTo(a, cmd)
	return cli.Starts(cmd)
}

func (c *command) run(ctx context.Context, _ []string) error {
	if err := c.Check(c.files...); err != nil {
		return err
	}
	files, err := input.Files(c.files)
	if err != nil {
		return err
	}
	specs, err := c.read(files)
	if err != nil {
		return err
	}
	service, err := c.Service(ctx)
	if err != nil {
		return err
	}
	for i, spec := range specs {
		if err := c.apply(ctx, service, spec); err != nil {
			if left := files[i+1:]; len(left) > 0 {
				c.Tell("not begun: " + strings.Join(left, ", "))
			}
			return err
		}
	}
	return nil
}

// read reads and checks all files.
func (c *command) read(files []string) ([]lifecycle.Spec, error) {
	var specs []lifecycle.Spec
	var errs []error
	for _, file := range files {
		spec, err := c.ReadSpec(file)
		if err == nil {
			var warnings []strictyaml.Warning
			warnings, err = spec.CheckUpgrade(lifecycle.UpgradeOptions{})
			c.WarnAll(warnings)
		}
		specs, errs = append(specs, spec), append(errs, err)
	}
	return specs, errors.Join(errs...)
}

// apply creates the cluster that a spec describes, or upgrades it.
func (c *command) apply(ctx context.Context, service *lifecycle.Service, spec lifecycle.Spec) error {
	applied, err := service.PlanApply(ctx, spec)
	if err != nil {
		return err
	}
	if applied.Upgrade != nil {
		return upgrade.Run(ctx, c.App, service, *applied.Upgrade, c.Options)
	}
	n := *applied.Creation
	if c.ShowsPlans(c.Interactive) {
		if err := c.Style(c.Err).Creation(c.Err, n.Key.String(), n.Config().Cluster, n.Versions()); err != nil {
			return err
		}
	}
	if c.Interactive && c.DryRun != commandline.DryRunServer {
		if err := c.Confirm(ctx, "continue?", "creating cluster "+n.Key.String()); err != nil {
			return err
		}
	}
	return create.Run(ctx, c.App, service, n, create.Options{Wait: c.Wait, TakeOver: c.TakeOver, DryRun: c.DryRun})
}
