package owners_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/clusterctl-x/clusterctl-x/pkg/owners"
)

func TestTakeoverSet(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]struct {
		want owners.Takeover
		err  string
	}{
		"true":  {owners.Takeover{All: true}, ""},
		"false": {owners.Takeover{}, ""},
		"kubectl-client-side-apply, argocd-controller": {owners.Takeover{Managers: []string{"kubectl-client-side-apply", "argocd-controller"}}, ""},
		"":   {owners.Takeover{}, "the name of a field manager must not be empty"},
		"a,": {owners.Takeover{Managers: []string{"a"}}, "the name of a field manager must not be empty"},
	} {
		var got owners.Takeover
		text2 := ""
		if err := got.Set(text); err != nil {
			text2 = err.Error()
		}
		if diff := cmp.Diff(c.want, got); diff != "" || text2 != c.err {
			t.Errorf("%q: error %q, value (-want +got):\n%s", text, text2, diff)
		}
	}
}

func TestManagersOf(t *testing.T) {
	t.Parallel()
	entry := func(manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, FieldsV1: metav1.NewFieldsV1(fields)}
	}
	of := object(nil, nil,
		entry("kubectl-edit", `{"f:spec":{"f:version":{}}}`),
		entry("clusterctl-x", `{"f:spec":{"f:version":{},"f:replicas":{}}}`),
		entry("kustomize-controller", `{"f:spec":{"f:version":{},"f:topology":{"f:variables":{"k:{\"name\":\"image\"}":{".":{},"f:value":{}}}}}}`),
		metav1.ManagedFieldsEntry{Manager: "empty"})
	for path, want := range map[string][]string{
		".spec.version":  {"kubectl-edit", "kustomize-controller"},
		".spec.replicas": nil,
		`.spec.topology.variables[name="image"].value`: {"kustomize-controller"},
	} {
		got, err := owners.ManagersOf(of, path, "clusterctl-x")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	if _, err := owners.ManagersOf(object(nil, nil, entry("broken", "[")), ".spec", ""); err == nil {
		t.Error("fields that cannot be read give no error")
	}
}
