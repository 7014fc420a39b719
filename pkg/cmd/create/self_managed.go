package create

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/watch"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/components"
	"github.com/clusterctl-x/clusterctl-x/pkg/connection"
	"github.com/clusterctl-x/clusterctl-x/pkg/failure"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/selfmanaged"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// creation returns how a cluster that manages itself is created.
func (c *command) creation(ctx context.Context, spec lifecycle.Spec) (selfmanaged.Creation, error) {
	meta := spec.Config.Cluster.Metadata
	kubeconfig := c.selfManaged.Kubeconfig(meta.Name)
	client, wanted, err := c.selfManaged.Client(ctx, components.Options{Kubeconfig: kubeconfig})
	itself := connection.Choice{Kind: connection.Kubeconfig, Kubeconfig: management.Kubeconfig{Path: kubeconfig}, Report: c.Say}
	return selfmanaged.Creation{
		Cluster: c.SelfManaged(meta, itself, c.TakeOver), Spec: spec, Kubeconfig: kubeconfig, Components: client, Wanted: wanted, Wait: c.Wait,
		Ready: func(ctx context.Context, key types.NamespacedName, on selfmanaged.ManagementCluster, changed bool) error {
			_, err := watch.Ready(ctx, c.App, on.Clusters, key, watch.Waiting{GoesOn: "creating", Unchanged: !changed})
			return err
		},
	}, err
}

// sayPlan says how a cluster that manages itself would be created.
func (c *command) sayPlan(ctx context.Context, spec lifecycle.Spec) error {
	creation, err := c.creation(ctx, spec)
	if err != nil {
		return err
	}
	return creation.SayPlan()
}

// createSelfManaged creates a cluster that manages itself.
func (c *command) createSelfManaged(ctx context.Context, spec lifecycle.Spec) error {
	began := time.Now()
	if c.DryRun == commandline.DryRunServer {
		return usage.Errorf("--dry-run=server asks the management cluster, and there is none yet for cluster %s, which manages itself; use --dry-run=client", spec.Config.Cluster.Metadata.Name)
	}
	warnings, err := spec.CheckCreation()
	c.WarnAll(warnings)
	if err != nil {
		return err
	}
	creation, err := c.creation(ctx, spec)
	if err != nil {
		return err
	}
	key, changed, err := creation.Run(ctx)
	switch {
	case err != nil:
		return failure.Stopped(err, "", "run the same command again to continue")
	case !changed:
		return c.Result("cluster %s exists and manages itself; nothing to do", key)
	}
	return c.Result("cluster %s is ready after %s and manages itself; use it with --kubeconfig %s", key, time.Since(began).Round(time.Second), creation.Kubeconfig)
}
