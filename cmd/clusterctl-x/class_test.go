package main

import (
	"testing"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestKeepsClass: a cluster keeps its class as long as groups are detached.
func TestKeepsClass(t *testing.T) {
	t.Parallel()
	const file = `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  clusterClass:
    name: other
`
	s := spec{config: v1alpha1.Decode("prod.yaml", []byte(file)), class: &topology.Class{ClusterClass: &clusterv1.ClusterClass{}}}
	s.class.Name = "other"
	for name, test := range map[string]struct {
		groups []state.Part
		want   string
	}{
		"none is detached": {[]state.Part{{Name: "md-0"}}, ""},
		"two are": {
			[]state.Part{{Name: "md-0"}, {Name: "md-1", Detached: true}, {Name: "md-2", Detached: true}},
			`prod.yaml:6: spec.clusterClass.name: Invalid value: "other": cluster prod is made from ClusterClass own, and cannot become one of another while groups are pinned: md-1, md-2; take their pins away first, in a change of its own`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if err := s.keepsClass(state.Cluster{Name: "prod", WorkerNodeGroups: test.groups}, "own"); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("said %q, want %q", got, test.want)
			}
		})
	}
}
