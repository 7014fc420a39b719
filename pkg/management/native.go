package management

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// versionField is the field for the version of a worker node group in an entry of a
// topology that Cluster API plans to have (its proposal
// 20260706-worker-version-pinning).
const versionField = "version"

// TakesVersions tells whether Cluster API takes a version for a group of a topology
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
		return false, c.explain(ctx, fmt.Errorf("asking whether Cluster API takes versions for groups of cluster %s: %w", key, err))
	}
	entries, _, err := unstructured.NestedSlice(cluster.Object, "spec", "topology", "workers", "machineDeployments")
	return err == nil && slices.ContainsFunc(entries, func(entry any) bool {
		fields, is := entry.(map[string]any)
		return is && fields[versionField] != nil
	}), err
}

// GiveVersions writes versions, and the mark of that, into the entries of the groups
// in a topology. It is false where none of them has an entry.
func GiveVersions(cluster *unstructured.Unstructured, versions map[string]string) (bool, error) {
	path := []string{"spec", "topology", "workers", "machineDeployments"}
	entries, _, err := unstructured.NestedSlice(cluster.Object, path...)
	if err != nil || len(entries) == 0 {
		return false, err
	}
	given := false
	for _, entry := range entries {
		fields, is := entry.(map[string]any)
		name, named := fields["name"].(string)
		version := versions[name]
		if !is || !named || version == "" {
			continue
		}
		given = true
		fields[versionField] = version
		if err := unstructured.SetNestedField(fields, "", "metadata", "annotations", PinnedAnnotation); err != nil {
			return false, err
		}
	}
	return given, unstructured.SetNestedSlice(cluster.Object, entries, path...)
}
