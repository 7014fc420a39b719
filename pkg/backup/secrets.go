package backup

import (
	"context"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	corev1 "k8s.io/api/core/v1"
)

// missingSecrets returns the Secrets that objects of a backup name, that exist, and that are
// not in it: clusterctl takes what has an owner that it takes, or its label.
func (s *Service) missingSecrets(ctx context.Context, objects map[string]*unstructured.Unstructured) ([]string, error) {
	has := map[client.ObjectKey]bool{}
	for _, object := range objects {
		if object.GetKind() == "Secret" && object.GetAPIVersion() == "v1" {
			has[client.ObjectKeyFromObject(object)] = true
		}
	}
	named := map[client.ObjectKey]bool{}
	for _, object := range objects {
		for _, key := range secretsNamedIn(object) {
			named[key] = named[key] || !has[key]
		}
	}
	maps.DeleteFunc(named, func(_ client.ObjectKey, missing bool) bool { return !missing })
	keys := slices.SortedFunc(maps.Keys(named), func(a, b client.ObjectKey) int { return strings.Compare(a.String(), b.String()) })
	exists := make([]bool, len(keys))
	err := inParallel(ctx, keys, func(ctx context.Context, i int, key client.ObjectKey) error {
		secret := &metav1.PartialObjectMetadata{}
		secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
		err := s.objects.Get(ctx, key, secret)
		exists[i] = err == nil
		return client.IgnoreNotFound(err)
	})
	var missing []string
	for i, key := range keys {
		if exists[i] {
			missing = append(missing, key.String())
		}
	}
	return missing, err
}

// secretsNamedIn returns the Secrets that fields of an object name: references of kind Secret,
// and fields that are called after one, such as secretRef, secretName and secret. They are in
// its namespace unless they say otherwise.
func secretsNamedIn(object *unstructured.Unstructured) []client.ObjectKey {
	var keys []client.ObjectKey
	add := func(namespace, name any) {
		key := client.ObjectKey{Namespace: object.GetNamespace()}
		if given, is := namespace.(string); is && given != "" {
			key.Namespace = given
		}
		if key.Name, _ = name.(string); key.Name != "" {
			keys = append(keys, key)
		}
	}
	var walk func(field string, value any)
	walk = func(field string, value any) {
		called := strings.ToLower(field)
		refers := called == "secret" || strings.HasSuffix(called, "secretref") || strings.HasSuffix(called, "secretname")
		switch value := value.(type) {
		case map[string]any:
			if refers || value["kind"] == "Secret" {
				add(value["namespace"], value["name"])
			}
			for name, inner := range value {
				walk(name, inner)
			}
		case []any:
			for _, inner := range value {
				walk("", inner)
			}
		case string:
			if refers {
				add(nil, value)
			}
		}
	}
	walk("", object.Object["spec"])
	return keys
}
