package lifecycle_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// This creates the cluster that one file describes, and upgrades it to that of another.
func Example() {
	ctx, bundles := context.Background(), must(versionsbundle.Parse("bundles", config.Bundles))
	client := must(management.Connect(ctx, must(clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))), management.Options{}))
	service := lifecycle.New(client, lifecycle.Options{Warn: func(text string) { fmt.Fprintln(os.Stderr, "warning:", text) }})

	before := must(service.PlanCreation(ctx, lifecycle.ReadSpec("old.yaml", must(os.ReadFile("old.yaml")), providers.BuiltIn(), bundles)))
	must(service.Create(ctx, before, lifecycle.CreateOptions{}))
	must(service.WaitReady(ctx, before.Key, nil))

	upgrade := must(service.PlanUpgrade(ctx, lifecycle.ReadSpec("new.yaml", must(os.ReadFile("new.yaml")), providers.BuiltIn(), bundles), lifecycle.UpgradeOptions{}))
	must(upgrade, service.Preflight(ctx, upgrade, lifecycle.PreflightOptions{}))
	must(upgrade, service.Upgrade(ctx, upgrade, lifecycle.RunOptions{}))
	fmt.Println(upgrade.Key, "is at", upgrade.Plan.To.ControlPlane)
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
