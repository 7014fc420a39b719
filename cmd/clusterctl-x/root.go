package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

type streams struct {
	in       io.Reader
	out, err io.Writer
}

// options are the flags that all commands share.
type options struct {
	Kubeconfig string
	Context    string
	Namespace  string
	// DefaultNamespace is that of the environment or the configuration file.
	DefaultNamespace string
	Management       string
	Instance         string
	Bundles          string
	Timeout          time.Duration
	Output           string
	Color            string
	Quiet            bool
	Verbosity        int
	// ExtensionCertificate and ExtensionKey are files for runtime extensions that
	// demand a certificate of their clients.
	ExtensionCertificate string
	ExtensionKey         string
}

// app is what commands work with.
type app struct {
	streams
	options options
	// lossy is stdout for those who drop the errors of what they write.
	lossy *lossy
}

func newApp(s streams) *app { return &app{streams: s, lossy: &lossy{Writer: s.out}} }

// run runs the command line and returns the exit code.
func run(ctx context.Context, args []string, s streams) int {
	a := newApp(s)
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetOut(a.lossy)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = a.lossy.unwritten()
	}
	if err != nil {
		a.tell(message(err))
	}
	return exitCode(err)
}

// lossy keeps the error of what cobra writes, helps and completions, and of events:
// cobra and view.Progress drop it.
type lossy struct {
	io.Writer
	err error
}

func (l *lossy) Write(data []byte) (int, error) {
	if _, err := l.Writer.Write(data); l.err == nil && err != nil {
		l.err = err
	}
	return len(data), nil
}

func (l *lossy) unwritten() error {
	if l.err == nil {
		return nil
	}
	return fmt.Errorf("writing the output: %w", l.err)
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "clusterctl-x",
		Short: "One file describes a Kubernetes cluster; one command creates it, one upgrades it",
		Long: `clusterctl-x creates and upgrades Kubernetes clusters from one file each, on
Cluster API.

It works on a management cluster: the one of your kubeconfig, or an embedded one
that it starts on this machine by itself.

These flags may also stand in the environment (CLUSTERCTL_X_MANAGEMENT and so
on) or in clusterctl-x/config.yaml in your configuration directory, which is
~/.config on Linux: ` + strings.Join(configurableOfAll(), ", ") + `;
and the files of the certificate for runtime extensions.

Exit codes: 0 done or nothing to do, 1 failed, 2 invalid input, 3 refused,
4 conflict, 5 timed out (the cluster goes on), 130 interrupted.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(a.in)
	root.SetErr(a.err)
	root.SetUsageTemplate(usageTemplate(root))
	flags := root.PersistentFlags()
	flags.StringVar(&a.options.Kubeconfig, "kubeconfig", "", "path of the kubeconfig of the management cluster")
	flags.StringVar(&a.options.Context, "context", "", "context of the kubeconfig")
	flags.StringVarP(&a.options.Namespace, "namespace", "n", "", "namespace of the cluster (default: the file's, else the kubeconfig's, else default)")
	flags.StringVar(&a.options.Management, "management", managementAuto, "management cluster: auto, kubeconfig or embedded; auto takes the kubeconfig that kubectl would take where there is one")
	flags.StringVar(&a.options.Instance, "name", "default", "name of the embedded management cluster")
	flags.StringVar(&a.options.Bundles, "bundles", "", "file with versions bundles, in place of the ones that clusterctl-x brings")
	flags.DurationVar(&a.options.Timeout, "timeout", 0, "time for the whole command; 0 means the command's own default")
	flags.StringVarP(&a.options.Output, "output", "o", outputText, "output: text, json or yaml; long commands write one JSON event per line")
	flags.StringVar(&a.options.Color, "color", "auto", "colour: auto, always or never")
	flags.BoolVar(&a.options.Quiet, "quiet", false, "show no progress")
	flags.IntVarP(&a.options.Verbosity, "v", "v", 0, "verbosity of the debug log on stderr, 0 to 9")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return a.complete(cmd) }
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		a.group("create", "Create a cluster", a.createClusterCommand()),
		a.group("upgrade", "Upgrade a cluster", a.upgradeClusterCommand()),
		a.group("plan", "Show what a command, or a change of a ClusterClass, would do", a.planUpgradeCommand(), a.planClusterClassCommand()),
		a.group("delete", "Delete a cluster", a.deleteClusterCommand()),
		a.group("describe", "Show a cluster with all its machines", a.describeClusterCommand()),
		a.group("watch", "Show what happens to a cluster", a.watchClusterCommand()),
		a.group("get", "List clusters, or get a kubeconfig", a.getClustersCommand(), a.getKubeconfigCommand()),
		a.group("generate", "Write manifests or a file to begin with", a.generateManifestsCommand(), a.generateClusterConfigCommand(), a.generateClusterClassCommand(), a.generateBundlesCommand(), a.generateGuardrailsCommand(), a.generateRuntimeExtensionCommand(), a.generateSchemaCommand()),
		a.group("hold", "Hold up the upgrades of a cluster", a.holdClusterCommand()),
		a.group("release", "Let the upgrades of a cluster go on", a.releaseClusterCommand()),
		a.group("serve", "Answer Cluster API", a.serveRuntimeExtensionCommand()),
		a.explainCommand(),
		a.validateCommand(),
		a.managementCommand(),
		a.versionCommand(),
	)
	holdOthers(root)
	a.addHelpers(root)
	return root
}

// group is a command that only holds others.
func (a *app) group(use, short string, commands ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{Use: use, Short: short}
	group.AddCommand(commands...)
	holdOthers(group)
	return group
}

// setUpLog sends the log of the Kubernetes libraries to stderr, and only when
// it was asked for: what people are to know is not in a log.
func (a *app) setUpLog() error {
	log.SetLogger(klog.Background()) // of controller-runtime
	if a.options.Verbosity == 0 {
		klog.SetOutput(io.Discard)
		klog.LogToStderr(false)
		return silenceErrors()
	}
	var level klog.Level
	return level.Set(fmt.Sprint(a.options.Verbosity))
}

// silenceErrors keeps klog from writing errors to stderr, which it does whatever
// its output is.
func silenceErrors() error {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(flags)
	return flags.Set("stderrthreshold", "FATAL")
}

// withTimeout applies --timeout, or the default of the command; 0 is none.
func (a *app) withTimeout(ctx context.Context, byDefault time.Duration) (context.Context, context.CancelFunc) {
	timeout := byDefault
	if a.options.Timeout != 0 {
		timeout = a.options.Timeout
	}
	if timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, timeout, management.ErrTimeout)
}

func (a *app) style(w io.Writer) view.Style {
	switch a.options.Color {
	case "always":
		return view.Style{Color: true}
	case "never":
		return view.Style{}
	default:
		return view.Style{Color: isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	}
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// width returns a function that says how many columns a terminal has.
func width(w io.Writer) func() int {
	return func() int {
		file, ok := w.(*os.File)
		if !ok {
			return 0
		}
		columns, _, err := term.GetSize(int(file.Fd()))
		if err != nil {
			return 0
		}
		return columns
	}
}

// progress shows what happens to a cluster: on stderr for people, on stdout
// for programs, where it is the result.
func (a *app) progress() *view.Progress {
	switch {
	case a.options.Output == outputJSON:
		return view.NewProgress(a.lossy, view.JSON, view.Style{})
	case a.options.Quiet:
		return view.NewProgress(a.err, view.Quiet, view.Style{})
	case isTerminal(a.err) && os.Getenv("TERM") != "dumb":
		style := a.style(a.err)
		style.Width = width(a.err)
		return view.NewProgress(a.err, view.Terminal, style)
	default:
		return view.NewProgress(a.err, view.Lines, view.Style{})
	}
}

// warning tells a person that the result is not all that was asked for, which
// is more than progress: --quiet does not hide it.
func (a *app) warning(format string, args ...any) {
	a.tell(fmt.Sprintf("warning: "+format, args...))
}

// warnText is warning for a text that is complete.
func (a *app) warnText(text string) { a.warning("%s", text) }

// say tells a person how far things are, on stderr.
func (a *app) say(format string, args ...any) {
	if !a.options.Quiet {
		a.tell(fmt.Sprintf(format, args...))
	}
}

// tell writes to stderr. Where that fails, there is nowhere left to say so.
func (a *app) tell(text string) { _, _ = fmt.Fprintln(a.err, text) }
