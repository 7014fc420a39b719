package view

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestWatched: a cluster is gone, done, not done, or that is unknown.
func TestWatched(t *testing.T) {
	t.Parallel()
	at := state.Cluster{ControlPlane: state.Part{Version: v1alpha1.MustParseVersion("v1.33.5")}}
	for name, test := range map[string]struct {
		seen Watched
		want string
	}{
		"gone":    {Watched{Gone: true}, "cluster ns/c is gone"},
		"unknown": {Watched{Cluster: at, Unknown: errors.New("no record")}, "cluster ns/c is at v1.33.5 after 1m0s; it is unknown whether its spec asks for more: no record"},
		"others": {
			Watched{Cluster: state.Cluster{Unmanaged: true, ControlPlane: at.ControlPlane}, Unknown: errors.New("no record")}, "cluster ns/c is at v1.33.5, after 1m0s",
		},
		"done": {Watched{Cluster: at}, "cluster ns/c is at v1.33.5 and matches its spec, after 1m0s"},
		"left": {
			Watched{Cluster: at, Left: plan.Plan{Steps: []plan.Step{{Kind: plan.ControlPlane, From: v1alpha1.MustParseVersion("v1.33.5"), To: v1alpha1.MustParseVersion("v1.34.4")}}}},
			"cluster ns/c is at v1.33.5 after 1m0s, and no run takes the next step (the control plane from v1.33.5 to v1.34.4): run 'clusterctl-x upgrade cluster' to continue",
		},
	} {
		if diff := cmp.Diff(test.want, test.seen.End(types.NamespacedName{Namespace: "ns", Name: "c"}, time.Minute)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestWaitingIsOver: what was waited for when the time was over.
func TestWaitingIsOver(t *testing.T) {
	t.Parallel()
	key := types.NamespacedName{Namespace: "ns", Name: "c"}
	held := state.Cluster{Name: "c", Namespace: "ns", Held: &state.Hold{Point: "before-upgrade", Reason: "lunch"}}
	for name, test := range map[string]struct{ got, want string }{
		"watched, never seen": {Watched{}.Late(key), " before the state of cluster ns/c was known"},
		"watched":             {Watched{Cluster: held}.Late(key), " watching; cluster ns/c waits for " + held.Waiting()},
		"asked for, unseen":   {WaitedFor(state.Cluster{}), " before its state was known"},
		"asked for":           {WaitedFor(held), " waiting for " + held.Waiting()},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
