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

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// topologyOwner is the name under which Cluster API owns the fields of what it makes
// for a topology.
const topologyOwner = client.FieldOwner("capi-topology")

// dropEntries takes those entries of the groups out of the topology that stayed in
// it because others own fields of them too.
func (f *follower) dropEntries(ctx context.Context, h handover) error {
	return f.change(ctx, "Cluster", f.key.Name, func(cluster *unstructured.Unstructured) error {
		return editEntries(cluster, func(name string, _ map[string]any) (bool, error) {
			return !slices.Contains(h.groups, handedGroup{name, ofSpec}), nil
		})
	})
}

// read returns an object of the cluster as it is.
func (f *follower) read(ctx context.Context, kind, name string) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(clusterv1.GroupVersion.WithKind(kind))
	err := patiently(ctx, func() error { return f.c.Get(ctx, client.ObjectKey{Namespace: f.key.Namespace, Name: name}, object) })
	return object, err
}

// relabel gives the objects of a group into the hands of clusterctl-x, or back into
// those of Cluster API. The MachineDeployment comes last: it is what tells whose
// the group is.
func (f *follower) relabel(ctx context.Context, part state.Part, to groupOwner) error {
	_, name, _ := strings.Cut(part.Object, "/")
	deployment, err := f.read(ctx, "MachineDeployment", name)
	if err != nil {
		return fmt.Errorf("reading %s: %w", part.Object, err)
	}
	if err := f.labelTemplates(ctx, deployment, to); err != nil {
		return err
	}
	// Health checks have the name of what they look after.
	err = f.change(ctx, "MachineHealthCheck", name, func(check *unstructured.Unstructured) error { return f.hand(check, part.Name, to) })
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	return f.change(ctx, "MachineDeployment", name, func(deployment *unstructured.Unstructured) error {
		if err := f.hand(deployment, part.Name, to); err != nil {
			return err
		}
		return handDeployment(deployment, part.Name, to)
	})
}

// change reads an object and writes it as it was changed, once more where somebody
// else was faster. Nothing is written where nothing changes.
func (f *follower) change(ctx context.Context, kind, name string, by func(*unstructured.Unstructured) error) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		object, err := f.read(ctx, kind, name)
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
		if err := whileHeld(ctx, func() error { return f.c.Patch(ctx, object.DeepCopy(), patch, FieldOwner) }); err != nil {
			return fmt.Errorf("writing %s/%s: %w", kind, name, err)
		}
		return nil
	})
}

// labelTemplates marks what the machines of a group are made from, so that it is
// removed when nothing uses it any more: Cluster API does that for its own groups
// only.
func (f *follower) labelTemplates(ctx context.Context, deployment *unstructured.Unstructured, to groupOwner) error {
	if to == ofTopology {
		return nil // removing what is unused is right whoever made it
	}
	for _, path := range changes.References(deployment.GetKind()) {
		reference, found, err := unstructured.NestedStringMap(deployment.Object, path...)
		if err != nil || !found {
			return err
		}
		template, err := f.c.referred(ctx, f.key.Namespace, schema.GroupKind{Group: reference["apiGroup"], Kind: reference["kind"]}, reference["name"])
		if err != nil {
			return err
		}
		patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, ClusterLabel, f.key.Name))
		if err := whileHeld(ctx, func() error { return f.c.Patch(ctx, template, patch, FieldOwner) }); err != nil {
			return fmt.Errorf("labelling %s: %w", changes.ObjectName(template), err)
		}
	}
	return nil
}

// hand makes an object of a group one of clusterctl-x, or of Cluster API: whoever
// owns its fields may change them and take them away.
func (f *follower) hand(object *unstructured.Unstructured, group string, to groupOwner) error {
	labels := object.GetLabels()
	from, by := FieldOwner, topologyOwner
	if to == ofSpec {
		from, by = topologyOwner, FieldOwner
		labels[ClusterLabel], labels[WorkerNodeGroupLabel] = f.key.Name, group
	} else {
		delete(labels, ClusterLabel)
	}
	object.SetLabels(labels)
	return giveFields(object, string(from), string(by))
}

// handDeployment makes a MachineDeployment one that the topology has, or has not.
// Its machines are marked too, in place: the generation tells then how much of this
// Cluster API has seen.
func handDeployment(deployment *unstructured.Unstructured, group string, to groupOwner) error {
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
	if to == ofSpec {
		delete(labels, clusterv1.ClusterTopologyOwnedLabel)
		delete(labels, clusterv1.ClusterTopologyMachineDeploymentNameLabel)
		ofMachines[DetachedAnnotation] = ""
		annotations[clusterv1.MachineSetSkipPreflightChecksAnnotation] = SkippedPreflightChecks
		// Cluster API takes its finalizer away from its own groups only.
		deployment.SetFinalizers(slices.DeleteFunc(deployment.GetFinalizers(), func(name string) bool { return name == clusterv1.MachineDeploymentTopologyFinalizer }))
	} else {
		labels[clusterv1.ClusterTopologyOwnedLabel], labels[clusterv1.ClusterTopologyMachineDeploymentNameLabel] = "", group
		delete(ofMachines, DetachedAnnotation)
		delete(annotations, ClassContentAnnotation)
		delete(annotations, clusterv1.MachineSetSkipPreflightChecksAnnotation)
	}
	deployment.SetLabels(labels)
	deployment.SetAnnotations(annotations)
	return unstructured.SetNestedStringMap(deployment.Object, ofMachines, "spec", "template", "metadata", "annotations")
}

// giveFields gives all fields that one manager applied to another one.
func giveFields(object *unstructured.Unstructured, from, to string) error {
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
