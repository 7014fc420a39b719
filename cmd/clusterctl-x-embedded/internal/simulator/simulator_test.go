package simulator

import (
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

func TestParseKind(t *testing.T) {
	t.Parallel()
	got, err := ParseKind("infrastructure.example.org/v1/ExampleCluster")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(schema.GroupVersionKind{Group: "infrastructure.example.org", Version: "v1", Kind: "ExampleCluster"}, got); diff != "" {
		t.Errorf("kind (-want +got):\n%s", diff)
	}
	for _, wrong := range []string{"", "ExampleCluster", "v1/ExampleCluster", "//", "a/b/c/d"} {
		if _, err := ParseKind(wrong); err == nil || !strings.HasPrefix(err.Error(), `kind "`+wrong+`" is not GROUP/VERSION/KIND`) {
			t.Errorf("kind %q: error %v", wrong, err)
		}
	}
}

// TestFields: only what differs is a change, and what is beside stays.
func TestFields(t *testing.T) {
	t.Parallel()
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"zone": "here", "endpoint": map[string]any{"port": int64(1)}}}}
	type outcome struct {
		Changed bool
		Object  map[string]any
	}
	for _, f := range []struct {
		set  fields
		want outcome
	}{
		{fields{"spec.endpoint.port": int64(1)}, outcome{false, map[string]any{"spec": map[string]any{"zone": "here", "endpoint": map[string]any{"port": int64(1)}}}}},
		{fields{"spec.endpoint.host": "h", "spec.endpoint.port": int64(1)}, outcome{true, map[string]any{"spec": map[string]any{"zone": "here", "endpoint": map[string]any{"host": "h", "port": int64(1)}}}}},
	} {
		changed, err := f.set.set(object)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(f.want, outcome{changed, object.Object}); diff != "" {
			t.Errorf("setting %v (-want +got):\n%s", f.set, diff)
		}
	}
	if _, err := (fields{"spec.zone.name": "x"}).set(object); err == nil {
		t.Error("a field of a string was set")
	}
}

// TestServe: each cluster has a port of its own, which no other process listens on.
func TestServe(t *testing.T) {
	t.Parallel()
	first := threePorts(t)
	s, err := newServers(t.Context(), nil, Options{FirstClusterPort: first, LastClusterPort: first + 2})
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := client.ObjectKey{Namespace: "ns", Name: "a"}, client.ObjectKey{Namespace: "ns", Name: "b"}, client.ObjectKey{Namespace: "ns", Name: "c"}
	serve := func(cluster client.ObjectKey, port int32, taken ...int32) int32 {
		t.Helper()
		all := map[int32]bool{}
		for _, p := range taken {
			all[p] = true
		}
		got, err := s.serve(t.Context(), clusterOfAge(cluster, time.Minute), port, all)
		if err != nil {
			t.Log(err)
			return 0
		}
		return got
	}
	got := []int32{
		serve(a, 0, first),           // the first one is of a cluster that is not served yet
		serve(a, 0),                  // again
		serve(b, first+1),            // is a's
		serve(b, 0),                  // the first one is not taken by then
		serve(b, 0),                  // again
		serve(c, 0, first+2),         // none is left
		serve(c, 0),                  // the last one
		serve(client.ObjectKey{}, 0), // none is left
	}
	if diff := cmp.Diff([]int32{first + 1, first + 1, 0, first, first, 0, first + 2, 0}, got); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	var namespaces corev1.NamespaceList
	if err := s.objects.GetResourceGroup(a.String()).GetClient().List(t.Context(), &namespaces); err != nil {
		t.Fatal(err)
	}
	if version, err := strconv.Atoi(namespaces.ResourceVersion); err != nil || version < 600 {
		t.Errorf("resource version of a cluster that is served for the first time after a minute: %s, want 600 or more", namespaces.ResourceVersion)
	}
	if err := errors.Join(s.remove(a), s.remove(a)); err != nil {
		t.Fatal(err)
	}
	if got := serve(b, 0); got != first {
		t.Errorf("another cluster moved to port %d, want %d", got, first)
	}
	if got := serve(a, 0); got != first+1 {
		t.Errorf("a cluster that was removed is served on %d, want %d", got, first+1)
	}
	if err := errors.Join(s.remove(a), s.remove(b), s.remove(c)); err != nil {
		t.Fatal(err)
	}
}

func clusterOfAge(name client.ObjectKey, age time.Duration) *clusterv1.Cluster {
	return &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name, CreationTimestamp: metav1.NewTime(time.Now().Add(-age))}}
}

// threePorts returns the first of three consecutive ports that no program listens on.
func threePorts(t *testing.T) int32 {
	t.Helper()
	for first := 32000; first < 32700; first += 3 {
		var listeners []net.Listener
		for port := first; port < first+3; port++ {
			listener, err := net.ListenTCP("tcp", &net.TCPAddr{Port: port})
			if err == nil {
				listeners = append(listeners, listener)
			}
		}
		for _, listener := range listeners {
			if err := listener.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if len(listeners) == 3 {
			return int32(first)
		}
	}
	t.Fatal("no three ports are free")
	return 0
}
