package observe

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/controlplanes"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

const kubeadmControlPlane = "KubeadmControlPlane"

// readOther reads a control plane that is no KubeadmControlPlane. It is not
// watched: whatever becomes of it, the Cluster says so too.
func (s *snapshot) readOther(ctx context.Context, live client.Client) error {
	ref := s.cluster.Spec.ControlPlaneRef
	if !ref.IsDefined() || ref.Kind == kubeadmControlPlane {
		return nil
	}
	object, err := Referred(ctx, live, s.cluster.Namespace, ref.GroupKind(), ref.Name)
	switch {
	case apierrors.IsNotFound(err):
	case apierrors.IsForbidden(err), meta.IsNoMatchError(err):
		s.otherUnread = err // the other clusters are there to be seen all the same
	case err != nil:
		return fmt.Errorf("reading %s/%s: %w", ref.Kind, ref.Name, err)
	default:
		s.other = object
	}
	return nil
}

// Referred returns the object that a reference, which has no version, is to.
func Referred(ctx context.Context, live client.Client, namespace string, kind schema.GroupKind, name string) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	mapping, err := live.RESTMapper().RESTMapping(kind)
	if err != nil {
		return object, err
	}
	object.SetGroupVersionKind(mapping.GroupVersionKind)
	return object, live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)
}

// contract holds the fields of the status, besides versions, that every control plane
// provider has (https://cluster-api.sigs.k8s.io/developer/providers/contracts/control-plane).
type contract struct {
	Spec struct {
		Replicas *int32 `json:"replicas"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration *int64 `json:"observedGeneration"`
		UpToDateReplicas   *int32 `json:"upToDateReplicas"`
		// UpdatedReplicas is the same in the contract v1beta1.
		UpdatedReplicas *int32             `json:"updatedReplicas"`
		Conditions      []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

// otherControlPlane completes a control plane of another provider from its object. Some
// providers have no machines.
func otherControlPlane(part state.Part, object *unstructured.Unstructured) state.Part {
	var c contract
	kind := controlplanes.Of(object.GetKind())
	part.Generation = object.GetGeneration()
	part.Paused = annotations.HasPaused(object)
	part.InPlace = len(part.Machines) > 0 && !kind.ReplacesMachines(object)
	part.Version = kind.Version(object)
	data, err := object.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		part.Reason, part.Blocked = fmt.Sprintf("%s does not follow the contract of Cluster API: %v", part.Object, err), true
		return part
	}
	part.Replicas = len(part.Machines)
	if c.Spec.Replicas != nil && len(part.Machines) > 0 {
		part.Replicas = int(*c.Spec.Replicas)
	}
	running := kind.Running(object)
	if part.Version.IsZero() && len(running) > 0 {
		part.Version = running[len(running)-1] // its provider chooses
	}
	for i, machine := range part.Machines {
		part.Machines[i] = completed(machine, part)
	}
	seen := c.Status.ObservedGeneration == nil || *c.Status.ObservedGeneration == part.Generation
	upToDate := cmp.Or(c.Status.UpToDateReplicas, c.Status.UpdatedReplicas)
	current := upToDate == nil || c.Spec.Replicas == nil || *upToDate == *c.Spec.Replicas
	part.Settled = seen && current && at(part.Version, running) && !meta.IsStatusConditionFalse(c.Status.Conditions, clusterv1.AvailableCondition)
	part.Reason = cmp.Or(Reason(c.Status.Conditions, clusterv1.AvailableCondition), behind(part, running))
	return part
}

// completed returns a machine with the builds of its versions as the part's version has
// them. A machine that is upgraded in place has the version that it runs.
func completed(machine state.Machine, part state.Part) state.Machine {
	machine.Version, machine.Kubelet = machine.Version.Completed(part.Version), machine.Kubelet.Completed(part.Version)
	if part.InPlace && !machine.Kubelet.IsZero() {
		machine.Version = machine.Kubelet
	}
	return machine
}

// at reports whether all that runs has the version that is wanted.
func at(wanted v1alpha1.Version, running []v1alpha1.Version) bool {
	return wanted.IsZero() || len(running) == 1 && running[0] == wanted
}

func behind(part state.Part, running []v1alpha1.Version) string {
	if at(part.Version, running) {
		return ""
	}
	if len(running) == 0 {
		return part.Object + " runs nothing yet"
	}
	return fmt.Sprintf("%s runs %s", part.Object, running[0])
}
