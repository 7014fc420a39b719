// Package cli is what all commands share: flags, settings, completions and the connection
// to a management cluster.
package cli

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/clusterctl-x/clusterctl-x/pkg/connection"
	"github.com/clusterctl-x/clusterctl-x/pkg/input"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/output"
	"github.com/clusterctl-x/clusterctl-x/pkg/terminal"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// App is what commands work with.
type App struct {
	terminal.Terminal
	*output.Printer
	input.Reader
	// DefaultNamespace is that of the environment or the configuration file.
	DefaultNamespace string
	// Timeout is that of the whole command, and Verbosity that of the log of the libraries.
	Timeout   time.Duration
	Verbosity int
	// Management is the management cluster that the flags mean.
	Management connection.Choice
	// Lossy is Out for those who drop the errors of what they write.
	Lossy *output.Lossy
	// command is the one that runs, without the name of the program.
	command string
}

// New returns an App with the given streams.
func New(s terminal.Streams) *App {
	a := &App{Terminal: terminal.Terminal{Streams: s}, Printer: output.New(s.Out), Reader: input.Reader{Stdin: s.In}, Lossy: &output.Lossy{Writer: s.Out}}
	a.Management.Report = a.Say
	return a
}

// Flags about what commands read.
const (
	providersFlag      = "providers"
	replaceBundlesFlag = "replace-bundles"
)

// AddFlags adds the flags that all commands share.
func (a *App) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&a.Management.Kubeconfig.Path, "kubeconfig", "", "path of the kubeconfig of the management cluster")
	flags.StringVar(&a.Management.Kubeconfig.Context, "context", "", "context of the kubeconfig")
	flags.StringVarP(&a.Namespace, "namespace", "n", "", "namespace of the cluster (default: the file's, else the kubeconfig's, else default)")
	flags.StringVar(&a.Management.Kind, "management", connection.Auto, "management cluster: auto, kubeconfig or embedded; auto uses the kubeconfig that kubectl would use, if there is one")
	flags.StringVar(&a.Management.InstanceName, "name", connection.DefaultInstance, "name of the embedded management cluster")
	flags.StringVar(&a.Bundles, "bundles", "", "file with versions bundles to add to the built-in ones; an entry replaces the built-in one of the same version")
	flags.BoolVar(&a.ReplaceBundles, replaceBundlesFlag, false, "use the versions bundles of --bundles alone, without the built-in ones")
	flags.StringVar(&a.Providers, providersFlag, "", "directory with folders of infrastructure providers to add to the built-in ones; a folder replaces the built-in one of the same name")
	flags.DurationVar(&a.Timeout, "timeout", 0, "timeout of the whole command; 0 means the command's default")
	a.AddOutput(flags, output.Formats{output.Text, output.JSON, output.YAML}, "; long commands write one JSON event per line", "")
	flags.StringVar(&a.Color, "color", terminal.Auto, "colour: auto, always or never")
	flags.BoolVar(&a.Quiet, "quiet", false, "show no progress")
	flags.IntVarP(&a.Verbosity, "v", "v", 0, "verbosity of the debug log on stderr, 0 to 9")
}

// Within returns what runs a command within --timeout, or the default of the command; 0
// is none.
func (a *App) Within(byDefault time.Duration, run func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		ctx, cancel := context.WithCancel(cmd.Context())
		defer cancel()
		if timeout := cmp.Or(a.Timeout, byDefault); timeout != 0 {
			ctx, cancel = context.WithTimeoutCause(ctx, timeout, management.ErrTimeout)
			defer cancel()
		}
		return run(ctx, args)
	}
}

// NamespaceOffline is where clusters are that nothing else names a namespace for, when
// no management cluster is asked.
func (a *App) NamespaceOffline() string { return a.NamespaceOr("default") }

// NamespaceOr is the namespace of the flag, else that of the environment or the
// configuration file, else the last one.
func (a *App) NamespaceOr(otherwise string) string {
	return cmp.Or(a.Namespace, a.DefaultNamespace, otherwise)
}

// Progress shows what happens to a cluster: on stderr for people, on stdout
// for programs, where it is the result.
func (a *App) Progress() *view.Progress {
	if a.Format == output.JSON {
		return view.NewProgress(a.Lossy, view.JSON, view.Style{})
	}
	return a.Terminal.Progress()
}
