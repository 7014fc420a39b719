package state

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

func TestHoldsOf(t *testing.T) {
	t.Parallel()
	key := types.NamespacedName{Namespace: "team", Name: "c1"}
	since := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	hold := func(point HoldPoint, reason string) Hold {
		return Hold{Point: point, Reason: reason, Annotation: point.Annotation(), Cluster: key}
	}
	full := hold(BeforeWorkers, "database migration")
	full.By, full.Since = "ann@desk", since
	value, err := full.Value()
	if err != nil {
		t.Fatal(err)
	}
	foreign := hold(BeforeUpgrade, "true")
	foreign.Annotation = "before-upgrade.hook.cluster.cluster.x-k8s.io/backup"
	tests := map[string]struct {
		annotations map[string]string
		want        []Hold
		texts       []string
	}{
		"none":      {map[string]string{"other": "x"}, nil, nil},
		"ours":      {map[string]string{"clusterctl-x.io/hold-before-workers": value}, []Hold{full}, []string{"held before workers by ann@desk since 2026-11-21T09:00:00Z: database migration; 'clusterctl-x release cluster c1 -n team --before workers' lifts it"}},
		"by hand":   {map[string]string{"clusterctl-x.io/hold-after-control-plane": " look\n first "}, []Hold{hold(AfterControlPlane, "look first")}, []string{"held after control plane: look first; 'clusterctl-x release cluster c1 -n team --after control-plane' lifts it"}},
		"of others": {map[string]string{foreign.Annotation: "true"}, []Hold{foreign}, []string{"held before upgrade: true; removing the annotation " + foreign.Annotation + " lifts it"}},
		"hostile": {
			map[string]string{"clusterctl-x.io/hold-after-workers": "a\x1b[2Jb\x00" + strings.Repeat("é", 400)},
			[]Hold{hold(AfterWorkers, "a [2Jb "+strings.Repeat("é", 293)+"…")}, nil,
		},
		"no place":   {map[string]string{"clusterctl-x.io/hold-before-lunch": value}, nil, nil},
		"empty text": {map[string]string{"clusterctl-x.io/hold-after-workers": ""}, []Hold{hold(AfterWorkers, "")}, []string{"held after workers; 'clusterctl-x release cluster c1 -n team --after workers' lifts it"}},
		"in order": {
			map[string]string{
				"clusterctl-x.io/hold-after-upgrade": "a", "clusterctl-x.io/hold-after-workers": "b", "clusterctl-x.io/hold-before-workers": "c",
				"clusterctl-x.io/hold-after-control-plane": "d", "clusterctl-x.io/hold-before-control-plane": "e", BeforeUpgrade.Annotation(): "f",
			},
			[]Hold{hold(BeforeUpgrade, "f"), hold(BeforeControlPlane, "e"), hold(AfterControlPlane, "d"), hold(BeforeWorkers, "c"), hold(AfterWorkers, "b"), hold(AfterUpgrade, "a")},
			nil,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := HoldsOf(key, test.annotations)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("holds (-want +got):\n%s", diff)
			}
			for i, text := range test.texts {
				if diff := cmp.Diff(text, got[i].String()); diff != "" {
					t.Errorf("text (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestHeldByHook goes through the upgrade of a topology with a hold at every place.
func TestHeldByHook(t *testing.T) {
	t.Parallel()
	var holds []Hold
	for _, point := range HoldPoints() {
		holds = append(holds, Hold{Point: point, Annotation: point.Annotation()})
	}
	const from, to = "v1.33.1", "v1.34.1"
	at := func(controlPlane, worker string, settled, upgrading bool, pending ...string) Cluster {
		part := func(name, version string) Part {
			v := v1alpha1.MustParseVersion(version)
			return Part{Name: name, Version: v, Replicas: 1, Settled: true, Machines: []Machine{{Version: v, Kubelet: v, Ready: true}}}
		}
		return Cluster{
			ControlPlane: part("control-plane", controlPlane), WorkerNodeGroups: []Part{part("md-0", worker)}, Holds: holds,
			Topology: &Topology{Version: v1alpha1.MustParseVersion(to), Settled: settled, Upgrading: upgrading, Pending: pending},
		}
	}
	rolling := at(to, from, false, true, "AfterClusterUpgrade", "AfterControlPlaneUpgrade")
	rolling.ControlPlane.Machines[0].Ready = false
	workersRoll := at(to, to, false, true, "AfterClusterUpgrade", "AfterWorkersUpgrade")
	workersRoll.WorkerNodeGroups[0].Machines[0].Ready = false
	tests := map[string]struct {
		cluster Cluster
		want    HoldPoint
	}{
		"before all of it":          {at(from, from, false, false), BeforeUpgrade},
		"before the next version":   {at(from, from, false, true, "AfterClusterUpgrade"), BeforeControlPlane},
		"the control plane rolls":   {rolling, ""},
		"after the control plane":   {at(to, from, false, true, "AfterClusterUpgrade", "AfterControlPlaneUpgrade", "AfterWorkersUpgrade", "BeforeWorkersUpgrade"), AfterControlPlane},
		"before the workers":        {at(to, from, false, true, "AfterClusterUpgrade", "AfterWorkersUpgrade", "BeforeWorkersUpgrade"), BeforeWorkers},
		"between the worker groups": {at(to, from, false, true, "AfterClusterUpgrade", "AfterWorkersUpgrade"), ""},
		"the workers roll":          {workersRoll, ""},
		"after the workers":         {at(to, to, false, true, "AfterClusterUpgrade", "AfterWorkersUpgrade"), AfterWorkers},
		"after all of it":           {at(to, to, false, true, "AfterClusterUpgrade"), AfterUpgrade},
		"at rest":                   {at(to, to, true, false), ""},
		"without a class":           {Cluster{Holds: holds}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got HoldPoint
			if hold := test.cluster.HeldByHook(); hold != nil {
				got = hold.Point
			}
			if got != test.want {
				t.Errorf("it is held %q, want %q", got, test.want)
			}
		})
	}
}

// TestParseHoldReason: a reason is one line that can be read at a glance.
func TestParseHoldReason(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ given, want, err string }{
		"none":        {" \n", "", "<nil>"},
		"one line":    {"database migration", "database migration", "<nil>"},
		"lines":       {" until\n\tFriday ", "until Friday", "<nil>"},
		"long enough": {strings.Repeat("a", 200), strings.Repeat("a", 200), "<nil>"},
		"too long":    {strings.Repeat("a", 201), "", "has 201 bytes; at most 200 are allowed"},
	} {
		reason, err := ParseHoldReason(test.given)
		if diff := cmp.Diff([]string{test.want, test.err}, []string{reason, fmt.Sprint(err)}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
