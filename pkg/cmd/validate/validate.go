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
	"github.com/clusterctl-x/clusterctl-x/pkg/upgradeplan"
)

// New returns the command validate.
func New(a *cli.App) *cobra.Command {
	var o plan.Flags
	cmd := &cobra.Command{
		Use:         "validate -f FILE",
		Annotations: map[string]string{"callable": ""},
		Short:       "Check a file as 'create cluster' does, without a management cluster",
		Example: `  clusterctl-x validate -f cluster.yaml
  clusterctl-x validate -f cluster.yaml --from old.yaml`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, versions, steps, err := validated(cmd.Context(), a, o)
			if err != nil {
				return err
			}
			if err := a.SayReferences(config); err != nil {
				return err
			}
			return a.Print(cli.Document("ClusterVersions", versions), func() error {
				line := fmt.Sprintf("%s: cluster %s is valid: control plane %s", cli.FileName(o.File), config.Cluster.Metadata.Name, versions.ControlPlane)
				for _, group := range config.Cluster.Spec.WorkerNodeGroupConfigurations {
					line += fmt.Sprintf(", %s %s", group.Name, versions.WorkerNodeGroups[group.Name])
				}
				if o.From != "" {
					line += fmt.Sprintf("; steps from %s: %d", cli.FileName(o.From), steps)
				}
				if class := config.Cluster.Spec.ClusterClass; class != nil {
					line += "; not checked against ClusterClass " + class.Name
				}
				return a.Write(line + "\n")
			})
		},
	}
	cli.AddFile(cmd, &o.File, "file that describes the cluster; - is standard input")
	cmd.Flags().StringVar(&o.From, "from", "", "file that describes the current cluster: check also that it can be upgraded from there")
	cmd.AddCommand(upgradePlan(a))
	return cmd
}

// validated is the valid spec of a file; with --from also one that the cluster
// of the other file can be upgraded to, in so many steps.
func validated(ctx context.Context, a *cli.App, o plan.Flags) (*v1alpha1.Config, v1alpha1.ClusterVersions, int, error) {
	if o.From != "" {
		u, err := o.Between(ctx, a)
		return u.Config(), u.Versions(), len(u.Plan.Steps), err
	}
	_, resolved, err := a.ValidSpec(o.File)
	return resolved.Config, resolved.Versions, 0, err
}

func upgradePlan(a *cli.App) *cobra.Command {
	var file string
	var asked upgradeplan.Exchange
	cmd := &cobra.Command{
		Use:   "upgrade-plan -f FILE",
		Short: "Check the answer of a runtime extension to GenerateUpgradePlan as Cluster API does",
		Long: `Check the answer of a runtime extension to GenerateUpgradePlan as Cluster API does.

The file has the GenerateUpgradePlanResponse, and may have the
GenerateUpgradePlanRequest as a document of its own; otherwise the flags give the
request.`,
		Example: `  clusterctl-x validate upgrade-plan -f response.yaml --control-plane v1.30.0 --workers v1.29.0 --target v1.33.0`,
		Args:    cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			exchange, err := readExchange(a, file, asked)
			if err != nil {
				return err
			}
			var errs []error
			for _, problem := range upgradeplan.Check(exchange) {
				errs = append(errs, fmt.Errorf("%s: %w", cli.FileName(file), problem))
			}
			if err := errors.Join(errs...); err != nil {
				return cli.Usage(err)
			}
			return a.Result("%s: the plan is valid: %s", cli.FileName(file), exchange)
		},
	}
	cli.AddFile(cmd, &file, "file with the response; - is standard input")
	cmd.Flags().StringVar(&asked.FromControlPlane, "control-plane", "", "version of the control plane in the request, overriding the file's")
	cmd.Flags().StringVar(&asked.FromWorkers, "workers", "", "oldest version of the workers in the request, overriding the file's")
	cmd.Flags().StringVar(&asked.To, "target", "", "version to upgrade to in the request, overriding the file's")
	return cmd
}

// readExchange reads a response, and the request where it is in the file. What the
// flags say comes first.
func readExchange(a *cli.App, file string, flags upgradeplan.Exchange) (upgradeplan.Exchange, error) {
	if file == "" {
		return flags, cli.Usagef("-f FILE is required: the file with the GenerateUpgradePlanResponse")
	}
	data, err := a.ReadFile("the response", "-f names the file with the GenerateUpgradePlanResponse, and - is standard input", file)
	if err != nil {
		return flags, err
	}
	exchange, err := upgradeplan.ReadExchange(data, flags)
	if errors.Is(err, upgradeplan.ErrNoRequest) {
		err = fmt.Errorf("%w: give --control-plane and --target, and --workers where there are some, or add the GenerateUpgradePlanRequest to the file", err)
	}
	if err != nil {
		return flags, cli.Usagef("%s: %w", cli.FileName(file), err)
	}
	return exchange, nil
}
