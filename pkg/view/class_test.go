package view_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// TestTreeOfAClass: a cluster from a ClusterClass is shown with its class, what
// waits, and its variables.
func TestTreeOfAClass(t *testing.T) {
	t.Parallel()
	cluster := aDoneCluster(func(c *state.Cluster) {
		c.Topology = &state.Topology{Class: "team/small", Version: v1alpha1.MustParseVersion("v1.34.2"), Reason: "it is upgrading"}
	})
	described := view.Described{Cluster: cluster, Variables: []view.Variable{
		{Name: "region", Value: json.RawMessage(`"eu"`), Required: true},
		{Name: "region", Part: "md-0", Value: json.RawMessage(`"us"`)},
		{Name: "size", Value: json.RawMessage(`"small"`), Required: true, Default: true},
		{Name: "text", Value: json.RawMessage(`"` + strings.Repeat("ä", 100) + `"`)},
	}}
	postponed := described
	postponed.Postponed = []string{"md-0 stays"}
	unreached := described
	unreached.Unreached = []string{"md-1"}
	paused := described
	paused.Cluster.Paused, paused.Cluster.Pause = true, &state.Pause{Why: "detach md-1", By: "me@here", Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	const variables = `  variable region          "eu"  required
  variable region of md-0  "us"
  variable size            "small"  required, default
`
	text := "  variable text            \"" + strings.Repeat("ä", 79) + "...\n"
	const parts = `└─ ✓ control-plane  KubeadmControlPlane/prod  v1.34.2  1/1 ready
     ✓ prod-1  v1.34.2  Running
`
	head := "… Cluster team/prod  Provisioned, created 90s ago\n  ClusterClass team/small at v1.34.2\n"
	for name, test := range map[string]struct {
		described view.Described
		want      string
	}{
		"not carried over": {described, head + "  topology: it is upgrading\n" + variables + text + parts},
		"paused by clusterctl-x": {
			paused, strings.Replace(strings.Replace(head, "…", "✗", 1), "  ClusterClass", "  paused: clusterctl-x paused the cluster to detach md-1 (me@here, since 2026-01-02T03:04:05Z); if that was interrupted, 'clusterctl-x upgrade cluster' completes it and lifts the pause\n  ClusterClass", 1) +
				"  topology: it is upgrading\n" + variables + text + parts,
		},
		"a class that does not reach a group": {
			unreached, head + "  topology: it is upgrading\n  md-1 is pinned, and was made before the latest change of the class; 'clusterctl-x upgrade cluster' with its file applies that change\n" + variables + text + parts,
		},
		"a group is deferred": {postponed, head + "  md-0 stays\n" + variables + text + parts},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got strings.Builder
			if err := (view.Style{}).Tree(&got, test.described, now); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.String()); diff != "" {
				t.Errorf("tree (-want +got):\n%s", diff)
			}
		})
	}
}

// TestClassPlan: clusters that a change does nothing to are counted only.
func TestClassPlan(t *testing.T) {
	t.Parallel()
	metadata := func(name string) plan.Metadata { return plan.Metadata{Name: name, Namespace: "team"} }
	version := v1alpha1.MustParseVersion("v1.34.2")
	changed := plan.Plan{Metadata: metadata("a"), MachinesReplaced: plan.Machines{ControlPlane: 1, Workers: 3}, Steps: []plan.Step{{
		Kind: plan.Template, From: version, To: version, MachinesReplaced: 1, Concurrent: true, Reason: "because", Changes: plan.Changes{Fields: []changes.Change{{
			Object: "KubeadmControlPlane/a", Path: "spec.a", Action: changes.Changed, Old: "1", New: "2", ReplacesMachines: true,
		}}},
	}}}
	p := plan.ClassPlan{Metadata: metadata("small")}
	empty := "ClusterClass team/small can be applied; no cluster uses it\n"
	for name, test := range map[string]struct {
		clusters []plan.Plan
		want     string
	}{
		"no clusters": {nil, empty},
		"two clusters": {[]plan.Plan{changed, {Metadata: metadata("b")}}, `Plan for cluster team/a, 1 step:
 1. control plane  stays at v1.34.2  1 machine replaced
      because; started at once, concurrent with the other steps
      spec.a: 1 -> 2
In all: 1 control plane machine and 3 worker machines replaced.
ClusterClass team/small: 2 clusters, 1 of them unchanged; at most 1 control plane machine and 3 worker machines replaced.
`},
		"one unchanged, with something to know": {[]plan.Plan{{Metadata: metadata("b"), Notes: []string{"md-1 is pinned"}}}, `Cluster team/b is unchanged.
Note: md-1 is pinned.
ClusterClass team/small: 1 cluster, 1 of them unchanged; at most 0 control plane machines and 0 worker machines replaced.
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := p
			for _, cluster := range test.clusters {
				p.Add(cluster)
			}
			var got strings.Builder
			if err := (view.Style{}).ClassPlan(&got, p); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.String()); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}
