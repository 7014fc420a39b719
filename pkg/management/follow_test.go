package management

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// managedStage is a cluster from a ClusterClass whose topology has a version,
// with an add-on that has a label.
func managedStage(version, label string) rollout.Objects {
	return rollout.Objects{Cluster: []*unstructured.Unstructured{
		made("cluster.x-k8s.io", "Cluster", "c", "", map[string]any{"topology": map[string]any{"version": version}}),
		made("addons.cluster.x-k8s.io", "ClusterResourceSet", "c-cni", label, map[string]any{"strategy": "Reconcile"}),
	}}
}

// twoLegs go from 1.31 to 1.33 with one group.
func twoLegs() plan.Plan {
	versions := func(controlPlane, group string) v1alpha1.ClusterVersions {
		return v1alpha1.ClusterVersions{ControlPlane: v1alpha1.MustParseVersion(controlPlane), WorkerNodeGroups: map[string]v1alpha1.Version{"a": v1alpha1.MustParseVersion(group)}}
	}
	step := func(kind plan.Kind, from, to string) plan.Step {
		old, fresh := v1alpha1.MustParseVersion(from), v1alpha1.MustParseVersion(to)
		if kind == plan.ControlPlane {
			return plan.Step{Kind: kind, From: old, To: fresh}
		}
		return plan.Step{Kind: kind, WorkerNodeGroups: []plan.Group{{Name: "a", From: old, To: fresh}}}
	}
	return plan.Plan{From: versions("v1.31.0", "v1.31.0"), To: versions("v1.33.0", "v1.33.0"), Steps: []plan.Step{
		{Kind: plan.InPlace, Beside: true, Changes: []string{"a label"}},
		step(plan.ControlPlane, "v1.31.0", "v1.32.0"), step(plan.Workers, "v1.31.0", "v1.32.0"),
		step(plan.ControlPlane, "v1.32.0", "v1.33.0"), step(plan.Workers, "v1.32.0", "v1.33.0"),
	}}
}

// managed is a cluster at versions, whose topology Cluster API has carried over
// unless told otherwise.
func managed(controlPlane, group string, generation int64, settled bool) state.Cluster {
	part := func(name, version string) state.Part {
		v := v1alpha1.MustParseVersion(version)
		return state.Part{Name: name, Version: v, Replicas: 1, Settled: true, Machines: []state.Machine{{Name: name, Ready: true, Version: v, Kubelet: v}}}
	}
	return state.Cluster{
		Name: "c", Namespace: "ns", Generation: generation, ControlPlane: part(v1alpha1.ControlPlaneName, controlPlane), WorkerNodeGroups: []state.Part{part("a", group)},
		Topology: &state.Topology{Settled: settled, Groups: []state.TopologyGroup{{Name: "a"}}},
	}
}

// TestFollow: a leg is begun with one write, the next one when the one before is
// done, and what Cluster API does otherwise is told once.
func TestFollow(t *testing.T) {
	t.Parallel()
	w := &world{t: t, objects: map[string]*unstructured.Unstructured{}}
	var said []string
	f := newFollower(w.client(), clusterKey(), Upgrade{
		Plan: twoLegs(), Managed: true, Warn: func(text string) { said = append(said, text) }, Show: func(now rollout.Status) {
			said = append(said, fmt.Sprintf("step %d, through %d", now.Step, now.Through))
		},
		Stages: []rollout.Objects{managedStage("v1.31.0", ""), managedStage("v1.31.0", "new"), managedStage("v1.32.0", "new"), managedStage("v1.32.0", "new"), managedStage("v1.33.0", "new"), managedStage("v1.33.0", "new")},
	})
	steps := []struct {
		name    string
		seen    state.Cluster
		said    []string
		writes  []string
		arrived bool
	}{
		{"the cache is behind", managed("v1.31.0", "v1.31.0", 0, true), []string{"step 0, through 3"}, nil, false},
		{"nothing happened yet", managed("v1.31.0", "v1.31.0", 1, false), []string{"step 1, through 3"}, nil, false},
		{"the control plane", managed("v1.32.0", "v1.31.0", 1, false), []string{"step 2, through 3"}, nil, false},
		{"another version", managed("v1.32.5", "v1.31.0", 1, false), []string{"Cluster API does otherwise than planned: control-plane is at v1.32.5, and the plan has v1.32.0, then v1.33.0", "step 2, through 3"}, nil, false},
		{"the same again", managed("v1.32.5", "v1.31.0", 1, false), []string{"step 2, through 3"}, nil, false},
		{"as planned again", managed("v1.32.0", "v1.32.0", 1, false), []string{"step 3, through 3"}, nil, false},
		{"the next leg begins", managed("v1.32.0", "v1.32.0", 1, true), []string{"step 3, through 5"}, []string{"apply Cluster/c"}, false},
		{"the cache is behind once more", managed("v1.32.0", "v1.32.0", 1, true), []string{"step 3, through 5"}, nil, false},
		{"all at once", managed("v1.33.0", "v1.33.0", 2, false), []string{"step 5, through 5"}, nil, false},
		{"done", managed("v1.33.0", "v1.33.0", 2, true), []string{"step 5, through 5"}, nil, true},
	}
	if err := f.begin(t.Context(), managed("v1.31.0", "v1.31.0", 0, true)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"apply ClusterResourceSet/c-cni label=new", "apply Cluster/c"}, w.writes); diff != "" {
		t.Errorf("writes at the beginning (-want +got):\n%s", diff)
	}
	for _, step := range steps {
		said, w.writes = nil, nil
		arrived, err := f.advance(t.Context(), step.seen)
		if err != nil || arrived != step.arrived {
			t.Errorf("%s: %t, %v", step.name, arrived, err)
		}
		if diff := cmp.Diff(step.said, said); diff != "" {
			t.Errorf("%s: said (-want +got):\n%s", step.name, diff)
		}
		if diff := cmp.Diff(step.writes, w.writes); diff != "" {
			t.Errorf("%s: writes (-want +got):\n%s", step.name, diff)
		}
	}
}

// TestFollowStops: what somebody does to the cluster ends the upgrade.
func TestFollowStops(t *testing.T) {
	t.Parallel()
	w := &world{t: t, objects: map[string]*unstructured.Unstructured{}}
	f := newFollower(w.client(), clusterKey(), Upgrade{Plan: twoLegs(), Managed: true, Show: func(rollout.Status) {}, Warn: func(string) {}})
	deleting := managed("v1.31.0", "v1.31.0", 1, true)
	deleting.Deleting = true
	for name, cluster := range map[string]state.Cluster{"deleted": {}, "being deleted": deleting} {
		_, err := f.advance(t.Context(), cluster)
		if err == nil || err.Error() != gone(clusterKey()).Error() {
			t.Errorf("%s: %v", name, err)
		}
	}
	putBack := managed("v1.31.0", "v1.31.0", 1, true)
	putBack.WorkerNodeGroups[0].Detached = true
	_, err := f.advance(t.Context(), putBack)
	if moved := (*rollout.StalePlanError)(nil); !errors.As(err, &moved) || !slices.Equal(moved.Reasons, []string{putBack.PutBack()}) {
		t.Errorf("put back into the topology: %v", err)
	}
}

// TestFollowWhileAnUpgradeEnds: a version that Cluster API does not take yet is
// written again when the upgrade before has ended, and no other refusal is waited
// out.
func TestFollowWhileAnUpgradeEnds(t *testing.T) {
	t.Parallel()
	const stages = "apply ClusterResourceSet/c-cni"
	const asked = "apply Cluster/c"
	for name, test := range map[string]struct {
		pending string // hooks, when the version was refused
		refused int    // how often it is
		field   string // that the refusal is about
		want    string
		writes  []string
	}{
		"not ended":       {"AfterControlPlaneUpgrade,AfterClusterUpgrade", 1, "", "", []string{stages, asked, asked}},
		"ended meanwhile": {"", 1, "", "", []string{stages, asked, asked}},
		"about to end":    {"", 3, "spec.topology.version", "", []string{stages, asked, asked, asked, asked}},
		"another reason":  {"AfterControlPlaneUpgrade", 9, "spec.topology.class", "applying Cluster/c: Cluster.cluster.x-k8s.io \"c\" is invalid", []string{stages, asked, asked}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live := managedStage("v1.31.0", "").Cluster[0]
			live.SetAnnotations(map[string]string{runtimev1.PendingHooksAnnotation: test.pending})
			w := &world{t: t, objects: map[string]*unstructured.Unstructured{"Cluster/c": live}}
			w.apply = func(object *unstructured.Unstructured) error {
				if object.GetKind() != "Cluster" || test.refused == 0 {
					return nil
				}
				test.refused--
				err := apierrors.NewInvalid(clusterv1.GroupVersion.WithKind("Cluster").GroupKind(), "c", nil)
				err.ErrStatus.Details.Causes = []metav1.StatusCause{{Field: test.field}}
				return err
			}
			f := newFollower(w.client(), clusterKey(), Upgrade{
				Plan: twoLegs(), Managed: true, Warn: func(string) {}, Show: func(rollout.Status) {},
				Stages: []rollout.Objects{managedStage("v1.31.0", ""), managedStage("v1.31.0", ""), managedStage("v1.32.0", ""), managedStage("v1.32.0", ""), managedStage("v1.33.0", ""), managedStage("v1.33.0", "")},
			})
			f.last = map[string]string{}
			got := ""
			err := f.begin(t.Context(), managed("v1.31.0", "v1.31.0", 0, true))
			if through := f.through; err == nil && (through == 0) != (len(test.pending) > 0) {
				t.Errorf("after the first write it is through to %d", through)
			}
			if err == nil {
				_, err = f.advance(t.Context(), managed("v1.31.0", "v1.31.0", 0, true))
			}
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.writes, w.writes); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
			if test.want == "" && f.through != 3 {
				t.Errorf("in the end it is through to %d, want 3", f.through)
			}
		})
	}
}
