package validations_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// The file that is created from, without the worker node groups.
const file = `apiVersion: clusterctl-x.io/v1alpha1
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

func decode(t *testing.T, text string) *v1alpha1.Config {
	t.Helper()
	return devProviders().Decode("cluster.yaml", []byte(text))
}

func onDocker(text string) string { return strings.Replace(text, "InMemory", "Docker", 1) }

func groups(lines ...string) string {
	return "  workerNodeGroupConfigurations:\n  - " + strings.Join(lines, "\n  - ") + "\n"
}

func version(text string) v1alpha1.Version { return v1alpha1.MustParseVersion(text) }

// release has downloads of kubeadm unless its version is 1.36, and a node image
// unless it is 1.30.
func release(text string) versionsbundle.Release {
	r := versionsbundle.Release{Version: version(text)}
	if !strings.HasPrefix(text, "v1.30.") {
		r.NodeImages = map[string]string{"docker": "kindest/node:" + text}
	}
	if !strings.HasPrefix(text, "v1.36.") {
		r.Kubeadm = map[string]versionsbundle.Download{"amd64": {URL: "https://dl.k8s.io/" + text, SHA256: "known"}}
	}
	return r
}

func bundles() *versionsbundle.Bundles {
	b := &versionsbundle.Bundles{}
	for _, text := range []string{"v1.30.5", "v1.31.5", "v1.34.2", "v1.34.3", "v1.35.1", "v1.36.1"} {
		bundle := versionsbundle.VersionsBundle{KubeVersion: version(text).Minor(), Releases: []versionsbundle.Release{release(text)}}
		if strings.HasPrefix(text, "v1.30.") {
			bundle.EndOfSupport = "2025-07-15"
		}
		b.Spec.VersionsBundles = append(b.Spec.VersionsBundles, bundle)
	}
	return b
}

const available = "there are 1.30 (v1.30.5), 1.31 (v1.31.5), 1.34 (v1.34.2, v1.34.3), 1.35 (v1.35.1), 1.36 (v1.36.1); use one of these, or a file with more by --bundles"

func TestCreate(t *testing.T) {
	t.Parallel()
	type created struct {
		Versions v1alpha1.ClusterVersions
		Set      versionsbundle.Set
		Warnings []string
	}
	versions := func(controlPlane string, groups map[string]string) v1alpha1.ClusterVersions {
		v := v1alpha1.ClusterVersions{ControlPlane: version(controlPlane), WorkerNodeGroups: map[string]v1alpha1.Version{}}
		for name, text := range groups {
			v.WorkerNodeGroups[name] = version(text)
		}
		return v
	}
	set := func(texts ...string) versionsbundle.Set {
		s := versionsbundle.Set{}
		for _, text := range texts {
			s[version(text)] = release(text)
		}
		return s
	}
	type byName = map[string]string
	const noPlugin = "cluster.yaml:7: spec.clusterNetwork: no cniConfig: nodes become ready once you have applied a network plugin"
	const ended = "Kubernetes 1.30 has been out of support since 2025-07-15 and gets no security fixes; use a supported minor (https://kubernetes.io/releases)"
	tests := map[string]struct {
		text    string
		running v1alpha1.ClusterVersions
		want    created
	}{
		"no groups":        {file, v1alpha1.ClusterVersions{}, created{versions("v1.34.3", nil), set("v1.34.3"), nil}},
		"following group":  {file + groups("{name: a}"), v1alpha1.ClusterVersions{}, created{versions("v1.34.3", byName{"a": "v1.34.3"}), set("v1.34.3"), nil}},
		"oldest group":     {file + groups("{name: a, kubernetesVersion: 1.31}"), v1alpha1.ClusterVersions{}, created{versions("v1.34.3", byName{"a": "v1.31.5"}), set("v1.34.3", "v1.31.5"), nil}},
		"running versions": {file + groups("{name: a}"), versions("v1.34.2", nil), created{versions("v1.34.2", byName{"a": "v1.34.2"}), set("v1.34.2"), nil}},
		"oldest group that the spec allows": {
			file + "  upgradePolicy: {maxWorkerVersionSkew: 3}\n" + groups("{name: a, kubernetesVersion: 1.31}"), v1alpha1.ClusterVersions{},
			created{versions("v1.34.3", byName{"a": "v1.31.5"}), set("v1.34.3", "v1.31.5"), nil},
		},
		"group that can fetch its kubeadm": {
			onDocker(file) + groups("{name: a, kubernetesVersion: 1.31}"), v1alpha1.ClusterVersions{},
			created{versions("v1.34.3", byName{"a": "v1.31.5"}), set("v1.34.3", "v1.31.5"), []string{noPlugin}},
		},
		"group that need not fetch its kubeadm": {
			onDocker(strings.Replace(file, "1.34", "1.36", 1)) + groups("{name: a, kubernetesVersion: v1.36.1}", "{name: b}"), v1alpha1.ClusterVersions{},
			created{versions("v1.36.1", byName{"a": "v1.36.1", "b": "v1.36.1"}), set("v1.36.1"), []string{noPlugin}},
		},
		"simulated group, which has no kubeadm": {
			strings.Replace(file, "1.34", "1.36", 1) + groups("{name: a, kubernetesVersion: 1.35}"), v1alpha1.ClusterVersions{},
			created{versions("v1.36.1", byName{"a": "v1.35.1"}), set("v1.36.1", "v1.35.1"), nil},
		},
		"warnings": {
			strings.Replace(file, "    pods:", "    cniConfig: {cilium: {}}\n    pods:", 1) + "  bundlesRef: {}\n  externalEtcdConfiguration: {count: 3}\n  managementCluster:\n    name: prod\n",
			v1alpha1.ClusterVersions{},
			created{versions("v1.34.3", nil), set("v1.34.3"), []string{
				"cluster.yaml:16: spec.bundlesRef: clusterctl-x takes versions from its own bundles or from --bundles; ignored",
				"cluster.yaml:17: spec.externalEtcdConfiguration: no machines are made for etcd: it runs on the control plane's machines",
				"cluster.yaml:19: spec.managementCluster.name: the cluster stays on the management cluster that it is created from: clusterctl-x cannot move clusters of this provider into themselves",
			}},
		},
		"no longer supported": {
			strings.Replace(file, "1.34", "1.31", 1) + groups("{name: a, kubernetesVersion: 1.30}", "{name: b, kubernetesVersion: 1.30.5}"), v1alpha1.ClusterVersions{},
			created{versions("v1.31.5", byName{"a": "v1.30.5", "b": "v1.30.5"}), set("v1.31.5", "v1.30.5"), []string{
				"cluster.yaml:16: spec.workerNodeGroupConfigurations[0].kubernetesVersion: " + ended,
			}},
		},
		"no node image": {
			onDocker(strings.Replace(file, "1.34", "1.30", 1)) + groups("{name: a}"), v1alpha1.ClusterVersions{},
			created{versions("v1.30.5", byName{"a": "v1.30.5"}), set("v1.30.5"), []string{
				"cluster.yaml:6: spec.kubernetesVersion: " + ended,
				"cluster.yaml:6: spec.kubernetesVersion: the versions bundle of v1.30.5 has no node image for provider docker, which would take kindest/node:v1.30.5, and that may not exist; add it with --bundles, or ask for a version that has one",
				noPlugin,
			}},
		},
		"another management cluster": {file + "  managementCluster: {name: mgmt}\n", v1alpha1.ClusterVersions{}, created{versions("v1.34.3", nil), set("v1.34.3"), nil}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := decode(t, test.text)
			resolved, err := validations.Create(config, devProviders(), bundles(), test.running)
			if err != nil {
				t.Fatal(err)
			}
			got := created{Versions: resolved.Versions, Set: resolved.Set}
			for _, warning := range resolved.Warnings {
				got.Warnings = append(got.Warnings, warning.String())
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateComparable(v1alpha1.Version{})); diff != "" {
				t.Errorf("created (-want +got):\n%s", diff)
			}
			if resolved.Config != config {
				t.Error("the config is not the one that was given")
			}
		})
	}
}

// TestUnverifiedKubeadm: a warning says where machines trust the publisher of kubeadm, once for each group
// whose machines need it.
func TestUnverifiedKubeadm(t *testing.T) {
	t.Parallel()
	unverified := bundles()
	for i, bundle := range unverified.Spec.VersionsBundles {
		if bundle.Releases[0].Version == version("v1.34.3") {
			unverified.Spec.VersionsBundles[i].Releases[0].Kubeadm = map[string]versionsbundle.Download{"amd64": {URL: "https://dl.k8s.io/kubeadm"}}
		}
	}
	text := strings.Replace(file, "1.34", "v1.34.3", 1) + groups("{name: a}", "{name: b, kubernetesVersion: 1.31}", "{name: c, kubernetesVersion: v1.34.2}")
	var got []string
	for _, text := range []string{text, onDocker(text)} {
		resolved, err := validations.Create(decode(t, text), devProviders(), unverified, v1alpha1.ClusterVersions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, warning := range resolved.Warnings {
			got = append(got, warning.String())
		}
	}
	want := []string{
		"cluster.yaml:7: spec.clusterNetwork: no cniConfig: nodes become ready once you have applied a network plugin",
		"cluster.yaml:17: spec.workerNodeGroupConfigurations[1].kubernetesVersion: machines of group b fetch kubeadm v1.34.3 to join, and the versions bundle does not have its checksum: they take it from the server that they fetch it from; add sha256 with --bundles",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestCreateReportsAllProblems(t *testing.T) {
	t.Parallel()
	const kubeadm = "need kubeadm v1.36.1 to join, and the versions bundle has no download of it; add it with --bundles, use a version of minor 1.36, or a control plane with a download: v1.30.5, v1.31.5, v1.34.2, v1.34.3, v1.35.1"
	tests := map[string]struct {
		text string
		want []string
	}{
		"group newer than the control plane": {file + groups("{name: a, kubernetesVersion: 1.35}"), []string{
			`cluster.yaml:16: spec.workerNodeGroupConfigurations[0].kubernetesVersion: Invalid value: "1.35": group a must not be newer than the control plane (v1.34.3); use 1.31 to v1.34.3, or change spec.kubernetesVersion`,
		}},
		"group newer by a patch": {strings.Replace(file, "1.34", "1.34.2", 1) + groups("{name: a, kubernetesVersion: v1.34.3}"), []string{
			`cluster.yaml:16: spec.workerNodeGroupConfigurations[0].kubernetesVersion: Invalid value: "v1.34.3": group a must not be newer than the control plane (v1.34.2); use 1.31 to v1.34.2, or change spec.kubernetesVersion`,
		}},
		"group too old": {file + groups("{name: a}", "{name: b, kubernetesVersion: 1.30}"), []string{
			`cluster.yaml:17: spec.workerNodeGroupConfigurations[1].kubernetesVersion: Invalid value: "1.30": group b must not be more than 3 minors older than the control plane (v1.34.3); use 1.31 to v1.34.3, or change spec.kubernetesVersion to 1.33 or older`,
		}},
		"group older than the spec allows": {file + "  upgradePolicy: {maxWorkerVersionSkew: 2}\n" + groups("{name: a}", "{name: b, kubernetesVersion: 1.31}"), []string{
			`cluster.yaml:18: spec.workerNodeGroupConfigurations[1].kubernetesVersion: Invalid value: "1.31": group b must not be more than 2 minors older than the control plane (v1.34.3); use 1.32 to v1.34.3, or change spec.kubernetesVersion to 1.33 or older, or raise spec.upgradePolicy.maxWorkerVersionSkew, which sets the limit`,
		}},
		// What breaks the policy of Kubernetes breaks every tighter one.
		"group too old by any policy, with one that cannot be read": {file + "  upgradePolicy: {maxWorkerVersionSkew: one}\n" + groups("{name: a, kubernetesVersion: 1.31}", "{name: b, kubernetesVersion: 1.30}"), []string{
			`cluster.yaml:15: spec.upgradePolicy.maxWorkerVersionSkew: Invalid value: "one": must be a whole number in decimal digits, without quotes`,
			`cluster.yaml:18: spec.workerNodeGroupConfigurations[1].kubernetesVersion: Invalid value: "1.30": group b must not be more than 3 minors older than the control plane (v1.34.3); use 1.31 to v1.34.3, or change spec.kubernetesVersion to 1.33 or older`,
		}},
		"group that cannot fetch its kubeadm beside one older than the spec allows": {
			onDocker(strings.Replace(file, "1.34", "1.36", 1)) + "  upgradePolicy: {maxWorkerVersionSkew: 1}\n" + groups("{name: a, kubernetesVersion: 1.35}", "{name: b, kubernetesVersion: 1.34}"),
			[]string{
				`cluster.yaml:17: spec.workerNodeGroupConfigurations[0].kubernetesVersion: Invalid value: "1.35": machines of group a ` + kubeadm,
				`cluster.yaml:18: spec.workerNodeGroupConfigurations[1].kubernetesVersion: Invalid value: "1.34": group b must not be more than 1 minor older than the control plane (v1.36.1); use 1.35 to v1.36.1, or change spec.kubernetesVersion to 1.35 or older, or raise spec.upgradePolicy.maxWorkerVersionSkew, which sets the limit`,
			},
		},
		"groups that cannot fetch their kubeadm": {
			onDocker(strings.Replace(file, "1.34", "1.36", 1)) + groups("{name: a, kubernetesVersion: 1.35}", "{name: b}", "{name: c, kubernetesVersion: 1.34}"),
			[]string{
				`cluster.yaml:16: spec.workerNodeGroupConfigurations[0].kubernetesVersion: Invalid value: "1.35": machines of group a ` + kubeadm,
				`cluster.yaml:18: spec.workerNodeGroupConfigurations[2].kubernetesVersion: Invalid value: "1.34": machines of group c ` + kubeadm,
			},
		},
		"version without release": {strings.Replace(file, "1.34", "1.33", 1) + groups("{name: a}", "{name: b, kubernetesVersion: 1.30}", "{name: c, kubernetesVersion: 1.29}"), []string{
			`cluster.yaml:6: spec.kubernetesVersion: Invalid value: "1.33": no versions bundle has this version; ` + available,
			`cluster.yaml:18: spec.workerNodeGroupConfigurations[2].kubernetesVersion: Invalid value: "1.29": no versions bundle has this version; use one of those listed for spec.kubernetesVersion`,
		}},
		"control plane's version without release, on docker": {onDocker(strings.Replace(file, "1.34", "1.33", 1)) + groups("{name: a, kubernetesVersion: 1.31}"), []string{
			`cluster.yaml:6: spec.kubernetesVersion: Invalid value: "1.33": no versions bundle has this version; ` + available,
		}},
		"group's version without release": {file + groups("{name: a, kubernetesVersion: 1.29}"), []string{
			`cluster.yaml:16: spec.workerNodeGroupConfigurations[0].kubernetesVersion: Invalid value: "1.29": no versions bundle has this version; ` + available,
		}},
		"no cluster": {"apiVersion: clusterctl-x.io/v1alpha1\nkind: InMemoryDatacenterConfig\nmetadata: {name: prod}\n", []string{
			"cluster.yaml: no document of kind Cluster: 'clusterctl-x generate clusterconfig NAME --provider inmemory' writes a sample",
		}},
		"no version": {strings.Replace(file, "  kubernetesVersion: \"1.34\"\n", "", 1), []string{
			`cluster.yaml:5: spec.kubernetesVersion: Required value: a version of Kubernetes such as "1.34"; ` + available,
		}},
		// Which of the two has which version is not known.
		"groups of one name": {file + groups("{name: a, kubernetesVersion: 1.36}", "{name: a, kubernetesVersion: 1.30}", "{name: b, kubernetesVersion: 1.30}"), []string{
			`cluster.yaml:17: spec.workerNodeGroupConfigurations[1].name: Duplicate value: "a": spec.workerNodeGroupConfigurations[0] has this name already; each group needs its own`,
			`cluster.yaml:18: spec.workerNodeGroupConfigurations[2].kubernetesVersion: Invalid value: "1.30": group b must not be more than 3 minors older than the control plane (v1.34.3); use 1.31 to v1.34.3, or change spec.kubernetesVersion to 1.33 or older`,
		}},
		"rules of all documents": {
			strings.Replace(file, "  datacenterRef", "  identityProviderRefs: [{kind: AWSIamConfig, name: iam}, {kind: OIDCConfig, name: oidc}]\n  datacenterRef", 1) +
				"  controlPlaneConfiguration:\n    labels:\n      role: a\n      kubernetes.io/role: b\n" +
				"---\napiVersion: anywhere.eks.amazonaws.com/v1alpha1\nkind: OIDCConfig\nmetadata: {name: oidc}\nspec:\n  clientId: kubernetes\n  issuerUrl: http://issuer.example.com\n" +
				"---\napiVersion: anywhere.eks.amazonaws.com/v1alpha1\nkind: AWSIamConfig\nmetadata: {name: iam}\nspec:\n  awsRegion: mars\n  backendMode: [CRD]\n",
			[]string{
				`cluster.yaml:19: spec.controlPlaneConfiguration.labels["kubernetes.io/role"]: Invalid value: "kubernetes.io/role": must not be in a domain of Kubernetes in which a kubelet may not label its node; use a domain of your own, or node-role.kubernetes.io, node-restriction.kubernetes.io or node.kubernetes.io`,
				`cluster.yaml:26: spec.issuerUrl: Invalid value: "http://issuer.example.com": must be an address such as https://issuer.example.com/path: https, a host, no user, and no query or fragment`,
				`cluster.yaml:32: spec.awsRegion: Invalid value: "mars": must be a region of AWS, such as eu-west-1`,
			},
		},
		// A value that is inherited is told once, and so is one that cannot be read.
		"health checks": {
			file + "  controlPlaneConfiguration:\n    machineHealthCheck: {maxUnhealthy: 120%}\n  machineHealthCheck:\n    nodeStartupTimeout: 29s\n    unhealthyMachineTimeout: soon\n" + groups("{name: a, machineHealthCheck: {unhealthyMachineTimeout: 0s}}"),
			[]string{
				`cluster.yaml:16: spec.controlPlaneConfiguration.machineHealthCheck.maxUnhealthy: Invalid value: "120%": must be from 0% to 100%`,
				`cluster.yaml:18: spec.machineHealthCheck.nodeStartupTimeout: Invalid value: "29s": must be 30s or more, or 0s for no limit`,
				`cluster.yaml:19: spec.machineHealthCheck.unhealthyMachineTimeout: Invalid value: "soon": write a duration such as 90s or 1m30s, or 0s`,
				`cluster.yaml:21: spec.workerNodeGroupConfigurations[0].machineHealthCheck.unhealthyMachineTimeout: Invalid value: "0s": must be 1s or more; without a machineHealthCheck no machine is replaced`,
			},
		},
		"rule about two fields beside a third that cannot be read": {
			file + "  controlPlaneConfiguration: {count: 2}\n  externalEtcdConfiguration: {count: three}\n",
			[]string{
				"cluster.yaml:15: spec.controlPlaneConfiguration.count: Invalid value: 2: must be odd: etcd has a member on each control plane machine, and an even number survives no more failures than one less; use 1 or 3",
				`cluster.yaml:16: spec.externalEtcdConfiguration.count: Invalid value: "three": must be a whole number in decimal digits, without quotes`,
			},
		},
		"kubelet's configuration": {
			file + "  controlPlaneConfiguration:\n    kubeletConfiguration:\n      maxPods: 200\n      systemReserved:\n        cpu: [1]\n      imageGCLowTresholdPercent: 5\n",
			[]string{
				`cluster.yaml:19: spec.controlPlaneConfiguration.kubeletConfiguration.systemReserved.cpu: Invalid value: "a list": must be text; put it in quotes`,
				`cluster.yaml:20: spec.controlPlaneConfiguration.kubeletConfiguration.imageGCLowTresholdPercent: Forbidden: unknown field; did you mean imageGCLowThresholdPercent?`,
			},
		},
		"old way to name a plugin that simulated nodes cannot have": {
			strings.Replace(file, "    pods:", "    cni: kindnetd\n    pods:", 1),
			[]string{"cluster.yaml:8: spec.clusterNetwork.cni: Forbidden: kindnetd is for nodes of kind, and provider inmemory makes none; use cilium, or remove it"},
		},
		"rules of all kinds": {
			strings.NewReplacer("name: prod\nspec", "name: Prod\nspec", "10.96.0.0/12", "10.96.0.0/8", "1.34", "1.37").Replace(file) + groups("{name: a, count: -1}", "{name: b, kubernetesVersion: 1.29}"),
			[]string{
				"cluster.yaml:4: metadata.name: Invalid value: \"Prod\": must consist of lower-case letters, digits and dashes, and begin and end with a letter or digit",
				`cluster.yaml:6: spec.kubernetesVersion: Invalid value: "1.37": no versions bundle has this version; ` + available,
				`cluster.yaml:11: spec.clusterNetwork.services.cidrBlocks[0]: Invalid value: "10.96.0.0/8": has bits set behind its mask; did you mean 10.0.0.0/8?`,
				"cluster.yaml:16: spec.workerNodeGroupConfigurations[0].count: Invalid value: -1: must be 0 or more",
				`cluster.yaml:17: spec.workerNodeGroupConfigurations[1].kubernetesVersion: Invalid value: "1.29": no versions bundle has this version; use one of those listed for spec.kubernetesVersion`,
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			resolved, err := validations.Create(decode(t, test.text), devProviders(), bundles(), v1alpha1.ClusterVersions{})
			if err != nil {
				got = strings.Split(err.Error(), "\n")
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if resolved.Config != nil {
				t.Error("a spec with problems was resolved")
			}
		})
	}
}
