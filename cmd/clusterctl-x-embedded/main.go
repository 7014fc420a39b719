// Command clusterctl-x-embedded runs an embedded management cluster. It is
// started by clusterctl-x, not by people.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"sigs.k8s.io/cluster-api/feature"

	"github.com/clusterctl-x/clusterctl-x/cmd/clusterctl-x-embedded/internal/providers"
	"github.com/clusterctl-x/clusterctl-x/cmd/clusterctl-x-embedded/internal/supervisor"
	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
)

const usage = "usage: clusterctl-x-embedded run|providers [flags]; clusterctl-x runs this program, see 'clusterctl-x management --help'"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	switch args[0] {
	case "run":
		return runSupervisor(ctx, args[1:])
	case "providers":
		return runProviders(ctx, args[1:])
	default:
		return errors.New(usage)
	}
}

// runSupervisor tells the process that started it how it went through the
// inherited file 3: nothing once everything is ready, else why not.
func runSupervisor(ctx context.Context, args []string) error {
	runtime.LockOSThread() // see supervisor.Run
	var instance embedded.Instance
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.StringVar(&instance.Name, "name", embedded.DefaultName, "name of the instance")
	flags.StringVar(&instance.Dir, "dir", "", "directory of the instance")
	if err := flags.Parse(args); err != nil {
		return err
	}
	outcome := os.NewFile(3, "outcome")
	syscall.CloseOnExec(3)
	err := supervisor.Run(ctx, instance, outcome.Close)
	if err != nil {
		// After ready there is nobody left to tell.
		_, _ = fmt.Fprintln(outcome, err)
	}
	return err
}

func runProviders(ctx context.Context, args []string) error {
	ctrl.SetLogger(klog.Background())
	var options providers.Options
	flags := pflag.NewFlagSet("providers", pflag.ContinueOnError)
	flags.StringVar(&options.Kubeconfig, "kubeconfig", "", "path of the kubeconfig")
	flags.IntVar(&options.WebhookPort, "webhook-port", 0, "port of the webhooks, on 127.0.0.1")
	flags.StringVar(&options.WebhookCert, "webhook-cert", "", "path of the webhooks' certificate")
	flags.StringVar(&options.WebhookKey, "webhook-key", "", "path of the webhooks' key")
	flags.StringVar(&options.HealthAddress, "health-address", "", "address of the health endpoint")
	flags.IntVar(&options.DebugPort, "debug-port", 0, "port of the simulator's debug endpoint")
	flags.IntVar(&options.FirstClusterPort, "first-cluster-port", 0, "first port of the simulated clusters")
	flags.IntVar(&options.LastClusterPort, "last-cluster-port", 0, "last port of the simulated clusters")
	feature.MutableGates.AddFlag(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	return providers.Run(ctx, options)
}
