package e2e_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// otherProvider is a control plane provider that keeps to the contract of Cluster
// API and makes no machines, as those of clouds do, and a class that uses it.
const otherProvider = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: hostedcontrolplanes.controlplane.example.org
  labels: {cluster.x-k8s.io/v1beta2: v1}
spec:
  group: controlplane.example.org
  names: {kind: HostedControlPlane, plural: hostedcontrolplanes}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: hostedcontrolplanetemplates.controlplane.example.org
  labels: {cluster.x-k8s.io/v1beta2: v1}
spec:
  group: controlplane.example.org
  names: {kind: HostedControlPlaneTemplate, plural: hostedcontrolplanetemplates}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

const hostedClass = `apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DevClusterTemplate
metadata: {name: hosted}
spec:
  template:
    spec: {backend: {inMemory: {}}}
---
apiVersion: controlplane.example.org/v1
kind: HostedControlPlaneTemplate
metadata: {name: hosted}
spec:
  template:
    spec: {tier: small}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: {name: hosted}
spec:
  kubernetesVersions: [v1.31.14, v1.32.13, v1.33.13]
  infrastructure:
    templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DevClusterTemplate, name: hosted}
  controlPlane:
    templateRef: {apiVersion: controlplane.example.org/v1, kind: HostedControlPlaneTemplate, name: hosted}
`

// TestOtherControlPlaneProvider creates and upgrades a cluster whose control
// plane is no KubeadmControlPlane.
func TestOtherControlPlaneProvider(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "hosted")
	kubectl(t, shared, []byte(otherProvider), "apply", "-f", "-")
	kubectl(t, shared, nil, "wait", "--for=condition=Established", "crd/hostedcontrolplanes.controlplane.example.org", "crd/hostedcontrolplanetemplates.controlplane.example.org")
	kubectl(t, shared, []byte(hostedClass), "apply", "-n", namespace, "-f", "-")
	versions := provideHosted(t, namespace)

	spec := clusterSpec{name: "hosted", version: "1.31", more: "  clusterClass: {name: hosted} # of the user, so that there is no datacenterRef\n"}
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t))
	spec.version = "1.33"
	file := spec.path(t)
	assertPlan(t, planOf(t, namespace, file), "ControlPlane v1.31.14->v1.32.13", "ControlPlane v1.32.13->v1.33.13")
	cli(t, 0, "upgrade", "cluster", "-n", namespace, "-f", file)
	assertPlan(t, planOf(t, namespace, file))
	if diff := cmp.Diff([]string{"v1.31.14", "v1.32.13", "v1.33.13"}, versions()); diff != "" {
		t.Errorf("versions that the provider was asked for (-want +got):\n%s", diff)
	}
	cli(t, 0, "delete", "cluster", "-n", namespace, "hosted")
}

// provideHosted does what the provider of hosted control planes would: each
// version takes it one change of the object's status. It returns a function that
// ends it and tells the versions that were asked for.
func provideHosted(t *testing.T, namespace string) func() []string {
	t.Helper()
	kind := schema.GroupVersionKind{Group: "controlplane.example.org", Version: "v1", Kind: "HostedControlPlane"}
	return provide(t, namespace, kind, func(ctx context.Context, c client.Client, object *unstructured.Unstructured) []string {
		return provideOnce(ctx, c, object, "")
	})
}

// provide has once take each control plane of a kind on, by what it is told of them, until
// the function is called that it returns; that tells what once returned.
func provide(t *testing.T, namespace string, kind schema.GroupVersionKind, once func(context.Context, client.Client, *unstructured.Unstructured) []string) func() []string {
	t.Helper()
	config, err := configOf(shared)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.NewWithWatch(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	ctx, stop := context.WithCancel(t.Context())
	events, err := c.Watch(ctx, list, client.InNamespace(namespace))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan []string, 1)
	go func() {
		var asked []string
		for event := range events.ResultChan() {
			object, ok := event.Object.(*unstructured.Unstructured)
			if !ok || object.GetDeletionTimestamp() != nil {
				continue
			}
			asked = append(asked, once(ctx, c, object)...)
		}
		ended <- asked
	}()
	t.Cleanup(stop)
	return func() []string {
		stop()
		return <-ended
	}
}

// provideOnce takes a control plane on by one status, and returns the version
// where it is one that was not asked for before. The provider adds a build to versions.
func provideOnce(ctx context.Context, c client.Client, object *unstructured.Unstructured, build string) []string {
	asks, _, _ := unstructured.NestedString(object.Object, "spec", "version")
	begun, _, _ := unstructured.NestedString(object.Object, "status", "begun")
	running, _, _ := unstructured.NestedString(object.Object, "status", "version")
	wanted := asks + build
	if asks == "" || running == wanted && begun == wanted {
		return nil
	}
	var asked []string
	status := map[string]any{
		"begun": wanted, "version": running, "externalManagedControlPlane": true, "observedGeneration": object.GetGeneration(),
		"ready": true, "initialized": true, // of the contract v1beta1
		"initialization": map[string]any{"controlPlaneInitialized": true},
		"conditions":     []any{map[string]any{"type": "Available", "status": "True", "reason": "Available", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}},
	}
	if begun == wanted {
		status["version"] = wanted
	} else {
		asked = []string{asks}
		if running == "" {
			status["version"] = wanted
		}
	}
	object.Object["status"] = status
	if err := c.Status().Update(ctx, object); err != nil {
		return nil // has changed meanwhile: there is another event
	}
	return asked
}
