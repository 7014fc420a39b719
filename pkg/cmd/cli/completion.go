package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/clusterctl-x/clusterctl-x/pkg/connection"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/output"
	"github.com/clusterctl-x/clusterctl-x/pkg/terminal"
)

// completionTimeout is how long a person waits for a completion at most.
const completionTimeout = 3 * time.Second

// complete offers values of an argument or a flag to the shell. It starts nothing, writes
// nothing, and reads no standard input.
type complete = cobra.CompletionFunc

// AddCompletions adds what is offered for a command and those below it. A flag has the
// same values in each command that has it; those that differ are registered already.
func (a *App) AddCompletions(cmd *cobra.Command) {
	byFlag := a.completions()
	for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
		flags.VisitAll(func(flag *pflag.Flag) {
			if complete, known := byFlag[flag.Name]; known {
				_ = cmd.RegisterFlagCompletionFunc(flag.Name, complete)
			}
		})
	}
	if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 && !cmd.HasSubCommands() {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, child := range cmd.Commands() {
		a.AddCompletions(child)
	}
}

// oneOf offers names that are read only where they are asked for.
func oneOf(names func(cmd *cobra.Command) ([]string, error)) complete {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		all, err := names(cmd)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// completions are those of flags, by their names. Any file is offered for flags that are
// not among them, unless they take no value.
func (a *App) completions() map[string]complete {
	all := map[string]complete{
		"management":         fixed(connection.Kinds()...),
		"color":              fixed(terminal.Colors()...),
		"provider":           oneOf(a.providers),
		"skip-preflight":     commaSeparated(func(*cobra.Command) []string { return lifecycle.Preflights() }),
		"worker-node-groups": commaSeparated(a.groupsOfFiles),
		"name":               oneOf(instances),
		"namespace": a.asking(func(ctx context.Context, c *connection.Connection) ([]string, error) {
			return c.Namespaces(ctx)
		}),
		"context":     oneOf(a.contexts),
		outputFlag:    formatsOf,
		"filename":    filesWith("yaml", "yml", "json"),
		"from":        filesWith("yaml", "yml", "json"),
		"bundles":     filesWith("yaml", "yml", "json"),
		"plan":        filesWith("json"),
		"out":         filesWith("json"),
		providersFlag: directories,
		"cert-dir":    directories,
		"output-dir":  directories,
	}
	for _, version := range []string{"control-plane", "workers", "target"} {
		all[version] = a.CompleteVersions
	}
	for _, free := range []string{
		"class", "extension-config", "health-address", "host", "image", "port", "reason", "selector", "setting", "step", "timeout", "upgrade-plans-from", "v",
	} {
		all[free] = cobra.NoFileCompletions
	}
	return all
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
func (a *App) asking(ask func(context.Context, *connection.Connection) ([]string, error)) complete {
	return oneOf(func(cmd *cobra.Command) ([]string, error) {
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

// instances are the embedded management clusters of the user.
func instances(*cobra.Command) ([]string, error) {
	all, err := connection.Instances()
	var names []string
	for _, instance := range all {
		names = append(names, instance.Name)
	}
	return names, err
}

// CompleteVersions offers the exact versions of the bundles.
func (a *App) CompleteVersions(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return oneOf(func(cmd *cobra.Command) ([]string, error) {
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

// groupsOfFiles returns the worker node groups of the files of -f.
func (a *App) groupsOfFiles(cmd *cobra.Command) []string {
	flag := cmd.Flag(filenameFlag)
	if flag == nil || a.Complete(cmd) != nil {
		return nil
	}
	files := []string{flag.Value.String()}
	if several, ok := flag.Value.(pflag.SliceValue); ok {
		files = several.GetSlice()
	}
	var names []string
	for _, file := range files {
		if file == "" || file == "-" {
			continue // standard input is not there to be read yet
		}
		spec, err := a.ReadSpec(file)
		if err != nil {
			continue
		}
		for _, name := range spec.GroupNames() {
			if !slices.Contains(names, name) { // cobra parses the command line twice
				names = append(names, name)
			}
		}
	}
	return names
}

// formatsOf offers the output formats of the command, up to where a template begins.
func formatsOf(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	names := output.Formats(cmd.Flag(outputFlag).Annotations[formatsAnnotation]).Complete(typed)
	if len(names) == 1 && strings.HasSuffix(names[0], "=") {
		return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// CompleteFlag offers these values for a flag of one command, which others of its name do not have.
func CompleteFlag(cmd *cobra.Command, flag string, values []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, fixed(values...))
}

func fixed(values ...string) complete {
	return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
}

// commaSeparated offers values for the end of a list, but for those that are in it.
func commaSeparated(values func(*cobra.Command) []string) complete {
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1]
		var lists []string
		for _, value := range values(cmd) {
			if !slices.Contains(strings.Split(before, ","), value) {
				lists = append(lists, before+value)
			}
		}
		return lists, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

func filesWith(extensions ...string) complete {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

func directories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}
