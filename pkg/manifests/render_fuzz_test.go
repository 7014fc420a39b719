package manifests

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// FuzzRender: whatever is valid can be rendered, to objects that have names of
// their own which an API server takes.
func FuzzRender(f *testing.F) {
	for _, c := range goldenCases(f) {
		f.Add(readFile(f, c.spec))
	}
	bundles, err := versionsbundle.Parse("bundles.yaml", readFile(f, "testdata/bundles.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, spec []byte) {
		resolved, err := validations.Create(providers.BuiltIn().Decode("cluster.yaml", spec), providers.BuiltIn(), bundles, v1alpha1.ClusterVersions{})
		if err != nil {
			return
		}
		if len(resolved.Config.Cluster.Spec.WorkerNodeGroupConfigurations) > 50 {
			return // says no more than one, and takes time
		}
		objects, err := Render(Input{
			Config: resolved.Config, Provider: resolved.Provider, Versions: resolved.Versions, Set: resolved.Set, Namespace: "default", Downloads: bundles.Releases(),
		})
		var twice strictyaml.Problems
		if errors.As(err, &twice) && resolved.Config.Cluster.Spec.ClusterClass != nil {
			return // variables that fields set too
		}
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, object := range objects.All() {
			name := object.Kind.Kind + "/" + object.Name
			if slices.Contains(names, name) {
				t.Errorf("%s is rendered twice", name)
			}
			names = append(names, name)
			if problems := validation.IsDNS1123Subdomain(object.Name); len(problems) > 0 {
				t.Errorf("%s: %s", name, problems)
			}
			if object.Kind.Kind == "Cluster" && resolved.Config.Cluster.Spec.ClusterClass != nil {
				sameVariables(t, resolved.Config.Cluster, object)
			}
		}
	})
}

// sameVariables: what the user gives a class is what Cluster API reads.
func sameVariables(t *testing.T, cluster *v1alpha1.Cluster, object templater.Object) {
	t.Helper()
	type variables []struct {
		Name  string
		Value any
	}
	var rendered struct {
		Spec struct {
			Topology struct {
				Variables    variables
				ControlPlane struct{ Variables struct{ Overrides variables } }
				Workers      struct {
					MachineDeployments []struct{ Variables struct{ Overrides variables } }
				}
			}
		}
	}
	if err := yaml.Unmarshal(object.YAML, &rendered); err != nil {
		t.Fatal(err)
	}
	compare := func(given map[string]any, variables variables) {
		var want map[string]any // as JSON has it
		data, err := json.Marshal(given)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		got := map[string]any{}
		for _, variable := range variables {
			if _, ours := want[variable.Name]; ours {
				got[variable.Name] = variable.Value
			}
		}
		if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("variables (-given +rendered):\n%s", diff)
		}
	}
	topology := rendered.Spec.Topology
	compare(cluster.Spec.ClusterClass.Variables, topology.Variables)
	compare(cluster.Spec.ControlPlaneConfiguration.Variables, topology.ControlPlane.Variables.Overrides)
	for i, group := range cluster.Spec.WorkerNodeGroupConfigurations {
		compare(group.Variables, topology.Workers.MachineDeployments[i].Variables.Overrides)
	}
}
