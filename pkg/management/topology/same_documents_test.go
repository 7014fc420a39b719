package topology_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/manifests"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// specsOfClasses are the specs that classes of documents are made from in these tests.
func specsOfClasses(t *testing.T) []string {
	t.Helper()
	specs, err := filepath.Glob("../../manifests/testdata/classes/*.spec.yaml")
	if err != nil || len(specs) == 0 {
		t.Fatalf("no specs: %v", err)
	}
	for provider, of := range providers.BuiltIn() {
		if of.Spec.Machine.Kind != "" && (of.Spec.Infrastructure == nil || !slices.Contains(of.Spec.WithoutTemplate, of.Spec.Infrastructure.Cluster)) {
			specs = append(specs, "../../manifests/testdata/"+provider+"-minimal/cluster.yaml")
		}
	}
	return specs
}

// resolved is a valid spec in a file.
func resolved(t *testing.T, path string, bundles *versionsbundle.Bundles) validations.Resolved {
	t.Helper()
	spec, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	valid, err := validations.Create(providers.BuiltIn().Decode(path, spec), providers.BuiltIn(), bundles, v1alpha1.ClusterVersions{})
	if err != nil {
		t.Fatal(err)
	}
	return valid
}

// classOfDocuments is the class of the documents of a spec.
func classOfDocuments(t *testing.T, path string, bundles *versionsbundle.Bundles) topology.Class {
	t.Helper()
	valid := resolved(t, path, bundles)
	class, _ := manifests.Class{Name: valid.Provider.Name, Namespace: "default", Provider: valid.Provider, Documents: valid.Config, Releases: bundles.Releases()}.WithImages()
	return made(t, class)
}

// TestSameMachinesOfDocuments: a cluster that names a class of documents, and no documents,
// has the parts that it has without a class, at each version of the class.
func TestSameMachinesOfDocuments(t *testing.T) {
	t.Parallel()
	bundles := parseBundles(t, "../../manifests/testdata/bundles.yaml")
	for _, path := range specsOfClasses(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".spec.yaml")+"-"+filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			t.Parallel()
			spec, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			class := classOfDocuments(t, path, bundles)
			for _, version := range class.Versions() {
				want := contents(t, render(t, spec, bundles, version, nil))
				got := generate(t, class, clusterOfClass(t, path, bundles, class, version, nil))
				for _, parts := range []map[string]any{want, got} { // the class decides about health checks
					maps.DeleteFunc(parts, func(at string, _ any) bool { return strings.HasPrefix(at, "MachineHealthCheck/") })
				}
				if diff := gocmp.Diff(want, got); diff != "" {
					t.Errorf("parts at %s (-without a class +with one):\n%s", version, diff)
				}
			}
		})
	}
}

// clusterOfClass is the cluster of a spec with a class in place of the documents, at a version.
func clusterOfClass(t *testing.T, path string, bundles *versionsbundle.Bundles, class topology.Class, version v1alpha1.Version, variables map[string]any) *clusterv1.Cluster {
	t.Helper()
	config := resolved(t, path, bundles).Config
	config.Datacenter, config.Machines = nil, nil
	spec := &config.Cluster.Spec
	spec.ClusterClass, spec.DatacenterRef = &v1alpha1.ClusterClass{Name: class.Name, Variables: map[string]any{}}, v1alpha1.Ref{}
	maps.Copy(spec.ClusterClass.Variables, variables)
	if endpoint := spec.ControlPlaneConfiguration.APIEndpoint(); endpoint != nil {
		spec.ClusterClass.Variables["endpointHost"] = endpoint.Host
	}
	spec.ControlPlaneConfiguration.MachineGroupRef, spec.ControlPlaneConfiguration.Endpoint = nil, nil
	versions := v1alpha1.ClusterVersions{ControlPlane: version, WorkerNodeGroups: map[string]v1alpha1.Version{}}
	for i := range spec.WorkerNodeGroupConfigurations {
		group := &spec.WorkerNodeGroupConfigurations[i]
		if len(class.Spec.Workers.MachineDeployments) > 1 {
			group.Class = group.MachineGroupRef.Name
		}
		group.MachineGroupRef = nil
		if group.Taints != nil {
			group.Variables, group.Taints = map[string]any{"taints": *group.Taints}, nil
		}
		versions.WorkerNodeGroups[group.Name] = version
	}
	set, _ := bundles.SetOf(versions)
	objects, err := manifests.Render(manifests.Input{Config: config, Versions: versions, Set: set, Namespace: "default", Downloads: bundles.Releases()})
	if err != nil {
		t.Fatal(err)
	}
	return clusterOf(t, objects.All())
}

// TestImagesOfAClass: the variable of a document has the machines of each version made from
// the entry of the exact version, else from that of the minor, else from what the class was
// made with.
func TestImagesOfAClass(t *testing.T) {
	t.Parallel()
	bundles := parseBundles(t, "../../manifests/testdata/bundles.yaml")
	const path = "../../manifests/testdata/classes/aws.spec.yaml"
	class := classOfDocuments(t, path, bundles)
	entry := func(version, id string) any {
		return map[string]any{"kubernetesVersion": version, "ami": map[string]any{"id": id}}
	}
	for name, test := range map[string]struct {
		given []any // nil: the default
		want  map[string]string
	}{
		"default": {nil, map[string]string{"v1.33.3": "ami-0a33", "v1.34.0": "ami-0a34", "v1.34.1": "ami-0a341", "v1.34.2": "ami-0a34", "v1.35.0": "ami-0a35"}},
		"given":   {[]any{entry("v1.34.2", "ami-b"), entry("1.34", "ami-a"), entry("1.34.0", "ami-c")}, map[string]string{"v1.33.3": "ami-0a33", "v1.34.0": "ami-c", "v1.34.1": "ami-a", "v1.34.2": "ami-b", "v1.35.0": "ami-0a35"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			variables := map[string]any{}
			if test.given != nil {
				variables["controlPlaneImages"] = test.given
			}
			got := map[string]string{}
			for _, version := range class.Versions() {
				got[version.String()] = imageOfControlPlane(t, class, clusterOfClass(t, path, bundles, class, version, variables))
			}
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("images (-want +got):\n%s", diff)
			}
		})
	}
}

// imageOfControlPlane is the AMI of the control plane's machines.
func imageOfControlPlane(t *testing.T, class topology.Class, cluster *clusterv1.Cluster) string {
	t.Helper()
	defaulted, errs := topology.Default(t.Context(), class.ClusterClass, cluster, nil)
	if len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	parts, err := topology.Generate(t.Context(), class, defaulted)
	if err != nil {
		t.Fatal(err)
	}
	machine := slices.IndexFunc(parts[v1alpha1.ControlPlaneName], func(o *unstructured.Unstructured) bool { return o.GetKind() == "AWSMachineTemplate" })
	id, _, _ := unstructured.NestedString(parts[v1alpha1.ControlPlaneName][machine].Object, "spec", "template", "spec", "ami", "id")
	return id
}
