package lifecycle

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestChangedClusters: a cluster is another one in another namespace.
func TestChangedClusters(t *testing.T) {
	t.Parallel()
	cluster := func(namespace, name string, generation int64) state.Cluster {
		return state.Cluster{Namespace: namespace, Name: name, Generation: generation, WorkerNodeGroups: []state.Part{{Name: "md-0"}}}
	}
	a, b, otherA := cluster("one", "a", 1), cluster("one", "b", 1), cluster("two", "a", 1)
	for name, test := range map[string]struct {
		before, after []state.Cluster
		want          []ClusterChange
	}{
		"nothing":              {nil, nil, nil},
		"the first look":       {nil, []state.Cluster{a, b}, []ClusterChange{{Cluster: a}, {Cluster: b}}},
		"no change":            {[]state.Cluster{a, b}, []state.Cluster{cluster("one", "a", 1), b}, nil},
		"a changed one":        {[]state.Cluster{a, b}, []state.Cluster{a, cluster("one", "b", 2)}, []ClusterChange{{Cluster: cluster("one", "b", 2)}}},
		"gone, and another":    {[]state.Cluster{a, b}, []state.Cluster{b, otherA}, []ClusterChange{{Cluster: otherA}, {Cluster: a, Gone: true}}},
		"all of them are gone": {[]state.Cluster{a, otherA}, nil, []ClusterChange{{Cluster: a, Gone: true}, {Cluster: otherA, Gone: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, changed(test.before, test.after), cmpopts.EquateComparable(v1alpha1.Version{})); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}
