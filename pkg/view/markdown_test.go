package view_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

func TestMarkdown(t *testing.T) {
	t.Parallel()
	machines := plan.Changes{Fields: []changes.Change{
		{Object: "MachineDeployment/prod-md-0", Template: "DevMachineTemplate", Path: "spec.a|b", Action: changes.Changed, Old: changes.Text("1 | `2`"), New: changes.Text("<b>_x_</b>"), ReplacesMachines: true},
		{Object: "Secret/prod-proxy", Path: "data.password", Action: changes.Changed, Sensitive: true},
		{Object: "MachineHealthCheck/prod-md-0", Action: changes.Added},
		{Object: "MachineHealthCheck/prod-md-9", Action: changes.Removed},
	}}
	full := aPlan(
		plan.Step{Kind: plan.ControlPlane, From: at("v1.33.1"), To: at("v1.34.2"), MachinesReplaced: 3, Reason: "the version that is asked for"},
		groupStep(plan.Template, plan.Group{Name: "md-0", From: at("v1.33.1"), To: at("v1.33.1"), MachinesReplaced: 2, Changes: machines}),
		groupStep(plan.RemoveWorkers, plan.Group{Name: "md-1", From: at("v1.33.1"), MachinesRemoved: 1}, plan.Group{Name: "md-2", From: at("v1.33.1"), MachinesRemoved: 4}),
	)
	full.Notes = []string{"a *note*"}
	full.Findings = []plan.Finding{{Check: "health", Reason: "machine prod-1 is not ready; wait until it is"}}
	for name, test := range map[string]struct {
		plan plan.Plan
		want string
	}{
		"nothing to do": {aPlan(), "### Cluster team/prod: nothing to do\n\nThe cluster matches the file.\n"},
		"everything": {full, `### Plan for cluster team/prod: 3 steps

In all: 3 control plane machines and 2 worker machines replaced; 5 worker machines removed.

> [!CAUTION]
> Worker node groups removed with all their machines: md-1 (1 machine), md-2 (4 machines).

> [!WARNING]
> In the current state of the cluster the upgrade would be refused:
> - health: machine prod-1 is not ready; wait until it is

| step | part | what | machines | why |
|---|---|---|---|---|
| 1 | control plane | v1.33.1 -&gt; v1.34.2 | 3 machines replaced | the version that is asked for |
| 2 | md-0 | stays at v1.33.1 | 2 machines replaced | because |
| 3 | md-1 | removed | 1 machine removed | because |
|  | md-2 | removed | 4 machines removed |  |

<details><summary>Fields</summary>

| step | object | field | old | new |
|---|---|---|---|---|
| 2 | <code>MachineDeployment/prod-md-0</code> | <code>DevMachineTemplate spec.a&#124;b</code> | <code>1 &#124; &#96;2&#96;</code> | <code>&lt;b&gt;&#95;x&#95;&lt;/b&gt;</code> |
| 2 | <code>Secret/prod-proxy</code> | <code>data.password</code> | (sensitive value) | (sensitive value) |
| 2 | <code>MachineHealthCheck/prod-md-0</code> |  |  | (created) |
| 2 | <code>MachineHealthCheck/prod-md-9</code> |  |  | (deleted) |

</details>

Notes:

- a &#42;note&#42;
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got strings.Builder
			if err := view.Markdown(&got, test.plan); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
