package validations_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

func TestWarnings(t *testing.T) {
	t.Parallel()
	const (
		kmsAt    = "spec.etcdEncryption[0].providers[0].kms"
		listen   = kmsAt + ": the plugin must listen on unix:///kms/a on every control plane machine before its API server starts; build it into the node image"
		noPlugin = "spec.clusterNetwork: no cniConfig: nodes become ready once you have applied a network plugin"
	)
	count := func(least int, count *int) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.WorkerNodeGroupConfigurations[1] = v1alpha1.WorkerNodeGroupConfiguration{
				Name: "md-1", Count: count, AutoscalingConfiguration: &v1alpha1.AutoscalingConfiguration{MinCount: least, MaxCount: 9},
			}
		}
	}
	plugin := func(datacenter string, config *v1alpha1.CNIConfig, addOns ...v1alpha1.AddOn) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.DatacenterRef.Kind = datacenter
			c.Spec.ClusterNetwork.CNIConfig = config
			c.Spec.AddOns = addOns
		}
	}
	kms := func(version string, cache *int) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.KubernetesVersion = kubernetesVersion(version)
			c.Spec.EtcdEncryption = []v1alpha1.EtcdEncryption{{Providers: []v1alpha1.EtcdEncryptionProvider{{KMS: &v1alpha1.KMS{SocketListenAddress: "unix:///kms/a", CacheSize: cache}}}}}
		}
	}
	etcd := func(config v1alpha1.ExternalEtcdConfiguration) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Spec.ExternalEtcdConfiguration = &config }
	}
	mirror := func(insecure bool) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.RegistryMirrorConfiguration = &v1alpha1.RegistryMirrorConfiguration{InsecureSkipVerify: insecure}
		}
	}
	managed := func(by string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Spec.ManagementCluster.Name = by }
	}
	cilium := &v1alpha1.CNIConfig{Cilium: &v1alpha1.Cilium{}}
	tainted := func(first, second string, controlPlane *[]v1alpha1.Taint) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.WorkerNodeGroupConfigurations[0].Taints = &[]v1alpha1.Taint{{Key: "a", Effect: first}}
			c.Spec.WorkerNodeGroupConfigurations[1].Taints = &[]v1alpha1.Taint{{Key: "a", Effect: second}}
			c.Spec.ControlPlaneConfiguration.Taints = controlPlane
		}
	}
	const homeless = "spec.workerNodeGroupConfigurations: every group has a NoSchedule or NoExecute taint, and so has the control plane: a pod without a toleration for one of them runs nowhere"
	tests := map[string]specTest{
		"all groups tainted":        {tainted("NoSchedule", "NoExecute", nil), []string{homeless}},
		"and the control plane":     {tainted("NoSchedule", "NoExecute", &[]v1alpha1.Taint{{Key: "a", Effect: "NoExecute"}}), []string{homeless}},
		"but the control plane":     {tainted("NoSchedule", "NoExecute", &[]v1alpha1.Taint{}), nil},
		"but one group":             {tainted("NoSchedule", "PreferNoSchedule", nil), nil},
		"without groups":            {func(c *v1alpha1.Cluster) { c.Spec.WorkerNodeGroupConfigurations = nil }, nil},
		"none":                      {func(*v1alpha1.Cluster) {}, nil},
		"autoscaled without count":  {count(2, nil), nil},
		"autoscaled from its count": {count(2, new(2)), nil},
		"autoscaled from another":   {count(2, new(3)), []string{"spec.workerNodeGroupConfigurations[1].count: the group starts with minCount (2) machines, and the autoscaler takes over from there; ignored"}},
		"etcd that is there":        {etcd(v1alpha1.ExternalEtcdConfiguration{Endpoints: []string{"https://a:1"}}), nil},
		"etcd to make":              {etcd(v1alpha1.ExternalEtcdConfiguration{Count: 3}), []string{"spec.externalEtcdConfiguration: no machines are made for etcd: it runs on the control plane's machines"}},
		"plugin for simulated":      {plugin("InMemoryDatacenterConfig", cilium), nil},
		"none for simulated":        {plugin("InMemoryDatacenterConfig", nil), nil},
		"plugin for docker":         {plugin("DockerDatacenterConfig", cilium), nil},
		"none for docker":           {plugin("DockerDatacenterConfig", nil), []string{noPlugin}},
		"add-on for docker":         {plugin("DockerDatacenterConfig", nil, v1alpha1.AddOn{}), nil},
		"plugin, add-on, docker":    {plugin("DockerDatacenterConfig", cilium, v1alpha1.AddOn{}), nil},
		"policies enforced always":  {plugin("DockerDatacenterConfig", &v1alpha1.CNIConfig{Cilium: &v1alpha1.Cilium{PolicyEnforcementMode: "always"}}), []string{"spec.clusterNetwork.cniConfig.cilium.policyEnforcementMode: pods that no network policy allows are cut off, CoreDNS among them; add the policies that you need, for instance by spec.addOns"}},
		"policies enforced never":   {plugin("DockerDatacenterConfig", &v1alpha1.CNIConfig{Cilium: &v1alpha1.Cilium{PolicyEnforcementMode: "never"}}), nil},
		"kindnetd for docker":       {plugin("DockerDatacenterConfig", &v1alpha1.CNIConfig{Kindnetd: &v1alpha1.Kindnetd{}}), nil},
		"another provider":          {plugin("", nil), nil},
		"encryption":                {kms("1.34", nil), []string{listen}},
		"cache of the old KMS":      {kms("1.28", new(5)), []string{listen}},
		"cache of the new KMS":      {kms("1.29", new(5)), []string{listen, kmsAt + ".cachesize: API servers of 1.29 use version 2 of the KMS interface, which has no such cache; ignored"}},
		"encryption without plugin": {
			func(c *v1alpha1.Cluster) {
				c.Spec.EtcdEncryption = []v1alpha1.EtcdEncryption{{Providers: make([]v1alpha1.EtcdEncryptionProvider, 1)}}
			}, nil,
		},
		"plugin of the second provider": {
			func(c *v1alpha1.Cluster) {
				c.Spec.EtcdEncryption = []v1alpha1.EtcdEncryption{{Providers: []v1alpha1.EtcdEncryptionProvider{{}, {KMS: &v1alpha1.KMS{SocketListenAddress: "unix:///kms/a"}}}}}
			}, []string{strings.Replace(listen, "providers[0]", "providers[1]", 1)},
		},
		"mirror":          {mirror(false), nil},
		"insecure mirror": {mirror(true), []string{"spec.registryMirrorConfiguration.insecureSkipVerify: anyone on the network between machines and mirror can replace images; give caCertContent instead where you can"}},
		"insecure mirror with a certificate": {func(c *v1alpha1.Cluster) {
			c.Spec.RegistryMirrorConfiguration = &v1alpha1.RegistryMirrorConfiguration{InsecureSkipVerify: true, CACertContent: "a"}
		}, []string{"spec.registryMirrorConfiguration.insecureSkipVerify: anyone on the network between machines and mirror can replace images; without this field, the mirror's certificate is checked with caCertContent, which is given"}},
		"self-managed":      {managed("prod"), []string{"spec.managementCluster.name: the cluster stays on the management cluster that it is created from: clusterctl-x cannot move clusters of this provider into themselves"}},
		"managed by others": {managed("mgmt"), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, warning := range warningsOf(valid(test.change)) {
				if warning.Path != "spec.datacenterRef" { // has a test of its own
					got = append(got, warning.Path+": "+warning.Text)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWarningsOfSimulatedMachines: what programs on machines would read changes
// nothing where there are no such programs.
func TestWarningsOfSimulatedMachines(t *testing.T) {
	t.Parallel()
	all := func(c *v1alpha1.Cluster) {
		groups := c.Spec.WorkerNodeGroupConfigurations
		groups[0].Labels = map[string]string{"role": "a"}
		groups[1].Taints = &[]v1alpha1.Taint{{Key: "a", Effect: "NoSchedule"}}
		groups[1].Labels = map[string]string{"role": "b"}
		c.Spec.ControlPlaneConfiguration.KubeletConfiguration = map[string]any{"maxPods": 5}
		c.Spec.ControlPlaneConfiguration.APIServerExtraArgs = map[string]string{"v": "2"}
		c.Spec.ControlPlaneConfiguration.AuditPolicyContent = "a"
		c.Spec.ControlPlaneConfiguration.CertSANs = []string{"a"}
		c.Spec.ClusterNetwork.DNS.ResolvConf = &v1alpha1.ResolvConf{}
		c.Spec.EtcdEncryption = []v1alpha1.EtcdEncryption{{}}
		c.Spec.IdentityProviderRefs = []v1alpha1.Ref{{}}
		c.Spec.PodIAMConfig = &v1alpha1.PodIAMConfig{}
		c.Spec.ProxyConfiguration = &v1alpha1.ProxyConfiguration{}
		c.Spec.RegistryMirrorConfiguration = &v1alpha1.RegistryMirrorConfiguration{}
	}
	for name, test := range map[string]struct {
		change func(*v1alpha1.Cluster)
		want   []string
	}{
		"all of them": {all, []string{"simulated machines run no kubelet, containerd or kube-apiserver that would read apiServerExtraArgs, auditPolicyContent, certSans, dns, etcdEncryption, identityProviderRefs, kubeletConfiguration, labels, podIamConfig, proxyConfiguration, registryMirrorConfiguration, taints: it is rendered, and has no visible effect"}},
		"on docker":   {func(c *v1alpha1.Cluster) { all(c); c.Spec.DatacenterRef.Kind = "DockerDatacenterConfig" }, nil},
		"what Cluster API does by itself": {
			func(c *v1alpha1.Cluster) {
				c.Spec.WorkerNodeGroupConfigurations[0].Labels = map[string]string{"node-role.kubernetes.io/a": ""}
				c.Spec.WorkerNodeGroupConfigurations[0].Taints = &[]v1alpha1.Taint{}
			}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, warning := range warningsOf(valid(test.change)) {
				if warning.Path == "spec.datacenterRef" {
					got = append(got, warning.Text)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWarningsOfDockersKubelet: arguments win over the configuration.
func TestWarningsOfDockersKubelet(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string][]string{
		"InMemoryDatacenterConfig": nil,
		"DockerDatacenterConfig": {
			"spec.controlPlaneConfiguration.kubeletConfiguration.failSwapOn", "spec.workerNodeGroupConfigurations[1].kubeletConfiguration.evictionHard",
		},
	} {
		var got []string
		for _, warning := range warningsOf(valid(func(c *v1alpha1.Cluster) {
			c.Spec.DatacenterRef.Kind = kind
			c.Spec.ControlPlaneConfiguration.KubeletConfiguration = map[string]any{"failSwapOn": false, "maxPods": 5}
			c.Spec.WorkerNodeGroupConfigurations[1].KubeletConfiguration = map[string]any{"evictionHard": map[string]any{}}
		})) {
			if strings.Contains(warning.Text, "an argument of the kubelet, which wins") {
				got = append(got, warning.Path)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: warnings about (-want +got):\n%s", kind, diff)
		}
	}
}

// warningsOf are those of a cluster of a built-in provider.
func warningsOf(cluster *v1alpha1.Cluster) []strictyaml.Warning {
	return validations.Warnings(cluster, devProviders().Of(cluster))
}
