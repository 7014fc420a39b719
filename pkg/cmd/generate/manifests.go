package generate

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/files"
	"github.com/clusterctl-x/clusterctl-x/pkg/input"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/output"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

type manifestsOptions struct {
	*cli.App
	input.Upgrade
	step          int
	directory, to string
}

func ofCluster(a *cli.App) *cobra.Command {
	o := manifestsOptions{App: a}
	cmd := commandline.New("manifests -f FILE | manifests NAME", "Write exactly what 'create cluster' applies, or what one step of an upgrade does", func(cmd *cobra.Command, args []string) error {
		if err := o.Take(args, nil); err != nil {
			return err
		}
		if o.Name != "" {
			return a.Within(0, func(ctx context.Context, _ []string) error { return o.edit(ctx) })(cmd, args)
		}
		if (o.From != "") != cmd.Flags().Changed("step") {
			return usage.Errorf("--from and --step must be set together: the file that describes the current cluster, and a step of the upgrade from there")
		}
		if o.to != "" {
			return o.edit(cmd.Context())
		}
		objects, err := o.objects(cmd.Context())
		if err != nil {
			return err
		}
		return writeManifests(a, o.directory, objects)
	})
	commandline.AddFile(cmd, &o.File, "file that describes the cluster; - is standard input")
	a.AddUpgrade(cmd, &o.Upgrade)
	commandline.AddFrom(cmd, &o.From, "file that describes the current cluster: write the objects after a step of the upgrade from there")
	cmd.Flags().IntVar(&o.step, "step", 0, "step of the upgrade, as numbered by 'plan upgrade'; 0 is the changes that wait for no step")
	cmd.Flags().StringVar(&o.to, "to", "", "directory with the manifests of the cluster: change what the step changes in their files, and nothing else")
	addOutputDir(a, cmd, &o.directory)
	return cmd
}

// edit changes the files of a directory as a step of an upgrade does.
func (o *manifestsOptions) edit(ctx context.Context) error {
	if o.to == "" || o.directory != "" || (o.From == "") == (o.Name == "") || o.Name != "" && o.File != "" {
		return usage.Errorf("--to and --step take the step of an upgrade and change files: name the cluster and its --kubernetes-version, or the files of -f and --from, and leave --output-dir out")
	}
	u, err := o.planned(ctx)
	if err != nil {
		return err
	}
	changed, err := files.Edit(o.to, func(texts map[string][]byte) (map[string][]byte, error) { return u.Edited(o.step, texts) })
	if err != nil {
		return fmt.Errorf("changing the files of %s: %w", o.to, err)
	}
	return o.Result("%s", view.Edited(o.to, changed))
}

// objects are those of the cluster that a file describes, or of a step towards it: the complete
// manifests of the cluster at the end of the step.
func (o *manifestsOptions) objects(ctx context.Context) ([]templater.Object, error) {
	if o.From != "" {
		u, err := o.planned(ctx)
		if err != nil {
			return nil, err
		}
		return u.Manifests(o.step)
	}
	if o.Narrowed() {
		return nil, usage.Errorf("--control-plane-only, --worker-node-groups and --latest-patches apply to the steps of an upgrade: use them with --from and --step")
	}
	spec, resolved, err := o.ValidSpec(o.File)
	if err != nil {
		return nil, err
	}
	if err := o.SayReferences(resolved.Config); err != nil {
		return nil, err
	}
	return spec.Manifests(o.NamespaceOffline())
}

// planned is the upgrade from one file to another, or of a live cluster, which has the step.
func (o *manifestsOptions) planned(ctx context.Context) (lifecycle.Upgrade, error) {
	_, u, err := plan.Of(ctx, o.App, o.Upgrade, nil)
	if err != nil {
		return u, err
	}
	if err := u.CheckStep(o.step); err != nil {
		return u, usage.Errorf("--step %w; 'plan upgrade -f %s --from %s' shows them", err, o.File, o.From)
	}
	if o.step > 0 {
		o.Say("step %d of %d: %s", o.step, len(u.Plan.Steps), u.Plan.Steps[o.step-1])
		for _, object := range u.Removals(o.step) {
			o.Say("delete %s: 'kubectl apply' does not", object)
		}
	}
	return u, nil
}

// addOutputDir adds the flags that say where manifests are written to.
func addOutputDir(a *cli.App, cmd *cobra.Command, directory *string) {
	cmd.Flags().StringVar(directory, "output-dir", "", "directory to write to, one file for each object; default: standard output")
	a.AddOutput(cmd.Flags(), output.Formats{output.YAML}, "", "--output-dir names a directory")
}

// writeManifests writes objects to a directory, or to stdout where there is none.
func writeManifests(a *cli.App, directory string, objects []templater.Object) error {
	if directory == "" {
		return a.Write(string(templater.Join(objects)))
	}
	written := make([]files.File, len(objects))
	for i, object := range objects {
		written[i] = files.File{Name: fmt.Sprintf("%04d-%s-%s.yaml", i, object.Kind.Kind, object.Name), Data: object.YAML}
	}
	others, err := files.WriteManifests(directory, written)
	if err != nil {
		return fmt.Errorf("writing manifests: %w", err)
	}
	a.Say("%s written to %s", view.Counted(len(objects), "file"), directory)
	for _, other := range others {
		a.Warning("%s existed before; 'kubectl apply -f %s' would apply it too", other, directory)
	}
	return nil
}
