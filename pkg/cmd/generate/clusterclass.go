package generate

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/manifests"
	"github.com/clusterctl-x/clusterctl-x/pkg/runtimeextension"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

type classOptions struct {
	*cli.App
	provider, file   string
	class, directory string
	keepUsed         bool
	plansFrom        string
}

func clusterClass(a *cli.App) *cobra.Command {
	o := classOptions{App: a}
	cmd := commandline.New("clusterclass --provider PROVIDER | -f FILE", "Write a ClusterClass with its templates, for clusters with spec.clusterClass", a.Within(0, func(ctx context.Context, _ []string) error {
		objects, err := o.objects(ctx)
		if err != nil {
			return err
		}
		return writeManifests(a, o.directory, objects)
	}))
	cmd.Flags().StringVarP(&o.provider, "provider", "p", "", "infrastructure provider of the clusters, such as inmemory for simulated machines")
	commandline.AddFile(cmd, &o.file, "file that describes a cluster, with the documents that describe the machines of the class; - is standard input")
	cmd.Flags().StringVar(&o.class, "class", "", "name of the class; default: the name of the provider")
	cmd.Flags().BoolVar(&o.keepUsed, "keep-used", false, "keep every version that a cluster of the class on the management cluster has or is being upgraded to")
	cmd.Flags().StringVar(&o.plansFrom, "upgrade-plans-from", "", "handler of a runtime extension that Cluster API calls for upgrade plans, instead of a list of versions: "+runtimeextension.PlanHandler+".clusterctl-x is that of 'serve runtime-extension'")
	addOutputDir(a, cmd, &o.directory)
	return cmd
}

// objects are a class with the releases of the bundles.
func (o *classOptions) objects(ctx context.Context) ([]templater.Object, error) {
	class, err := o.described()
	if err != nil {
		return nil, err
	}
	class.Name, class.UpgradePlans = cmp.Or(o.class, class.Provider.Name), o.plansFrom
	if err := lifecycle.CheckClass(class, runtimeextension.PlanHandler+".clusterctl-x"); err != nil {
		return nil, usage.Wrap(err)
	}
	bundles, err := o.ReadBundles()
	if err != nil {
		return nil, err
	}
	render := lifecycle.RenderClass
	if o.keepUsed {
		service, err := o.Service(ctx)
		if err != nil {
			return nil, err
		}
		render = func(class manifests.Class, bundles *versionsbundle.Bundles) (lifecycle.RenderedClass, error) {
			return service.RenderClassKeeping(ctx, class, bundles)
		}
	}
	rendered, err := render(class, bundles)
	for _, note := range rendered.Notes {
		o.WarnText(note)
	}
	return rendered.Objects, err
}

// described returns the class of the provider that --provider names, or the file of -f, which
// names one too.
func (o *classOptions) described() (manifests.Class, error) {
	if o.file == "" {
		provider, err := o.ReadProvider(o.provider)
		return manifests.Class{Namespace: o.NamespaceOffline(), Provider: provider}, err
	}
	_, resolved, err := o.ValidSpec(o.file)
	if err != nil {
		return manifests.Class{}, err
	}
	class, err := lifecycle.ClassOf(resolved, o.provider, o.NamespaceOffline())
	return class, usage.Wrap(err)
}
