package plan_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

var update = flag.Bool("update", false, "write the plans in testdata anew")

// goldens are the inputs of the plans in testdata.
func goldens() map[string]plan.Input {
	several := bundles("1.31.4", "1.31.9", "1.32.5", "1.32.6", "1.33.1", "1.33.2", "1.34.3", "1.34.10", "1.35.0")
	named := func(in *plan.Input) {
		in.Metadata = plan.Metadata{
			Name: "prod", Namespace: "default", UID: "8d2e7a52", Spec: "sha256:4f1c",
			Generations: map[string]int64{"Cluster/prod": 3, "KubeadmControlPlane/prod": 7, "MachineDeployment/prod-a": 2},
		}
	}
	return map[string]plan.Input{
		"nothing": with(input("1.31", "1.31", "a 1.31 1.31"), named),
		"design":  with(input("1.31.4", "1.33.2", "md-0 1.31.4 1.33.2", "md-1 1.30.9 1.30.9"), several, named),
		"mixed":   with(input("1.31.4", "1.35", "a 1.31.4 1.35", "b 1.28.15 1.33.1", "c 1.30.9 1.35", "d 1.32.5 1.34.3"), several, autoscaled("c", 7, 2), counts("a", 0)),
		"members": with(input("1.31.4", "1.34.3", "a 1.31.4 1.34.3", "old 1.30.9 -", "older 1.31.4 -", "new - 1.34.3", "pinned - 1.32.6", "large - 1.34.3"), several, autoscaled("large", 0, 2)),
		"half-done": with(input("1.33.2", "1.35", "a 1.32.6 1.35", "b 1.33.2 1.35", "c 1.32.6 1.33.1"), several,
			underWay("", "1.32.6", 2, 1), underWay("a", "1.31.4", 1, 2), underWay("b", "1.33.2", 2, 1), autoscaled("a", 7, 2)),
		"changes": with(input("1.31.4", "1.32.6", "a 1.31.4 1.32.6", "b 1.31.4 1.31.4", "c 1.31.4 1.31.4"), several, counts("", 5), counts("b", 1), counts("c", 4),
			changed("", "", "spec.clusterNetwork.dns"), changed(controlPlaneName, "spec.controlPlaneConfiguration.labels", "spec.controlPlaneConfiguration.upgradeRolloutStrategy"),
			changed("a", "spec.workerNodeGroupConfigurations[0].taints", "spec.workerNodeGroupConfigurations[0].labels"), changed("b", "spec.workerNodeGroupConfigurations[1].taints", "")),
		"templates": with(input("1.31.4", "1.31.4", "a 1.31.4 1.31.4", "b 1.31.4 1.31.4"), several, underWay("a", "1.31.4", 1, 2),
			changed(controlPlaneName, "spec.controlPlaneConfiguration.labels", ""), changed("a", "spec.workerNodeGroupConfigurations[0].taints", ""), changed("b", "spec.workerNodeGroupConfigurations[1].taints", "")),
		"back":               with(input("1.34.3", "1.35", "a 1.34.3 1.33.1", "b 1.29.2 1.35"), several, underWay("a", "1.33.1", 3, 0)),
		"control-plane-only": with(input("1.31.4", "1.33.2", "a 1.31.4 1.33.2", "b - 1.33.2", "c 1.30.9 -"), several, named, controlPlaneOnly, foreign("Machine/other", "1.30.0")),
		"groups-only":        with(input("1.33.1", "1.33.1", "a 1.31.4 1.33.1", "b 1.31.4 1.33.1", "c 1.31.4 1.32.5"), several, named, groupsOnly("c", "a"), maxLag(2)),
	}
}

// TestGolden compares whole plans, as they are written down, with
// testdata/*.json.
func TestGolden(t *testing.T) {
	t.Parallel()
	for name, in := range goldens() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := plan.Compute(in)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.MarshalIndent(p, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			file := filepath.Join("testdata", name+".json")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("'go test ./pkg/plan -update' writes %s anew (-want +got):\n%s", file, diff)
			}
			var read plan.Plan
			if err := json.Unmarshal(want, &read); err != nil {
				t.Fatal(err)
			}
			if diff := difference(p, read); diff != "" {
				t.Errorf("the plan is not the same when it is read again (-written +read):\n%s", diff)
			}
		})
	}
}

// TestGoldenFiles: each file is of a test.
func TestGoldenFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for name := range goldens() {
		want = append(want, filepath.Join("testdata", name+".json"))
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
