// Package imports writes the specs of clusters that others made.
package imports

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/files"
	"github.com/clusterctl-x/clusterctl-x/pkg/importer"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/output"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

type options struct {
	*cli.App
	files []string
	to    string
	force bool
}

// New returns the command import.
func New(a *cli.App) *cobra.Command {
	o := options{App: a}
	cmd := commandline.New("import -f FILE", "Write the cluster spec of a cluster that others made", a.Within(0, func(ctx context.Context, _ []string) error {
		return o.manifests(ctx)
	}))
	cmd.Flags().StringArrayVarP(&o.files, "filename", "f", nil, "file with manifests, or a directory of such files; - is standard input; may be repeated")
	o.add(cmd)
	cmd.AddCommand(cluster(a))
	return cmd
}

func cluster(a *cli.App) *cobra.Command {
	o := options{App: a}
	cmd := &cobra.Command{
		Use: "cluster NAME", Short: "Write the cluster spec of a live cluster", Args: cli.OneName, ValidArgsFunction: a.CompleteClusters,
		RunE: a.Within(0, func(ctx context.Context, args []string) error {
			service, err := a.ServiceWithBundles(ctx)
			if err != nil {
				return err
			}
			imported, err := service.Import(ctx, service.Key(args[0], ""))
			if err != nil {
				return err
			}
			return o.write([]importer.Imported{imported}, nil)
		}),
	}
	o.add(cmd)
	return cmd
}

func (o *options) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.to, "to", "", "file to write to; default: standard output")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace the file of --to")
	o.AddOutput(cmd.Flags(), output.Formats{output.YAML}, "", "--to names a file")
}

// manifests imports the clusters of files.
func (o *options) manifests(ctx context.Context) error {
	manifests, err := o.ReadManifests(o.files)
	if err != nil {
		return err
	}
	known, err := o.ReadProviders()
	if err != nil {
		return err
	}
	bundles, err := o.ReadBundles()
	if err != nil {
		return err
	}
	imported, notes, err := lifecycle.ImportManifests(ctx, manifests, known, bundles)
	if err != nil {
		return err
	}
	return o.write(imported, notes)
}

// write writes the specs, and says what they do not have.
func (o *options) write(imported []importer.Imported, notes []string) error {
	text, more := importer.Join(imported)
	for _, note := range append(notes, more...) {
		o.WarnText(note)
	}
	if o.to == "" {
		return o.Write(string(text))
	}
	if _, err := os.Lstat(o.to); !o.force && !errors.Is(err, os.ErrNotExist) {
		return usage.Errorf("--to: %s exists; name another file, or replace it with --force", o.to)
	}
	if err := files.WritePublic(o.to, text); err != nil {
		return fmt.Errorf("writing the spec: %w", err)
	}
	o.Say("written to %s", o.to)
	return nil
}
