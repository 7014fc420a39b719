package validations_test

import (
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

func TestSpecNetworkPlugin(t *testing.T) {
	t.Parallel()
	const (
		path     = "spec.clusterNetwork"
		together = ": must not be given together with cniConfig; remove one of the two"
		kindnetd = ": Forbidden: kindnetd is for nodes of kind, and provider inmemory makes none; use cilium, or remove it"
		missing  = path + ".cniConfig: Required value: a network plugin: cilium, or kindnetd for nodes of kind; write one, or remove cniConfig"
	)
	var (
		onlyCilium   = &v1alpha1.CNIConfig{Cilium: &v1alpha1.Cilium{}}
		onlyKindnetd = &v1alpha1.CNIConfig{Kindnetd: &v1alpha1.Kindnetd{}}
	)
	on := func(datacenter, cni string, config *v1alpha1.CNIConfig) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.DatacenterRef.Kind = datacenter
			c.Spec.ClusterNetwork.CNI, c.Spec.ClusterNetwork.CNIConfig = cni, config
		}
	}
	docker := func(cni string, config *v1alpha1.CNIConfig) func(*v1alpha1.Cluster) {
		return on("DockerDatacenterConfig", cni, config)
	}
	simulated := func(cni string, config *v1alpha1.CNIConfig) func(*v1alpha1.Cluster) {
		return on("InMemoryDatacenterConfig", cni, config)
	}
	testSpec(t, map[string]specTest{
		"none":                            {docker("", nil), nil},
		"cilium":                          {docker("", onlyCilium), nil},
		"kindnetd":                        {docker("", onlyKindnetd), nil},
		"cilium in the old way":           {docker("cilium", onlyCilium), nil},
		"kindnetd in the old way":         {docker("kindnetd", onlyKindnetd), nil},
		"simulated cilium":                {simulated("", onlyCilium), nil},
		"simulated cilium, old way":       {simulated("cilium", onlyCilium), nil},
		"simulated kindnetd":              {simulated("", onlyKindnetd), []string{path + ".cniConfig" + kindnetd}},
		"simulated kindnetd, old way":     {simulated("kindnetd", onlyKindnetd), []string{path + ".cni" + kindnetd}},
		"no plugin named":                 {docker("", &v1alpha1.CNIConfig{}), []string{missing}},
		"another plugin in the old way":   {docker("calico", nil), []string{path + `.cni: Unsupported value: "calico": supported values: "cilium", "kindnetd"`}},
		"two ways that differ":            {docker("kindnetd", onlyCilium), []string{path + `.cni: Invalid value: "kindnetd"` + together}},
		"two ways, one with settings":     {docker("cilium", &v1alpha1.CNIConfig{Cilium: &v1alpha1.Cilium{RoutingMode: "overlay"}}), []string{path + `.cni: Invalid value: "cilium"` + together}},
		"another plugin and cniConfig":    {docker("calico", onlyCilium), []string{path + `.cni: Invalid value: "calico"` + together}},
		"old way and a cniConfig of none": {docker("cilium", &v1alpha1.CNIConfig{}), []string{path + `.cni: Invalid value: "cilium"` + together, missing}},
		"cilium beside kindnetd": {
			docker("", &v1alpha1.CNIConfig{Cilium: &v1alpha1.Cilium{}, Kindnetd: &v1alpha1.Kindnetd{}}),
			[]string{`spec.clusterNetwork.cniConfig: Invalid value: "cilium, kindnetd": must name one network plugin; remove the other`},
		},
	})
}

func TestSpecCilium(t *testing.T) {
	t.Parallel()
	const path = "spec.clusterNetwork.cniConfig.cilium."
	cilium := func(config v1alpha1.Cilium) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.ClusterNetwork.CNIConfig = &v1alpha1.CNIConfig{Cilium: &config}
		}
	}
	ipv6 := func(config v1alpha1.Cilium) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			cilium(config)(c)
			c.Spec.ClusterNetwork.Pods.CIDRBlocks = []string{"fd00::/48"}
			c.Spec.ClusterNetwork.Services.CIDRBlocks = []string{"fd01::/112"}
		}
	}
	interfaces := func(names string) func(*v1alpha1.Cluster) {
		return cilium(v1alpha1.Cilium{EgressMasqueradeInterfaces: names})
	}
	noInterfaces := func(names string) []string {
		return []string{path + `egressMasqueradeInterfaces: Invalid value: "` + names + `": must be names of network interfaces with commas between and no spaces, such as eth0,eth1`}
	}
	testSpec(t, map[string]specTest{
		"policy default":  {cilium(v1alpha1.Cilium{PolicyEnforcementMode: "default"}), nil},
		"policy always":   {cilium(v1alpha1.Cilium{PolicyEnforcementMode: "always"}), nil},
		"policy never":    {cilium(v1alpha1.Cilium{PolicyEnforcementMode: "never"}), nil},
		"another policy":  {cilium(v1alpha1.Cilium{PolicyEnforcementMode: "Always"}), []string{path + `policyEnforcementMode: Unsupported value: "Always": supported values: "default", "always", "never"`}},
		"overlay":         {cilium(v1alpha1.Cilium{RoutingMode: "overlay"}), nil},
		"another routing": {cilium(v1alpha1.Cilium{RoutingMode: "native"}), []string{path + `routingMode: Unsupported value: "native": supported values: "overlay", "direct"`}},

		"direct":                       {cilium(v1alpha1.Cilium{RoutingMode: "direct", IPv4NativeRoutingCIDR: "10.0.0.0/8"}), nil},
		"direct with IPv6":             {ipv6(v1alpha1.Cilium{RoutingMode: "direct", IPv6NativeRoutingCIDR: "fd00::/8"}), nil},
		"direct without network":       {cilium(v1alpha1.Cilium{RoutingMode: "direct"}), []string{path + "ipv4NativeRoutingCIDR: Required value: the network that routing mode direct reaches, such as 10.0.0.0/8"}},
		"direct without one, IPv6":     {ipv6(v1alpha1.Cilium{RoutingMode: "direct", IPv4NativeRoutingCIDR: "10.0.0.0/8"}), []string{path + "ipv6NativeRoutingCIDR: Required value: the network that routing mode direct reaches, such as fd00::/48"}},
		"networks that are not needed": {cilium(v1alpha1.Cilium{IPv4NativeRoutingCIDR: "10.0.0.0/8", IPv6NativeRoutingCIDR: "fd00::/8"}), nil},
		"direct and unknown pods": {
			func(c *v1alpha1.Cluster) {
				cilium(v1alpha1.Cilium{RoutingMode: "direct"})(c)
				c.Spec.ClusterNetwork.Pods.CIDRBlocks = nil
			},
			[]string{"spec.clusterNetwork.pods.cidrBlocks: Required value: one network, such as 192.168.0.0/16"},
		},
		"networks that are none": {cilium(v1alpha1.Cilium{IPv4NativeRoutingCIDR: "10.0.0.0", IPv6NativeRoutingCIDR: "fd00::1/8"}), []string{
			path + `ipv4NativeRoutingCIDR: Invalid value: "10.0.0.0": must be a network in CIDR notation, such as 10.0.0.0/8`,
			path + `ipv6NativeRoutingCIDR: Invalid value: "fd00::1/8": has bits set behind its mask; did you mean fd00::/8?`,
		}},
		"networks of the other version": {cilium(v1alpha1.Cilium{IPv4NativeRoutingCIDR: "fd00::/8", IPv6NativeRoutingCIDR: "10.0.0.0/8"}), []string{
			path + `ipv4NativeRoutingCIDR: Invalid value: "fd00::/8": is of the other IP version; use a network such as 10.0.0.0/8`,
			path + `ipv6NativeRoutingCIDR: Invalid value: "10.0.0.0/8": is of the other IP version; use a network such as fd00::/48`,
		}},

		"left alone":             {cilium(v1alpha1.Cilium{SkipUpgrade: new(true)}), nil},
		"not left alone":         {cilium(v1alpha1.Cilium{SkipUpgrade: new(false), PolicyEnforcementMode: "always"}), nil},
		"left alone with policy": {cilium(v1alpha1.Cilium{SkipUpgrade: new(true), PolicyEnforcementMode: "always"}), []string{path + "policyEnforcementMode: Forbidden: must not be given together with skipUpgrade, which leaves Cilium alone; remove one of the two"}},

		"interface":                  {interfaces("eth0"), nil},
		"interfaces":                 {interfaces("eth+,bond0.100,a-b_c"), nil},
		"interface of 15 letters":    {interfaces("abcdefghijklmno"), nil},
		"interface of 16 letters":    {interfaces("abcdefghijklmnop"), noInterfaces("abcdefghijklmnop")},
		"interfaces with a space":    {interfaces("eth0, eth1"), noInterfaces("eth0, eth1")},
		"interfaces of which one no": {interfaces("eth0,,eth1"), noInterfaces("eth0,,eth1")},
	})
}
