package e2e_test

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

// write is a request that changes one object of a namespace, in a dry run.
type write func(ctx context.Context, r *reader, namespace string) error

// patched changes an object, which is KIND/NAME.
func patched(object string, patch types.PatchType, body string, subresources ...string) write {
	return func(ctx context.Context, r *reader, namespace string) error {
		kind, name, _ := strings.Cut(object, "/")
		resource, err := r.resource(kind, namespace)
		if err == nil {
			_, err = resource.Patch(ctx, name, patch, []byte(body), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}, subresources...)
		}
		return err
	}
}

func merged(object, body string, subresources ...string) write {
	return patched(object, types.MergePatchType, body, subresources...)
}

func labelled(object string) write { return merged(object, `{"metadata":{"labels":{"a":"b"}}}`) }

func removed(object string) write {
	return func(ctx context.Context, r *reader, namespace string) error {
		kind, name, _ := strings.Cut(object, "/")
		resource, err := r.resource(kind, namespace)
		if err == nil {
			err = resource.Delete(ctx, name, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		}
		return err
	}
}

// applied is server-side apply, by a field manager that takes what it needs from others.
func applied(manifest, manager string) write {
	return func(ctx context.Context, r *reader, namespace string) error {
		object, resource, err := r.decode(manifest, namespace)
		if err != nil {
			return err
		}
		object.SetNamespace(namespace)
		data, err := object.MarshalJSON()
		if err == nil {
			_, err = resource.Patch(ctx, object.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{
				FieldManager: manager, Force: new(true), FieldValidation: metav1.FieldValidationStrict, DryRun: []string{metav1.DryRunAll},
			})
		}
		return err
	}
}

func made(manifest string) write {
	return func(ctx context.Context, r *reader, namespace string) error {
		_, err := r.wouldStore(ctx, namespace, manifest)
		return err
	}
}

// wouldStore makes an object in a dry run.
func (r *reader) wouldStore(ctx context.Context, namespace, manifest string) (*unstructured.Unstructured, error) {
	object, resource, err := r.decode(manifest, namespace)
	if err != nil {
		return nil, err
	}
	return resource.Create(ctx, object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict, DryRun: []string{metav1.DryRunAll}})
}

func (r *reader) decode(manifest, namespace string) (*unstructured.Unstructured, dynamic.ResourceInterface, error) {
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &object.Object); err != nil {
		return nil, nil, err
	}
	kind := object.GroupVersionKind()
	mapping, err := r.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, nil, err
	}
	return object, r.client.Resource(mapping.Resource).Namespace(namespace), nil
}
