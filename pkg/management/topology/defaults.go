package topology

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	controlplaneadmission "sigs.k8s.io/cluster-api/controlplane/kubeadm/webhooks/admission"
	coreadmission "sigs.k8s.io/cluster-api/core/webhooks/admission"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// WithDefaults returns the parts with what Cluster API's webhooks add to their objects,
// so that a field that is given its default value is no difference. The providers' own
// kinds stay as they are.
func (p Parts) WithDefaults(ctx context.Context) (Parts, error) {
	all := Parts{}
	for name, objects := range p {
		for _, object := range objects {
			defaulted, err := withDefaults(ctx, object)
			if err != nil {
				return nil, fmt.Errorf("adding the defaults of %s/%s: %w", object.GetKind(), object.GetName(), err)
			}
			all[name] = append(all[name], defaulted)
		}
	}
	return all, nil
}

func withDefaults(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	switch object.GroupVersionKind() {
	case controlplanev1.GroupVersion.WithKind("KubeadmControlPlane"):
		return defaulted(ctx, object, (&controlplaneadmission.KubeadmControlPlane{}).Default)
	case clusterv1.GroupVersion.WithKind("MachineDeployment"):
		// Its defaults depend on what is asked of the API server.
		ctx = admission.NewContextWithRequest(ctx, admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: admissionv1.Create, DryRun: new(true)}})
		return defaulted(ctx, object, (&coreadmission.MachineDeployment{}).Default)
	case clusterv1.GroupVersion.WithKind("MachineHealthCheck"):
		return defaulted(ctx, object, (&coreadmission.MachineHealthCheck{}).Default)
	default:
		return object, nil
	}
}

// defaulted is an object after a function has added defaults to the typed one.
func defaulted[T any](ctx context.Context, object *unstructured.Unstructured, add func(context.Context, *T) error) (*unstructured.Unstructured, error) {
	var typed T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &typed); err != nil {
		return nil, err
	}
	if err := add(logged(ctx), &typed); err != nil {
		return nil, err
	}
	result, err := toUnstructured(&typed)
	if err != nil {
		return nil, err
	}
	result.SetGroupVersionKind(object.GroupVersionKind())
	return result, nil
}
