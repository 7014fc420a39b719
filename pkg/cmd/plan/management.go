package plan

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
)

func managementUpgrade(a *cli.App) *cobra.Command {
	var flags cli.Components
	cmd := cli.Command("upgrade", "Show what 'management upgrade' would do; nothing is changed", a.Within(0, func(ctx context.Context, _ []string) error {
		wanted, err := flags.Wanted()
		if err != nil {
			return err
		}
		client, err := flags.Client(ctx, a)
		if err != nil {
			return err
		}
		p, err := client.PlanUpgrade(ctx, wanted)
		if err != nil {
			return cli.OfComponents(err)
		}
		return a.ShowComponents(p)
	}))
	flags.AddTo(cmd, cli.UpgradedProviders)
	return cli.Group("management", "Show what a command about the management cluster would do", cmd)
}
