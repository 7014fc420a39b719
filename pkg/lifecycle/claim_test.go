package lifecycle

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestPlanOfClaimedGroup: a MachineDeployment of others that has the name of a group
// is planned as that group: its machines are replaced, for fields that have a name,
// and it is in the way of an upgrade like any other group.
func TestPlanOfClaimedGroup(t *testing.T) {
	t.Parallel()
	bundles := fewBundles(t)
	specOf := func(version string) Spec {
		text := stagesSpec(version, "{name: md-0}")
		return Spec{data: []byte(text), Config: providers.BuiltIn().Decode("prod.yaml", []byte(text)), providers: providers.BuiltIn(), bundles: bundles}
	}
	const label = "md-0: MachineDeployment/prod-md-0 metadata.labels.clusterctl-x.io/worker-node-group: md-0 (added)"
	const commands = `md-0: MachineDeployment/prod-md-0 KubeadmConfigTemplate spec.template.spec.preKubeadmCommands: ["echo hello"] (removed), replaces machines`
	const note = "MachineDeployment/prod-md-0 has the name of group md-0, and no label of clusterctl-x: the upgrade takes it over as that group, and a later file without the group removes it"
	for name, test := range map[string]struct {
		version string
		live    func(*testing.T, Spec) []*unstructured.Unstructured
		want    []string
	}{
		"only the label is missing": {"1.31", liveWithoutLabel, []string{"InPlace: changes of md-0 in place", label, note}},
		"a bootstrap template of its own": {"1.31", withOwnTemplate, []string{
			"InPlace: changes of md-0 in place", label,
			"Template: new machines for md-0 at v1.31.9", commands, note,
		}},
		"an upgrade": {"1.32", withOwnTemplate, []string{
			"InPlace: changes of md-0 in place", label,
			"ControlPlane: the control plane from v1.31.9 to v1.32.7",
			"Workers: md-0 from v1.31.9 to v1.32.7", commands, note,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live := test.live(t, specOf("1.31"))
			version := v1alpha1.MustParseVersion("v1.31.9")
			group := managedPart("md-0", "MachineDeployment/prod-md-0", version, nil)
			group.Unmanaged = true
			three := int32(3)
			s := specOf(test.version)
			cluster := state.Cluster{
				Name: "prod", Namespace: "default", ControlPlane: managedPart(v1alpha1.ControlPlaneName, "KubeadmControlPlane/prod", version, &three), WorkerNodeGroups: []state.Part{group},
			}.Claim(s.claims())
			from := currentOf(cluster)
			p, err := prepare(t.Context(), s, from, comparedWith(live), UpgradeOptions{}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, linesOf(p.Plan)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			if added := (plan.Machines{}); p.Plan.MachinesAdded != added {
				t.Errorf("%v machines are added", p.Plan.MachinesAdded)
			}
		})
	}
}

// liveWithoutLabel are the objects of a spec as another tool may have made them: the
// MachineDeployment is not marked as a group.
func liveWithoutLabel(t *testing.T, s Spec) []*unstructured.Unstructured {
	t.Helper()
	live := renderedObjects(t, s)
	for _, object := range live {
		if object.GetKind() == "MachineDeployment" {
			labels := object.GetLabels()
			delete(labels, v1alpha1.WorkerNodeGroupLabel)
			object.SetLabels(labels)
		}
	}
	return live
}

// withOwnTemplate is liveWithoutLabel with a bootstrap template of the other tool.
func withOwnTemplate(t *testing.T, s Spec) []*unstructured.Unstructured {
	t.Helper()
	live := liveWithoutLabel(t, s)
	for _, object := range live {
		switch object.GetKind() {
		case "MachineDeployment":
			if err := unstructured.SetNestedField(object.Object, "own", append(changes.References("MachineDeployment")[0], "name")...); err != nil {
				t.Fatal(err)
			}
		case "KubeadmConfigTemplate":
			object.SetName("own")
			if err := unstructured.SetNestedStringSlice(object.Object, []string{"echo hello"}, "spec", "template", "spec", "preKubeadmCommands"); err != nil {
				t.Fatal(err)
			}
		}
	}
	return live
}
