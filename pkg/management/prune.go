package management

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/observe"
)

// prune removes objects that were rendered for the cluster and no longer are: those
// that the spec dropped, and templates without machines. keep are the current objects
// of the cluster. It removes only objects of some kinds.
func (c *Client) prune(ctx context.Context, key client.ObjectKey, keep []*unstructured.Unstructured, kinds []schema.GroupVersionKind) error {
	used, err := c.usedTemplates(ctx, key)
	if err != nil {
		return err
	}
	unused, err := c.unused(ctx, key, keep, kinds, used)
	if err != nil {
		return err
	}
	for i := range unused {
		if err := stillHeld(ctx); err != nil {
			return err
		}
		if err := c.Delete(ctx, &unused[i], propagation(unused[i])); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting %s/%s, which is no longer used: %w", unused[i].Kind, unused[i].Name, err)
		}
	}
	return nil
}

// Unused returns the objects, as Kind/name, that an earlier spec asked for and that are
// not kept, without MachineDeployments and the templates and health checks that go with
// them.
func (c *Client) Unused(ctx context.Context, key client.ObjectKey, keep []*unstructured.Unstructured) ([]string, error) {
	deployments := map[string]bool{}
	var list clusterv1.MachineDeploymentList
	if err := c.List(ctx, &list, client.InNamespace(key.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: key.Name}); err != nil {
		return nil, c.explain(ctx, fmt.Errorf("listing the MachineDeployments of cluster %s: %w", key, err))
	}
	for _, deployment := range list.Items {
		deployments[deployment.Name] = true
	}
	for _, object := range keep {
		if changes.IsKind(object, "MachineDeployment") {
			delete(deployments, object.GetName())
		}
	}
	unused, err := c.unused(ctx, key, keep, prunedOthers(), nil)
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	var names []string
	for _, object := range unused {
		if !deployments[object.Name] {
			names = append(names, object.Kind+"/"+object.Name)
		}
	}
	return names, nil
}

// unused returns the objects of clusterctl-x that are neither kept nor used, without
// MachineDeployments, which a step removes, and the record.
func (c *Client) unused(ctx context.Context, key client.ObjectKey, keep []*unstructured.Unstructured, kinds []schema.GroupVersionKind, used map[string]bool) ([]metav1.PartialObjectMetadata, error) {
	wanted := map[string]bool{"ConfigMap/" + recordName(key.Name): true}
	for _, object := range keep {
		wanted[changes.ObjectName(object)] = true
	}
	var unused []metav1.PartialObjectMetadata
	for _, kind := range kinds {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := c.List(ctx, list, client.InNamespace(key.Namespace), client.MatchingLabels{v1alpha1.ClusterLabel: key.Name}); err != nil {
			return nil, fmt.Errorf("listing every %s of cluster %s: %w", kind.Kind, key, err)
		}
		for _, item := range list.Items {
			item.SetGroupVersionKind(kind)
			if name := kind.Kind + "/" + item.Name; !wanted[name] && !used[name] && ours(item) {
				unused = append(unused, item)
			}
		}
	}
	return unused, nil
}

// ours reports whether clusterctl-x has written the object: a label alone may have
// been copied.
func ours(object metav1.PartialObjectMetadata) bool {
	return slices.ContainsFunc(object.ManagedFields, func(f metav1.ManagedFieldsEntry) bool { return f.Manager == string(FieldOwner) })
}

// prunedTemplates are the kinds of templates that a spec may cease to need.
func prunedTemplates(keep []*unstructured.Unstructured) []schema.GroupVersionKind {
	kinds := []schema.GroupVersionKind{bootstrapv1.GroupVersion.WithKind("KubeadmConfigTemplate")}
	for _, object := range keep {
		kind := object.GroupVersionKind()
		if changes.IsTemplate(kind.Kind) && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// prunedKinds are all kinds that a spec may cease to need.
func prunedKinds(keep []*unstructured.Unstructured) []schema.GroupVersionKind {
	return append(prunedTemplates(keep), prunedOthers()...)
}

// prunedOthers are those that are no templates.
func prunedOthers() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		clusterv1.GroupVersion.WithKind("MachineHealthCheck"),
		addonsv1.GroupVersion.WithKind("ClusterResourceSet"),
		corev1.SchemeGroupVersion.WithKind("ConfigMap"),
	}
}

// usedTemplates are the templates, as Kind/name, that MachineDeployments,
// MachineSets, MachinePools and the control plane refer to, or that a machine was made from.
func (c *Client) usedTemplates(ctx context.Context, key client.ObjectKey) (map[string]bool, error) {
	used := map[string]bool{}
	ofCluster := client.MatchingLabels{clusterv1.ClusterNameLabel: key.Name}
	for _, kind := range []schema.GroupVersionKind{
		clusterv1.GroupVersion.WithKind("MachineDeployment"), clusterv1.GroupVersion.WithKind("MachineSet"), clusterv1.GroupVersion.WithKind("MachinePool"),
		controlplanev1.GroupVersion.WithKind("KubeadmControlPlane"),
	} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := c.List(ctx, list, client.InNamespace(key.Namespace), ofCluster); err != nil {
			return nil, fmt.Errorf("listing every %s of cluster %s: %w", kind.Kind, key, err)
		}
		for i := range list.Items {
			markReferences(&list.Items[i], used)
		}
	}
	return used, errors.Join(c.markOtherControlPlane(ctx, key, used), c.markOrigins(ctx, key, used))
}

// markOtherControlPlane marks what a control plane of another provider than kubeadm's
// refers to.
func (c *Client) markOtherControlPlane(ctx context.Context, key client.ObjectKey, used map[string]bool) error {
	var cluster clusterv1.Cluster
	if err := c.Get(ctx, key, &cluster); err != nil {
		return client.IgnoreNotFound(err)
	}
	ref := cluster.Spec.ControlPlaneRef
	if !ref.IsDefined() || ref.Kind == "KubeadmControlPlane" {
		return nil
	}
	object, err := observe.Referred(ctx, c, key.Namespace, ref.GroupKind(), ref.Name)
	if err != nil && client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading %s/%s: %w", ref.Kind, ref.Name, err)
	}
	markReferences(object, used)
	return nil
}

func markReferences(object *unstructured.Unstructured, used map[string]bool) {
	kind := object.GetKind()
	if kind == "MachineSet" {
		kind = "MachineDeployment" // their templates have one shape
	}
	for _, path := range changes.References(kind) {
		if to, name, found := changes.Referred(object, path); found {
			used[to.Kind+"/"+name] = true
		}
	}
}

// markOrigins marks what live machines were made from.
func (c *Client) markOrigins(ctx context.Context, key client.ObjectKey, used map[string]bool) error {
	var machines clusterv1.MachineList
	if err := c.List(ctx, &machines, client.InNamespace(key.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: key.Name}); err != nil {
		return fmt.Errorf("listing the machines of cluster %s: %w", key, err)
	}
	kinds := map[schema.GroupKind]bool{}
	for _, machine := range machines.Items {
		for _, ref := range []clusterv1.ContractVersionedObjectReference{machine.Spec.Bootstrap.ConfigRef, machine.Spec.InfrastructureRef} {
			if ref.IsDefined() {
				kinds[schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind}] = true
			}
		}
	}
	for kind := range kinds {
		mapping, err := c.RESTMapper().RESTMapping(kind)
		if err != nil {
			return fmt.Errorf("looking for kind %s: %w", kind, err)
		}
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(mapping.GroupVersionKind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := c.List(ctx, list, client.InNamespace(key.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: key.Name}); err != nil {
			return fmt.Errorf("listing every %s of cluster %s: %w", kind.Kind, key, err)
		}
		for _, item := range list.Items {
			origin, _, _ := strings.Cut(item.Annotations[clusterv1.TemplateClonedFromGroupKindAnnotation], ".")
			used[origin+"/"+item.Annotations[clusterv1.TemplateClonedFromNameAnnotation]] = true
		}
	}
	return nil
}
