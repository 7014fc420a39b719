package topology_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	coreadmission "sigs.k8s.io/cluster-api/core/webhooks/admission"
	"sigs.k8s.io/cluster-api/feature"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/manifests"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// TestSameMachines: with a class of clusterctl-x and without one, a spec gives
// parts with the same content, at each version. A spec without a datacenterRef
// is for a class of the user's own.
func TestSameMachines(t *testing.T) {
	t.Parallel()
	specs, err := filepath.Glob("../../manifests/testdata/*/cluster.yaml")
	if err != nil || len(specs) == 0 {
		t.Fatalf("no specs: %v", err)
	}
	bundles := parseBundles(t, "../../manifests/testdata/bundles.yaml")
	for _, path := range specs {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		config := providers.BuiltIn().Decode(path, data)
		if config.Cluster.Spec.DatacenterRef == (v1alpha1.Ref{}) || len(config.Machines) > 0 {
			continue // TestSameMachinesOfDocuments, or there is no class
		}
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			t.Parallel()
			sameMachines(t, data, classOf(t, providerOf(config), bundles), bundles)
		})
	}
}

// TestSameMachinesOfManyReleases: as many as a class can have, which differ in
// all that releases differ in.
func TestSameMachinesOfManyReleases(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../manifests/testdata/docker-minimal/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	bundles := &versionsbundle.Bundles{}
	for i := range 100 {
		version := v1alpha1.MustParseVersion(fmt.Sprintf("v1.%d.%d", 30+i/10, i%10))
		image := func(name string) versionsbundle.Image {
			return versionsbundle.Image(fmt.Sprintf("registry-%d.example.org/%s:%s", i/30, name, version))
		}
		release := versionsbundle.Release{Version: version, Images: versionsbundle.Images{KubeAPIServer: image("kube-apiserver"), Etcd: image("etcd"), CoreDNS: image("coredns")}}
		if i%4 != 3 {
			release.NodeImages = map[string]string{"docker": string(image("node"))}
		}
		bundles = bundles.With([]versionsbundle.Release{release})
	}
	sameMachines(t, data, classOf(t, "docker", bundles), bundles)
}

func sameMachines(t *testing.T, spec []byte, class topology.Class, bundles *versionsbundle.Bundles) {
	t.Helper()
	for _, release := range bundles.Releases() {
		want := contents(t, render(t, spec, bundles, release.Version, nil))
		got := map[string]any{}
		for at, content := range generate(t, class, clusterOf(t, render(t, spec, bundles, release.Version, &v1alpha1.ClusterClass{Name: class.Name}))) {
			got[at] = content
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("parts at %s (-without a class +with one):\n%s", release.Version, diff)
		}
	}
}

// generate returns the content of what Cluster API makes of a cluster, by place.
func generate(t *testing.T, class topology.Class, cluster *clusterv1.Cluster) map[string]any {
	t.Helper()
	defaulted, errs := topology.Default(t.Context(), class.ClusterClass, cluster, nil)
	if len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	parts, err := topology.Generate(t.Context(), class, defaulted)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]any{}
	for _, objects := range parts {
		for _, object := range objects {
			all[place(object)] = content(object)
		}
	}
	return all
}

// examples are a value of each variable of our classes.
const examples = `
advertiseAddress: 10.0.0.1
apiServer: {certSANs: [api], extraArgs: [{name: v, value: "4"}], extraVolumes: [{name: a, hostPath: /a, mountPath: /b, readOnly: true, pathType: Directory}]}
apiServerStartup: 5s
controlPlaneMaxSurge: 0
controllerManager: {extraArgs: [{name: v, value: "4"}]}
etcdStartup: 1.5s
externalEtcd: {endpoints: ["https://10.0.0.1:2379"], caFile: /a, certFile: /b, keyFile: /c}
files: [{path: /etc/motd, content: '{{ "a" }} <b> \u2603', contentFrom: {secret: {name: a, key: b}}}]
kubeadmPatchesDirectory: /etc/patches
kubeletExtraArgs: [{name: v, value: "4"}]
machineStartup: 1m
mountDockerSocket: true
nodeStartup: 1m30s
preKubeadmCommands: ['echo "{{ a }}" > /b']
taints: [{key: a, value: b, effect: NoSchedule}]
`

// TestEveryVariableActs, and an empty list of what is added to a list does not.
func TestEveryVariableActs(t *testing.T) {
	t.Parallel()
	bundles := parseBundles(t, "../../manifests/testdata/bundles.yaml")
	var values map[string]any
	if err := yaml.Unmarshal([]byte(examples), &values); err != nil {
		t.Fatal(err)
	}
	for provider, of := range providers.BuiltIn() {
		if of.Spec.Machine.Kind != "" {
			continue // TestSameMachinesOfDocuments
		}
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile("../../manifests/testdata/" + provider + "-minimal/cluster.yaml")
			if err != nil {
				t.Fatal(err)
			}
			class := classOf(t, provider, bundles)
			made := func(variables map[string]any) map[string]any {
				cluster := render(t, data, bundles, bundles.Versions()[0], &v1alpha1.ClusterClass{Name: class.Name, Variables: variables})
				return generate(t, class, clusterOf(t, cluster))
			}
			before := made(nil)
			for _, variable := range class.Spec.Variables {
				value, there := values[variable.Name]
				if !there {
					t.Errorf("no example of %s", variable.Name)
				}
				if gocmp.Equal(before, made(map[string]any{variable.Name: value})) {
					t.Errorf("%s changes nothing", variable.Name)
				}
			}
			for _, name := range []string{"files", "preKubeadmCommands", "kubeletExtraArgs"} {
				if diff := gocmp.Diff(before, made(map[string]any{name: []any{}})); diff != "" {
					t.Errorf("an empty list of %s (-before +after):\n%s", name, diff)
				}
			}
		})
	}
}

// TestClassesAreAccepted by the webhook of Cluster API.
func TestClassesAreAccepted(t *testing.T) {
	t.Parallel()
	if err := feature.MutableGates.SetFromMap(map[string]bool{string(feature.ClusterTopology): true}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"../../manifests/testdata/bundles.yaml", "../../../config/bundles/bundles.yaml"} {
		bundles := parseBundles(t, path)
		accepted := func(class topology.Class) {
			if _, err := (&coreadmission.ClusterClass{}).ValidateCreate(t.Context(), class.ClusterClass); err != nil {
				t.Errorf("%s with the versions of %s: %v", class.Name, path, err)
			}
		}
		for provider, of := range providers.BuiltIn() {
			if of.Spec.Machine.Kind == "" {
				accepted(classOf(t, provider, bundles))
			}
		}
		for _, spec := range specsOfClasses(t) {
			accepted(classOfDocuments(t, spec, bundles))
		}
	}
}

func providerOf(config *v1alpha1.Config) string {
	for provider, of := range providers.BuiltIn() {
		kind := of.Spec.Datacenter.Kind
		if kind == config.Cluster.Spec.DatacenterRef.Kind {
			return provider
		}
	}
	return ""
}

func parseBundles(t *testing.T, path string) *versionsbundle.Bundles {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bundles, err := versionsbundle.Parse(path, data)
	if err != nil {
		t.Fatal(err)
	}
	return bundles
}

// classOf is the class of a provider as the API server would have it.
func classOf(t *testing.T, provider string, bundles *versionsbundle.Bundles) topology.Class {
	t.Helper()
	return made(t, manifests.Class{Name: provider, Namespace: "default", Provider: providers.BuiltIn()[provider], Releases: bundles.Releases()})
}

// made is a class as the API server would have it.
func made(t *testing.T, of manifests.Class) topology.Class {
	t.Helper()
	objects, err := manifests.RenderClass(of)
	if err != nil {
		t.Fatal(err)
	}
	var class topology.Class
	for _, object := range objects {
		if object.Kind.Kind == "ClusterClass" {
			var decoded clusterv1.ClusterClass
			if err := json.Unmarshal(object.JSON, &decoded); err != nil {
				t.Fatal(err)
			}
			class.ClusterClass = topology.WithStatus(&decoded)
			continue
		}
		template, err := object.Unstructured()
		if err != nil {
			t.Fatal(err)
		}
		class.Templates = append(class.Templates, template)
	}
	return class
}

// render makes the objects of a spec all of whose parts are at one version.
func render(t *testing.T, spec []byte, bundles *versionsbundle.Bundles, version v1alpha1.Version, class *v1alpha1.ClusterClass) []templater.Object {
	t.Helper()
	config := providers.BuiltIn().Decode("cluster.yaml", spec)
	resolved, err := validations.Create(config, providers.BuiltIn(), bundles, v1alpha1.ClusterVersions{})
	if err != nil {
		t.Fatal(err)
	}
	config = resolved.Config
	maker(config.Cluster, class)
	versions := v1alpha1.ClusterVersions{ControlPlane: version, WorkerNodeGroups: map[string]v1alpha1.Version{}}
	for _, group := range config.Cluster.Spec.WorkerNodeGroupConfigurations {
		versions.WorkerNodeGroups[group.Name] = version
	}
	set, _ := bundles.SetOf(versions)
	objects, err := manifests.Render(manifests.Input{
		Config: config, Provider: resolved.Provider, Versions: versions, Set: set, Namespace: cmp.Or(config.Cluster.Metadata.Namespace, "default"), Downloads: bundles.Releases(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return objects.All()
}

// maker has a cluster made by Cluster API from a class, or without one: then what
// only a class knows is taken out. Variables of the user mean nothing else.
func maker(cluster *v1alpha1.Cluster, class *v1alpha1.ClusterClass) {
	cluster.Spec.ClusterClass = class
	cluster.Spec.ControlPlaneConfiguration.Variables = nil
	for i := range cluster.Spec.WorkerNodeGroupConfigurations {
		group := &cluster.Spec.WorkerNodeGroupConfigurations[i]
		group.Variables = nil
		if class == nil {
			group.Class, group.DeferUpgrade, group.HoldUpgradeSequence = "", false, false
		}
	}
}

func clusterOf(t *testing.T, objects []templater.Object) *clusterv1.Cluster {
	t.Helper()
	var cluster clusterv1.Cluster
	if err := json.Unmarshal(objects[0].JSON, &cluster); err != nil {
		t.Fatal(err)
	}
	return &cluster
}

// contents are those of the objects that a class makes too.
func contents(t *testing.T, objects []templater.Object) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, rendered := range objects {
		object, err := rendered.Unstructured()
		if err != nil {
			t.Fatal(err)
		}
		switch kind := object.GetKind(); {
		case kind == "KubeadmControlPlane", kind == "MachineDeployment", kind == "MachineHealthCheck", isTemplate(kind), kind != "Cluster" && strings.HasSuffix(kind, "Cluster"):
			all[place(object)] = content(object)
		}
	}
	return all
}

// isTemplate reports whether objects of a kind are templates of a part.
func isTemplate(kind string) bool {
	return strings.HasSuffix(kind, "MachineTemplate") || kind == "KubeadmConfigTemplate"
}

// place is the part that an object is of: its name, without the hash.
func place(object *unstructured.Unstructured) string {
	name := object.GetName()
	if isTemplate(object.GetKind()) {
		name = name[:len(name)-len("-0123456789")]
	}
	return object.GetKind() + "/" + name
}

// content is what of an object makes machines what they are.
func content(object *unstructured.Unstructured) any {
	object = object.DeepCopy()
	for _, path := range [][]string{
		{"spec", "template", "spec", "bootstrap", "configRef", "name"}, {"spec", "template", "spec", "infrastructureRef", "name"},
		{"spec", "machineTemplate", "spec", "infrastructureRef", "name"}, {"spec", "machineTemplate", "metadata"}, {"spec", "template", "metadata"},
		{"spec", "selector"}, {"spec", "deletion"}, {"spec", "rollout", "strategy", "type"},
	} {
		unstructured.RemoveNestedField(object.Object, path...)
	}
	return object.Object["spec"]
}

// TestVersionThatIsAddedByHand: a class does not give a version that it was made
// without what another version has.
func TestVersionThatIsAddedByHand(t *testing.T) {
	t.Parallel()
	bundles := parseBundles(t, "../../manifests/testdata/bundles.yaml")
	spec, err := os.ReadFile("../../manifests/testdata/inmemory-minimal/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	class := classOf(t, "inmemory", bundles)
	cluster := clusterOf(t, render(t, spec, bundles, bundles.Versions()[0], &v1alpha1.ClusterClass{Name: class.Name}))
	cluster.Spec.Topology.Version = "v1.99.0"
	class.Spec.KubernetesVersions = append(class.Spec.KubernetesVersions, "v1.99.0")
	_, err = topology.Generate(t.Context(), class, cluster)
	unable := (*topology.GenerateError)(nil)
	if !errors.As(err, &unable) {
		t.Fatalf("error: %v", err)
	}
	want := "its patch " + unable.Patch + " fails: this ClusterClass was made without Kubernetes v1.99.0; make it anew with 'clusterctl-x generate clusterclass --bundles FILE' and an entry for that version in FILE"
	if diff := gocmp.Diff(want, unable.Reason); diff != "" {
		t.Errorf("reason (-want +got):\n%s", diff)
	}
}
