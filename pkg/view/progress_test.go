package view_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// step is the state of a cluster after some time.
type step struct {
	after  time.Duration
	change func(*state.Cluster)
}

// TestProgressLines says each thing once, when it happens.
func TestProgressLines(t *testing.T) {
	t.Parallel()
	addOns := func(addOns ...state.AddOn) func(*state.Cluster) {
		return func(c *state.Cluster) { c.AddOns = addOns }
	}
	pending, applied := state.AddOn{Name: "cni", Reason: "no answer"}, state.AddOn{Name: "cni", Applied: true}
	const ready = "   0s  control-plane v1.34.2: 1 of 1 machines ready\n"
	tests := map[string]struct {
		steps []step
		want  string
	}{
		"no add-ons":                {[]step{{0, addOns()}}, ready},
		"add-on is not applied yet": {[]step{{0, addOns(pending)}}, ready},
		"add-on is applied": {
			[]step{{0, addOns(pending)}, {5 * time.Second, addOns(applied)}, {time.Second, addOns(applied)}},
			ready + "   5s  add-on cni applied\n",
		},
		"add-on is applied again": {
			[]step{{0, addOns(applied)}, {time.Second, addOns(pending)}, {time.Second, addOns(applied)}},
			ready + "   0s  add-on cni applied\n",
		},
		"add-ons, each by itself": {
			[]step{
				{0, addOns(pending, state.AddOn{Name: "z", Applied: true})},
				{time.Second, addOns(applied, state.AddOn{Name: "z", Applied: true}, state.AddOn{Name: "control-plane", Applied: true})},
				{time.Second, addOns(applied, state.AddOn{Name: "z", Applied: true}, state.AddOn{Name: "control-plane", Applied: true})},
			},
			ready + "   0s  add-on z applied\n   1s  add-on cni applied\n   1s  add-on control-plane applied\n",
		},
		"add-on of a cluster that goes away": {
			[]step{{0, func(c *state.Cluster) { c.Deleting, c.AddOns = true, []state.AddOn{applied} }}},
			"   0s  control-plane: machines left: 1\n",
		},
		"nothing happens to an add-on": {
			[]step{{0, addOns(pending)}, {65 * time.Second, addOns(applied)}, {65 * time.Second, addOns(applied)}},
			ready + "  30s  waiting for add-on cni: no answer\n 1m0s  waiting for add-on cni: no answer\n 1m5s  add-on cni applied\n",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var got strings.Builder
				p := view.NewProgress(&got, view.Lines, view.Style{})
				for _, step := range test.steps {
					time.Sleep(step.after) // passes at once in a bubble of synctest
					p.Show(aDoneCluster(step.change))
				}
				p.Close()
				if diff := cmp.Diff(test.want, got.String()); diff != "" {
					t.Errorf("lines (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestProgressJSON has add-ons in its events.
func TestProgressJSON(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	p := view.NewProgress(&got, view.JSON, view.Style{})
	small := func(addOn state.AddOn) state.Cluster {
		return aDoneCluster(func(c *state.Cluster) {
			c.ControlPlane, c.AddOns = state.Part{Name: "control-plane", Settled: true}, []state.AddOn{addOn}
		})
	}
	p.Show(small(state.AddOn{Name: "cni", Reason: "no answer"}))
	p.Show(small(state.AddOn{Name: "cni", Applied: true}))
	p.Show(small(state.AddOn{Name: "cni", Applied: true}))
	p.Close()
	const cluster = `"cluster":{"name":"prod","namespace":"team","created":"2026-01-02T03:02:35Z","phase":"Provisioned","controlPlane":{"name":"control-plane","object":"","replicas":0,"settled":true},"addOns":[`
	want := `{"apiVersion":"clusterctl-x.io/v1alpha1","kind":"ClusterEvent","done":false,"waiting":"add-on cni: no answer",` + cluster + `{"name":"cni","applied":false,"reason":"no answer"}]}}
{"apiVersion":"clusterctl-x.io/v1alpha1","kind":"ClusterEvent","done":true,` + cluster + `{"name":"cni","applied":true}]}}
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestProgressTerminal waits for add-ons below the parts that are done.
func TestProgressTerminal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got strings.Builder
		p := view.NewProgress(&got, view.Terminal, view.Style{})
		p.Show(aDoneCluster(func(c *state.Cluster) { c.AddOns = []state.AddOn{{Name: "cni"}} }))
		p.Close()
		const want = "✓ control-plane v1.34.2: 1 of 1 machines ready\n0s  waiting for add-on cni: not applied yet\n"
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Errorf("drawn (-want +got):\n%s", diff)
		}
	})
}

// TestProgressRedraw draws over what was drawn, from the beginning of its first line,
// behind whatever was typed; lines that are too wide are broken at spaces, colours apart,
// and take more rows once the terminal is narrower.
// Nothing of the terminal is set to another mode, which a killed program would leave so.
func TestProgressRedraw(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got strings.Builder
		var columns atomic.Int32
		columns.Store(44)
		p := view.NewProgress(&got, view.Terminal, view.Style{Color: true, Width: func() int { return int(columns.Load()) }})
		p.Show(aDoneCluster(func(c *state.Cluster) {
			c.AddOns = []state.AddOn{{Name: "cni", Reason: "no ConfigMap of the name cni"}}
		}))
		time.Sleep(300 * time.Millisecond)
		columns.Store(10)
		p.Show(aDoneCluster(func(c *state.Cluster) { c.AddOns = []state.AddOn{{Name: "cni", Applied: true}} }))
		p.Close()
		const (
			first  = "\x1b[32m✓\x1b[0m control-plane v1.34.2: 1 of 1 machines\n    ready\n0s  waiting for add-on cni: no ConfigMap of\n    the name cni\n"
			second = "\r\x1b[12A\x1b[J\x1b[32m✓\x1b[0m\n    control-plane\n    v1.34.2:\n    1 of 1\n    machines\n    ready\n"
		)
		if diff := cmp.Diff(first+second, got.String()); diff != "" {
			t.Errorf("drawn (-want +got):\n%s", diff)
		}
	})
}
