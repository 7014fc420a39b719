// Package validate checks files without a management cluster.
package validate

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/input"
	"github.com/clusterctl-x/clusterctl-x/pkg/upgradeplan"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// New returns the command validate.
func New(a *cli.App) *cobra.Command {
	var o input.Upgrade
	cmd := commandline.New("validate -f FILE", "Check a file as 'create cluster' does, without a management cluster", func(cmd *cobra.Command, _ []string) error {
		config, valid, err := validated(cmd.Context(), a, o)
		if err != nil {
			return err
		}
		if err := a.SayReferences(config); err != nil {
			return err
		}
		return a.PrintDocument("ClusterVersions", valid.Versions, func() error { return valid.Write(a.Out) })
	})
	cmd.Annotations = map[string]string{"callable": ""}
	commandline.AddFile(cmd, &o.File, "file that describes the cluster; - is standard input")
	commandline.AddFrom(cmd, &o.From, "file that describes the current cluster: check also that it can be upgraded from there")
	cmd.AddCommand(upgradePlan(a))
	return cmd
}

// validated is the valid spec of a file; with --from also one that the cluster
// of the other file can be upgraded to, in so many steps.
func validated(ctx context.Context, a *cli.App, o input.Upgrade) (*v1alpha1.Config, view.Valid, error) {
	if o.From != "" {
		u, err := plan.Between(ctx, a, o)
		if err != nil {
			return nil, view.Valid{}, err
		}
		return u.Config(), view.Valid{File: input.FileName(o.File), From: input.FileName(o.From), Steps: len(u.Plan.Steps), Cluster: u.Config().Cluster, Versions: u.Versions()}, nil
	}
	_, resolved, err := a.ValidSpec(o.File)
	if err != nil {
		return nil, view.Valid{}, err
	}
	return resolved.Config, view.Valid{File: input.FileName(o.File), Cluster: resolved.Config.Cluster, Versions: resolved.Versions}, nil
}

func upgradePlan(a *cli.App) *cobra.Command {
	var file string
	var asked upgradeplan.Exchange
	cmd := commandline.New("upgrade-plan -f FILE", "Check the answer of a runtime extension to GenerateUpgradePlan as Cluster API does", func(*cobra.Command, []string) error {
		exchange, err := a.ReadExchange(file, asked)
		if err != nil {
			return err
		}
		var errs []error
		for _, problem := range upgradeplan.Check(exchange) {
			errs = append(errs, fmt.Errorf("%s: %w", input.FileName(file), problem))
		}
		if err := errors.Join(errs...); err != nil {
			return usage.Wrap(err)
		}
		return a.Result("%s: the plan is valid: %s", input.FileName(file), exchange)
	})
	commandline.AddFile(cmd, &file, "file with the response; - is standard input")
	cmd.Flags().StringVar(&asked.FromControlPlane, "control-plane", "", "version of the control plane in the request, overriding the file's")
	cmd.Flags().StringVar(&asked.FromWorkers, "workers", "", "oldest version of the workers in the request, overriding the file's")
	cmd.Flags().StringVar(&asked.To, "target", "", "version to upgrade to in the request, overriding the file's")
	return cmd
}
