package components

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/version"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/config"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// clusterAPI are the components that are released together, as Cluster API.
func clusterAPI() []string {
	return []string{
		config.ClusterAPIProviderName,
		clusterctlv1.ManifestLabel(config.KubeadmBootstrapProviderName, clusterctlv1.BootstrapProviderType),
		clusterctlv1.ManifestLabel(config.KubeadmControlPlaneProviderName, clusterctlv1.ControlPlaneProviderType),
	}
}

// PlanUpgrade returns what is to be done to bring the components that are installed to the
// versions that are wanted, or the newest ones of their contract. It writes nothing. What
// cannot be is a *management.RefusedError.
func (c *Client) PlanUpgrade(ctx context.Context, wanted Wanted) (Plan, error) {
	installed, err := c.Inventory(ctx)
	if err != nil {
		return Plan{}, err
	}
	if len(installed) == 0 {
		return Plan{}, &management.RefusedError{Check: "no-inventory", Reason: "the management cluster has no inventory of providers, so clusterctl did not install them: upgrade them with the tool that did. 'clusterctl-x management init' installs providers where there are none"}
	}
	if err := c.inFolder(installed); err != nil {
		return Plan{}, err
	}
	newest, err := c.newest(ctx)
	if err != nil {
		return Plan{}, err
	}
	p, err := planUpgrade(installed, newest, wanted)
	if err != nil {
		return Plan{}, err
	}
	return c.complete(ctx, p)
}

// newest returns the newest versions of the providers' contract, by component; none for those
// that have no newer one.
func (c *Client) newest(ctx context.Context) (map[string]string, error) {
	plans, err := c.library.PlanUpgrade(ctx, client.PlanUpgradeOptions{Kubeconfig: c.kubeconfig})
	if err != nil {
		return nil, fmt.Errorf("looking for newer versions of the providers: %w", err)
	}
	newest := map[string]string{}
	for _, one := range plans {
		for _, item := range one.Providers {
			if item.NextVersion != "" {
				newest[item.ManifestLabel()] = item.NextVersion
			}
		}
	}
	return newest, nil
}

// planUpgrade returns the plan for providers that are installed.
func planUpgrade(installed []Component, newest map[string]string, wanted Wanted) (Plan, error) {
	names := map[string]bool{}
	var p Plan
	for _, component := range installed {
		names[component.Name] = true
		to := cmp.Or(wanted.Providers[component.Name], newest[component.Name], component.From)
		asked := wanted.Providers[component.Name] != ""
		if slices.Contains(clusterAPI(), component.Name) {
			to, asked = cmp.Or(wanted.ClusterAPI, TestedVersion), wanted.ClusterAPI != ""
		}
		before, err := compare(component, to)
		switch {
		case err != nil:
			return Plan{}, err
		case before && asked:
			return Plan{}, &management.RefusedError{Check: "component-downgrade", Reason: fmt.Sprintf("%s is at %s and cannot go back to %s: ask for a newer version", component.Name, component.From, to)}
		case before:
			to = component.From
		}
		component.To = to
		p.Components = append(p.Components, component)
	}
	for _, name := range slices.Sorted(maps.Keys(wanted.Providers)) {
		if !names[name] {
			return Plan{}, &management.RefusedError{Check: "component-missing", Reason: fmt.Sprintf("%s is not installed; 'clusterctl-x management init' installs it", name)}
		}
	}
	slices.SortFunc(p.Components, order)
	return p, nil
}

// compare reports whether a version is before the one that is installed.
func compare(component Component, to string) (before bool, err error) {
	from, err := version.ParseSemantic(component.From)
	if err != nil {
		return false, fmt.Errorf("reading the installed version of %s: %w", component.Name, err)
	}
	target, err := version.ParseSemantic(to)
	if err != nil {
		return false, fmt.Errorf("reading the version of %s that is asked for: %w", component.Name, err)
	}
	return target.LessThan(from), nil
}

// order is the one in which clusterctl installs and upgrades.
func order(a, b Component) int {
	return cmp.Or(cmp.Compare(a.provider.GetProviderType().Order(), b.provider.GetProviderType().Order()), cmp.Compare(a.Name, b.Name))
}

// PlanInit returns what is to be installed so that the management cluster has Cluster API, its
// kubeadm providers and those that are wanted. It writes nothing. A component that is installed
// in another version than wanted is a *management.RefusedError.
func (c *Client) PlanInit(ctx context.Context, wanted Wanted) (Plan, error) {
	installed, err := c.Inventory(ctx)
	if err != nil {
		return Plan{}, err
	}
	if err := c.notOfOthers(ctx, installed); err != nil {
		return Plan{}, err
	}
	there := map[string]Component{}
	for _, component := range installed {
		there[component.Name] = component
	}
	versions := maps.Clone(wanted.Providers)
	if versions == nil {
		versions = map[string]string{}
	}
	for _, name := range clusterAPI() {
		versions[name] = cmp.Or(wanted.ClusterAPI, there[name].From, there[config.ClusterAPIProviderName].From, TestedVersion)
	}
	var p Plan
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		component, err := initial(name, there[name], versions[name])
		if err != nil {
			return Plan{}, err
		}
		p.Components = append(p.Components, component)
	}
	if err := c.inFolder(p.Components); err != nil {
		return Plan{}, err
	}
	slices.SortFunc(p.Components, order)
	return c.complete(ctx, p)
}

// notOfOthers refuses a management cluster whose Cluster API clusterctl did not install.
func (c *Client) notOfOthers(ctx context.Context, installed []Component) error {
	if len(installed) > 0 {
		return nil
	}
	live, err := c.cluster.Proxy().NewClient(ctx)
	if err != nil {
		return fmt.Errorf("connecting to the management cluster: %w", err)
	}
	name := "clusters." + clusterv1.GroupVersion.Group
	var crd apiextensionsv1.CustomResourceDefinition
	if err := live.Get(ctx, ctrlclient.ObjectKey{Name: name}, &crd); apierrors.IsNotFound(err) {
		return nil
	} else if err != nil {
		return fmt.Errorf("reading CustomResourceDefinition %s: %w", name, err)
	}
	if _, labelled := crd.Labels[clusterctlv1.ClusterctlLabel]; labelled {
		return nil // of an installation that was stopped
	}
	return &management.RefusedError{Check: "components-of-others", Reason: fmt.Sprintf("the management cluster has Cluster API already (CustomResourceDefinition %s), and clusterctl did not install it: upgrade it with the tool that did", name)}
}

// initial is a component that is to be there.
func initial(name string, there Component, version string) (Component, error) {
	switch {
	case there.From == "":
		provider, kind, err := parseLabel(name)
		if err != nil {
			return Component{}, err
		}
		return Component{Name: name, To: version, provider: clusterctlv1.Provider{ProviderName: provider, Type: string(kind)}}, nil
	case version == "" || version == there.From:
		return there, nil
	}
	return Component{}, &management.RefusedError{Check: "component-installed", Reason: fmt.Sprintf("%s is installed at %s: 'clusterctl-x management upgrade' brings it to another version", name, there.From)}
}

// Check refuses components that Init would not find in the folder of components. It asks no
// management cluster.
func (c *Client) Check(wanted Wanted) error {
	var components []Component
	for _, name := range append(clusterAPI(), slices.Sorted(maps.Keys(wanted.Providers))...) {
		components = append(components, Component{Name: name})
	}
	return c.inFolder(components)
}

// inFolder refuses components that the folder of components does not have.
func (c *Client) inFolder(components []Component) error {
	var missing []string
	for _, component := range components {
		if c.folder != nil && !c.folder[component.Name] {
			missing = append(missing, component.Name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return usage.Errorf("the folder of components has no %s; %s", strings.Join(missing, ", "), layout)
}

// complete reads the components that a plan changes, which shows that they are there and that
// their variables are set, and adds cert-manager.
func (c *Client) complete(ctx context.Context, p Plan) (Plan, error) {
	for i, component := range p.Components {
		if !component.Changes() {
			continue
		}
		read, err := c.library.GetProviderComponents(ctx, component.reference(), component.provider.GetProviderType(), client.ComponentsOptions{})
		if err != nil {
			return Plan{}, fmt.Errorf("reading the components of %s %s: %w", component.Name, component.To, err)
		}
		p.Components[i].To, p.Components[i].Namespace = read.Version(), cmp.Or(component.Namespace, read.TargetNamespace())
	}
	if p.Empty() {
		return p, nil
	}
	manager, err := c.library.PlanCertManagerUpgrade(ctx, client.PlanUpgradeOptions{Kubeconfig: c.kubeconfig})
	if err != nil {
		return Plan{}, fmt.Errorf("looking at %s: %w", certManager, err)
	}
	if !manager.ExternallyManaged {
		component := Component{Name: certManager, Namespace: certManager, From: manager.From, To: manager.From}
		if manager.ShouldUpgrade || manager.From == "" {
			component.To = manager.To
		}
		p.Components = append([]Component{component}, p.Components...)
	}
	return p, nil
}
