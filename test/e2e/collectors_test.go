package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestCollectors holds that an object goes with its owner, and what a namespace
// holds with the namespace.
func TestCollectors(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "collected")
	kubectl(t, shared, nil, "create", "configmap", "owner", "-n", namespace)
	uid := kubectl(t, shared, nil, "get", "configmap", "owner", "-n", namespace, "-o", "jsonpath={.metadata.uid}")
	kubectl(t, shared, fmt.Appendf(nil, `apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: owned, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: %q}]}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: free}
`, uid), "apply", "-n", namespace, "-f", "-")
	kubectl(t, shared, nil, "delete", "configmap", "owner", "-n", namespace)
	kubectl(t, shared, nil, "wait", "configmap", "owned", "-n", namespace, "--for=delete")
	if got, want := strings.TrimSpace(kubectl(t, shared, nil, "get", "configmaps", "-n", namespace, "-o", "name")), "configmap/free"; got != want {
		t.Errorf("what is left is %q, want %q", got, want)
	}
	kubectl(t, shared, nil, "delete", "namespace", namespace, "--wait=false")
	until(t, "the namespace is gone", func(context.Context) bool {
		return !slices.ContainsFunc(list[metav1.PartialObjectMetadata](t, shared, "", "namespaces"), func(n metav1.PartialObjectMetadata) bool { return n.Name == namespace })
	})
}
