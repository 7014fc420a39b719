package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/manifests"
	"github.com/clusterctl-x/clusterctl-x/pkg/runtimeextension"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

type classOptions struct {
	provider, class, directory string
	keepUsed                   bool
	plansFrom                  string
}

func (a *app) generateClusterClassCommand() *cobra.Command {
	var o classOptions
	cmd := &cobra.Command{
		Use:   "clusterclass --provider inmemory|docker",
		Short: "Write a ClusterClass with its templates, for clusters with spec.clusterClass",
		Long: `Write a ClusterClass with its templates, for clusters with spec.clusterClass.

It comes from the same templates as clusters without a class: what differs from
cluster to cluster is a variable, what differs from version to version a patch,
and its versions are those of the versions bundles that machines can be made of.
Every field of a cluster spec acts on clusters of such a class.`,
		Example: `  clusterctl-x generate clusterclass --provider inmemory | kubectl apply -f -
  clusterctl-x generate clusterclass --provider docker --class prod --keep-used > prod-class.yaml
  clusterctl-x plan clusterclass -f prod-class.yaml`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.withTimeout(cmd.Context(), 0)
			defer cancel()
			objects, err := a.clusterClass(ctx, o)
			if err != nil {
				return err
			}
			if o.directory != "" {
				return a.writeManifests(o.directory, objects)
			}
			return a.printManifests(objects)
		},
	}
	cmd.Flags().StringVarP(&o.provider, "provider", "p", "", "inmemory or docker")
	cmd.Flags().StringVar(&o.class, "class", "", "name of the class; default: that of the provider")
	cmd.Flags().BoolVar(&o.keepUsed, "keep-used", false, "ask the management cluster for the clusters of the class, and keep every version that they have or are on their way to")
	cmd.Flags().StringVar(&o.plansFrom, "upgrade-plans-from", "", "handler of a runtime extension that Cluster API asks for upgrade plans, in place of a list of versions: "+runtimeextension.PlanHandler+".clusterctl-x is that of 'serve runtime-extension'")
	cmd.Flags().StringVarP(&o.directory, "output", "o", "", "directory to write to, one file for each object; default: standard output")
	return cmd
}

// clusterClass makes a class with the releases of the bundles.
func (a *app) clusterClass(ctx context.Context, o classOptions) ([]templater.Object, error) {
	switch available := strings.Join(slices.Sorted(maps.Keys(manifests.Datacenters())), ", "); {
	case o.provider == "":
		return nil, usageError{fmt.Errorf("--provider is required: one of %s", available)}
	case manifests.Datacenters()[o.provider] == "":
		return nil, usageError{fmt.Errorf("--provider must be one of %s, not %q", available, o.provider)}
	}
	name := cmp.Or(o.class, o.provider)
	if problems := utilvalidation.IsDNS1123Label(name); len(problems) > 0 {
		return nil, usageError{fmt.Errorf("--class %q cannot be the name of a ClusterClass: it must have at most 63 lower-case letters, digits and dashes, and begin and end with a letter or digit", name)}
	}
	if handler, config, _ := strings.Cut(o.plansFrom, "."); o.plansFrom != "" && len(utilvalidation.IsDNS1123Label(handler))+len(utilvalidation.IsDNS1123Subdomain(config)) > 0 {
		return nil, usageError{fmt.Errorf("--upgrade-plans-from must be the name of a handler and that of an ExtensionConfig, as %s.clusterctl-x, not %q", runtimeextension.PlanHandler, o.plansFrom)}
	}
	bundles, err := a.readBundles()
	if err != nil {
		return nil, err
	}
	namespace := a.namespaceOffline()
	var used []v1alpha1.Version
	if o.keepUsed {
		service, err := a.service(ctx)
		if err != nil {
			return nil, err
		}
		key := service.Key(name, "")
		if bundles, used, err = service.UsedReleases(ctx, bundles, key); err != nil {
			return nil, err
		}
		namespace = key.Namespace
	}
	releases := bundles.Usable(manifests.Needs(o.provider), used)
	versions := make([]string, len(releases))
	for i, release := range releases {
		versions[i] = release.Version.String()
	}
	if gaps := validations.ClassVersions(versions); len(gaps) > 0 {
		return nil, usageError{fmt.Errorf("the versions of the class: %v %s, with a file for --bundles", gaps[0].BadValue, gaps[0].Detail)}
	}
	objects, err := manifests.RenderClass(manifests.Class{Name: name, Namespace: namespace, Provider: o.provider, Releases: releases, UpgradePlans: o.plansFrom})
	if err != nil {
		return nil, usageError{err}
	}
	return objects, nil
}
