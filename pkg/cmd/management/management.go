// Package management starts, stops and shows embedded management clusters.
package management

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/connection"
	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// New returns the command management.
func New(a *cli.App) *cobra.Command {
	return commandline.Group("management", "Start and stop embedded management clusters, install and upgrade the components of others", start(a), stop(a), status(a), kubeconfig(a), initialize(a), upgrade(a))
}

func start(a *cli.App) *cobra.Command {
	return commandline.New("start", "Start the embedded management cluster unless it is running", a.Within(connection.StartTimeout, func(ctx context.Context, _ []string) error {
		instance, err := a.Management.Start(ctx)
		if err != nil {
			return err
		}
		return a.Result("embedded management cluster %q is running; its kubeconfig is %s", instance.Name, instance.Kubeconfig())
	}))
}

func stop(a *cli.App) *cobra.Command {
	var remove, abandon bool
	cmd := commandline.New("stop", "Stop the embedded management cluster; the next start brings its clusters back", a.Within(connection.StartTimeout, func(ctx context.Context, _ []string) error {
		if remove && !abandon {
			if err := checkRemovable(ctx, a); err != nil {
				return err
			}
		}
		instance, started, ran, err := a.Management.Stop(ctx)
		switch {
		case err != nil:
			return err
		case !started:
			return a.Result("embedded management cluster %q was never started; nothing to do", instance.Name)
		case remove:
			if err := instance.Remove(); err != nil {
				return err
			}
			return a.Result("embedded management cluster %q is removed, with all its clusters", instance.Name)
		case ran:
			return a.Result("embedded management cluster %q is stopped", instance.Name)
		default:
			return a.Result("embedded management cluster %q is not running; nothing to do", instance.Name)
		}
	}))
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if abandon && !remove {
			return usage.Errorf("'%s' takes --abandon-clusters with --remove only", cmd.CommandPath())
		}
		return nil
	}
	cmd.Flags().BoolVar(&remove, "remove", false, "remove all its data, including its simulated clusters; refused while it has clusters of real machines")
	cmd.Flags().BoolVar(&abandon, "abandon-clusters", false, "with --remove: remove it whatever clusters it has; real machines continue to run, and nothing manages them")
	return cmd
}

// checkRemovable refuses to remove an embedded management cluster with clusters of real
// machines. It starts one that does not run.
func checkRemovable(ctx context.Context, a *cli.App) error {
	instance, created, err := a.Management.Created()
	if err != nil || !created {
		return err
	}
	if err = a.Management.UseEmbedded(ctx); err == nil {
		var service *lifecycle.Service
		if service, err = a.Service(ctx); err == nil {
			return service.CheckRemovable(ctx, instance.Name)
		}
	}
	return fmt.Errorf("looking for clusters of real machines in embedded management cluster %q: %w; --abandon-clusters removes it without looking", instance.Name, err)
}

func kubeconfig(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{Use: "kubeconfig", Short: "Get the administrator's kubeconfig of the embedded management cluster", Args: commandline.NoArgs}
	return a.WriteKubeconfig(cmd, func(context.Context, []string) ([]byte, error) { return a.Management.ReadKubeconfig() })
}

func status(a *cli.App) *cobra.Command {
	var ofUser bool
	cmd := commandline.New("status", "Show whether the embedded management cluster is running, its processes and its ports", func(*cobra.Command, []string) error {
		instance, err := a.Management.Instance()
		instances := []embedded.Instance{instance}
		if ofUser {
			instances, err = connection.Instances()
		}
		if err != nil {
			return err
		}
		statuses := make([]view.Instance, 0, len(instances))
		for _, instance := range instances {
			status, err := connection.Status(instance)
			if err != nil {
				return err
			}
			statuses = append(statuses, view.InstanceOf(instance, status))
		}
		return a.PrintDocument("EmbeddedManagementClusterList", statuses, func() error {
			if len(statuses) == 0 {
				a.Say("no embedded management clusters")
			}
			return view.Instances(a.Out, statuses)
		})
	})
	cmd.Flags().BoolVarP(&ofUser, "all", "A", false, "show all embedded management clusters of this user")
	return cmd
}
