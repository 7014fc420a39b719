package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/clusterclass"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// library is the Go API on the shared management cluster, for the clusters of a namespace.
// Tests of what it refuses call it in their own process.
type library struct {
	client    *management.Client
	bundles   *versionsbundle.Bundles
	namespace string
}

func newLibrary(t *testing.T, namespace string) library {
	t.Helper()
	server, err := configOf(shared)
	if err != nil {
		t.Fatal(err)
	}
	client, err := management.Connect(t.Context(), server, management.Options{})
	if err != nil {
		t.Fatal(err)
	}
	bundles, err := versionsbundle.Parse("bundles", config.Bundles)
	if err != nil {
		t.Fatal(err)
	}
	return library{client, bundles, namespace}
}

// call is one call of the library, with what it warned of.
type call struct {
	*lifecycle.Service
	bundles *versionsbundle.Bundles
	said    *strings.Builder
}

// useCase calls the library as a command does, with the content of the file of -f.
type useCase func(context.Context, call, []byte) error

// says returns what the library says to a call: its warnings, and its error with its type,
// one per line. What Cluster API's functions log is left out.
func (l library) says(ctx context.Context, ask useCase, data []byte) string {
	c := call{bundles: l.bundles, said: &strings.Builder{}}
	c.Service = lifecycle.New(l.client, lifecycle.Options{Namespace: l.namespace, Warn: c.warn})
	err := ask(klog.NewContext(ctx, logr.Discard()), c, data)
	return outOfSupport.ReplaceAllString(c.said.String(), "") + fmt.Sprintf("%T: %v", err, err)
}

func (c call) warn(text string) { fmt.Fprintf(c.said, "warning: %s\n", text) }

func (c call) warnOf(warnings []strictyaml.Warning) {
	for _, warning := range warnings {
		c.warn(warning.String())
	}
}

func (c call) spec(data []byte) lifecycle.Spec {
	return lifecycle.ReadSpec("cluster.yaml", data, providers.BuiltIn(), c.bundles)
}

// askCreate is 'create cluster'.
func askCreate(ctx context.Context, c call, data []byte) error {
	spec := c.spec(data)
	warnings, err := spec.CheckCreation()
	c.warnOf(warnings)
	if err != nil {
		return err
	}
	n, err := c.PlanCreation(ctx, spec)
	if err != nil {
		return err
	}
	_, err = c.Create(ctx, n, lifecycle.CreateOptions{})
	return err
}

// askPlan is 'plan upgrade'.
func askPlan(ctx context.Context, c call, data []byte) error {
	_, err := c.planUpgrade(ctx, data)
	return err
}

// askUpgrade is 'upgrade cluster' up to its first write.
func askUpgrade(ctx context.Context, c call, data []byte) error {
	u, err := c.planUpgrade(ctx, data)
	if err != nil {
		return err
	}
	return c.Preflight(ctx, u, lifecycle.PreflightOptions{})
}

func (c call) planUpgrade(ctx context.Context, data []byte) (lifecycle.Upgrade, error) {
	spec := c.spec(data)
	warnings, err := spec.CheckUpgrade(lifecycle.UpgradeOptions{})
	c.warnOf(warnings)
	if err != nil {
		return lifecycle.Upgrade{}, err
	}
	return c.PlanUpgrade(ctx, spec, lifecycle.UpgradeOptions{})
}

// askClassPlan is 'plan clusterclass'.
func askClassPlan(ctx context.Context, c call, data []byte) error {
	file, err := clusterclass.Decode("class.yaml", data)
	if err != nil {
		return err
	}
	_, err = c.PlanClusterClass(ctx, file)
	return err
}
