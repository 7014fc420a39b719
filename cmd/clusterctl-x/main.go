// Command clusterctl-x creates, shows and deletes Kubernetes clusters that are
// described by one file, on Cluster API.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd"
	"github.com/clusterctl-x/clusterctl-x/pkg/terminal"
)

// version is set by the linker; a binary of 'go install' knows it from its module.
var version string

func main() {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup has it ignored
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	// The first signal ends the context; the second one ends the process.
	context.AfterFunc(ctx, stop)
	os.Exit(cmd.Run(ctx, version, os.Args[1:], terminal.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
