package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/components"
	"github.com/clusterctl-x/clusterctl-x/pkg/input"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// ComponentsCommand returns a command about the components of a management cluster, which runs with
// their client and the versions that its flags ask for.
func (a *App) ComponentsCommand(use, short, providersHelp string, run func(context.Context, *components.Client, components.Wanted) error) *cobra.Command {
	var flags input.Components
	cmd := commandline.New(use, short, a.Within(0, func(ctx context.Context, _ []string) error {
		client, wanted, err := flags.Client(ctx, components.Options{
			Kubeconfig: a.Management.Kubeconfig.Path, Context: a.Management.Kubeconfig.Context, Embedded: a.Management.UsesEmbedded(),
		})
		if err != nil {
			return err
		}
		return run(ctx, client, wanted)
	}))
	flags.AddTo(cmd.Flags(), "", providersHelp)
	return cmd
}

// ShowComponents prints a plan for components.
func (a *App) ShowComponents(p components.Plan) error {
	return a.PrintDocument("ManagementPlan", p.Components, func() error {
		rows := make([]view.Component, len(p.Components))
		for i, component := range p.Components {
			rows[i] = view.Component{Name: component.Name, Namespace: component.Namespace, From: component.From, To: component.To}
		}
		return view.Components(a.Out, rows)
	})
}
