package management

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// TryMade lets the API server check objects that a ClusterClass makes, as if they were
// created under other names, and writes nothing. It returns what their schemas and
// webhooks say against them, in the order of the objects.
func (c *Client) TryMade(ctx context.Context, objects []*unstructured.Unstructured) ([]ClassReason, error) {
	found := make([][]ClassReason, len(objects))
	var tasks errgroup.Group
	tasks.SetLimit(maxRequests)
	for i, object := range objects {
		tasks.Go(func() error {
			tried := object.DeepCopy()
			// One of the same name may be there.
			tried.SetName("")
			tried.SetGenerateName("clusterctl-x-tried-")
			err := c.Create(ctx, tried, client.DryRunAll, FieldOwner, client.FieldValidation(metav1.FieldValidationStrict))
			reasons, refused := reasonsAgainst(object, err)
			if err != nil && !refused {
				return fmt.Errorf("trying to create %s: %w", changes.ObjectName(object), err)
			}
			found[i] = reasons
			return nil
		})
	}
	if err := tasks.Wait(); err != nil {
		return nil, c.explain(ctx, err)
	}
	return slices.Concat(found...), nil
}
