package view_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// TestTable counts the machines that serve; of a rollout also those that are updated.
func TestTable(t *testing.T) {
	t.Parallel()
	steady := aDoneCluster(func(c *state.Cluster) { c.Name = "steady" })
	rolling := aCluster(func(c *state.Cluster) {
		group := &c.WorkerNodeGroups[0]
		group.Version = c.ControlPlane.Version
		group.Machines[1].Version, group.Machines[1].Kubelet, group.Machines[1].Ready = group.Version, group.Version, true
		group.Machines = append(group.Machines, state.Machine{Name: "old", Version: group.Machines[0].Version, Ready: true})
	})
	var got strings.Builder
	if err := (view.Style{}).Table(&got, []state.Cluster{rolling, steady}, now); err != nil {
		t.Fatal(err)
	}
	const want = `NAMESPACE   NAME     PHASE         VERSION   CONTROL PLANE   WORKERS          PINNED OR BEHIND   AGE
team        prod     Provisioned   v1.34.2   1/1             2/2, 1 updated   -                  90s
team        steady   Provisioned   v1.34.2   1/1             0/0              -                  90s
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// TestTableNamesGroupsApart: groups that the next upgrade leaves alone, or that are not
// at the version of the control plane, stand in the line of their cluster.
func TestTableNamesGroupsApart(t *testing.T) {
	t.Parallel()
	version := func(minor int) v1alpha1.Version { return v1alpha1.MustParseVersion(fmt.Sprintf("v1.%d.2", minor)) }
	group := func(name string, minor int) state.Part { return state.Part{Name: name, Version: version(minor)} }
	pinned := func(name string, minor int) state.Part {
		return state.Part{Name: name, Version: version(minor), Detached: true}
	}
	of := func(name string, topology *state.Topology, groups ...state.Part) state.Cluster {
		return aDoneCluster(func(c *state.Cluster) { c.Name, c.Topology, c.WorkerNodeGroups = name, topology, groups })
	}
	deferring := &state.Topology{Groups: []state.TopologyGroup{{Name: "a", Deferred: true}, {Name: "b"}, {Name: "c", Held: true}, {Name: "d"}}}
	starting := of("starting", nil, group("a", 33))
	starting.ControlPlane.Version, starting.ControlPlane.Machines = v1alpha1.Version{}, nil
	clusters := []state.Cluster{
		of("level", nil, group("a", 34), group("b", 34)),
		of("one", nil, group("a", 34), group("b", 33)),
		of("two", nil, group("a", 32), group("b", 33)),
		of("many", nil, group("a", 32), group("b", 31), group("c", 34), group("d", 33)),
		of("many-alike", nil, group("a", 32), group("b", 32), group("c", 32)),
		of("pinned", &state.Topology{}, pinned("a", 33), pinned("b", 34)),
		of("many-pinned", &state.Topology{}, pinned("a", 33), pinned("b", 34), group("c", 33), group("d", 34)),
		of("deferred", deferring, group("a", 33), group("b", 34)),
		of("deferred-later", deferring, group("a", 34), group("b", 34), group("d", 34)),
		of("no-version", nil, group("a", 34), state.Part{Name: "b"}),
		starting,
	}
	var got strings.Builder
	if err := (view.Style{}).Table(&got, clusters, now); err != nil {
		t.Fatal(err)
	}
	const want = `NAMESPACE   NAME             PHASE         VERSION   CONTROL PLANE   WORKERS   PINNED OR BEHIND                        AGE
team        level            Provisioned   v1.34.2   1/1             0/0       -                                       90s
team        one              Provisioned   v1.34.2   1/1             0/0       b v1.33.2                               90s
team        two              Provisioned   v1.34.2   1/1             0/0       a v1.32.2, b v1.33.2                    90s
team        many             Provisioned   v1.34.2   1/1             0/0       3 groups v1.31.2 to v1.33.2             90s
team        many-alike       Provisioned   v1.34.2   1/1             0/0       3 groups v1.32.2                        90s
team        pinned           Provisioned   v1.34.2   1/1             0/0       a v1.33.2 pinned, b v1.34.2 pinned      90s
team        many-pinned      Provisioned   v1.34.2   1/1             0/0       3 groups v1.33.2 to v1.34.2, 2 pinned   90s
team        deferred         Provisioned   v1.34.2   1/1             0/0       a v1.33.2 deferUpgrade                  90s
team        deferred-later   Provisioned   v1.34.2   1/1             0/0       -                                       90s
team        no-version       Provisioned   v1.34.2   1/1             0/0       -                                       90s
team        starting         Provisioned             0/1             0/0       -                                       90s
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}
