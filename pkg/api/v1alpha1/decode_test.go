package v1alpha1_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// minimal is the least that a cluster spec must have. Tests replace parts of it.
const minimal = `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata:
  name: prod
spec:
  kubernetesVersion: "1.34"
  clusterNetwork:
    pods:
      cidrBlocks: [192.168.0.0/16]
    services:
      cidrBlocks: [10.96.0.0/12]
  datacenterRef:
    kind: InMemoryDatacenterConfig
    name: prod
`

// with replaces the one place in minimal where old stands.
func with(old, replacement string) string {
	if strings.Count(minimal, old) != 1 {
		panic("not once in the minimal spec: " + old)
	}
	return strings.Replace(minimal, old, replacement, 1)
}

// decoded is all of a Config that is to be seen, with warnings as they print.
type decoded struct {
	Cluster    *v1alpha1.Cluster
	Datacenter *v1alpha1.InfrastructureConfig
	Machines   map[v1alpha1.Ref]*v1alpha1.InfrastructureConfig
	OIDC       *v1alpha1.OIDCConfig
	AWSIam     *v1alpha1.AWSIamConfig
	Warnings   []string
}

func documentsOf(config *v1alpha1.Config) decoded {
	return decoded{Cluster: config.Cluster, Datacenter: config.Datacenter, Machines: config.Machines, OIDC: config.OIDC, AWSIam: config.AWSIam}
}

// decodeMinimal is what minimal is decoded to, with a change.
func decodeMinimal(change func(*decoded)) decoded {
	want := decoded{
		Cluster: &v1alpha1.Cluster{
			APIVersion: v1alpha1.APIVersion,
			Kind:       v1alpha1.ClusterKind,
			Metadata:   v1alpha1.Meta{Name: "prod"},
			Spec: v1alpha1.ClusterSpec{
				KubernetesVersion:         kubernetesVersion("1.34"),
				ControlPlaneConfiguration: v1alpha1.ControlPlaneConfiguration{Count: new(1)},
				ClusterNetwork: v1alpha1.ClusterNetwork{
					Pods:     v1alpha1.Network{CIDRBlocks: []string{"192.168.0.0/16"}},
					Services: v1alpha1.Network{CIDRBlocks: []string{"10.96.0.0/12"}},
				},
				DatacenterRef: v1alpha1.Ref{Kind: "InMemoryDatacenterConfig", Name: "prod"},
				UpgradePolicy: v1alpha1.UpgradePolicy{MaxConcurrentWorkerGroups: new(1)},
			},
		},
		Machines: map[v1alpha1.Ref]*v1alpha1.InfrastructureConfig{},
		Datacenter: &v1alpha1.InfrastructureConfig{
			APIVersion: v1alpha1.APIVersion, Kind: "InMemoryDatacenterConfig", Metadata: v1alpha1.Meta{Name: "prod"}, Spec: map[string]any{},
			Complete: map[string]any{"machineStartup": "0s", "nodeStartup": "0s", "apiServerStartup": "0s", "etcdStartup": "0s"},
		},
	}
	change(&want)
	return want
}

// docker is a document of provider docker.
func docker(apiVersion, name string) *v1alpha1.InfrastructureConfig {
	return &v1alpha1.InfrastructureConfig{APIVersion: apiVersion, Kind: "DockerDatacenterConfig", Metadata: v1alpha1.Meta{Name: name}, Spec: map[string]any{}, Complete: map[string]any{"mountDockerSocket": false}}
}

func kubernetesVersion(text string) v1alpha1.KubernetesVersion {
	version, err := v1alpha1.ParseKubernetesVersion(text)
	if err != nil {
		panic(err)
	}
	return version
}

func decode(t *testing.T, text string) decoded {
	t.Helper()
	config := devProviders().Decode("cluster.yaml", []byte(text))
	if err := config.Problems.OrNil(); err != nil {
		t.Fatal(err)
	}
	got := documentsOf(config)
	for _, warning := range config.Warnings {
		got.Warnings = append(got.Warnings, warning.String())
	}
	return got
}

func TestDecode(t *testing.T) {
	t.Parallel()
	group := func(name string, count int, version string) v1alpha1.WorkerNodeGroupConfiguration {
		g := v1alpha1.WorkerNodeGroupConfiguration{Name: name, Count: &count}
		if version != "" {
			g.KubernetesVersion = new(kubernetesVersion(version))
		}
		return g
	}
	groups := func(groups ...v1alpha1.WorkerNodeGroupConfiguration) func(*decoded) {
		return func(d *decoded) { d.Cluster.Spec.WorkerNodeGroupConfigurations = groups }
	}
	unchanged := func(*decoded) {}
	tests := map[string]struct {
		text   string
		change func(*decoded)
	}{
		"the least":                       {minimal, unchanged},
		"byte order mark":                 {"\ufeff" + minimal, unchanged},
		"line ends of Windows":            {strings.ReplaceAll(minimal, "\n", "\r\n"), unchanged},
		"empty documents":                 {"---\n---\n# nothing\n---\n" + minimal + "---\nnull\n", unchanged},
		"JSON":                            {`{"apiVersion":"clusterctl-x.io/v1alpha1","kind":"Cluster","metadata":{"name":"prod"},"spec":{"kubernetesVersion":"1.34","clusterNetwork":{"pods":{"cidrBlocks":["192.168.0.0/16"]},"services":{"cidrBlocks":["10.96.0.0/12"]}},"datacenterRef":{"kind":"InMemoryDatacenterConfig","name":"prod"}}}`, unchanged},
		"empty list is none":              {minimal + "  workerNodeGroupConfigurations: []\n", unchanged},
		"null is the same as left out":    {with("  name: prod\nspec", "  name: prod\n  namespace: null\nspec") + "  controlPlaneConfiguration:\n  workerNodeGroupConfigurations: ~\n  externalEtcdConfiguration: null\n  managementCluster: {name: null}\n  upgradePolicy: null\n", unchanged},
		"null of a field of EKS Anywhere": {minimal + "  gitOpsRef: null\n  bundlesRef: ~\n", unchanged},
		"aliases": {
			with("[10.96.0.0/12]", "&services [10.96.0.0/12]") + "  workerNodeGroupConfigurations: [&group {name: a, count: &n 2}, {name: b, count: *n}]\n",
			groups(group("a", 2, ""), group("b", 2, "")),
		},
		"one group without name":  {minimal + "  workerNodeGroupConfigurations: [{}]\n", groups(group("md-0", 1, ""))},
		"two groups without name": {minimal + "  workerNodeGroupConfigurations: [{}, {count: 2}]\n", groups(group("", 1, ""), group("", 2, ""))},
		"group of no machines":    {minimal + "  workerNodeGroupConfigurations: [{name: a, count: 0}]\n", groups(group("a", 0, ""))},
		"pinned groups": {
			minimal + "  workerNodeGroupConfigurations:\n  - {name: a, kubernetesVersion: 1.30}\n  - {name: b, kubernetesVersion: v1.33.7+build.1}\n",
			groups(group("a", 1, "1.30"), group("b", 1, "1.33.7+build.1")),
		},
		"group of which the version is null": {minimal + "  workerNodeGroupConfigurations: [{name: a, kubernetesVersion: null}]\n", groups(group("a", 1, ""))},
		"name that YAML 1.1 reads as true":   {with("name: prod\nspec", "name: yes\nspec"), func(d *decoded) { d.Cluster.Metadata.Name = "yes" }},
		"everything of ours": {
			with("  name: prod\nspec", "  name: prod\n  namespace: team\nspec") +
				"  controlPlaneConfiguration: {count: 3}\n  externalEtcdConfiguration: {count: 3}\n  managementCluster: {name: mgmt}\n  upgradePolicy: {maxConcurrentWorkerGroups: 2, maxWorkerVersionSkew: 1}\n",
			func(d *decoded) {
				d.Cluster.Metadata.Namespace = "team"
				d.Cluster.Spec.ControlPlaneConfiguration.Count = new(3)
				d.Cluster.Spec.ExternalEtcdConfiguration = &v1alpha1.ExternalEtcdConfiguration{Count: 3}
				d.Cluster.Spec.ManagementCluster.Name = "mgmt"
				d.Cluster.Spec.UpgradePolicy = v1alpha1.UpgradePolicy{MaxConcurrentWorkerGroups: new(2), MaxWorkerVersionSkew: new(1)}
			},
		},
		"network plugin": {with("    pods:\n", "    cniConfig: {kindnetd: {}}\n    pods:\n"), func(d *decoded) {
			d.Cluster.Spec.ClusterNetwork.CNIConfig = &v1alpha1.CNIConfig{Kindnetd: &v1alpha1.Kindnetd{}}
		}},
		"in-memory document before the cluster": {
			"apiVersion: clusterctl-x.io/v1alpha1\nkind: InMemoryDatacenterConfig\nmetadata: {name: prod}\nspec: {machineStartup: 1m30s, etcdStartup: 0}\n---\n" + minimal,
			func(d *decoded) {
				d.Datacenter.Spec["machineStartup"], d.Datacenter.Spec["etcdStartup"], d.Datacenter.Complete["machineStartup"] = "1m30s", "0s", "1m30s"
			},
		},
		"docker document of EKS Anywhere": {
			with("InMemoryDatacenterConfig", "DockerDatacenterConfig") + "---\napiVersion: anywhere.eks.amazonaws.com/v1alpha1\nkind: DockerDatacenterConfig\nmetadata: {name: prod}\nspec: {}\n",
			func(d *decoded) {
				d.Cluster.Spec.DatacenterRef.Kind = "DockerDatacenterConfig"
				d.Datacenter = docker(v1alpha1.APIVersionEKSA, "prod")
			},
		},
		"provider document in the namespace of the cluster": {
			with("  name: prod\nspec", "  name: prod\n  namespace: team\nspec") + "---\napiVersion: clusterctl-x.io/v1alpha1\nkind: InMemoryDatacenterConfig\nmetadata: {name: prod, namespace: team}\n",
			func(d *decoded) { d.Cluster.Metadata.Namespace, d.Datacenter.Metadata.Namespace = "team", "team" },
		},
		"provider document without namespace": {
			with("  name: prod\nspec", "  name: prod\n  namespace: team\nspec") + inMemoryDocument,
			func(d *decoded) { d.Cluster.Metadata.Namespace = "team" },
		},
		"provider that is not known yet": {with("InMemoryDatacenterConfig", "MoonDatacenterConfig"), func(d *decoded) {
			d.Cluster.Spec.DatacenterRef.Kind, d.Datacenter = "MoonDatacenterConfig", nil
		}},
		"no version": {with("  kubernetesVersion: \"1.34\"\n", ""), func(d *decoded) { d.Cluster.Spec.KubernetesVersion = v1alpha1.KubernetesVersion{} }},
		"what kubectl get -o yaml adds": {
			with("  name: prod\nspec", "  name: prod\n  uid: 8b1c\n  annotations: {a: b}\nspec") + "status: {ready: true}\n" +
				"---\napiVersion: clusterctl-x.io/v1alpha1\nkind: InMemoryDatacenterConfig\nmetadata:\n  name: prod\n  resourceVersion: \"7\"\nstatus: {}\n",
			func(d *decoded) {
				d.Warnings = []string{
					"cluster.yaml:5: metadata.uid: belongs to an object that was read from a cluster; ignored",
					"cluster.yaml:6: metadata.annotations: annotations of the document are not carried over to the cluster",
					"cluster.yaml:17: status: status is read from the cluster; this one is ignored",
					"cluster.yaml:23: metadata.resourceVersion: belongs to an object that was read from a cluster; ignored",
					"cluster.yaml:24: status: status is read from the cluster; this one is ignored",
				}
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := decodeMinimal(test.change)
			got := decode(t, test.text)
			if diff := cmp.Diff(want, got, equateVersions()); diff != "" {
				t.Errorf("decoded (-want +got):\n%s", diff)
			}
			want.Warnings = nil
			text := marshal(t, got)
			if diff := cmp.Diff(want, decode(t, string(text)), equateVersions()); diff != "" {
				t.Errorf("written and decoded again (-want +got):\n%s\n%s", diff, text)
			}
		})
	}
}

func TestDecodeKubernetesVersionAsWritten(t *testing.T) {
	t.Parallel()
	tests := map[string]string{ // as written in the file -> as it prints
		`"1.34"`:           "1.34",
		`'1.34'`:           "1.34",
		`1.34`:             "1.34",
		`1.30`:             "1.30", // a float, 1.3, to most readers of YAML
		`1.3`:              "1.3",
		`1.10 # comment`:   "1.10",
		`v1.34`:            "1.34",
		`1.34.2`:           "v1.34.2",
		`"v1.34.2"`:        "v1.34.2",
		`v1.34.2+vendor.1`: "v1.34.2+vendor.1",
		`&version "1.34"`:  "1.34",
		"\n    1.30":       "1.30",
		"!!str 1.30":       "1.30",
		"!!float 1.30":     "1.30",
		"|-\n    1.30":     "1.30",
	}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got := decode(t, with(`"1.34"`, text)).Cluster.Spec.KubernetesVersion
			if diff := cmp.Diff(kubernetesVersion(want), got, equateVersions()); diff != "" {
				t.Errorf("kubernetesVersion: %s (-want +got):\n%s", text, diff)
			}
		})
	}
}

// TestDecodeExampleOfEKSAnywhere reads the example of EKS Anywhere's design of
// modular upgrades, as it stands there.
func TestDecodeExampleOfEKSAnywhere(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../test/testdata/eks-a-modular-upgrades.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := decoded{
		Cluster: &v1alpha1.Cluster{
			APIVersion: v1alpha1.APIVersionEKSA,
			Kind:       v1alpha1.ClusterKind,
			Metadata:   v1alpha1.Meta{Name: "mgmt"},
			Spec: v1alpha1.ClusterSpec{
				KubernetesVersion:         kubernetesVersion("1.26"),
				ControlPlaneConfiguration: v1alpha1.ControlPlaneConfiguration{Count: new(1)},
				WorkerNodeGroupConfigurations: []v1alpha1.WorkerNodeGroupConfiguration{
					{Name: "md-0", Count: new(1)},
					{Name: "md-1", Count: new(1), KubernetesVersion: new(kubernetesVersion("1.25"))},
				},
				DatacenterRef:             v1alpha1.Ref{Kind: "DockerDatacenterConfig", Name: "mgmt"},
				ExternalEtcdConfiguration: &v1alpha1.ExternalEtcdConfiguration{Count: 1},
				ClusterNetwork: v1alpha1.ClusterNetwork{
					Pods:      v1alpha1.Network{CIDRBlocks: []string{"192.168.0.0/16"}},
					Services:  v1alpha1.Network{CIDRBlocks: []string{"10.96.0.0/12"}},
					CNIConfig: &v1alpha1.CNIConfig{Cilium: &v1alpha1.Cilium{}},
				},
				UpgradePolicy:     v1alpha1.UpgradePolicy{MaxConcurrentWorkerGroups: new(1)},
				ManagementCluster: v1alpha1.ManagementCluster{Name: "mgmt"},
			},
		},
		Datacenter: docker(v1alpha1.APIVersion, "mgmt"), Machines: map[v1alpha1.Ref]*v1alpha1.InfrastructureConfig{},
	}
	for _, fields := range []*map[string]any{&want.Datacenter.Spec, &want.Datacenter.Complete} {
		*fields = map[string]any{"mountDockerSocket": true} // since it manages itself
	}
	got := decode(t, string(text))
	if diff := cmp.Diff(want, got, equateVersions()); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
	if !got.Cluster.SelfManaged() {
		t.Error("the cluster names itself as its management cluster and is not self-managed")
	}
}

// devProviders are those that tests of the common parts of a spec use; what there is
// besides them changes nothing.
func devProviders() providers.Set {
	all := providers.BuiltIn()
	return providers.Set{"docker": all["docker"], "inmemory": all["inmemory"]}
}
