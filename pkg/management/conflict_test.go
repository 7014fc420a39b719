package management

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/owners"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// ownedBy is a management cluster where Flux owns the version of groups, and a person that of
// the control plane and, with Flux, the number of machines. Applied gets what was applied.
func ownedBy(t *testing.T, applied func(string)) *Client {
	t.Helper()
	fields := map[string]map[string]string{
		"KubeadmControlPlane": {"kubectl-edit": `{"f:spec":{"f:version":{}}}`},
		"MachineDeployment": {
			"kustomize-controller": `{"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:version":{}}}}}`,
			"kubectl-edit":         `{"f:spec":{"f:replicas":{}}}`,
			"capi-topology":        `{"f:spec":{"f:clusterName":{}}}`,
		},
	}
	conflicts := map[string][]string{"KubeadmControlPlane": {".spec.version"}, "MachineDeployment": {".spec.replicas", ".spec.template.spec.version"}}
	return clientOf(interceptor.Funcs{
		Apply: func(_ context.Context, _ client.WithWatch, o runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			object, all := unstructuredOf(t, o), client.ApplyOptions{}
			all.ApplyOptions(options)
			force := all.Force != nil && *all.Force
			applied(fmt.Sprintf("%s force=%t", object.GetKind(), force))
			var causes []metav1.StatusCause
			for _, field := range conflicts[object.GetKind()] {
				causes = append(causes, metav1.StatusCause{Type: metav1.CauseTypeFieldManagerConflict, Field: field, Message: "owned"})
			}
			if force || len(causes) == 0 {
				return nil
			}
			return apierrors.NewApplyConflict(causes, "conflicts")
		},
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
			kind := into.GetObjectKind().GroupVersionKind().Kind
			if kind == "" {
				kind = "MachineDeployment"
			}
			into.SetName(key.Name)
			into.SetLabels(map[string]string{"kustomize.toolkit.fluxcd.io/name": "clusters", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"})
			var entries []metav1.ManagedFieldsEntry
			for manager, owned := range fields[kind] {
				entries = append(entries, metav1.ManagedFieldsEntry{Manager: manager, FieldsV1: metav1.NewFieldsV1(owned)})
			}
			into.SetManagedFields(entries)
			return nil
		},
	})
}

// TestTakesOverAsAsked: fields are taken over from those who were named, or from people where
// a person asks for the fields, and nothing is forced as long as one field is not.
func TestTakesOverAsAsked(t *testing.T) {
	t.Parallel()
	const replicas, version = "MachineDeployment/c-md-0 spec.replicas", ", MachineDeployment/c-md-0 spec.template.spec.version"
	const flux = ", and puts it back at the next reconciliation, every spec.interval; change it in Git, with the files of 'clusterctl-x generate manifests --step', or take it over with " +
		"--force-conflicts=kubectl-edit,kustomize-controller once it is stopped by 'flux suspend kustomization clusters -n flux-system'"
	gitOps := func(fields string) plan.Finding {
		return plan.Finding{Check: FindingGitOps, Reason: "Flux Kustomization flux-system/clusters writes " + fields + flux}
	}
	edited := plan.Finding{Check: FindingConflict, Reason: "KubeadmControlPlane/c spec.version: owned"}
	const (
		takesPerson = "takes over KubeadmControlPlane/c spec.version from kubectl-edit; change the files that it applies too"
		takesFlux   = "takes over MachineDeployment/c-md-0 spec.replicas, MachineDeployment/c-md-0 spec.template.spec.version from kubectl-edit, kustomize-controller; change the files that it applies too"
	)
	for name, c := range map[string]struct {
		takeover owners.Takeover
		findings []plan.Finding
		taken    []string
		forced   []string
	}{
		"nothing":                {owners.Takeover{}, []plan.Finding{gitOps(replicas + version), edited}, nil, nil},
		"another":                {owners.Takeover{Managers: []string{"helm"}}, []plan.Finding{gitOps(replicas + version), edited}, nil, nil},
		"a person":               {owners.Takeover{Managers: []string{"kubectl-edit"}}, []plan.Finding{gitOps(replicas + version)}, nil, []string{"KubeadmControlPlane force=true"}},
		"people":                 {owners.Takeover{People: true}, []plan.Finding{gitOps(replicas + version)}, nil, []string{"KubeadmControlPlane force=true"}},
		"Flux, not the person":   {owners.Takeover{Managers: []string{"kustomize-controller"}}, []plan.Finding{gitOps(replicas), edited}, nil, nil},
		"Flux and people":        {owners.Takeover{Managers: []string{"kustomize-controller"}, People: true}, nil, []string{takesFlux, takesPerson}, []string{"KubeadmControlPlane force=true", "MachineDeployment force=true"}},
		"both":                   {owners.Takeover{Managers: []string{"kustomize-controller", "kubectl-edit"}}, nil, []string{takesFlux, takesPerson}, []string{"KubeadmControlPlane force=true", "MachineDeployment force=true"}},
		"all, without a look at": {owners.Takeover{All: true}, nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var guard sync.Mutex
			var forced []string
			client := ownedBy(t, func(what string) {
				guard.Lock()
				defer guard.Unlock()
				if !c.takeover.All && (what == "KubeadmControlPlane force=true" || what == "MachineDeployment force=true") {
					forced = append(forced, what)
				}
			})
			stage := desiredAt(enginetest.Versions("v1.33.1", "md-0", "v1.32.1"))
			taken, err := client.DryRun(t.Context(), Writes{First: stage.All(), Takeover: c.takeover})
			var findings []plan.Finding
			if conflict := (*ConflictError)(nil); errors.As(err, &conflict) {
				findings, taken = conflict.Findings(), nil
			} else if err != nil {
				t.Fatal(err)
			}
			slices.Sort(forced)
			if diff := cmp.Diff(c.findings, findings); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.taken, Taken(taken)); diff != "" {
				t.Errorf("taken over (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.forced, forced); diff != "" {
				t.Errorf("forced (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRemovedAndMadeAgain: a group that a tool would make again is not removed unasked. The
// topology controller is not such a tool.
func TestRemovedAndMadeAgain(t *testing.T) {
	t.Parallel()
	for managers, want := range map[string][]FieldConflict{
		"helm":                 {{Object: "MachineDeployment/c-md-0", Reason: "is to be removed, and Flux Kustomization flux-system/clusters makes it again", Managers: []string{"kustomize-controller"}}},
		"kustomize-controller": nil,
	} {
		t.Run(managers, func(t *testing.T) {
			t.Parallel()
			_, err := ownedBy(t, func(string) {}).DryRun(t.Context(), Writes{Removed: []string{"MachineDeployment/c-md-0"}, Namespace: "ns", Takeover: owners.Takeover{Managers: []string{managers}}})
			var got []FieldConflict
			if conflict := (*ConflictError)(nil); errors.As(err, &conflict) {
				got = conflict.Fields
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(FieldConflict{}, "Owner")); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRunTakesOverAsAsked: a run forces a write only if all conflicts of the object were
// asked for.
func TestRunTakesOverAsAsked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		takeover owners.Takeover
		want     []string
		refused  bool
	}{
		"unasked": {owners.Takeover{}, []string{"KubeadmControlPlane force=false"}, true},
		"people":  {owners.Takeover{People: true}, []string{"KubeadmControlPlane force=false", "KubeadmControlPlane force=true"}, false},
		"all":     {owners.Takeover{All: true}, []string{"KubeadmControlPlane force=true"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			x := &execution{wrote: map[string]written{}, c: ownedBy(t, func(what string) { got = append(got, what) }), Upgrade: Upgrade{Takeover: c.takeover}}
			var err error
			for _, object := range desiredAt(enginetest.Versions("v1.33.1")).All() {
				if object.GetKind() == "KubeadmControlPlane" {
					_, err = x.apply(t.Context(), object)
				}
			}
			if is := errors.As(err, new(*ConflictError)); is != c.refused || err != nil && !is {
				t.Errorf("error is %v", err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("applied (-want +got):\n%s", diff)
			}
		})
	}
}
