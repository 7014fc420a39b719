package view_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 40)
	all := []changes.Change{
		{Object: "MachineDeployment/demo-md-0", Path: "spec.template.spec.version", Action: changes.Changed, Old: changes.Text("v1.33.13"), New: changes.Text("v1.34.4")},
		{Object: "KubeadmControlPlane/demo", Path: "spec.replicas", Action: changes.Changed, Old: "1", New: "3"},
		{Object: "MachineDeployment/demo-md-0", Path: "metadata.labels.tier", Action: changes.Added, New: changes.Text("web")},
		{Object: "MachineDeployment/demo-md-0", Template: "DevMachineTemplate", Path: "spec.template.spec.note", Action: changes.Removed, Old: changes.Text(long + "end")},
		{Object: "Secret/demo-proxy", Path: "data.password", Action: changes.Changed, Sensitive: true},
		{Object: "MachineHealthCheck/demo-md-0", Action: changes.Added},
		{Object: "MachineDeployment/demo-md-1", Action: changes.Removed},
	}
	var got strings.Builder
	if err := (view.Style{}).Diff(&got, all); err != nil {
		t.Fatal(err)
	}
	want := `KubeadmControlPlane/demo
- spec.replicas: 1
+ spec.replicas: 3
MachineDeployment/demo-md-0
- spec.template.spec.version: v1.33.13
+ spec.template.spec.version: v1.34.4
+ metadata.labels.tier: web
- DevMachineTemplate spec.template.spec.note: ` + long + `end
MachineDeployment/demo-md-1
- (the whole object)
MachineHealthCheck/demo-md-0
+ (the whole object)
Secret/demo-proxy
- data.password: (sensitive value)
+ data.password: (sensitive value)
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
