package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestUpgradeAcrossFourMinors takes three control planes and three groups from
// 1.31 to 1.35 with one edit: one group follows, one is behind and pinned to
// 1.32, one is pinned to 1.34.
func TestUpgradeAcrossFourMinors(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "four-minors")
	spec := clusterSpec{name: "four", version: "1.31", controlPlanes: 3, groups: []groupSpec{{name: "follows"}, {name: "behind", version: "1.30"}, {name: "pinned", version: "1.31"}}}
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t))

	spec.version, spec.groups[1].version, spec.groups[2].version = "1.35", "1.32", "1.34"
	file, saved := spec.path(t), filepath.Join(t.TempDir(), "plan.json")
	p := planOf(t, namespace, file, "--out", saved)
	assertPlan(t, p,
		"ControlPlane v1.31.14->v1.32.13",
		"ControlPlane v1.32.13->v1.33.13",
		"Workers behind v1.30.14->v1.32.13",
		"ControlPlane v1.33.13->v1.34.4",
		"Workers follows v1.31.14->v1.34.4 pinned v1.31.14->v1.34.4",
		"ControlPlane v1.34.4->v1.35.4",
		"Workers follows v1.34.4->v1.35.4",
	)
	if data, err := os.ReadFile(saved); err != nil || !slices.Equal(decodePlan(t, string(data)).lines(), p.lines()) {
		t.Errorf("the saved plan is another one (%v): %s", err, data)
	}

	made := observe(t, shared, namespace, "four")
	r := cli(t, 0, "upgrade", "cluster", "-n", namespace, "-f", file, "--plan", saved, "-o", "json")
	assertMade(t, made(), p)
	assertEvents(t, r.stdout, "cluster four-minors/four is at v1.35.4 after ")
	cp := "control-plane v1.35.4"
	assertMachines(t, shared, namespace, "four", "behind v1.32.13", cp, cp, cp, "follows v1.35.4", "pinned v1.34.4")
	assertPlan(t, planOf(t, namespace, file))
	if got, want := cli(t, 0, "upgrade", "cluster", "-n", namespace, "-f", file).stdout, "cluster four-minors/four matches the file; nothing to do\n"; got != want {
		t.Errorf("upgrade again said %q, want %q", got, want)
	}
	assertNoUnusedTemplates(t, namespace)
}

// assertEvents reads what 'upgrade cluster -o json' wrote: one event per line,
// the first one the plan, the last one the result.
func assertEvents(t *testing.T, stdout, message string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	kinds := map[string]int{}
	for i, line := range lines {
		var event struct {
			Kind string
			Data struct{ Message string }
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatalf("line %d is no JSON: %v: %s", i+1, err, line)
		}
		kinds[event.Kind]++
		if last := i == len(lines)-1; last != (event.Kind == "Result") || last && !strings.HasPrefix(event.Data.Message, message) {
			t.Errorf("line %d of %d: %s", i+1, len(lines), line)
		}
	}
	if kinds["UpgradePlan"] != 1 || kinds["Result"] != 1 || kinds["ClusterEvent"] != len(lines)-2 {
		t.Errorf("kinds of events: %v", kinds)
	}
}

// assertNoUnusedTemplates compares the templates that are there with those that
// something refers to.
func assertNoUnusedTemplates(t *testing.T, namespace string) {
	t.Helper()
	used, there := map[string]bool{}, map[string]bool{}
	for _, o := range list[unstructured.Unstructured](t, shared, namespace, "machinedeployments,machinesets,kubeadmcontrolplanes") {
		for _, path := range [][]string{
			{"spec", "template", "spec", "bootstrap", "configRef"}, {"spec", "template", "spec", "infrastructureRef"}, {"spec", "machineTemplate", "spec", "infrastructureRef"},
		} {
			if ref, found, _ := unstructured.NestedStringMap(o.Object, path...); found {
				used[ref["kind"]+"/"+ref["name"]] = true
			}
		}
	}
	for _, o := range list[unstructured.Unstructured](t, shared, namespace, "kubeadmconfigtemplates,devmachinetemplates") {
		there[o.GetKind()+"/"+o.GetName()] = true
	}
	if diff := cmp.Diff(used, there); diff != "" {
		t.Errorf("templates (-referred to +there):\n%s", diff)
	}
}
