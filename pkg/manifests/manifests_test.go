package manifests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// TestRenderIsDeterministic is not parallel to others: it sets GOMAXPROCS.
func TestRenderIsDeterministic(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, c := range goldenCases(t) {
		want := text(mustRender(t, c.input(t)))
		for i := range 20 {
			runtime.GOMAXPROCS(1 + i%2)
			if diff := gocmp.Diff(string(want), string(text(mustRender(t, c.input(t))))); diff != "" {
				t.Fatalf("%s: rendering %d, GOMAXPROCS %d (-first +now):\n%s", c.name, i+2, 1+i%2, diff)
			}
		}
	}
}

// TestTextAndDataAreTheSame compares what 'generate manifests' prints with
// what 'create cluster' applies, object by object.
func TestTextAndDataAreTheSame(t *testing.T) {
	t.Parallel()
	for _, c := range goldenCases(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, object := range mustRender(t, c.input(t)) {
				var fromText, fromJSON map[string]any
				if err := yaml.UnmarshalStrict(object.YAML, &fromText); err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal(object.JSON, &fromJSON); err != nil {
					t.Fatal(err)
				}
				if diff := gocmp.Diff(fromText, fromJSON); diff != "" {
					t.Errorf("%s %s (-text +JSON):\n%s", object.Kind.Kind, object.Name, diff)
				}
				u, err := object.Unstructured()
				if err != nil {
					t.Fatal(err)
				}
				again, err := u.MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				fromText, fromJSON = nil, nil
				if err := yaml.Unmarshal(object.YAML, &fromText); err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal(again, &fromJSON); err != nil {
					t.Fatal(err)
				}
				if diff := gocmp.Diff(fromText, fromJSON); diff != "" {
					t.Errorf("%s %s (-text +Unstructured):\n%s", object.Kind.Kind, object.Name, diff)
				}
				if got, want := u.GroupVersionKind().String()+u.GetName(), object.Kind.String()+object.Name; got != want {
					t.Errorf("the object calls itself %s, and its text %s", want, got)
				}
			}
		})
	}
}

// TestEveryObject is what holds for all objects alike.
func TestEveryObject(t *testing.T) {
	t.Parallel()
	for _, c := range goldenCases(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			input := c.input(t)
			cluster := input.Config.Cluster.Metadata.Name
			seen := map[string]bool{}
			for _, object := range mustRender(t, input) {
				u, err := object.Unstructured()
				if err != nil {
					t.Fatal(err)
				}
				name := object.Kind.Kind + "/" + object.Name
				if seen[name] {
					t.Errorf("there are two %s", name)
				}
				seen[name] = true
				labels := map[string]string{}
				for _, key := range []string{"cluster.x-k8s.io/cluster-name", "clusterctl-x.io/cluster"} {
					labels[key] = u.GetLabels()[key]
				}
				want, namespace := map[string]string{"cluster.x-k8s.io/cluster-name": cluster, "clusterctl-x.io/cluster": cluster}, input.Namespace
				if slices.Contains([]string{"AWSClusterRoleIdentity", "Namespace", "VSphereDeploymentZone", "VSphereFailureDomain"}, object.Kind.Kind) { // which are of no namespace
					want, namespace = map[string]string{"cluster.x-k8s.io/cluster-name": "", "clusterctl-x.io/cluster": ""}, ""
				}
				if c.name == "clusterapi-other-names" && strings.HasSuffix(object.Kind.Kind, "Template") && slices.Contains([]string{"prod-mt-0", "prod-kcfg-0", "prod-old-kcfg", "prod-spot"}, object.Name) { // which others may use
					want = map[string]string{"cluster.x-k8s.io/cluster-name": "", "clusterctl-x.io/cluster": ""}
				}
				if diff := gocmp.Diff(want, labels); diff != "" {
					t.Errorf("labels of %s (-want +got):\n%s", name, diff)
				}
				if u.GetNamespace() != namespace {
					t.Errorf("%s is in namespace %q, want %q", name, u.GetNamespace(), namespace)
				}
				if !bytes.HasSuffix(object.YAML, []byte("\n")) || bytes.Contains(object.YAML, []byte("\n---")) {
					t.Errorf("the text of %s is not one document that ends in a line break", name)
				}
			}
		})
	}
}

// workerTemplates maps kind and group to the immutable templates of groups.
func workerTemplates(t *testing.T, input Input) map[string]templater.Object {
	t.Helper()
	templates := map[string]templater.Object{}
	for _, object := range mustRender(t, input) {
		if !strings.HasSuffix(object.Kind.Kind, "Template") {
			continue
		}
		owner := object.Name[:strings.LastIndexByte(object.Name, '-')]
		if owner == input.Config.Cluster.Metadata.Name+"-control-plane" {
			continue
		}
		templates[object.Kind.Kind+"/"+owner] = object
	}
	return templates
}

// TestControlPlaneStepKeepsWorkerTemplates moves the control plane of every
// golden spec to every version of the bundles. Templates of clusters from a
// ClusterClass are Cluster API's to make.
func TestControlPlaneStepKeepsWorkerTemplates(t *testing.T) {
	t.Parallel()
	for _, c := range goldenCases(t) {
		if c.input(t).Config.Cluster.Spec.ClusterClass != nil {
			continue
		}
		bundles, err := versionsbundle.Parse(c.bundles, readFile(t, c.bundles))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			input := c.input(t)
			want := workerTemplates(t, input)
			if got := 2 * len(input.Config.Cluster.Spec.WorkerNodeGroupConfigurations); len(want) != got {
				t.Fatalf("%d templates of groups, want %d", len(want), got)
			}
			for _, release := range bundles.Releases() {
				step := input
				step.Set = maps.Clone(input.Set)
				step.Set[release.Version] = release
				step.Versions.ControlPlane = release.Version
				if diff := gocmp.Diff(want, workerTemplates(t, step)); diff != "" {
					t.Errorf("templates of groups with the control plane at %s (-before +after):\n%s", release.Version, diff)
				}
				if got := controlPlaneVersion(t, step); got != release.Version.String() {
					t.Errorf("the control plane is rendered at %s, want %s", got, release.Version)
				}
			}
		})
	}
}

func controlPlaneVersion(t *testing.T, input Input) string {
	t.Helper()
	for _, object := range mustRender(t, input) {
		if object.Kind.Kind == "KubeadmControlPlane" {
			var kcp struct{ Spec struct{ Version string } }
			if err := json.Unmarshal(object.JSON, &kcp); err != nil {
				t.Fatal(err)
			}
			return kcp.Spec.Version
		}
	}
	return ""
}

// TestChangedTemplatesGetAnotherName changes one thing after the other.
func TestChangedTemplatesGetAnotherName(t *testing.T) {
	t.Parallel()
	const (
		controlPlane                   = "DevMachineTemplate groups-control-plane"
		following, followingBootstrap  = "DevMachineTemplate groups-following", "KubeadmConfigTemplate groups-following"
		lagging, laggingBootstrap      = "DevMachineTemplate groups-lagging", "KubeadmConfigTemplate groups-lagging"
		patch, oldest, renamed         = "DevMachineTemplate groups-patch", "DevMachineTemplate groups-oldest", "DevMachineTemplate groups-renamed"
		durations                      = "---\napiVersion: clusterctl-x.io/v1alpha1\nkind: InMemoryDatacenterConfig\nmetadata:\n  name: groups\nspec:\n  "
		inmemory, docker               = "inmemory-groups", "docker-groups"
		renamedBootstrap               = "KubeadmConfigTemplate groups-renamed"
		laggingVersion, followingCount = `kubernetesVersion: "1.33"`, "  - name: following\n    count: 3\n"
	)
	for _, test := range []struct {
		name, golden  string
		old, change   string // one replacement in the spec; at its end where old is empty
		fresh, vanish []string
	}{
		{"nothing", inmemory, "", "# comment\n", nil, nil},
		{"more machines", docker, followingCount, "  - name: following\n    count: 30\n", nil, nil},
		{"more control plane machines", docker, "count: 3\n  worker", "count: 5\n  worker", nil, nil},
		{"order of groups", docker, "  - name: patch\n    kubernetesVersion: \"1.34.0\"\n  - name: oldest\n    kubernetesVersion: 1.32\n",
			"  - name: oldest\n    kubernetesVersion: 1.32\n  - name: patch\n    kubernetesVersion: \"1.34.0\"\n", nil, nil},
		{"a network", docker, "192.168.0.0/16", "192.168.0.0/17", nil, nil},
		{"version of a group without an image of its own", inmemory, laggingVersion, `kubernetesVersion: "1.32"`, nil, nil},
		{"version of a group whose image it is", docker, laggingVersion, `kubernetesVersion: "1.32"`, []string{lagging}, []string{lagging}},
		{"version of the cluster", docker, `"1.34.1"`, `"1.34.2"`, []string{controlPlane, following}, []string{controlPlane, following}},
		{"time that machines take", inmemory, "", durations + "machineStartup: 1s\n",
			[]string{controlPlane, following, lagging, oldest, patch}, []string{controlPlane, following, lagging, oldest, patch}},
		{"time that API servers take", inmemory, "", durations + "apiServerStartup: 1s\n", []string{controlPlane}, []string{controlPlane}},
		{"time that is written in another way", inmemory, "", durations + "apiServerStartup: 0m0s\n", nil, nil},
		{"a new group", docker, "  - name: following\n", "  - name: renamed\n  - name: following\n", []string{renamed, renamedBootstrap}, nil},
		{"a group less", docker, followingCount, "", nil, []string{following, followingBootstrap}},
		{"name of a group", docker, "name: lagging", "name: renamed", []string{renamed, renamedBootstrap}, []string{lagging, laggingBootstrap}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			spec, release := readFile(t, "testdata/"+test.golden+"/cluster.yaml"), readFile(t, "testdata/bundles.yaml")
			changed := append(slices.Clone(spec), test.change...)
			if test.old != "" {
				changed = bytes.Replace(spec, []byte(test.old), []byte(test.change), 1)
			}
			if bytes.Equal(spec, changed) {
				t.Fatal("nothing is changed")
			}
			before, after := templates(t, resolve(t, spec, release)), templates(t, resolve(t, changed, release))
			fresh, vanish := missing(before, after), missing(after, before)
			if diff := gocmp.Diff(test.fresh, fresh); diff != "" {
				t.Errorf("new templates (-want +got):\n%s", diff)
			}
			if diff := gocmp.Diff(test.vanish, vanish); diff != "" {
				t.Errorf("templates that are gone (-want +got):\n%s", diff)
			}
			for name, content := range after {
				if old, ok := before[name]; ok {
					if diff := gocmp.Diff(old, content); diff != "" {
						t.Errorf("%s keeps its name with another content (-before +after):\n%s", name, diff)
					}
				}
			}
		})
	}
}

// templates maps kind and name of each immutable template to its text.
func templates(t *testing.T, input Input) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, object := range mustRender(t, input) {
		if strings.HasSuffix(object.Kind.Kind, "Template") {
			all[object.Kind.Kind+" "+object.Name] = string(object.YAML)
		}
	}
	return all
}

// missing are the templates of after that before has not, without their hashes.
func missing(before, after map[string]string) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if _, ok := before[name]; !ok {
			names = append(names, name[:strings.LastIndexByte(name, '-')])
		}
	}
	return names
}

func TestRenderFails(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(*Input)
		want   string
	}{
		{"no release for the control plane", func(i *Input) { delete(i.Set, i.Versions.ControlPlane) }, "no release of v1.34.1 for the control plane"},
		{"no release for a group", func(i *Input) { delete(i.Set, i.Versions.WorkerNodeGroups["lagging"]) }, "no release of v1.33.3 for group lagging"},
		{"no version for a group", func(i *Input) { i.Versions.WorkerNodeGroups["patch"] = v1alpha1.Version{} }, "no release of  for group patch"},
		{"no provider", func(i *Input) {
			i.Config.Cluster.Spec.DatacenterRef.Kind, i.Provider = "FooDatacenterConfig", providers.Provider{}
		}, "no provider for FooDatacenterConfig"},
		{"namespace that is no text", func(i *Input) { i.Namespace = "\xff" },
			`rendering: template: infrastructure-cluster.yaml.tmpl:5:16: executing "infrastructure-cluster.yaml.tmpl" at <quote .Namespace>: error calling quote: "\xff" is not text in UTF-8`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			input := goldenCase{spec: "testdata/inmemory-groups/cluster.yaml", bundles: "testdata/bundles.yaml"}.input(t)
			test.change(&input)
			objects, err := Render(input)
			if diff := gocmp.Diff(test.want, fmt.Sprint(err)); diff != "" || len(objects.All()) > 0 {
				t.Errorf("%d objects; error (-want +got):\n%s", len(objects.All()), diff)
			}
		})
	}
}

func BenchmarkRender(b *testing.B) {
	for _, kind := range []string{"InMemoryDatacenterConfig", "DockerDatacenterConfig"} {
		b.Run(kind, func(b *testing.B) {
			var spec bytes.Buffer
			fmt.Fprintf(&spec, `{apiVersion: clusterctl-x.io/v1alpha1, kind: Cluster, metadata: {name: large}, spec: {kubernetesVersion: 1.34.1,
datacenterRef: {kind: %s, name: large}, clusterNetwork: {pods: {cidrBlocks: [192.168.0.0/16]}, services: {cidrBlocks: [10.96.0.0/12]}},
workerNodeGroupConfigurations: [`, kind)
			for i := range 1000 {
				fmt.Fprintf(&spec, "{name: md-%d, kubernetesVersion: %s},\n", i, []string{"1.34.1", "1.34.0", "1.33.3"}[i%3])
			}
			spec.WriteString("]}}\n")
			input := resolve(b, spec.Bytes(), readFile(b, "testdata/bundles.yaml"))
			for b.Loop() {
				if objects := mustRender(b, input); len(objects) < 3000 {
					b.Fatalf("%d objects", len(objects))
				}
			}
		})
	}
}
