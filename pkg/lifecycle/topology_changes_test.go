package lifecycle

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestPauseThatWasLeft: a pause that a run left behind ends with the next upgrade, which
// is a change of the Cluster.
func TestPauseThatWasLeft(t *testing.T) {
	t.Parallel()
	bundles := fewBundles(t)
	s := managedSpec(t, inMemoryClass(t, bundles), bundles, "", "{name: md-0}")
	f := fakeTopologyOf(t, s)
	f.topology.cluster.Annotations = map[string]string{v1alpha1.PauseAnnotation: `{"why":"detach md-1"}`}
	f.topology.cluster.Spec.Paused = new(true)
	f.state.Pause = &state.Pause{Why: "detach md-1"}
	p, err := f.plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	removed := func(path string, old changes.Value) changes.Change {
		return changes.Change{Object: "Cluster/prod", Path: path, Action: changes.Removed, Old: old}
	}
	want := []plan.Step{{Kind: plan.InPlace, Concurrent: true, Reason: "replaces no machine", Changes: plan.Changes{Fields: []changes.Change{
		removed("metadata.annotations."+v1alpha1.PauseAnnotation, `"{\"why\":\"detach md-1\"}"`), removed("spec.paused", "true"),
	}}}}
	if diff := cmp.Diff(want, p.Plan.Steps, cmpopts.EquateComparable(v1alpha1.Version{})); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

// TestClassOfRuntimeExtensions: which machines a change of the topology replaces is not
// known where runtime extensions patch the class, and the plan says why.
func TestClassOfRuntimeExtensions(t *testing.T) {
	t.Parallel()
	bundles := fewBundles(t)
	class := inMemoryClass(t, bundles)
	external := topology.Class{ClusterClass: class.DeepCopy(), Templates: class.Templates}
	external.Spec.Patches = append(external.Spec.Patches, clusterv1.ClusterClassPatch{
		Name: "external", External: &clusterv1.ExternalPatchDefinition{GeneratePatchesExtension: "generate.example"},
	})
	was := managedSpec(t, class, bundles, "", "{name: md-0}")
	f := fakeTopologyOf(t, was)
	f.topology.class = external
	unknown := plan.Unknown{ClusterClass: "inmemory", Reason: plan.ExternalPatches}
	for name, test := range map[string]struct {
		groups string
		want   *plan.Unknown
	}{"the same file": {"{name: md-0}", nil}, "other labels": {"{name: md-0, labels: {example.org/a: b}}", &unknown}} {
		p, err := f.plan(t.Context(), managedSpec(t, external, bundles, "", test.groups))
		if err != nil {
			t.Fatal(err)
		}
		var got *plan.Unknown
		for _, step := range p.Plan.Steps {
			if len(step.WorkerNodeGroups) == 0 {
				got = step.Unknown
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: unknown (-want +got):\n%s", name, diff)
		}
	}
	got, made, err := classChanges(t.Context(), class, external, f.state, f.topology.cluster, f.topology.cluster)
	if err != nil || made != nil {
		t.Fatalf("made %v: %v", made, err)
	}
	of := plan.Changes{Unknown: &unknown}
	if diff := cmp.Diff(map[string]plan.Changes{v1alpha1.ControlPlaneName: of, "md-0": of}, got); diff != "" {
		t.Errorf("changes of the class (-want +got):\n%s", diff)
	}
}
