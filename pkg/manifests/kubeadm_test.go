package manifests

import (
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/config"
)

// docker134 is a spec of provider docker, to which fields can be added.
const docker134 = `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: c}
spec:
  kubernetesVersion: "1.34"
  datacenterRef: {kind: DockerDatacenterConfig, name: c}
  clusterNetwork: {pods: {cidrBlocks: [192.168.0.0/16]}, services: {cidrBlocks: [10.96.0.0/12]}}
`

// controlPlaneOf is how kubeadm makes the control plane of a spec.
func controlPlaneOf(t *testing.T, spec string) bootstrapv1.KubeadmConfigSpec {
	t.Helper()
	input := resolve(t, []byte(spec), readFile(t, "testdata/bundles.yaml"))
	r, err := newRenderer(input, config.Templates)
	if err != nil {
		t.Fatal(err)
	}
	kubeadm, err := r.controlPlaneKubeadm(input.Set[input.Versions.ControlPlane])
	if err != nil {
		t.Fatal(err)
	}
	return kubeadm
}

// TestTaintsOfAControlPlaneAlone: the only nodes of a cluster run all pods, as
// EKS Anywhere has it.
func TestTaintsOfAControlPlaneAlone(t *testing.T) {
	t.Parallel()
	const own = "  controlPlaneConfiguration: {taints: [{key: a, effect: PreferNoSchedule}]}\n"
	for name, test := range map[string]struct {
		more string
		want *[]corev1.Taint
	}{
		"alone":           {"", &[]corev1.Taint{}},
		"with its own":    {own, &[]corev1.Taint{{Key: "a", Effect: corev1.TaintEffectPreferNoSchedule}}},
		"beside a group":  {"  workerNodeGroupConfigurations: [{name: a}]\n", nil},
		"beside no nodes": {"  workerNodeGroupConfigurations: [{name: a, count: 0}]\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kubeadm := controlPlaneOf(t, docker134+test.more)
			for _, got := range []*[]corev1.Taint{kubeadm.InitConfiguration.NodeRegistration.Taints, kubeadm.JoinConfiguration.NodeRegistration.Taints} {
				if diff := gocmp.Diff(test.want, got); diff != "" {
					t.Errorf("taints (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestHardening: what EKS Anywhere gives the programs of every cluster, as its
// rendered files have it (pkg/providers/docker/testdata, and for kubelets
// pkg/providers/vsphere/testdata).
func TestHardening(t *testing.T) {
	t.Parallel()
	const suites = "tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
	type arguments struct{ APIServer, ControllerManager, Scheduler, Etcd, Kubelet []string }
	server := []string{"profiling=false", suites}
	const eviction, cgroups = "eviction-hard=nodefs.available<0%,nodefs.inodesFree<0%,imagefs.available<0%", "fail-cgroupv1=false"
	kubelet := []string{"anonymous-auth=false", "read-only-port=0", suites, eviction, cgroups}
	etcd := []string{"cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"}
	for name, test := range map[string]struct {
		more string
		want arguments
	}{
		"always": {"", arguments{server, server, server, etcd, kubelet}},
		"an argument of the user wins": {
			"  controlPlaneConfiguration: {apiServerExtraArgs: {profiling: \"true\", v: \"4\"}}\n",
			arguments{[]string{suites, "profiling=true", "v=4"}, server, server, etcd, kubelet},
		},
		"beside an argument of another field": {
			"  controlPlaneConfiguration: {labels: {a: b}}\n",
			arguments{server, server, server, etcd, append(slices.Clone(kubelet), "node-labels=a=b")},
		},
		"the configuration of the kubelet wins": {
			"  controlPlaneConfiguration: {kubeletConfiguration: {readOnlyPort: 10255, authentication: {anonymous: {enabled: true}}, tlsCipherSuites: [a, b]}}\n",
			arguments{server, server, server, etcd, []string{eviction, cgroups, "anonymous-auth=true", "read-only-port=10255", "tls-cipher-suites=a,b"}},
		},
		"other fields of the kubelet": {
			"  controlPlaneConfiguration: {kubeletConfiguration: {maxPods: 5, authentication: {webhook: {enabled: true}}}}\n",
			arguments{server, server, server, etcd, kubelet},
		},
		"an etcd that is there": {"  externalEtcdConfiguration: {endpoints: [\"https://10.0.0.1:2379\"]}\n", arguments{server, server, server, nil, kubelet}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			written := func(args []bootstrapv1.Arg) []string {
				var texts []string
				for _, arg := range args {
					texts = append(texts, arg.Name+"="+*arg.Value)
				}
				return texts
			}
			kubeadm := controlPlaneOf(t, docker134+test.more)
			cluster := kubeadm.ClusterConfiguration
			for _, node := range []bootstrapv1.NodeRegistrationOptions{kubeadm.InitConfiguration.NodeRegistration, kubeadm.JoinConfiguration.NodeRegistration} {
				got := arguments{
					written(cluster.APIServer.ExtraArgs), written(cluster.ControllerManager.ExtraArgs), written(cluster.Scheduler.ExtraArgs),
					written(cluster.Etcd.Local.ExtraArgs), written(node.KubeletExtraArgs),
				}
				if diff := gocmp.Diff(test.want, got); diff != "" {
					t.Errorf("arguments (-want +got):\n%s", diff)
				}
			}
		})
	}
}
