package v1alpha1

// ClusterNetwork holds the cluster's networks.
type ClusterNetwork struct {
	// Pods has the network of pods.
	Pods Network `json:"pods,omitzero"`
	// Services has the network of services.
	Services Network `json:"services,omitzero"`
	// CNI is the old way to name the network plugin: cilium or kindnetd. Use
	// cniConfig.
	CNI string `json:"cni,omitempty" jsonschema:"enum=cilium,enum=kindnetd"`
	// CNIConfig is the network plugin to install, one of these. Without it none
	// is installed.
	CNIConfig *CNIConfig `json:"cniConfig,omitempty"`
	// DNS is how nodes find names.
	DNS DNS `json:"dns,omitzero"`
	// Nodes says how the network of pods is divided.
	Nodes *Nodes `json:"nodes,omitempty"`
}

// Network is a list of address ranges.
type Network struct {
	// CIDRBlocks lists one range in CIDR notation. With a class of your own it may list
	// two, of both IP versions.
	CIDRBlocks []string `json:"cidrBlocks" jsonschema:"minItems=1,maxItems=2"`
}

// Block returns the first range; it is empty where there is none.
func (n Network) Block() string {
	if len(n.CIDRBlocks) == 0 {
		return ""
	}
	return n.CIDRBlocks[0]
}

// DNS is how nodes find names.
type DNS struct {
	// ResolvConf is what pods inherit their DNS settings from.
	ResolvConf *ResolvConf `json:"resolvConf,omitempty"`
}

// ResolvConf is a file on the machines.
type ResolvConf struct {
	// Path of the file, absolute; the kubelet's resolv-conf.
	Path string `json:"path"`
}

// Nodes says how the network of pods is divided.
type Nodes struct {
	// CIDRMaskSize is the length of the network prefix of each node's part.
	// Defaults to 24, with IPv6 to 64.
	CIDRMaskSize *int `json:"cidrMaskSize,omitempty"`
}

// CNIConfig names the network plugin, as EKS Anywhere does.
type CNIConfig struct {
	// Cilium is installed from the manifest in this release of clusterctl-x.
	Cilium *Cilium `json:"cilium,omitempty"`
	// Kindnetd is kind's network plugin, for the docker provider. It has no settings.
	Kindnetd *Kindnetd `json:"kindnetd,omitempty"`
}

// Cilium has the settings of Cilium that EKS Anywhere has.
type Cilium struct {
	// PolicyEnforcementMode says for which pods network policies are enforced.
	// Defaults to default: those that a policy selects.
	PolicyEnforcementMode string `json:"policyEnforcementMode,omitempty" jsonschema:"enum=default,enum=always,enum=never,default=default"`
	// EgressMasqueradeInterfaces limits masquerading to these interfaces.
	EgressMasqueradeInterfaces string `json:"egressMasqueradeInterfaces,omitempty"`
	// SkipUpgrade leaves Cilium alone once it is installed. It cannot be changed
	// afterwards.
	SkipUpgrade *bool `json:"skipUpgrade,omitempty" jsonschema:"default=false"`
	// RoutingMode is overlay, which is the default, or direct.
	RoutingMode string `json:"routingMode,omitempty" jsonschema:"enum=overlay,enum=direct,default=overlay"`
	// IPv4NativeRoutingCIDR is the network that routing mode direct reaches
	// without masquerading.
	IPv4NativeRoutingCIDR string `json:"ipv4NativeRoutingCIDR,omitempty"`
	// IPv6NativeRoutingCIDR is the same for IPv6.
	IPv6NativeRoutingCIDR string `json:"ipv6NativeRoutingCIDR,omitempty"`
	// CNIExclusive has Cilium remove the configuration of other network plugins
	// from the machines. Defaults to true.
	CNIExclusive *bool `json:"cniExclusive,omitempty" jsonschema:"default=true"`
}

// Kindnetd has no settings.
type Kindnetd struct{}

// ProxyConfiguration is the proxy through which machines pull images.
type ProxyConfiguration struct {
	// HTTPProxy is HOST:PORT or http://HOST:PORT, without a password.
	HTTPProxy string `json:"httpProxy"`
	// HTTPSProxy is HOST:PORT or http://HOST:PORT, without a password.
	HTTPSProxy string `json:"httpsProxy"`
	// NoProxy are hosts, domains and networks that are reached directly, beside
	// the cluster's own networks.
	NoProxy []string `json:"noProxy,omitempty"`
}

// RegistryMirrorConfiguration is a registry that machines pull images from.
type RegistryMirrorConfiguration struct {
	// Endpoint is the host name or address of the mirror.
	Endpoint string `json:"endpoint"`
	// Port of the mirror. Defaults to 443.
	Port Port `json:"port,omitempty" jsonschema:"default=443"`
	// OCINamespaces are the registries that are mirrored, and where in the
	// mirror. Without any every registry is, at the root of the mirror.
	OCINamespaces []OCINamespace `json:"ociNamespaces,omitempty"`
	// CACertContent is the certificate of the authority of the mirror, as PEM.
	CACertContent Content `json:"caCertContent,omitempty"`
	// InsecureSkipVerify leaves the certificate of the mirror unchecked.
	InsecureSkipVerify bool `json:"insecureSkipVerify,omitempty" jsonschema:"default=false"`
	// Authenticate has machines log in to the mirror with the keys username and
	// password of the Secret registry-credentials in the cluster's namespace.
	Authenticate bool `json:"authenticate,omitempty" jsonschema:"default=false"`
}

// OCINamespace is the place of a registry in the mirror.
type OCINamespace struct {
	// Registry that is mirrored, such as registry.k8s.io.
	Registry string `json:"registry"`
	// Namespace in the mirror. Without one it is the root.
	Namespace string `json:"namespace,omitempty"`
}
