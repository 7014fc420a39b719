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
)

type classOptions struct {
	*cli.App
	provider, class, directory string
	keepUsed                   bool
	plansFrom                  string
}

func clusterClass(a *cli.App) *cobra.Command {
	o := classOptions{App: a}
	cmd := cli.Command("clusterclass --provider PROVIDER", "Write a ClusterClass with its templates, for clusters with spec.clusterClass", a.Within(0, func(ctx context.Context, _ []string) error {
		objects, err := o.objects(ctx)
		if err != nil {
			return err
		}
		return writeManifests(a, o.directory, objects)
	}))
	cmd.Flags().StringVarP(&o.provider, "provider", "p", "", "infrastructure provider of the clusters, such as inmemory for simulated machines")
	cmd.Flags().StringVar(&o.class, "class", "", "name of the class; default: the name of the provider")
	cmd.Flags().BoolVar(&o.keepUsed, "keep-used", false, "keep every version that a cluster of the class on the management cluster has or is being upgraded to")
	cmd.Flags().StringVar(&o.plansFrom, "upgrade-plans-from", "", "handler of a runtime extension that Cluster API calls for upgrade plans, instead of a list of versions: "+runtimeextension.PlanHandler+".clusterctl-x is that of 'serve runtime-extension'")
	addOutputDir(a, cmd, &o.directory)
	return cmd
}

// objects are a class with the releases of the bundles.
func (o *classOptions) objects(ctx context.Context) ([]templater.Object, error) {
	provider, err := o.ReadProvider(o.provider)
	if err != nil {
		return nil, err
	}
	name := cmp.Or(o.class, o.provider)
	if problems := utilvalidation.IsDNS1123Label(name); len(problems) > 0 {
		return nil, usage.Errorf("--class %q cannot be the name of a ClusterClass: it must have at most 63 lower-case letters, digits and dashes, and begin and end with a letter or digit", name)
	}
	if handler, config, _ := strings.Cut(o.plansFrom, "."); o.plansFrom != "" && len(utilvalidation.IsDNS1123Label(handler))+len(utilvalidation.IsDNS1123Subdomain(config)) > 0 {
		return nil, usage.Errorf("--upgrade-plans-from must be the name of a handler and that of an ExtensionConfig, as %s.clusterctl-x, not %q", runtimeextension.PlanHandler, o.plansFrom)
	}
	bundles, err := o.ReadBundles()
	if err != nil {
		return nil, err
	}
	class := manifests.Class{Name: name, Namespace: o.NamespaceOffline(), Provider: provider, UpgradePlans: o.plansFrom}
	if !o.keepUsed {
		return lifecycle.RenderClass(class, bundles)
	}
	service, err := o.Service(ctx)
	if err != nil {
		return nil, err
	}
	return service.RenderClassKeeping(ctx, class, bundles)
}
