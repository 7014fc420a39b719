package e2e_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
)

const containersSpec = `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata:
  name: containers
spec:
  kubernetesVersion: "1.35"
  clusterNetwork:
    cniConfig: {kindnetd: {}}
    pods:
      cidrBlocks: [192.168.0.0/16]
    services:
      cidrBlocks: [10.96.0.0/12]
  datacenterRef:
    kind: DockerDatacenterConfig
    name: containers
`

// TestContainerEngine: without an engine for its machines a cluster is refused before anything
// is written.
func TestContainerEngine(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "containers")
	before := everything(t, namespace)
	l := newLibrary(t, namespace)
	asked := ""
	c := call{bundles: l.bundles}
	c.Service = lifecycle.New(l.client, lifecycle.Options{Namespace: namespace, PrepareContainers: func(_ context.Context, network string) error {
		asked = network
		return errors.New("no engine answers")
	}})
	n, err := c.PlanCreation(t.Context(), c.spec([]byte(containersSpec)))
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Create(t.Context(), n, lifecycle.CreateOptions{})
	var refused *management.RefusedError
	if !errors.As(err, &refused) {
		t.Fatalf("got %v, want %T", err, refused)
	}
	if diff := cmp.Diff(&management.RefusedError{Check: "container-engine", Reason: "no engine answers"}, refused); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	if asked != "kind" {
		t.Errorf("asked for network %q", asked)
	}
	if diff := cmp.Diff(before, everything(t, namespace)); diff != "" {
		t.Errorf("objects (-before +after):\n%s", diff)
	}
}
