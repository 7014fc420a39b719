package generate

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
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
	cmd := cli.Command("clusterclass --provider PROVIDER | -f FILE", "Write a ClusterClass with its templates, for clusters with spec.clusterClass", a.Within(0, func(ctx context.Context, _ []string) error {
		objects, err := o.objects(ctx)
		if err != nil {
			return err
		}
		return writeManifests(a, o.directory, objects)
	}))
	cmd.Flags().StringVarP(&o.provider, "provider", "p", "", "infrastructure provider of the clusters, such as inmemory for simulated machines")
	cli.AddFile(cmd, &o.file, "file that describes a cluster, with the documents that describe the machines of the class; - is standard input")
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
	if problems := utilvalidation.IsDNS1123Label(class.Name); len(problems) > 0 {
		return nil, usage.Errorf("--class %q cannot be the name of a ClusterClass: it must have at most 63 lower-case letters, digits and dashes, and begin and end with a letter or digit", class.Name)
	}
	if handler, config, _ := strings.Cut(o.plansFrom, "."); o.plansFrom != "" && len(utilvalidation.IsDNS1123Label(handler))+len(utilvalidation.IsDNS1123Subdomain(config)) > 0 {
		return nil, usage.Errorf("--upgrade-plans-from must be the name of a handler and that of an ExtensionConfig, as %s.clusterctl-x, not %q", runtimeextension.PlanHandler, o.plansFrom)
	}
	bundles, err := o.ReadBundles()
	if err != nil {
		return nil, err
	}
	rendered, err := o.render(ctx, class, bundles)
	for _, note := range rendered.Notes {
		o.WarnText(note)
	}
	return rendered.Objects, err
}

func (o *classOptions) render(ctx context.Context, class manifests.Class, bundles *versionsbundle.Bundles) (lifecycle.RenderedClass, error) {
	if !o.keepUsed {
		return lifecycle.RenderClass(class, bundles)
	}
	service, err := o.Service(ctx)
	if err != nil {
		return lifecycle.RenderedClass{}, err
	}
	return service.RenderClassKeeping(ctx, class, bundles)
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
	switch provider := resolved.Provider; {
	case !provider.Known():
		return manifests.Class{}, usage.Errorf("-f: the file has no datacenterRef, and a class is made from the documents of a provider; give the file of a cluster without spec.clusterClass")
	case o.provider != "" && o.provider != provider.Name:
		return manifests.Class{}, usage.Errorf("--provider is %s, and the file of -f is for provider %s; leave --provider out", o.provider, provider.Name)
	case provider.Spec.Machine.Kind == "":
		return manifests.Class{}, usage.Errorf("a class of provider %s takes nothing from a file: what its documents say are variables; use --provider %[1]s without -f", provider.Name)
	}
	namespace := cmp.Or(resolved.Config.Cluster.Metadata.Namespace, o.NamespaceOffline())
	return manifests.Class{Namespace: namespace, Provider: resolved.Provider, Documents: resolved.Config}, nil
}
