package management

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestCheckKinds: what an infrastructure provider lacks is found before the first write, and
// all at once.
func TestCheckKinds(t *testing.T) {
	t.Parallel()
	const group = "infrastructure.cluster.x-k8s.io"
	kind := func(name string) schema.GroupVersionKind {
		return schema.GroupVersionKind{Group: group, Version: "v1beta2", Kind: name}
	}
	object := func(of schema.GroupVersionKind, reference string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "prod"}}}
		o.SetGroupVersionKind(of)
		if reference != "" {
			o.Object["spec"] = map[string]any{"infrastructureRef": map[string]any{"apiGroup": group, "kind": reference, "name": "prod"}}
		}
		return o
	}
	cluster := schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Cluster"}
	definition := func(labels map[string]string) *metav1.PartialObjectMetadata {
		d := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "exampleclusters." + group, Labels: labels}}
		d.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
		return d
	}
	const remedy = "install a release of the provider for Cluster API 1.14"
	for name, test := range map[string]struct {
		served     []schema.GroupVersionKind
		definition *metav1.PartialObjectMetadata
		forbidden  bool
		want       string
	}{
		"as it should be":     {[]schema.GroupVersionKind{kind("ExampleCluster"), kind("ExampleMachineTemplate")}, definition(map[string]string{"cluster.x-k8s.io/v1beta1": "v1beta2"}), false, "<nil>"},
		"not installed":       {nil, nil, false, "the management cluster https://host has no ExampleCluster (" + group + "), no ExampleMachineTemplate (" + group + "): install what has it, for an infrastructure provider with 'clusterctl-x management init --with infrastructure-NAME'"},
		"another version":     {[]schema.GroupVersionKind{kind("ExampleMachineTemplate"), {Group: group, Version: "v1beta1", Kind: "ExampleCluster"}}, nil, false, "the management cluster https://host has ExampleCluster (" + group + ") as v1beta1, and not as v1beta2: install a release of its provider that has it with 'clusterctl upgrade apply', or give a folder for the one that is there with --providers"},
		"another contract":    {[]schema.GroupVersionKind{kind("ExampleCluster"), kind("ExampleMachineTemplate")}, definition(map[string]string{"cluster.x-k8s.io/v1alpha4": "v1beta2"}), false, "CustomResourceDefinition exampleclusters." + group + " has no label cluster.x-k8s.io/v1beta2 or cluster.x-k8s.io/v1beta1, by which Cluster API finds versions that it can use: " + remedy},
		"no definition":       {[]schema.GroupVersionKind{kind("ExampleCluster"), kind("ExampleMachineTemplate")}, nil, false, "ExampleCluster is of no CustomResourceDefinition exampleclusters." + group + ", by whose labels Cluster API finds the versions of the kind: give the definition that name"},
		"may not read labels": {[]schema.GroupVersionKind{kind("ExampleCluster"), kind("ExampleMachineTemplate")}, nil, true, "<nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{{Group: group, Version: "v1beta1"}})
			for _, served := range append(test.served, cluster) {
				mapper.Add(served, meta.RESTScopeNamespace)
			}
			builder := fake.NewClientBuilder().WithRESTMapper(mapper).WithInterceptorFuncs(interceptor.Funcs{
				Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
					resource := schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
					switch {
					case test.forbidden:
						return apierrors.NewForbidden(resource, key.Name, nil)
					case test.definition == nil:
						return apierrors.NewNotFound(resource, key.Name)
					}
					test.definition.DeepCopyInto(into.(*metav1.PartialObjectMetadata))
					return nil
				},
			})
			c := &Client{Client: builder.Build(), config: &rest.Config{Host: "https://host"}}
			err := c.CheckKinds(t.Context(), []*unstructured.Unstructured{object(cluster, "ExampleCluster"), object(kind("ExampleCluster"), ""), object(kind("ExampleMachineTemplate"), ""), object(kind("ExampleMachineTemplate"), "")})
			if got := fmt.Sprint(err); got != test.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}
