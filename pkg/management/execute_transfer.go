package management

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/observe"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// topologyOwner is Cluster API's field manager for the objects of a topology.
const topologyOwner = client.FieldOwner("capi-topology")

// read returns an object of the cluster as it is.
func (x *execution) read(ctx context.Context, kind, name string) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(clusterv1.GroupVersion.WithKind(kind))
	err := x.c.retrying(ctx, func() error { return x.c.Get(ctx, client.ObjectKey{Namespace: x.key.Namespace, Name: name}, object) })
	return object, err
}

// transfer transfers the objects of a group to clusterctl-x, or back to Cluster API.
// The MachineDeployment comes last: it determines the owner of the group.
func (x *execution) transfer(ctx context.Context, a engine.Transfer) error {
	_, name, _ := strings.Cut(a.Object, "/")
	deployment, err := x.read(ctx, "MachineDeployment", name)
	if err != nil {
		return fmt.Errorf("reading %s: %w", a.Object, err)
	}
	if err := x.labelTemplates(ctx, deployment, a.Kind); err != nil {
		return err
	}
	// Health checks have the name of what they look after.
	err = x.change(ctx, "MachineHealthCheck", name, func(check *unstructured.Unstructured) error { return x.transferObject(check, a.Group, a.Kind) })
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	return x.change(ctx, "MachineDeployment", name, func(deployment *unstructured.Unstructured) error {
		if err := x.transferObject(deployment, a.Group, a.Kind); err != nil {
			return err
		}
		return transferDeployment(deployment, a.Group, a.Kind)
	})
}

// change reads, changes and writes an object, and retries once after a conflict. It
// writes nothing if nothing changes.
func (x *execution) change(ctx context.Context, kind, name string, by func(*unstructured.Unstructured) error) error {
	delete(x.wrote, kind+"/"+name) // it is no longer as it was applied
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		object, err := x.read(ctx, kind, name)
		if err != nil {
			return fmt.Errorf("reading %s/%s: %w", kind, name, err)
		}
		before := object.DeepCopy()
		if err := by(object); err != nil {
			return err
		}
		if reflect.DeepEqual(before.Object, object.Object) {
			return nil
		}
		patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		if err := x.c.whileHeld(ctx, func() error { return x.c.Patch(ctx, object.DeepCopy(), patch, FieldOwner) }); err != nil {
			return fmt.Errorf("writing %s/%s: %w", kind, name, err)
		}
		return nil
	})
}

// labelTemplates marks what the machines of a group are made from, so that it is
// removed when nothing uses it any more: Cluster API does that for its own groups
// only.
func (x *execution) labelTemplates(ctx context.Context, deployment *unstructured.Unstructured, kind plan.Kind) error {
	if kind == plan.Return {
		return nil // removing what is unused is right whoever made it
	}
	for _, path := range changes.References(deployment.GetKind()) {
		reference, found, err := unstructured.NestedStringMap(deployment.Object, path...)
		if err != nil || !found {
			return err
		}
		template, err := observe.Referred(ctx, x.c, x.key.Namespace, schema.GroupKind{Group: reference["apiGroup"], Kind: reference["kind"]}, reference["name"])
		if err != nil {
			return err
		}
		patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, v1alpha1.ClusterLabel, x.key.Name))
		if err := x.c.whileHeld(ctx, func() error { return x.c.Patch(ctx, template, patch, FieldOwner) }); err != nil {
			return fmt.Errorf("labelling %s: %w", changes.ObjectName(template), err)
		}
	}
	return nil
}

// transferObject transfers an object of a group to clusterctl-x, or to Cluster API: the owner of
// its fields may change and remove them.
func (x *execution) transferObject(object *unstructured.Unstructured, group string, kind plan.Kind) error {
	labels := object.GetLabels()
	from, by := FieldOwner, topologyOwner
	if kind == plan.Detach {
		from, by = topologyOwner, FieldOwner
		labels[v1alpha1.ClusterLabel], labels[v1alpha1.WorkerNodeGroupLabel] = x.key.Name, group
	} else {
		delete(labels, v1alpha1.ClusterLabel)
	}
	object.SetLabels(labels)
	return transferFields(object, string(from), string(by))
}

// transferDeployment detaches a MachineDeployment from the topology, or returns it. Its
// machines are marked too, in place: the generation then shows how much of this Cluster
// API has seen.
func transferDeployment(deployment *unstructured.Unstructured, group string, kind plan.Kind) error {
	labels, annotations := deployment.GetLabels(), deployment.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	ofMachines, _, err := unstructured.NestedStringMap(deployment.Object, "spec", "template", "metadata", "annotations")
	if err != nil {
		return err
	}
	if ofMachines == nil {
		ofMachines = map[string]string{}
	}
	if kind == plan.Detach {
		delete(labels, clusterv1.ClusterTopologyOwnedLabel)
		delete(labels, clusterv1.ClusterTopologyMachineDeploymentNameLabel)
		ofMachines[v1alpha1.DetachedAnnotation] = ""
		annotations[clusterv1.MachineSetSkipPreflightChecksAnnotation] = SkippedPreflightChecks
		// Cluster API takes its finalizer away from its own groups only.
		deployment.SetFinalizers(slices.DeleteFunc(deployment.GetFinalizers(), func(name string) bool { return name == clusterv1.MachineDeploymentTopologyFinalizer }))
	} else {
		labels[clusterv1.ClusterTopologyOwnedLabel], labels[clusterv1.ClusterTopologyMachineDeploymentNameLabel] = "", group
		delete(ofMachines, v1alpha1.DetachedAnnotation)
		delete(annotations, v1alpha1.ClassContentAnnotation)
		delete(annotations, clusterv1.MachineSetSkipPreflightChecksAnnotation)
	}
	deployment.SetLabels(labels)
	deployment.SetAnnotations(annotations)
	return unstructured.SetNestedStringMap(deployment.Object, ofMachines, "spec", "template", "metadata", "annotations")
}

// transferFields gives all fields that one manager applied to another one.
func transferFields(object *unstructured.Unstructured, from, to string) error {
	var kept []metav1.ManagedFieldsEntry
	var given *metav1.ManagedFieldsEntry
	all := fieldpath.NewSet()
	for _, entry := range object.GetManagedFields() {
		if entry.Operation != metav1.ManagedFieldsOperationApply || entry.Subresource != "" || entry.Manager != from && entry.Manager != to {
			kept = append(kept, entry)
			continue
		}
		var fields fieldpath.Set
		if err := fields.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
			return fmt.Errorf("reading who owns the fields of %s: %w", changes.ObjectName(object), err)
		}
		all, given = all.Union(&fields), &entry
	}
	if given == nil {
		return nil
	}
	text, err := all.ToJSON()
	if err != nil {
		return fmt.Errorf("writing who owns the fields of %s: %w", changes.ObjectName(object), err)
	}
	given.Manager, given.FieldsV1 = to, &metav1.FieldsV1{}
	given.FieldsV1.SetRawBytes(text)
	object.SetManagedFields(append(kept, *given))
	return nil
}

// editEntries changes the entries of worker node groups in the topology of a
// Cluster, which may have fields that this release does not know. Those that edit is
// false for are taken out.
func editEntries(cluster *unstructured.Unstructured, edit func(name string, entry map[string]any) (bool, error)) error {
	path := []string{"spec", "topology", "workers", "machineDeployments"}
	entries, found, err := unstructured.NestedSlice(cluster.Object, path...)
	if err != nil || !found {
		return err
	}
	kept := make([]any, 0, len(entries))
	for _, entry := range entries {
		fields, is := entry.(map[string]any)
		name, named := fields["name"].(string)
		keep := true
		if is && named {
			if keep, err = edit(name, fields); err != nil {
				return err
			}
		}
		if keep {
			kept = append(kept, entry)
		}
	}
	return unstructured.SetNestedSlice(cluster.Object, kept, path...)
}
