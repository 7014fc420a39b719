package manifests

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// TestVersionOfATopologyIsOneField moves every golden spec with a ClusterClass to
// every version of the bundles: nothing else that is rendered depends on it.
func TestVersionOfATopologyIsOneField(t *testing.T) {
	t.Parallel()
	managed := 0
	for _, c := range goldenCases(t) {
		input := c.input(t)
		if input.Config.Cluster.Spec.ClusterClass == nil {
			continue
		}
		managed++
		bundles, err := versionsbundle.Parse(c.bundles, readFile(t, c.bundles))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			field := func(version v1alpha1.Version) []byte { return fmt.Appendf(nil, "    version: %q\n", version) }
			before := text(mustRender(t, input))
			for _, release := range bundles.Releases() {
				want := bytes.Replace(before, field(input.Versions.ControlPlane), field(release.Version), 1)
				step := input
				// A class has what belongs to a version: no release is asked for it.
				step.Versions, step.Set = v1alpha1.ClusterVersions{ControlPlane: release.Version}, nil
				if diff := gocmp.Diff(string(want), string(text(mustRender(t, step)))); diff != "" {
					t.Errorf("at %s (-want +got):\n%s", release.Version, diff)
				}
			}
		})
	}
	if managed == 0 {
		t.Error("no golden spec has a ClusterClass")
	}
}

// TestVariablesThatFieldsSet: whoever says one thing twice may mean either.
func TestVariablesThatFieldsSet(t *testing.T) {
	t.Parallel()
	const (
		other = ": Forbidden: other fields of the spec, which mean this variable of the class, are set too; remove it, or say it there"
		group = "    variables:\n      nodeStartup: 10s\n"
	)
	golden := string(readFile(t, "testdata/inmemory-class/cluster.yaml"))
	for _, test := range []struct{ name, old, change, want string }{
		{"none", "    count: 3\n", "    count: 5\n", "<nil>"},
		{"of the provider's document", "      apiServerStartup: 5s\n", "      etcdStartup: 5s\n      machineStartup: 5s\n",
			"cluster.yaml:14: spec.clusterClass.variables.etcdStartup" + other + "\ncluster.yaml:15: spec.clusterClass.variables.machineStartup" + other},
		{"of the control plane", "      etcdStartup: 30m\n", "      controlPlaneMaxSurge: 1\n      etcdStartup: 30m\n      files: []\n",
			"cluster.yaml:21: spec.controlPlaneConfiguration.variables.controlPlaneMaxSurge" + other + "\ncluster.yaml:23: spec.controlPlaneConfiguration.variables.files" + other},
		{"of a group", group, group + "      taints: []\n", "cluster.yaml:51: spec.workerNodeGroupConfigurations[0].variables.taints" + other},
		{"of another part", group, group + "      apiServer: {}\n", "<nil>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			spec := strings.Replace(golden, test.old, test.change, 1)
			if spec == golden {
				t.Fatal("nothing is changed")
			}
			objects, err := Render(resolve(t, []byte(spec), readFile(t, "testdata/bundles.yaml")))
			if diff := gocmp.Diff(test.want, fmt.Sprint(err)); diff != "" || err != nil && len(objects.All()) > 0 {
				t.Errorf("%d objects; error (-want +got):\n%s", len(objects.All()), diff)
			}
		})
	}
}

// TestVariablesReadBack: names and values that readers of YAML may take for
// something else, at every depth.
func TestVariablesReadBack(t *testing.T) {
	t.Parallel()
	variables := map[string]any{}
	for _, text := range []string{
		"=", "~", "null", "yes", "1.30", "0x10", "1e3", "2026-01-01", ".inf", "- a", "a: b", "a #b", "#", "&a", "*a", "!a", "{{ .Name }}", "`", `"`, `\n`, "'", "? a", "|", " a ", "a.b/c", "<< a",
		strings.Repeat("x", 200), strings.Repeat("long ", 50),
	} {
		variables[text] = map[string]any{text: []any{text, map[string]any{text: text}}, "n": 1, "f": 1.5, "b": false, "none": nil, "e": map[string]any{}, "l": []any{}}
	}
	variables["deep"] = map[string]any{strings.Repeat("y", 2000): strings.Repeat("z ", 2000)}
	input := goldenCase{spec: "testdata/own-class/cluster.yaml", bundles: "testdata/bundles.yaml"}.input(t)
	input.Config.Cluster.Spec.ClusterClass.Variables = variables
	if errs := validations.Spec(input.Config.Cluster, providers.BuiltIn()); len(errs) > 0 {
		t.Fatal(errs)
	}
	sameVariables(t, input.Config.Cluster, mustRender(t, input)[0])
}
