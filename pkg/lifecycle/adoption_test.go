package lifecycle

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

func TestAdoption(t *testing.T) {
	t.Parallel()
	added := func(object, path string, value changes.Value) changes.Change {
		return changes.Change{Object: object, Path: path, Action: changes.Added, New: value}
	}
	own := added("Cluster/prod", "spec.paused", "true")
	rolled := changes.Change{Object: "MachineDeployment/prod-a", Path: "spec.template.spec.failureDomain", Action: changes.Added, New: `"a"`, ReplacesMachines: true}
	label := added("Cluster/prod", "metadata.labels.clusterctl-x.io/cluster", `"prod"`)
	for name, test := range map[string]struct {
		found, want []changes.Change
		note        []string
	}{
		"nothing of others": {[]changes.Change{own}, []changes.Change{own}, nil},
		"one with labels": {
			[]changes.Change{added("Cluster/prod", "metadata.labels.cluster.x-k8s.io/cluster-name", `"prod"`), label, own}, []changes.Change{label, own},
			[]string{"adopts 1 object, no machine replaced: labels of clusterctl-x, and shared ownership of the fields that the file has"},
		},
		"without labels, and a group whose machines are replaced": {
			[]changes.Change{
				added("Cluster/prod", "metadata.labels", `{"clusterctl-x.io/cluster":"prod"}`),
				added("MachineDeployment/prod-a", "metadata.labels.clusterctl-x.io/cluster", `"prod"`),
				added("MachineDeployment/prod-a", "metadata.labels.clusterctl-x.io/worker-node-group", `"a"`),
				added("MachineDeployment/prod-a", "spec.template.metadata.labels.clusterctl-x.io/worker-node-group", `"a"`), rolled,
			},
			[]changes.Change{label, added("MachineDeployment/prod-a", "metadata.labels.clusterctl-x.io/cluster", `"prod"`), rolled},
			[]string{"adopts 2 objects: labels of clusterctl-x, and shared ownership of the fields that the file has"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rest, objects := adopted(test.found, "prod")
			d := differences{byPart: partChanges{"": plan.Changes{Fields: rest}}, adopted: objects}
			if diff := cmp.Diff(test.want, rest); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.note, d.adoption()); diff != "" {
				t.Errorf("note (-want +got):\n%s", diff)
			}
		})
	}
}
