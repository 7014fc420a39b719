// Command infrastructure-simulator plays the infrastructure provider of kinds that have no
// controller here, on a management cluster of tests. It must live as long as the clusters:
// see the package simulator for what a restart loses.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/clusterctl-x/clusterctl-x/cmd/clusterctl-x-embedded/internal/simulator"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run plays the provider until ctx or the input ends: the program that started this one may
// be killed.
func run(ctx context.Context, args []string, in io.Reader) error {
	ctrl.SetLogger(klog.Background())
	var options simulator.Options
	flags := pflag.NewFlagSet("infrastructure-simulator", pflag.ContinueOnError)
	flags.StringVar(&options.Kubeconfig, "kubeconfig", "", "path of the management cluster's kubeconfig")
	clusters := flags.StringArray("cluster", nil, "GROUP/VERSION/KIND of infrastructure clusters; repeatable")
	machines := flags.StringArray("machine", nil, "GROUP/VERSION/KIND of infrastructure machines; repeatable")
	flags.Int32Var(&options.FirstClusterPort, "first-cluster-port", 31000, "first port of the workload clusters; simulators may share the range")
	flags.Int32Var(&options.LastClusterPort, "last-cluster-port", 31999, "last port of the workload clusters")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var err error
	if options.Clusters, err = kinds(*clusters); err != nil {
		return err
	}
	if options.Machines, err = kinds(*machines); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, in) // an error ends it as well
	}()
	return simulator.Run(ctx, options)
}

func kinds(texts []string) ([]schema.GroupVersionKind, error) {
	var all []schema.GroupVersionKind
	for _, text := range texts {
		kind, err := simulator.ParseKind(text)
		if err != nil {
			return nil, err
		}
		all = append(all, kind)
	}
	return all, nil
}
