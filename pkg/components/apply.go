package components

import (
	"context"
	"fmt"

	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client"
)

// Install installs the components of a plan of PlanInit that are not installed. A run that was stopped is continued by a new plan.
func (c *Client) Install(ctx context.Context, p Plan) error {
	by := byType(p)
	options := client.InitOptions{
		Kubeconfig:                c.kubeconfig,
		BootstrapProviders:        by[clusterctlv1.BootstrapProviderType],
		ControlPlaneProviders:     by[clusterctlv1.ControlPlaneProviderType],
		InfrastructureProviders:   by[clusterctlv1.InfrastructureProviderType],
		IPAMProviders:             by[clusterctlv1.IPAMProviderType],
		RuntimeExtensionProviders: by[clusterctlv1.RuntimeExtensionProviderType],
		AddonProviders:            by[clusterctlv1.AddonProviderType],
	}
	if core := by[clusterctlv1.CoreProviderType]; len(core) > 0 {
		options.CoreProvider = core[0]
	}
	if _, err := c.library.Init(ctx, options); err != nil {
		return fmt.Errorf("installing the components: %w", err)
	}
	return nil
}

// Upgrade upgrades the components of a plan of PlanUpgrade. A run that was stopped is continued by
// a new plan.
func (c *Client) Upgrade(ctx context.Context, p Plan) error {
	by := byType(p)
	options := client.ApplyUpgradeOptions{
		Kubeconfig:                c.kubeconfig,
		BootstrapProviders:        by[clusterctlv1.BootstrapProviderType],
		ControlPlaneProviders:     by[clusterctlv1.ControlPlaneProviderType],
		InfrastructureProviders:   by[clusterctlv1.InfrastructureProviderType],
		IPAMProviders:             by[clusterctlv1.IPAMProviderType],
		RuntimeExtensionProviders: by[clusterctlv1.RuntimeExtensionProviderType],
		AddonProviders:            by[clusterctlv1.AddonProviderType],
	}
	if core := by[clusterctlv1.CoreProviderType]; len(core) > 0 {
		options.CoreProvider = core[0]
	}
	if err := c.library.ApplyUpgrade(ctx, options); err != nil {
		return fmt.Errorf("upgrading the components: %w", err)
	}
	return nil
}

// byType returns the providers that a plan changes, as clusterctl's options name them.
func byType(p Plan) map[clusterctlv1.ProviderType][]string {
	by := map[clusterctlv1.ProviderType][]string{}
	for _, component := range p.Components {
		if component.Changes() && component.Name != certManager {
			kind := component.provider.GetProviderType()
			by[kind] = append(by[kind], component.reference())
		}
	}
	return by
}
