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

// contract holds the fields that every control plane provider has
// (https://cluster-api.sigs.k8s.io/developer/providers/contracts/control-plane).
type contract struct {
	Spec struct {
		Version  string `json:"version"`
		Replicas *int32 `json:"replicas"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration *int64                    `json:"observedGeneration"`
		Version            string                    `json:"version"`
		Versions           []clusterv1.StatusVersion `json:"versions"`
		UpToDateReplicas   *int32                    `json:"upToDateReplicas"`
		Conditions         []metav1.Condition        `json:"conditions"`
	} `json:"status"`
}

// otherControlPlane completes a control plane of another provider from its object. Some
// providers have no machines.
func otherControlPlane(part state.Part, object *unstructured.Unstructured) state.Part {
	var c contract
	part.Generation = object.GetGeneration()
	part.Paused = annotations.HasPaused(object)
	data, err := object.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		part.Reason, part.Blocked = fmt.Sprintf("%s does not follow the contract of Cluster API: %v", part.Object, err), true
		return part
	}
	part.Version = version(c.Spec.Version)
	part.Replicas = len(part.Machines)
	if c.Spec.Replicas != nil && len(part.Machines) > 0 {
		part.Replicas = int(*c.Spec.Replicas)
	}
	seen := c.Status.ObservedGeneration == nil || *c.Status.ObservedGeneration == part.Generation
	current := c.Status.UpToDateReplicas == nil || c.Spec.Replicas == nil || *c.Status.UpToDateReplicas == *c.Spec.Replicas
	part.Settled = seen && current && c.at(part) && !meta.IsStatusConditionFalse(c.Status.Conditions, clusterv1.AvailableCondition)
	part.Reason = cmp.Or(Reason(c.Status.Conditions, clusterv1.AvailableCondition), c.behind(part))
	return part
}

// at reports whether all that runs has the version that is wanted.
func (c contract) at(part state.Part) bool {
	for _, running := range c.Status.Versions {
		if version(running.Version) != part.Version {
			return false
		}
	}
	return len(c.Status.Versions) > 0 || version(c.Status.Version) == part.Version
}

func (c contract) behind(part state.Part) string {
	if c.at(part) {
		return ""
	}
	running := c.Status.Version
	for _, v := range c.Status.Versions {
		running = v.Version
	}
	return fmt.Sprintf("%s runs %s", part.Object, cmp.Or(running, "nothing yet"))
}
