package management

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// TestRevertsAreNoticed: once the run has seen that something which it wrote is as it was
// before, it ends, and says who did that and what to do.
func TestRevertsAreNoticed(t *testing.T) {
	t.Parallel()
	const (
		version = movedHead + "\n  KubeadmControlPlane/c was changed by someone else: spec.version: v1.33.1 -> v1.32.1"
		flux    = `: Flux writes it, and puts it back at the next reconciliation, every spec.interval; ` +
			`change it in Git, with the files of 'clusterctl-x generate manifests --step', or stop it first by 'flux suspend kustomization NAME -n NAMESPACE'`
		owned = `{"f:spec":{"f:version":{}}}`
	)
	second := func(n int64) *metav1.Time { return &metav1.Time{Time: time.Unix(n, 0)} }
	for name, c := range map[string]struct {
		version  string
		managers []metav1.ManagedFieldsEntry
		want     string
	}{
		"only seen again":        {"v1.33.1", nil, ""},
		"by nobody who is known": {"v1.32.1", nil, version},
		"by a person":            {"v1.32.1", []metav1.ManagedFieldsEntry{{Manager: "kubectl-edit", FieldsV1: metav1.NewFieldsV1(owned)}}, version + "\n" + `  KubeadmControlPlane/c was changed by "kubectl-edit"`},
		"by Flux":                {"v1.32.1", []metav1.ManagedFieldsEntry{{Manager: "manager", Time: second(9), FieldsV1: metav1.NewFieldsV1(`{}`)}, {Manager: "kustomize-controller", FieldsV1: metav1.NewFieldsV1(owned)}}, version + "\n" + `  KubeadmControlPlane/c was changed by "kustomize-controller"` + flux},
		"by the last who wrote": {"v1.32.1", []metav1.ManagedFieldsEntry{
			{Manager: "kubectl-edit", Time: second(1)}, {Manager: "cluster-api-core", Time: second(3)}, {Manager: "argocd-controller", Time: second(2), Subresource: "status"}, {Manager: "portal", Time: second(2)}, {Manager: string(FieldOwner), Time: second(3)},
		}, version + "\n" + `  KubeadmControlPlane/c was changed by "portal"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, enginetest.Versions("v1.32.1"))
			x := w.run(enginetest.Plan(w.seen.Versions(), enginetest.Versions("v1.33.1"), everyWrite()["control plane"]...))
			w.begins(x)
			w.sees(x, 0, controlPlaneTo("v1.33.1")...)
			live := w.Objects["KubeadmControlPlane/c"]
			if err := unstructured.SetNestedField(live.Object, c.version, "spec", "version"); err != nil {
				t.Fatal(err)
			}
			live.SetGeneration(live.GetGeneration() + 1)
			live.SetManagedFields(c.managers)
			w.look()
			got := ""
			if _, err := x.advance(t.Context(), w.seen); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDisturbersAreNamed: what the engine finds changed is told with who changed it.
func TestDisturbersAreNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, enginetest.Versions("v1.32.1", "md-0", "v1.32.1"))
	x := w.run(enginetest.Plan(w.seen.Versions(), enginetest.Versions("v1.33.1", "md-0", "v1.33.1"),
		enginetest.Step(plan.ControlPlane, "v1.32.1", "v1.33.1"), enginetest.Step(plan.Workers, "v1.32.1", "v1.33.1", "md-0")))
	w.begins(x)
	live := w.Objects["MachineDeployment/c-md-0"]
	if err := unstructured.SetNestedField(live.Object, "v1.31.0", "spec", "template", "spec", "version"); err != nil {
		t.Fatal(err)
	}
	live.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl-patch", Time: &metav1.Time{Time: time.Unix(1, 0)}}})
	w.look()
	_, err := x.advance(t.Context(), w.seen)
	const want = movedHead + "\n  MachineDeployment/c-md-0 was changed by someone else: its version is v1.31.0, and the plan has v1.32.1" +
		"\n" + `  MachineDeployment/c-md-0 was changed by "kubectl-patch"`
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}
