package lifecycle

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// TestPatchesOnTheWay: what the patches of a class cannot do at a version that a part gets
// on the way refuses the upgrade. At other versions it does not matter.
func TestPatchesOnTheWay(t *testing.T) {
	t.Parallel()
	bundles := fewBundles(t)
	finding := func(part, version, patch string) plan.Finding {
		return plan.Finding{Check: "class-patches", Reason: "ClusterClass inmemory can make nothing of " + part + " at " + version + ": its patch " + patch + " fails: no image"}
	}
	const controlPlane, workers = "controlPlane", "machineDeployment"
	for name, test := range map[string]struct {
		part, version string // at which the patch fails
		want          []plan.Finding
	}{
		"no version of the plan":                   {controlPlane, "v1.34.1", nil},
		"the control plane on its way":             {controlPlane, "v1.34.2", []plan.Finding{finding("the control plane", "v1.34.2", "image")}},
		"the control plane at its end":             {controlPlane, "v1.35.0", []plan.Finding{finding("the control plane", "v1.35.0", "image")}},
		"a group at its end":                       {workers, "v1.35.0", []plan.Finding{finding("group md-0", "v1.35.0", "image"), finding("group md-1", "v1.35.0", "image")}},
		"a group at a version that it passes over": {workers, "v1.34.2", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			class := inMemoryClass(t, bundles)
			selector := clusterv1.PatchSelector{APIVersion: "infrastructure.cluster.x-k8s.io/v1beta2", Kind: "DevMachineTemplate", MatchResources: clusterv1.PatchSelectorMatch{ControlPlane: new(true)}}
			if test.part == workers {
				selector.MatchResources = clusterv1.PatchSelectorMatch{MachineDeploymentClass: &clusterv1.PatchSelectorMatchMachineDeploymentClass{Names: []string{v1alpha1.DefaultWorkerClass}}}
			}
			class.Spec.Patches = append(class.Spec.Patches, clusterv1.ClusterClassPatch{Name: "image", Definitions: []clusterv1.PatchDefinition{{Selector: selector, JSONPatches: []clusterv1.JSONPatch{{
				Op: "add", Path: "/spec/template/spec/backend/inMemory/vm/provisioning/startupDuration",
				ValueFrom: &clusterv1.JSONPatchValue{Template: `{{ if eq .builtin.` + test.part + `.version "` + test.version + `" }}{{ fail "no image" }}{{ end }}"0s"`},
			}}}}})
			const groups = "{name: md-0}, {name: md-1}"
			before := managedSpec(t, class, bundles, "", groups)
			after := managedSpec(t, class, bundles, "", groups)
			after.Config.Cluster.Spec.KubernetesVersion = kubernetesVersion(t, "1.35")
			u, err := fakeTopologyOf(t, before).plan(t.Context(), after)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, u.execution.missing(u.Plan)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}
