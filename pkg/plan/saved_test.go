package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// savedPlan has changes of each sort.
func savedPlan() plan.Plan {
	of := func() plan.Changes {
		return plan.Changes{
			Fields: []changes.Change{
				{Object: "MachineDeployment/prod-a", Template: "DevMachineTemplate", Path: "spec.a", Action: changes.Changed, Old: "12345678901234567", New: `{"a":["<&>",null]}`, ReplacesMachines: true},
				{Object: "MachineHealthCheck/prod-a", Action: changes.Added},
			},
			Templates: &plan.TemplateChange{Old: []string{"a", "b"}, New: []string{"a", "c"}},
			Unknown:   &plan.Unknown{ClusterClass: "own", Reason: plan.NothingGenerated, Message: "no such variable"},
		}
	}
	return plan.Plan{
		APIVersion: v1alpha1.APIVersion, Kind: plan.DocumentKind, Metadata: plan.Metadata{Name: "prod", Namespace: "team", UID: "1"},
		From: v1alpha1.ClusterVersions{ControlPlane: version("1.31")}, To: v1alpha1.ClusterVersions{ControlPlane: version("1.31")},
		Steps: []plan.Step{{Kind: plan.InPlace, Changes: of(), Reason: "because"}, {Kind: plan.Template, WorkerNodeGroups: []plan.Group{{Name: "a", Changes: of()}}, Reason: "because"}},
	}
}

// TestSavedPlan: a plan that was saved is the one that would be made now, until a value of
// a change is another one.
func TestSavedPlan(t *testing.T) {
	t.Parallel()
	p := savedPlan()
	data, err := plan.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := plan.Decode("plan.json", data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := difference(p, saved); diff != "" {
		t.Errorf("the plan is not the same when it is read (-written +read):\n%s", diff)
	}
	if reasons := saved.Stale(p); reasons != nil {
		t.Errorf("the saved plan is stale: %s", reasons)
	}
	reworded := savedPlan()
	reworded.Steps[0].Reason = "in other words"
	if reasons := saved.Stale(reworded); reasons != nil {
		t.Errorf("a plan with the same steps for other reasons is stale: %s", reasons)
	}
	for name, change := range map[string]func(*changes.Change){
		"old": func(c *changes.Change) { c.Old = "1" }, "new": func(c *changes.Change) { c.New = "1" }, "path": func(c *changes.Change) { c.Path = "spec.b" },
	} {
		now := savedPlan()
		change(&now.Steps[1].WorkerNodeGroups[0].Fields[0])
		if diff := cmp.Diff([]string{"step 2 changes other fields, or starts from another state"}, saved.Stale(now)); diff != "" {
			t.Errorf("another %s (-want +got):\n%s", name, diff)
		}
	}
}

// TestPlanOfAnEarlierVersion: its changes are sentences, which say nothing of old values.
func TestPlanOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ step, want string }{
		"without changes": {`{kind: InPlace, reason: because, machinesAdded: 1}`, "<nil>"},
		"of the cluster": {
			`{kind: InPlace, reason: because, changes: [spec.a would become 2]}`,
			"plan.json is a plan of an earlier version of clusterctl-x, whose changes are sentences without old values; plan again: 'clusterctl-x plan upgrade --out' writes one",
		},
		"of a group": {
			`{kind: Template, reason: because, workerNodeGroups: [{name: a, changes: [spec.a would become 2]}]}`,
			"plan.json is a plan of an earlier version of clusterctl-x, whose changes are sentences without old values; plan again: 'clusterctl-x plan upgrade --out' writes one",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Join([]string{"apiVersion: " + v1alpha1.APIVersion, "kind: UpgradePlan", "metadata: {name: prod, uid: a}", "steps: [" + test.step + "]"}, "\n")
			_, err := plan.Decode("plan.json", []byte(text))
			if diff := cmp.Diff(test.want, fmt.Sprint(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}
