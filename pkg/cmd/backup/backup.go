// Package backup saves the clusters of a management cluster in a directory.
package backup

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

// New returns the command backup of the clusterctl-x of a version.
func New(a *cli.App, version string) *cobra.Command {
	var directory string
	var names []string
	var takeOver bool
	var target backup.Target
	cmd := cli.Command("management", "Save the clusters of a management cluster in a directory", a.Within(0, func(ctx context.Context, _ []string) error {
		c, err := a.Connect(ctx)
		if err != nil {
			return err
		}
		service, err := backup.New(c.Client, backup.Options{Version: version, TakeOver: takeOver, Waiting: a.SayWaiting})
		if err != nil {
			return err
		}
		contents, err := service.Save(ctx, a.Namespace, target)
		if err != nil {
			return err
		}
		for _, secret := range contents.Missing {
			a.Warning("Secret %s is named by these objects and is not in the backup, since nothing in it owns the Secret; keep a copy of it, or give it the label clusterctl.cluster.x-k8s.io/move and make another backup", secret)
		}
		return a.PrintDocument("Backup", contents, func() error { return a.Write(said(directory, contents)) })
	}))
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if directory == "" {
			return usage.Errorf("'%s' needs --to: the directory that is made", cmd.CommandPath())
		}
		recipients, err := backup.ParseRecipients(names)
		if err != nil {
			return err
		}
		target, err = backup.NewTarget(directory, recipients)
		return err
	}
	cmd.Flags().StringVar(&directory, "to", "", "directory for the backup, which is made; private keys of the clusters are in it")
	cmd.Flags().StringArrayVar(&names, "encrypt-to", nil, "age recipient (age1...) that all files are encrypted to; may be repeated")
	cli.CompleteDirectory(cmd, "to")
	cli.AddTakeOver(cmd, &takeOver)
	return cli.Group("backup", "Save the clusters of a management cluster", cli.Starts(cmd))
}

// said is what a person reads of a backup.
func said(directory string, contents backup.Contents) string {
	var text strings.Builder
	fmt.Fprintf(&text, "saved in %s: %s, in %s:\n", directory, view.Counted(len(contents.Clusters), "cluster"), view.Counted(contents.Objects(), "object"))
	for _, cluster := range contents.Clusters {
		fmt.Fprintf(&text, "  %s\n", cluster)
	}
	how := "not encrypted"
	if contents.Encrypted {
		how = "encrypted"
	}
	fmt.Fprintf(&text, "with private keys and tokens, %s, in these Secrets:\n", how)
	for _, secret := range contents.Secrets {
		fmt.Fprintf(&text, "  %s\n", secret)
	}
	return text.String()
}
