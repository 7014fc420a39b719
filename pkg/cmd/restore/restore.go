// Package restore restores the clusters of a backup into a management cluster.
package restore

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/backup"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// New returns the command restore of the clusterctl-x of a version.
func New(a *cli.App, version string) *cobra.Command {
	var directory, identity string
	var takeOver bool
	var saved backup.Saved
	cmd := cli.Command("management", "Restore the clusters of a backup into a management cluster", a.Within(0, func(ctx context.Context, _ []string) error {
		c, err := a.Connect(ctx)
		if err != nil {
			return err
		}
		service, err := backup.New(c.Client, backup.Options{Version: version, TakeOver: takeOver, Waiting: a.SayWaiting})
		if err != nil {
			return err
		}
		restored, err := service.Restore(ctx, saved)
		if err != nil {
			return err
		}
		return a.PrintDocument("Restored", restored, func() error { return a.Write(said(directory, restored)) })
	}))
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if directory == "" {
			return usage.Errorf("'%s' needs --from: the directory of a backup", cmd.CommandPath())
		}
		identities, err := backup.ReadIdentities(identity)
		if err != nil {
			return err
		}
		saved, err = backup.Open(directory, identities)
		return err
	}
	cmd.Flags().StringVar(&directory, "from", "", "directory of the backup")
	cmd.Flags().StringVar(&identity, "identity", "", "file with the age keys that decrypt the backup")
	cli.CompleteDirectory(cmd, "from")
	cli.AddTakeOver(cmd, &takeOver)
	return cli.Group("restore", "Restore the clusters of a management cluster", cli.Starts(cmd))
}

// said is what a person reads of a restore.
func said(directory string, restored backup.Restored) string {
	if restored.Nothing {
		return fmt.Sprintf("the clusters of %s were restored already; nothing to do\n", directory)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "restored from %s: %s, in %s:\n", directory, view.Counted(len(restored.Clusters), "cluster"), view.Counted(restored.Objects(), "object"))
	for _, cluster := range restored.Clusters {
		fmt.Fprintf(&text, "  %s\n", cluster)
	}
	return text.String()
}
