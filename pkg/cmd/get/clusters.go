package get

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/failure"
	"github.com/clusterctl-x/clusterctl-x/pkg/input"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/output"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

type clustersOptions struct {
	*cli.App
	input.Selection
	watch bool
}

func clusters(a *cli.App) *cobra.Command {
	o := clustersOptions{App: a}
	cmd := &cobra.Command{
		Use:               "clusters [NAME...]",
		Aliases:           []string{"cluster"},
		Short:             "List the clusters of a namespace, or the named ones",
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.CompleteMoreClusters,
		RunE: func(cmd *cobra.Command, args []string) error {
			of, err := o.Read(cmd.CommandPath(), args)
			if err != nil {
				return err
			}
			return a.Within(0, func(ctx context.Context, _ []string) error { return o.run(ctx, of) })(cmd, args)
		},
	}
	o.AddTo(cmd.Flags(), "list")
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "keep running, and write each cluster again when it changes")
	a.AddListOutput(cmd, output.Name)
	return cmd
}

func (o *clustersOptions) run(ctx context.Context, of lifecycle.Selection) error {
	service, err := o.Service(ctx)
	if err != nil {
		return err
	}
	if o.watch {
		return o.follow(ctx, service, of)
	}
	clusters, err := service.Clusters(ctx, of)
	if err != nil {
		return err
	}
	document := output.Document("ClusterList", clusters)
	if len(of.Names) == 1 {
		document = output.Document("Cluster", clusters[0])
	}
	return o.Print(document, func() error {
		if len(clusters) == 0 {
			o.Say("no clusters in %s", service.Where(of))
		}
		return o.table()(view.ListedOf(clusters))
	})
}

// follow shows clusters, and then what changes.
func (o *clustersOptions) follow(ctx context.Context, service *lifecycle.Service, of lifecycle.Selection) error {
	table, first := o.table(), true
	err := service.WatchClusters(ctx, of, func(changes []lifecycle.ClusterChange) error {
		if first && len(changes) == 0 {
			o.Say("no clusters in %s", service.Where(of))
		}
		first = false
		clusters, events := make([]view.Listed, len(changes)), make([]any, len(changes))
		for i, change := range changes {
			clusters[i] = view.Listed(change)
			events[i] = output.Document("Cluster", clusters[i])
		}
		return o.PrintEvents(events, func() error { return table(clusters) })
	})
	return failure.Ended(err, " watching clusters", "watching changes nothing, and the clusters continue without it")
}

// table returns what writes clusters as text.
func (o *clustersOptions) table() func([]view.Listed) error {
	if o.Format == output.Name {
		return func(clusters []view.Listed) error { return view.Names(o.Out, clusters) }
	}
	table := view.NewClusterTable(o.Out, o.Columns())
	return func(clusters []view.Listed) error { return table.Write(clusters, time.Now()) }
}
