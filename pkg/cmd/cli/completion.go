package cli

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/connection"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/output"
	"github.com/clusterctl-x/clusterctl-x/pkg/terminal"
)

// completionTimeout is how long a person waits for a completion at most.
const completionTimeout = 3 * time.Second

// AddCompletions adds what is offered for a command and those below it. Any file is offered for
// flags that are not named here, unless they take no value.
func (a *App) AddCompletions(cmd *cobra.Command) {
	all := map[string]commandline.Complete{
		"management":     commandline.Fixed(connection.Kinds()...),
		"color":          commandline.Fixed(terminal.Colors()...),
		"provider":       commandline.OneOf(a.providers),
		"skip-preflight": commandline.CommaSeparated(func(*cobra.Command) []string { return lifecycle.Preflights() }),
		"worker-node-groups": commandline.CommaSeparated(func(cmd *cobra.Command) []string {
			if a.Complete(cmd) != nil {
				return nil
			}
			return a.GroupsOf(commandline.FilesOf(cmd))
		}),
		"name": commandline.OneOf(func(*cobra.Command) ([]string, error) { return connection.InstanceNames() }),
		"namespace": a.asking(func(ctx context.Context, c *connection.Connection) ([]string, error) {
			return c.Namespaces(ctx)
		}),
		"context": commandline.OneOf(a.contexts),
		outputFlag: commandline.Begun(func(cmd *cobra.Command, typed string) []string {
			return output.Formats(cmd.Flag(outputFlag).Annotations[formatsAnnotation]).Complete(typed)
		}),
		"filename":    commandline.FilesWith("yaml", "yml", "json"),
		"from":        commandline.FilesWith("yaml", "yml", "json"),
		"bundles":     commandline.FilesWith("yaml", "yml", "json"),
		"images":      commandline.FilesWith("yaml", "yml", "json"),
		"plan":        commandline.FilesWith("json"),
		"out":         commandline.FilesWith("json"),
		providersFlag: commandline.Directories,
		"cert-dir":    commandline.Directories,
		"components":  commandline.Directories,
		"output-dir":  commandline.Directories,
	}
	for _, version := range []string{"control-plane", "kubernetes-version", "target", "workers"} {
		all[version] = a.CompleteVersions
	}
	for _, free := range []string{
		"class", "cluster-api-version", "encrypt-to", "extension-config", "force-conflicts", "health-address", "host", "image", "port", "reason", "selector", "setting", "step", "timeout", "until-step", "upgrade-plans-from", "v", "with", "worker-node-group",
	} {
		all[free] = cobra.NoFileCompletions
	}
	commandline.AddCompletions(cmd, all)
}

// CompleteClusters offers the names of clusters for the one argument of a command.
func (a *App) CompleteClusters(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.CompleteMoreClusters(cmd, args, typed)
}

// CompleteMoreClusters offers the names of clusters that are no argument yet.
func (a *App) CompleteMoreClusters(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.asking(func(ctx context.Context, c *connection.Connection) ([]string, error) {
		clusters, err := c.Clusters(ctx, management.Filter{Namespace: c.Namespace})
		var names []string
		for _, cluster := range clusters {
			if !slices.Contains(args, cluster.Name) {
				names = append(names, cluster.Name)
			}
		}
		return names, err
	})(cmd, args, typed)
}

// asking offers what the management cluster answers, if it runs.
func (a *App) asking(ask func(context.Context, *connection.Connection) ([]string, error)) commandline.Complete {
	return commandline.OneOf(func(cmd *cobra.Command) ([]string, error) {
		if err := a.Complete(cmd); err != nil || !a.Management.Ready() {
			return nil, err
		}
		a.Quiet, a.Management.Starts = true, false
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		c, err := a.Connect(ctx)
		if err != nil {
			return nil, err
		}
		return ask(ctx, c)
	})
}

func (a *App) providers(*cobra.Command) ([]string, error) {
	known, err := a.ReadProviders()
	return known.Names(), err
}

func (a *App) contexts(cmd *cobra.Command) ([]string, error) {
	if err := a.Complete(cmd); err != nil {
		return nil, err
	}
	return a.Management.Kubeconfig.Contexts()
}

// CompleteVersions offers the exact versions of the bundles.
func (a *App) CompleteVersions(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return commandline.OneOf(func(cmd *cobra.Command) ([]string, error) {
		if err := a.Complete(cmd); err != nil {
			return nil, err
		}
		bundles, err := a.ReadBundles()
		if err != nil {
			return nil, err
		}
		var names []string
		for _, version := range bundles.Versions() {
			names = append(names, version.String())
		}
		return names, nil
	})(cmd, args, typed)
}
