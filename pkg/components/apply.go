package components

import (
	"context"
	"fmt"
	"strings"

	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/management"
)

// Run is what Init and Upgrade ask of their caller.
type Run struct {
	// Show is called with a plan that changes something, before the first write.
	Show func(Plan) error
	// Lock locks all clusters until the returned function is called, once none of them is being
	// changed; nil does without. The components are upgraded in the context that it returns.
	Lock func(ctx context.Context, waiting func(what string)) (context.Context, func(), error)
	// Waiting is called with what is waited for, whenever that changes.
	Waiting func(what string)
}

// Init installs the components that are wanted and missing, and waits until all are available. It
// reports whether any was missing. A run that was stopped is continued by the next one.
func (c *Client) Init(ctx context.Context, wanted Wanted, run Run) (changed bool, err error) {
	p, err := c.PlanInit(ctx, wanted)
	if err != nil {
		return false, err
	}
	return !p.Empty(), c.carryOut(ctx, p, run, c.install)
}

// Upgrade upgrades the components that are installed to the versions that are wanted, and waits
// until all are available. It reports whether any had another version. A run that was stopped is
// continued by the next one.
func (c *Client) Upgrade(ctx context.Context, wanted Wanted, run Run) (changed bool, err error) {
	p, err := c.PlanUpgrade(ctx, wanted)
	if err != nil {
		return false, err
	}
	return !p.Empty(), c.carryOut(ctx, p, run, c.upgrade)
}

// carryOut shows a plan, does it, and waits until the components are available.
func (c *Client) carryOut(ctx context.Context, p Plan, run Run, do func(context.Context, client.InitOptions) error) error {
	progress := &progress{say: run.Waiting}
	if !p.Empty() {
		if err := run.Show(p); err != nil {
			return err
		}
		err := locked(ctx, run, func(ctx context.Context) error {
			return progress.while(ctx, c.cluster.Proxy().NewClient, func() error { return do(ctx, c.options(p)) })
		})
		if err != nil {
			return err
		}
	}
	return c.waitAvailable(ctx, progress)
}

// locked does something while all clusters are locked, where run asks for that.
func locked(ctx context.Context, run Run, do func(context.Context) error) error {
	if run.Lock == nil {
		return do(ctx)
	}
	ctx, release, err := run.Lock(ctx, run.Waiting)
	if err != nil {
		return err
	}
	defer release()
	return management.UnlessLost(ctx, do(ctx))
}

func (c *Client) install(ctx context.Context, o client.InitOptions) error {
	if _, err := c.library.Init(ctx, o); err != nil {
		return fmt.Errorf("installing the components: %w", err)
	}
	return nil
}

func (c *Client) upgrade(ctx context.Context, o client.InitOptions) error {
	err := c.library.ApplyUpgrade(ctx, client.ApplyUpgradeOptions{
		Kubeconfig:                o.Kubeconfig,
		CoreProvider:              o.CoreProvider,
		BootstrapProviders:        o.BootstrapProviders,
		ControlPlaneProviders:     o.ControlPlaneProviders,
		InfrastructureProviders:   o.InfrastructureProviders,
		IPAMProviders:             o.IPAMProviders,
		RuntimeExtensionProviders: o.RuntimeExtensionProviders,
		AddonProviders:            o.AddonProviders,
	})
	if err != nil {
		return fmt.Errorf("upgrading the components: %w", err)
	}
	return nil
}

// options names the providers that a plan changes as clusterctl's library has them: of the one
// core provider there is one name.
func (c *Client) options(p Plan) client.InitOptions {
	by := map[clusterctlv1.ProviderType][]string{}
	for _, component := range p.Components {
		if component.Changes() && component.Name != certManager {
			kind := component.provider.GetProviderType()
			by[kind] = append(by[kind], component.reference())
		}
	}
	return client.InitOptions{
		Kubeconfig:                c.kubeconfig,
		CoreProvider:              strings.Join(by[clusterctlv1.CoreProviderType], ""),
		BootstrapProviders:        by[clusterctlv1.BootstrapProviderType],
		ControlPlaneProviders:     by[clusterctlv1.ControlPlaneProviderType],
		InfrastructureProviders:   by[clusterctlv1.InfrastructureProviderType],
		IPAMProviders:             by[clusterctlv1.IPAMProviderType],
		RuntimeExtensionProviders: by[clusterctlv1.RuntimeExtensionProviderType],
		AddonProviders:            by[clusterctlv1.AddonProviderType],
	}
}
