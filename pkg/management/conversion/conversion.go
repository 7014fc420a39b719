// Package conversion reads objects of older versions of Cluster API as those of the current one,
// with Cluster API's own functions, which bring controller-runtime.
package conversion

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	bootstrapv1beta1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1" //nolint:staticcheck // what is read is of that version
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1beta1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta1" //nolint:staticcheck // what is read is of that version
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1" //nolint:staticcheck // what is read is of that version
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	bootstrapconversion "sigs.k8s.io/cluster-api/bootstrap/kubeadm/webhooks/conversion"
	controlplaneconversion "sigs.k8s.io/cluster-api/controlplane/kubeadm/webhooks/conversion"
	coreconversion "sigs.k8s.io/cluster-api/core/webhooks/conversion"
)

// converter reads an object of an older version of Cluster API as the current one.
type converter func(ctx context.Context, object *unstructured.Unstructured) (any, error)

// converters are those of the kinds that a spec is made from: Cluster API's own.
func converters() map[schema.GroupKind]converter {
	return map[schema.GroupKind]converter{
		clusterv1.GroupVersion.WithKind("Cluster").GroupKind():                  conversion(coreconversion.ConvertClusterV1Beta1ToHub),
		clusterv1.GroupVersion.WithKind("MachineDeployment").GroupKind():        conversion(coreconversion.ConvertMachineDeploymentV1Beta1ToHub),
		clusterv1.GroupVersion.WithKind("MachineHealthCheck").GroupKind():       conversion(coreconversion.ConvertMachineHealthCheckV1Beta1ToHub),
		clusterv1.GroupVersion.WithKind("MachinePool").GroupKind():              conversion(coreconversion.ConvertMachinePoolV1Beta1ToHub),
		controlplanev1.GroupVersion.WithKind("KubeadmControlPlane").GroupKind(): conversion(controlplaneconversion.ConvertKubeadmControlPlaneV1Beta1ToHub),
		bootstrapv1.GroupVersion.WithKind("KubeadmConfigTemplate").GroupKind():  conversion(bootstrapconversion.ConvertKubeadmConfigTemplateV1Beta1ToHub),
	}
}

// conversion is a converter of Cluster API's types.
func conversion[Old, New any](convert func(context.Context, *Old, *New) error) converter {
	return func(ctx context.Context, object *unstructured.Unstructured) (any, error) {
		var before Old
		var after New
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, &before, true); err != nil {
			return nil, err
		}
		return &after, convert(ctx, &before, &after)
	}
}

// Current returns objects of Cluster API in its current version, and others as they are.
func Current(ctx context.Context, objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	older := map[string]bool{clusterv1beta1.GroupVersion.String(): true, controlplanev1beta1.GroupVersion.String(): true, bootstrapv1beta1.GroupVersion.String(): true}
	all := make([]*unstructured.Unstructured, len(objects))
	for i, object := range objects {
		all[i] = object
		convert, known := converters()[object.GroupVersionKind().GroupKind()]
		if !known || !older[object.GetAPIVersion()] {
			continue
		}
		typed, err := convert(ctx, object)
		if err == nil {
			var content map[string]any
			content, err = runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
			pruned(content)
			all[i] = &unstructured.Unstructured{Object: content}
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s %s as %s: %w; correct it", object.GetKind(), object.GetName(), object.GetAPIVersion(), err)
		}
		all[i].SetGroupVersionKind(schema.GroupVersionKind{Group: object.GroupVersionKind().Group, Version: clusterv1.GroupVersion.Version, Kind: object.GetKind()})
	}
	return all, nil
}

// pruned returns a value without what is empty, which types without a value leave.
func pruned(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, of := range value {
			if below := pruned(of); below == nil {
				delete(value, name)
			} else if fields, is := below.(map[string]any); is && len(fields) == 0 {
				delete(value, name)
			}
		}
	case []any:
		for i := range value {
			value[i] = pruned(value[i])
		}
	}
	return value
}
