package validations

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	capilabels "sigs.k8s.io/cluster-api/util/labels"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// Warnings returns the warnings about what a valid spec asks for and does not get, and
// about what else it needs.
func Warnings(cluster *v1alpha1.Cluster, provider providers.Provider) []strictyaml.Warning {
	var warnings []strictyaml.Warning
	warn := func(path *field.Path, text string) {
		warnings = append(warnings, strictyaml.Warning{Path: path.String(), Text: text})
	}
	path, spec := field.NewPath("spec"), cluster.Spec
	for i, group := range spec.WorkerNodeGroupConfigurations {
		if bounds := group.AutoscalingConfiguration; bounds != nil && group.Count != nil && *group.Count != bounds.MinCount {
			warn(path.Child("workerNodeGroupConfigurations").Index(i).Child("count"), fmt.Sprintf("the group starts with minCount (%d) machines, and the autoscaler takes over from there; ignored", bounds.MinCount))
		}
	}
	if homeless(spec) && !cluster.SelfManaged() { // which is an error there
		warn(path.Child("workerNodeGroupConfigurations"), "every group has a NoSchedule or NoExecute taint, and so has the control plane: a pod without a toleration for one of them runs nowhere")
	}
	if etcd := spec.ExternalEtcdConfiguration; etcd != nil && len(etcd.Endpoints) == 0 {
		warn(path.Child("externalEtcdConfiguration"), "no machines are made for etcd: it runs on the control plane's machines")
	}
	if idle := withoutEffect(spec); len(idle) > 0 && provider.Spec.Simulated {
		warn(path.Child("datacenterRef"), "simulated machines run no kubelet, containerd or kube-apiserver that would read "+strings.Join(idle, ", ")+": it is rendered, and has no visible effect")
	}
	overridden(spec.ControlPlaneConfiguration.KubeletConfiguration, provider, path.Child("controlPlaneConfiguration", "kubeletConfiguration"), warn)
	for i, group := range spec.WorkerNodeGroupConfigurations {
		overridden(group.KubeletConfiguration, provider, path.Child("workerNodeGroupConfigurations").Index(i).Child("kubeletConfiguration"), warn)
	}
	networkPlugin(spec, provider, path.Child("clusterNetwork"), warn)
	for i, entry := range spec.EtcdEncryption {
		keys(spec.KubernetesVersion.Minor(), entry, path.Child("etcdEncryption").Index(i), warn)
	}
	if mirror := spec.RegistryMirrorConfiguration; mirror != nil && mirror.InsecureSkipVerify {
		remedy := "give caCertContent instead where you can"
		if mirror.CACertContent != "" {
			remedy = "without this field, the mirror's certificate is checked with caCertContent, which is given"
		}
		warn(path.Child("registryMirrorConfiguration", "insecureSkipVerify"), "anyone on the network between machines and mirror can replace images; "+remedy)
	}
	if cluster.SelfManaged() && provider.Spec.SelfManaged == nil {
		warn(path.Child("managementCluster", "name"), "the cluster stays on the management cluster that it is created from: clusterctl-x cannot move clusters of this provider into themselves")
	}
	return warnings
}

// overridden warns about fields that the machines of a provider set by arguments of the
// kubelet, which win.
func overridden(kubelet map[string]any, provider providers.Provider, path *field.Path, warn func(*field.Path, string)) {
	for _, name := range provider.Spec.Node.OverriddenKubeletFields {
		if _, given := kubelet[name]; given {
			warn(path.Child(name), "on machines of provider "+provider.Name+" an argument of the kubelet, which wins, sets this already")
		}
	}
}

// withoutEffect are the fields of a spec that programs on the machines read.
func withoutEffect(spec v1alpha1.ClusterSpec) []string {
	var names []string
	add := func(given bool, name string) {
		if given && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	part := func(labels map[string]string, taints *[]v1alpha1.Taint, kubelet map[string]any) {
		add(len(labels) > len(capilabels.GetManagedLabels(labels)), "labels")
		add(taints != nil && len(*taints) > 0, "taints")
		add(len(kubelet) > 0, "kubeletConfiguration")
	}
	config := spec.ControlPlaneConfiguration
	part(config.Labels, config.Taints, config.KubeletConfiguration)
	for _, group := range spec.WorkerNodeGroupConfigurations {
		part(group.Labels, group.Taints, group.KubeletConfiguration)
	}
	add(len(config.APIServerExtraArgs) > 0, "apiServerExtraArgs")
	add(config.AuditPolicyContent != "", "auditPolicyContent")
	add(len(config.CertSANs) > 0, "certSans")
	add(spec.ClusterNetwork.DNS.ResolvConf != nil, "dns")
	add(len(spec.EtcdEncryption) > 0, "etcdEncryption")
	add(len(spec.IdentityProviderRefs) > 0, "identityProviderRefs")
	add(spec.PodIAMConfig != nil, "podIamConfig")
	add(spec.ProxyConfiguration != nil, "proxyConfiguration")
	add(spec.RegistryMirrorConfiguration != nil, "registryMirrorConfiguration")
	slices.Sort(names)
	return names
}

func networkPlugin(spec v1alpha1.ClusterSpec, provider providers.Provider, path *field.Path, warn func(*field.Path, string)) {
	config := spec.ClusterNetwork.CNIConfig
	if config == nil && len(spec.AddOns) == 0 && provider.Known() && !provider.Spec.Simulated {
		warn(path, "no cniConfig: nodes become ready once you have applied a network plugin")
	}
	if config != nil && config.Cilium != nil && config.Cilium.PolicyEnforcementMode == "always" {
		warn(path.Child("cniConfig", "cilium", "policyEnforcementMode"), "pods that no network policy allows are cut off, CoreDNS among them; add the policies that you need, for instance by spec.addOns")
	}
}

// keys warns about the plugin that has the keys of what is in etcd.
func keys(version v1alpha1.Minor, entry v1alpha1.EtcdEncryption, path *field.Path, warn func(*field.Path, string)) {
	withoutCache := v1alpha1.Minor{Major: 1, Minor: 29}
	for i, provider := range entry.Providers {
		if provider.KMS == nil {
			continue
		}
		at := path.Child("providers").Index(i).Child("kms")
		warn(at, fmt.Sprintf("the plugin must listen on %s on every control plane machine before its API server starts; build it into the node image", provider.KMS.SocketListenAddress))
		if provider.KMS.CacheSize != nil && version.Compare(withoutCache) >= 0 {
			warn(at.Child("cachesize"), fmt.Sprintf("API servers of %s use version 2 of the KMS interface, which has no such cache; ignored", version))
		}
	}
}
