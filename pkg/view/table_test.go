package view_test

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// table is what is written of clusters.
func table(t *testing.T, columns view.Columns, clusters ...state.Cluster) string {
	t.Helper()
	var b strings.Builder
	if err := view.NewClusterTable(&b, columns).Write(listed(clusters...), now); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func listed(clusters ...state.Cluster) []view.Listed {
	all := make([]view.Listed, len(clusters))
	for i, cluster := range clusters {
		all[i].Cluster = cluster
	}
	return all
}

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
	got := table(t, view.FewColumns, rolling, steady)
	const want = `NAMESPACE   NAME     PHASE         VERSION   CONTROL PLANE   WORKERS          PINNED OR BEHIND   AGE
team        prod     Provisioned   v1.34.2   1/1             2/2, 1 updated   -                  90s
team        steady   Provisioned   v1.34.2   1/1             0/0              -                  90s
`
	if diff := cmp.Diff(want, got); diff != "" {
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
	got := table(t, view.FewColumns, clusters...)
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
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// TestTableOfAFleet: what clusters are compared by, and what each of them waits for.
func TestTableOfAFleet(t *testing.T) {
	t.Parallel()
	of := func(class string) func(*state.Cluster) {
		return func(c *state.Cluster) {
			c.Name, c.Topology = path.Base(path.Dir(class)), &state.Topology{Class: class, Version: c.ControlPlane.Version, Settled: true}
		}
	}
	waits := aCluster(func(c *state.Cluster) { c.Name = "waits" })
	paused := aDoneCluster(func(c *state.Cluster) {
		c.Name, c.Paused, c.Owner = "paused", true, &state.Owner{Tool: "Flux", Name: "Kustomization apps/web"}
	})
	classed, elsewhere := aDoneCluster(of("team/prod-class")), aDoneCluster(of("classes/prod-class"))
	late := aCluster(func(c *state.Cluster) {
		group := &c.WorkerNodeGroups[0]
		group.Replicas, group.Settled, group.Version = 1, true, c.ControlPlane.Version
		group.Machines = []state.Machine{{Name: "prod-md-0-1", Phase: "Running", Version: c.ControlPlane.Version, Kubelet: v1alpha1.MustParseVersion("v1.32.1"), Ready: true}}
		c.Name = "late-kubelet"
	})
	got := table(t, view.AllColumns, waits, paused, classed, elsewhere, late)
	const want = `NAMESPACE   NAME           PHASE                 VERSION   CONTROL PLANE   WORKERS   PINNED OR BEHIND   AGE   OLDEST WORKER   CLASS                OWNER                         WAITING FOR
team        waits          Provisioned           v1.34.2   1/1             1/2       md-0 v1.33.3       90s   v1.33.3         -                    -                             md-0: 1 of 2 machines ready at v1.33.3; machine prod-md-0-22 is Provisioning: it boots
team        paused         Provisioned, paused   v1.34.2   1/1             0/0       -                  90s   -               -                    Flux Kustomization apps/web   -
team        team           Provisioned           v1.34.2   1/1             0/0       -                  90s   -               prod-class           -                             -
team        classes        Provisioned           v1.34.2   1/1             0/0       -                  90s   -               classes/prod-class   -                             -
team        late-kubelet   Provisioned           v1.34.2   1/1             1/1       -                  90s   v1.32.1         -                    -                             md-0: 0 of 1 machines ready at v1.34.2; machine prod-md-0-1 is Running with its kubelet at v1.32.1
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// TestTableOfChanges: clusters that changed follow as rows, in the same columns and without
// another header. A change that no column shows gives no row.
func TestTableOfChanges(t *testing.T) {
	t.Parallel()
	done, waits := aDoneCluster(func(c *state.Cluster) { c.Name = "a" }), aCluster(func(c *state.Cluster) { c.Name = "a-longer-name" })
	ready := waits
	ready.WorkerNodeGroups = []state.Part{waits.WorkerNodeGroups[0]}
	ready.WorkerNodeGroups[0].Machines = []state.Machine{waits.WorkerNodeGroups[0].Machines[0], waits.WorkerNodeGroups[0].Machines[0]}
	again := done
	again.Generation++
	var b strings.Builder
	changes := view.NewClusterTable(&b, view.FewColumns)
	for _, clusters := range [][]view.Listed{nil, listed(done, waits), listed(again), listed(ready), {{Cluster: done, Gone: true}}, listed(done)} {
		if err := changes.Write(clusters, now); err != nil {
			t.Fatal(err)
		}
	}
	const want = `NAMESPACE   NAME            PHASE         VERSION   CONTROL PLANE   WORKERS   PINNED OR BEHIND   AGE
team        a               Provisioned   v1.34.2   1/1             0/0       -                  90s
team        a-longer-name   Provisioned   v1.34.2   1/1             1/2       md-0 v1.33.3       90s
team        a-longer-name   Provisioned   v1.34.2   1/1             2/2       md-0 v1.33.3       90s
team        a               Gone          v1.34.2   1/1             0/0       -                  90s
team        a               Provisioned   v1.34.2   1/1             0/0       -                  90s
`
	got := b.String()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	if err := view.Names(&got, listed(aCluster(func(*state.Cluster) {}), aCluster(func(c *state.Cluster) { c.Name = "test" }))); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("cluster/prod\ncluster/test\n", got.String()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}
