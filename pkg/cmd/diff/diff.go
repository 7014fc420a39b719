// Package diff shows how clusters differ from their files.
package diff

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/failure"
	"github.com/clusterctl-x/clusterctl-x/pkg/input"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
)

// New returns the command diff.
func New(a *cli.App) *cobra.Command {
	var files []string
	cmd := commandline.New("diff -f FILE", "Show how clusters differ from their files, with old and new values; nothing is changed", a.Within(0, func(ctx context.Context, _ []string) error {
		found, err := run(ctx, a, files)
		return failure.Differs(found, err, 1, 2) // as 'kubectl diff'
	}))
	cli.AddFiles(cmd, &files)
	a.AddExtensionCertificate(cmd)
	return cmd
}

// run shows the differences, and reports whether there are any.
func run(ctx context.Context, a *cli.App, named []string) (bool, error) {
	files, err := input.Files(named)
	if err != nil {
		return false, err
	}
	all := []changes.Change{}
	for _, file := range files {
		found, err := differences(ctx, a, file)
		if err != nil {
			return false, err
		}
		all = append(all, found...)
	}
	return len(all) > 0, a.PrintDocument("Diff", all, func() error { return a.Style(a.Out).Diff(a.Out, all) })
}

func differences(ctx context.Context, a *cli.App, file string) ([]changes.Change, error) {
	spec, err := a.ReadSpec(file)
	if err != nil {
		return nil, err
	}
	warnings, err := spec.CheckUpgrade(lifecycle.UpgradeOptions{})
	service, err := a.ServiceOnceChecked(ctx, warnings, err)
	if err != nil {
		return nil, err
	}
	return service.Diff(ctx, spec)
}
