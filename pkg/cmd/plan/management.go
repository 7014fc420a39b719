package plan

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/components"
	"github.com/clusterctl-x/clusterctl-x/pkg/input"
)

func managementUpgrade(a *cli.App) *cobra.Command {
	const short = "Show what 'management upgrade' would do; nothing is changed"
	cmd := a.ComponentsCommand("upgrade", short, input.UpgradedProviders, func(ctx context.Context, client *components.Client, wanted components.Wanted) error {
		p, err := client.PlanUpgrade(ctx, wanted)
		if err != nil {
			return err
		}
		return a.ShowComponents(p)
	})
	return commandline.Group("management", "Show what a command about the management cluster would do", cmd)
}
