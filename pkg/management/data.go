package management

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Data says what a Secret or ConfigMap has, but none of its values.
type Data struct {
	Type string   // of a Secret
	Keys []string // sorted
	// Owners of the object.
	Owners []metav1.OwnerReference
}

// Data returns what a Secret or ConfigMap has, and whether it exists.
func (c *Client) Data(ctx context.Context, kind string, key client.ObjectKey) (Data, bool, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Version: metav1.SchemeGroupVersion.Version, Kind: kind})
	err := c.Get(ctx, key, object)
	switch {
	case apierrors.IsNotFound(err):
		return Data{}, false, nil
	case err != nil:
		return Data{}, false, c.explain(ctx, fmt.Errorf("looking for %s %s: %w", kind, key, err))
	}
	data, _, err := unstructured.NestedMap(object.Object, "data")
	if err != nil {
		return Data{}, true, fmt.Errorf("reading %s %s: %w", kind, key, err)
	}
	secretType, _, err := unstructured.NestedString(object.Object, "type")
	if err != nil {
		return Data{}, true, fmt.Errorf("reading %s %s: %w", kind, key, err)
	}
	return Data{Type: secretType, Keys: slices.Sorted(maps.Keys(data)), Owners: object.GetOwnerReferences()}, true, nil
}
