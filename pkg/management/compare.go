package management

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// maxRequests at the same time, of those that ask about many objects.
const maxRequests = 8

// Compare returns what applying the objects would change, in their order, and writes
// nothing. If machines would be made from another template, it returns the fields of the
// template instead of its name.
func (c *Client) Compare(ctx context.Context, objects []*unstructured.Unstructured) ([]changes.Change, error) {
	named := map[string]*unstructured.Unstructured{}
	for _, object := range objects {
		named[changes.ObjectName(object)] = object
	}
	found := make([][]changes.Change, len(objects))
	var tasks errgroup.Group
	tasks.SetLimit(maxRequests)
	for i, object := range objects {
		tasks.Go(func() error {
			of, err := c.Try(ctx, object)
			if err == nil && len(of) > 0 && !of[0].Creates() {
				of, err = c.fields(ctx, object, of, named)
			}
			if err != nil {
				return fmt.Errorf("trying to apply %s: %w", changes.ObjectName(object), err)
			}
			found[i] = of
			return nil
		})
	}
	if err := tasks.Wait(); err != nil {
		return nil, c.explain(ctx, err)
	}
	for i, of := range found {
		if len(of) == 0 || !of[0].Creates() || !changes.IsTemplate(of[0].Kind()) {
			continue
		}
		missed, err := c.missed(ctx, objects[i], objects)
		if err != nil {
			return nil, c.explain(ctx, err)
		}
		if missed {
			of[0].Action = changes.Restored
		}
	}
	return slices.Concat(found...), nil
}

// missed reports whether one of the objects is live and refers to a template, so that
// Cluster API looks for it.
func (c *Client) missed(ctx context.Context, template *unstructured.Unstructured, objects []*unstructured.Unstructured) (bool, error) {
	for _, object := range objects {
		if !refers(object, template) {
			continue
		}
		live, err := c.live(ctx, object)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("reading %s: %w", changes.ObjectName(object), err)
		}
		if refers(live, template) {
			return true, nil
		}
	}
	return false, nil
}

// refers reports whether an object names a template for its machines.
func refers(object, template *unstructured.Unstructured) bool {
	return slices.ContainsFunc(changes.References(object.GetKind()), func(path []string) bool {
		reference, _, err := unstructured.NestedStringMap(object.Object, path...)
		return err == nil && reference["kind"] == template.GetKind() && reference["name"] == template.GetName()
	})
}

// fields returns the fields of a change, with the fields of templates instead of their
// names.
func (c *Client) fields(ctx context.Context, wanted *unstructured.Unstructured, fields []changes.Change, named map[string]*unstructured.Unstructured) ([]changes.Change, error) {
	if len(changes.References(wanted.GetKind())) == 0 {
		return fields, nil
	}
	live, err := c.live(ctx, wanted)
	if err != nil {
		return nil, err
	}
	return changes.FollowTemplates(live, wanted, fields, named, func(name string, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		return c.template(ctx, name, wanted)
	})
}

// template is the live one of the kind that another will take the place of.
func (c *Client) template(ctx context.Context, name string, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	named := wanted.DeepCopy()
	named.SetName(name)
	live, err := c.live(ctx, named)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return live, err
}

// SameTemplate is the name of the template that the MachineDeployment of a name
// refers to, where it has the content of another one; it is empty where it has not.
func (c *Client) SameTemplate(ctx context.Context, deployment string, template *unstructured.Unstructured) (string, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("MachineDeployment"))
	if err := c.Get(ctx, client.ObjectKey{Namespace: template.GetNamespace(), Name: deployment}, live); err != nil {
		return "", client.IgnoreNotFound(err)
	}
	for _, path := range changes.References(live.GetKind()) {
		reference, found, err := unstructured.NestedStringMap(live.Object, path...)
		if err != nil || !found || reference["kind"] != template.GetKind() {
			continue
		}
		used, err := c.template(ctx, reference["name"], template)
		if err != nil || used == nil {
			return "", err
		}
		if same, err := c.sameContent(ctx, template, used); err != nil || same {
			return used.GetName(), err
		}
	}
	return "", nil
}

// Differs reports whether there is a template of the name of another one with another content.
func (c *Client) Differs(ctx context.Context, template *unstructured.Unstructured) (bool, error) {
	live, err := c.template(ctx, template.GetName(), template)
	if err != nil || live == nil {
		return false, c.explain(ctx, err)
	}
	same, err := c.sameContent(ctx, template, live)
	return !same, c.explain(ctx, err)
}

// sameContent reports whether a template would have the content of a live one, with the
// defaults of the API server. It is tried under another name, since templates are immutable.
func (c *Client) sameContent(ctx context.Context, template, live *unstructured.Unstructured) (bool, error) {
	spec, err := json.Marshal(template.Object["spec"])
	if err != nil {
		return false, err
	}
	tried := template.DeepCopy()
	tried.SetName(changes.ContentHash(spec))
	if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(tried), FieldOwner, client.ForceOwnership, client.DryRunAll); err != nil {
		return false, fmt.Errorf("trying to apply %s: %w", changes.ObjectName(template), err)
	}
	return reflect.DeepEqual(tried.Object["spec"], live.Object["spec"]), nil
}
