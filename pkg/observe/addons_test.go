package observe

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestClustersHaveTheirAddOns: each cluster has its own, in the order of their names.
func TestClustersHaveTheirAddOns(t *testing.T) {
	t.Parallel()
	set := func(namespace, cluster, name string) addonsv1.ClusterResourceSet {
		return resourceSet(name, func(set *addonsv1.ClusterResourceSet) {
			set.Namespace, set.Labels = namespace, map[string]string{clusterv1.ClusterNameLabel: cluster}
		})
	}
	cluster := func(namespace, name string) clusterv1.Cluster {
		c := clusterv1.Cluster{ObjectMeta: objectMeta(name, nil)}
		c.Namespace = namespace
		return c
	}
	c := interceptor.NewClient(nil, interceptor.Funcs{List: func(_ context.Context, _ client.WithWatch, into client.ObjectList, _ ...client.ListOption) error {
		switch list := into.(type) {
		case *clusterv1.ClusterList:
			list.Items = []clusterv1.Cluster{cluster("two", "a"), cluster("one", "b"), cluster("one", "a")}
		case *addonsv1.ClusterResourceSetList:
			list.Items = []addonsv1.ClusterResourceSet{
				set("one", "b", "b-z"), set("one", "a", "a-y"), set("two", "a", "a-w"), set("one", "a", "a-x"), set("three", "a", "a-v"), set("one", "c", "a-u"),
			}
		}
		return nil
	}})
	clusters, _, err := Clusters(t.Context(), c, c, Filter{})
	if err != nil {
		t.Fatal(err)
	}
	type named struct {
		Cluster string
		AddOns  []state.AddOn
	}
	var got []named
	for _, cluster := range clusters {
		got = append(got, named{cluster.Namespace + "/" + cluster.Name, cluster.AddOns})
	}
	want := []named{
		{"one/a", []state.AddOn{{Name: "x", Applied: true}, {Name: "y", Applied: true}}},
		{"one/b", []state.AddOn{{Name: "z", Applied: true}}},
		{"two/a", []state.AddOn{{Name: "w", Applied: true}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("clusters (-want +got):\n%s", diff)
	}
}
