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

// DataKeys returns the sorted keys of the data of a Secret or ConfigMap, and
// whether it exists. Values are not kept.
func (c *Client) DataKeys(ctx context.Context, kind string, key client.ObjectKey) ([]string, bool, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Version: metav1.SchemeGroupVersion.Version, Kind: kind})
	err := c.Get(ctx, key, object)
	switch {
	case apierrors.IsNotFound(err):
		return nil, false, nil
	case err != nil:
		return nil, false, c.explain(ctx, fmt.Errorf("looking for %s %s: %w", kind, key, err))
	}
	data, _, err := unstructured.NestedMap(object.Object, "data")
	if err != nil {
		return nil, true, fmt.Errorf("reading %s %s: %w", kind, key, err)
	}
	return slices.Sorted(maps.Keys(data)), true, nil
}
