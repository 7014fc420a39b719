package workload

import (
	"context"
	"fmt"

	inmemoryclient "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime/client"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// unconditional takes an update without a resource version as real API servers do:
// whatever is there is replaced. The control plane controller updates CoreDNS so.
type unconditional struct {
	inmemoryclient.Client
}

// Update replaces an object.
func (c unconditional) Update(ctx context.Context, object client.Object) error {
	if object.GetResourceVersion() == "" {
		present, ok := object.DeepCopyObject().(client.Object)
		if !ok {
			return fmt.Errorf("updating %s: a %T has no metadata", object.GetName(), object)
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(object), present); err != nil {
			return err
		}
		object.SetResourceVersion(present.GetResourceVersion())
	}
	return c.Client.Update(ctx, object)
}
