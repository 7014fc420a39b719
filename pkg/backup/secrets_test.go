package backup

import (
	"cmp"
	"slices"
	"testing"

	diff "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestSecretsNamedIn(t *testing.T) {
	t.Parallel()
	object := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": "ns", "ownerReferences": []any{map[string]any{"kind": "Secret", "name": "no"}}},
		"spec": map[string]any{
			"identityRef":          map[string]any{"kind": "Secret", "name": "identity"},
			"otherRef":             map[string]any{"kind": "ConfigMap", "name": "no"},
			"secretRef":            "by-name",
			"dataSecretName":       "data",
			"credentialsSecretRef": map[string]any{"name": "credentials", "namespace": "elsewhere"},
			"files":                []any{map[string]any{"contentFrom": map[string]any{"secret": map[string]any{"name": "file", "key": "k"}}}},
			"empty":                map[string]any{"secretName": ""},
		},
	}}
	got := secretsNamedIn(object)
	slices.SortFunc(got, func(a, b client.ObjectKey) int { return cmp.Compare(a.String(), b.String()) })
	want := []client.ObjectKey{
		{Namespace: "elsewhere", Name: "credentials"}, {Namespace: "ns", Name: "by-name"}, {Namespace: "ns", Name: "data"},
		{Namespace: "ns", Name: "file"}, {Namespace: "ns", Name: "identity"},
	}
	if d := diff.Diff(want, got); d != "" {
		t.Errorf("Secrets (-want +got):\n%s", d)
	}
}
