package management

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestObjects: a cluster is read whole, with kinds of an older contract in the version that they
// have, or the reason is said: a missing right, a kind that is not installed.
func TestObjects(t *testing.T) {
	t.Parallel()
	infrastructure := schema.GroupKind{Group: "infrastructure.example.com", Kind: "AcmeCluster"}
	reference := func(of schema.GroupKind, name string) map[string]any {
		return map[string]any{"apiGroup": of.Group, "kind": of.Kind, "name": name}
	}
	forbidden := func(resource string) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", errors.New("no role"))
	}
	for name, test := range map[string]struct {
		versions map[schema.GroupKind]string // those of the management cluster
		wrong    map[string]error            // by the kind that is asked for
		want     []string                    // apiVersion, kind and name
		check    string                      // of the refusal
		error    string
	}{
		"older contract": {
			versions: map[schema.GroupKind]string{infrastructure: "v1alpha3"},
			want:     []string{"cluster.x-k8s.io/v1beta2 Cluster a", "cluster.x-k8s.io/v1beta2 MachineDeployment a-md-0", "infrastructure.example.com/v1alpha3 AcmeCluster a"},
		},
		"not there any more": {
			versions: map[schema.GroupKind]string{infrastructure: "v1"},
			wrong:    map[string]error{"AcmeCluster": apierrors.NewNotFound(schema.GroupResource{}, "a")},
			want:     []string{"cluster.x-k8s.io/v1beta2 Cluster a", "cluster.x-k8s.io/v1beta2 MachineDeployment a-md-0"},
		},
		"provider not installed": {check: checkMissingKind},
		"may not list MachinePools": {
			wrong: map[string]error{"MachinePoolList": forbidden("machinepools")}, check: "privileges",
			error: `listing every MachinePool of cluster ns/a: machinepools is forbidden: no role; give the user of this kubeconfig the privileges of 'clusterctl-x generate rbac', or use another kubeconfig`,
		},
		"may not read the infrastructure": {
			versions: map[schema.GroupKind]string{infrastructure: "v1"},
			wrong:    map[string]error{"AcmeCluster": forbidden("acmeclusters")}, check: "privileges",
			error: `reading AcmeCluster/a of cluster ns/a: acmeclusters is forbidden: no role; give the user of this kubeconfig the privileges of 'clusterctl-x generate rbac', or use another kubeconfig`,
		},
		"no such cluster": {
			wrong: map[string]error{"Cluster": apierrors.NewNotFound(schema.GroupResource{}, "a")},
			error: "cluster ns/a: not found; 'clusterctl-x get clusters -A' lists the ones there are",
		},
		"Cluster API older than v1beta2": {
			wrong: map[string]error{"Cluster": &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "cluster.x-k8s.io", Kind: "Cluster"}, SearchedVersions: []string{"v1beta2"}}},
			check: checkMissingKind,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var known []schema.GroupVersion
			for kind, version := range test.versions {
				known = append(known, kind.WithVersion(version).GroupVersion())
			}
			mapper := meta.NewDefaultRESTMapper(known)
			for kind, version := range test.versions {
				mapper.Add(kind.WithVersion(version), meta.RESTScopeNamespace)
			}
			c := &Client{config: &rest.Config{Host: "https://host"}, Client: interceptor.NewClient(mapped{mapper: mapper}, interceptor.Funcs{
				Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
					object := o.(*unstructured.Unstructured)
					object.SetName(key.Name)
					object.SetNamespace(key.Namespace)
					if object.GetKind() == "Cluster" {
						object.Object["spec"] = map[string]any{"infrastructureRef": reference(infrastructure, "a")}
					}
					return test.wrong[object.GetKind()]
				},
				List: func(_ context.Context, _ client.WithWatch, o client.ObjectList, _ ...client.ListOption) error {
					list := o.(*unstructured.UnstructuredList)
					if list.GetKind() == "MachineDeploymentList" {
						list.Items = []unstructured.Unstructured{*object("MachineDeployment", "a-md-0")}
						list.Items[0].SetAPIVersion("cluster.x-k8s.io/v1beta2")
					}
					return test.wrong[list.GetKind()]
				},
			})}
			objects, err := c.Objects(t.Context(), client.ObjectKey{Namespace: "ns", Name: "a"})
			var got []string
			for _, o := range objects {
				got = append(got, o.GetAPIVersion()+" "+o.GetKind()+" "+o.GetName())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			refused := &RefusedError{}
			if is := errors.As(err, &refused); is != (test.check != "") || refused.Check != test.check || (err == nil) != (test.want != nil) {
				t.Errorf("%v, want a refusal by %q", err, test.check)
			}
			if test.error != "" && err.Error() != test.error {
				t.Errorf("error %q, want %q", err, test.error)
			}
		})
	}
}
