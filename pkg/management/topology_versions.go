package management

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// versionField is the field for the version of a worker node group in an entry of a
// topology that Cluster API plans to have (its proposal
// 20260706-worker-version-pinning).
const versionField = "version"

// TakesVersions reports whether Cluster API takes a version for a group of a topology
// itself. A schema with the field is not enough: a feature gate decides. So the API
// server and the webhooks are asked what they make of it, with the versions that
// the groups have, which change nothing.
func (c *Client) TakesVersions(ctx context.Context, key client.ObjectKey, versions map[string]string) (bool, error) {
	cluster := &unstructured.Unstructured{}
	cluster.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("Cluster"))
	if err := c.Get(ctx, key, cluster); err != nil {
		return false, c.explain(ctx, fmt.Errorf("reading cluster %s: %w", key, err))
	}
	before := cluster.DeepCopy()
	given, err := GiveVersions(cluster, versions)
	if err != nil || !given {
		return false, err
	}
	err = c.Patch(ctx, cluster, client.MergeFrom(before), FieldOwner, client.DryRunAll)
	if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
		return false, nil // whatever else is wrong is told when the upgrade is rehearsed
	}
	if err != nil {
		return false, c.explain(ctx, fmt.Errorf("checking whether Cluster API accepts versions for groups of cluster %s: %w", key, err))
	}
	taken := false
	err = editEntries(cluster, func(_ string, entry map[string]any) (bool, error) {
		taken = taken || entry[versionField] != nil
		return true, nil
	})
	return taken, err
}

// GiveVersions writes versions, and the mark of that, into the entries of the groups
// in a topology. It is false where none of them has an entry.
func GiveVersions(cluster *unstructured.Unstructured, versions map[string]string) (bool, error) {
	given := false
	err := editEntries(cluster, func(name string, entry map[string]any) (bool, error) {
		version := versions[name]
		if version == "" {
			return true, nil
		}
		given = true
		entry[versionField] = version
		return true, unstructured.SetNestedField(entry, "", "metadata", "annotations", v1alpha1.PinnedAnnotation)
	})
	return given, err
}
