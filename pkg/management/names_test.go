package management

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// TestNamesAreFree: a new cluster takes no object of another one for its own.
func TestNamesAreFree(t *testing.T) {
	t.Parallel()
	const taken = " exists and belongs to cluster ns/demo, and cluster ns/demo-x would have an object of the same name; give the new cluster or its worker node group another name"
	of := func(o *unstructured.Unstructured, labels map[string]string, spec map[string]any) *unstructured.Unstructured {
		o.SetLabels(labels)
		if spec != nil {
			o.Object["spec"] = spec
		}
		return o
	}
	owned := object("Secret", "demo-x-data")
	owned.Object["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{"apiVersion": clusterv1.GroupVersion.String(), "kind": "Cluster", "name": "demo", "uid": "1"}}
	unreachable := errors.New("no route to host")
	tests := map[string]struct {
		live *unstructured.Unstructured
		err  error
		// exists is true where the Cluster is there already.
		exists bool
		want   string
	}{
		"nothing is there":              {},
		"its own":                       {live: of(object("MachineDeployment", "demo-x-md-0"), nil, map[string]any{"clusterName": "demo-x"}), exists: true},
		"its own control plane":         {live: object("KubeadmControlPlane", "demo-x"), exists: true},
		"of another, by its spec":       {live: of(object("MachineDeployment", "demo-x-md-0"), nil, map[string]any{"clusterName": "demo"}), want: "MachineDeployment/demo-x-md-0" + taken},
		"of another, by its label":      {live: of(object("DevCluster", "demo-x"), map[string]string{clusterv1.ClusterNameLabel: "demo"}, nil), want: "DevCluster/demo-x" + taken},
		"of another, by our label":      {live: of(object("ConfigMap", "demo-x-cni"), map[string]string{v1alpha1.ClusterLabel: "demo"}, nil), want: "ConfigMap/demo-x-cni" + taken},
		"of another, by its owner":      {live: owned, want: "Secret/demo-x-data" + taken},
		"of another, beside a Cluster":  {live: of(object("MachineDeployment", "demo-x-md-0"), nil, map[string]any{"clusterName": "demo"}), exists: true, want: "MachineDeployment/demo-x-md-0" + taken},
		"control plane without Cluster": {live: object("KubeadmControlPlane", "demo-x"), want: "KubeadmControlPlane/demo-x exists, and there is no Cluster ns/demo-x that it could belong to; give the new cluster another name, or delete KubeadmControlPlane/demo-x with kubectl"},
		"of nobody":                     {live: object("ConfigMap", "demo-x-cni")},
		"not to be read":                {live: object("ConfigMap", "demo-x-cni"), err: unreachable, want: "reading ConfigMap/demo-x-cni: no route to host"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := clientOf(interceptor.Funcs{Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
				found, untyped := into.(*unstructured.Unstructured)
				switch {
				case !untyped && test.exists:
					return nil
				case !untyped || test.live == nil:
					return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
				case test.err != nil:
					return test.err
				}
				test.live.DeepCopyInto(found)
				return nil
			}})
			wanted := object("MachineDeployment", "demo-x-md-0")
			if test.live != nil {
				wanted = object(test.live.GetKind(), test.live.GetName())
			}
			err := c.namesAreFree(t.Context(), client.ObjectKey{Namespace: "ns", Name: "demo-x"}, []*unstructured.Unstructured{wanted})
			text := ""
			if err != nil {
				text = err.Error()
			}
			if diff := cmp.Diff(test.want, text); diff != "" {
				t.Errorf("error about %s (-want +got):\n%s", changes.ObjectName(wanted), diff)
			}
		})
	}
}
