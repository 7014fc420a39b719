package management

import (
	"cmp"
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// namesAreFree refuses a new cluster one of whose objects has the name of an object of
// another cluster, or of one that no Cluster has.
func (c *Client) namesAreFree(ctx context.Context, key client.ObjectKey, objects []*unstructured.Unstructured) error {
	var cluster clusterv1.Cluster
	err := c.Get(ctx, key, &cluster)
	exists := err == nil
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading cluster %s: %w", key, err)
	}
	for _, object := range objects {
		live, err := c.live(ctx, object)
		if apierrors.IsNotFound(err) {
			continue
		}
		name := changes.ObjectName(object)
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		switch owner := clusterOf(live); {
		case owner != "" && owner != key.Name:
			return &RefusedError{Check: "name-taken", Reason: fmt.Sprintf(
				"%s exists and belongs to cluster %s/%s, and cluster %s would have an object of the same name; give the new cluster or its worker node group another name", name, key.Namespace, owner, key)}
		case !exists && object.GetKind() == "KubeadmControlPlane":
			return &RefusedError{Check: "name-taken", Reason: fmt.Sprintf(
				"%s exists, and there is no Cluster %s that it could belong to; give the new cluster another name, or delete %s with kubectl", name, key, name)}
		}
	}
	return nil
}

// clusterOf is the name of the cluster that an object belongs to; empty where it does
// not say.
func clusterOf(object *unstructured.Unstructured) string {
	if changes.IsKind(object, "Cluster") {
		return object.GetName()
	}
	named, _, _ := unstructured.NestedString(object.Object, "spec", "clusterName")
	owner := ""
	for _, reference := range object.GetOwnerReferences() {
		if reference.Kind == "Cluster" {
			owner = reference.Name
		}
	}
	return cmp.Or(named, object.GetLabels()[clusterv1.ClusterNameLabel], object.GetLabels()[v1alpha1.ClusterLabel], owner)
}
