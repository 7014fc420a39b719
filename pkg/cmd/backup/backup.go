// Package backup saves the clusters of a management cluster in a directory, and restores them.
package backup

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/backup"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// options are those that saving and restoring have in common.
type options struct {
	*cli.App
	version, directory string
	takeOver           bool
}

// command returns a command about the management cluster and the directory of a flag.
func (o *options) command(short, flag, directoryHelp string, run func(context.Context, *backup.Service) error) *cobra.Command {
	cmd := commandline.New("management", short, o.Within(0, func(ctx context.Context, _ []string) error {
		c, err := o.Connect(ctx)
		if err != nil {
			return err
		}
		service, err := backup.New(c.Client, backup.Options{Version: o.version, TakeOver: o.takeOver, Waiting: o.SayWaiting})
		if err != nil {
			return err
		}
		return run(ctx, service)
	}))
	cmd.Flags().StringVar(&o.directory, flag, "", directoryHelp)
	commandline.CompleteDirectory(cmd, flag)
	cli.AddTakeOver(cmd, &o.takeOver)
	return cli.Starts(cmd)
}

// New returns the command backup of the clusterctl-x of a version.
func New(a *cli.App, version string) *cobra.Command {
	o := options{App: a, version: version}
	var names []string
	var target backup.Target
	const toHelp = "directory for the backup, which is made; private keys of the clusters are in it"
	cmd := o.command("Save the clusters of a management cluster in a directory", "to", toHelp, func(ctx context.Context, service *backup.Service) error {
		contents, err := service.Save(ctx, a.Namespace, target)
		if err != nil {
			return err
		}
		for _, warning := range contents.Warnings() {
			a.WarnText(warning)
		}
		saved := view.Backup{Directory: o.directory, Clusters: contents.Clusters, Objects: contents.Objects(), Encrypted: contents.Encrypted, Secrets: contents.Secrets}
		return a.PrintDocument("Backup", contents, func() error { return a.Write(saved.Saved()) })
	})
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if o.directory == "" {
			return usage.Errorf("'%s' needs --to: the directory that is made", cmd.CommandPath())
		}
		recipients, err := backup.ParseRecipients(names)
		if err != nil {
			return err
		}
		target, err = backup.NewTarget(o.directory, recipients)
		return err
	}
	cmd.Flags().StringArrayVar(&names, "encrypt-to", nil, "age recipient (age1...) that all files are encrypted to; may be repeated")
	return commandline.Group("backup", "Save the clusters of a management cluster", cmd)
}

// NewRestore returns the command restore of the clusterctl-x of a version.
func NewRestore(a *cli.App, version string) *cobra.Command {
	o := options{App: a, version: version}
	var identity string
	var saved backup.Saved
	cmd := o.command("Restore the clusters of a backup into a management cluster", "from", "directory of the backup", func(ctx context.Context, service *backup.Service) error {
		restored, err := service.Restore(ctx, saved)
		if err != nil {
			return err
		}
		from := view.Backup{Directory: o.directory, Clusters: restored.Clusters, Objects: restored.Objects(), Restored: restored.Nothing}
		return a.PrintDocument("Restored", restored, func() error { return a.Write(from.Restoration()) })
	})
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if o.directory == "" {
			return usage.Errorf("'%s' needs --from: the directory of a backup", cmd.CommandPath())
		}
		identities, err := backup.ReadIdentities(identity)
		if err != nil {
			return err
		}
		saved, err = backup.Open(o.directory, identities)
		return err
	}
	cmd.Flags().StringVar(&identity, "identity", "", "file with the age keys that decrypt the backup")
	return commandline.Group("restore", "Restore the clusters of a management cluster", cmd)
}
