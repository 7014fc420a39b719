package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cloudv1 "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/cloud/api/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestOneEtcd: members of another etcd than the first one are refused, in each cluster
// by itself, and nothing else is.
func TestOneEtcd(t *testing.T) {
	t.Parallel()
	simulator, err := NewManager(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	member := func(name, etcd string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: metav1.NamespaceSystem, Name: name, Labels: map[string]string{"component": "etcd", "tier": "control-plane"},
			Annotations: map[string]string{cloudv1.EtcdClusterIDAnnotationName: etcd},
		}}
	}
	removed := member("removed", "9")
	removed.Annotations[cloudv1.EtcdMemberRemoved] = ""
	create := func(cluster string, object client.Object) string {
		if err := simulator.GetResourceGroup(cluster).GetClient().Create(t.Context(), object); err != nil {
			return err.Error()
		}
		return ""
	}
	for _, cluster := range []string{"ns/a", "ns/b"} {
		simulator.AddResourceGroup(cluster)
	}
	got := []string{
		create("ns/a", removed), create("ns/a", member("first", "1")), create("ns/a", member("second", "2")), create("ns/a", member("second", "1")),
		create("ns/a", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}}), create("ns/b", member("first", "2")),
	}
	want := []string{"", "", "1 was founded meanwhile by first; second joins it at the next try", "", "", ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}
