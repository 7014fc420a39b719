package validations_test

import (
	"strings"
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

func TestSpecNetworks(t *testing.T) {
	t.Parallel()
	const (
		podsPath     = "spec.clusterNetwork.pods.cidrBlocks"
		servicesPath = "spec.clusterNetwork.services.cidrBlocks"
	)
	networks := func(pods, services string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.ClusterNetwork.Pods.CIDRBlocks = []string{pods}
			c.Spec.ClusterNetwork.Services.CIDRBlocks = []string{services}
		}
	}
	pods := func(blocks ...string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Spec.ClusterNetwork.Pods.CIDRBlocks = blocks }
	}
	services := func(blocks ...string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Spec.ClusterNetwork.Services.CIDRBlocks = blocks }
	}
	own := func(change func(*v1alpha1.ClusterNetwork)) func(*v1alpha1.Cluster) {
		return fromOwnClass(func(c *v1alpha1.Cluster) { change(&c.Spec.ClusterNetwork) })
	}
	both := []string{"192.168.0.0/16", "fd00::/48"}
	testSpec(t, map[string]specTest{
		"an own class without networks": {own(func(n *v1alpha1.ClusterNetwork) { *n = v1alpha1.ClusterNetwork{} }), nil},
		"an own class with two networks": {own(func(n *v1alpha1.ClusterNetwork) {
			n.Pods.CIDRBlocks, n.Services.CIDRBlocks = both, []string{"10.96.0.0/12", "fd01::/112"}
		}), nil},
		"an own class with three networks": {own(func(n *v1alpha1.ClusterNetwork) { n.Pods.CIDRBlocks = append(both, "a") }), []string{
			podsPath + ": Invalid value: has 3 entries and must have at most two, one of each IP version; remove the others",
		}},
		"an own class with two of a version": {own(func(n *v1alpha1.ClusterNetwork) { n.Pods.CIDRBlocks = []string{"192.168.0.0/16", "10.1.0.0/16"} }), []string{
			podsPath + `[1]: Invalid value: "10.1.0.0/16": is of the same IP version as the first; a second network is of the other version`,
		}},
		"an own class whose networks overlap": {own(func(n *v1alpha1.ClusterNetwork) { n.Pods.CIDRBlocks = []string{"fd00::/48", "10.96.0.0/16"} }), []string{
			servicesPath + `[0]: Invalid value: "10.96.0.0/12": overlaps with the network of pods (10.96.0.0/16); use a network of its own`,
		}},
		"an own class with a plugin and no pods": {own(func(n *v1alpha1.ClusterNetwork) {
			*n = v1alpha1.ClusterNetwork{CNIConfig: &v1alpha1.CNIConfig{Cilium: &v1alpha1.Cilium{}}}
		}), []string{
			"spec.clusterNetwork.cniConfig: Forbidden: needs one network of pods, and pods.cidrBlocks has 0; give it one, or install the network plugin yourself",
		}},
		"IPv6":              {networks("fd00::/48", "fd01::/112"), nil},
		"no pods":           {pods(), []string{podsPath + ": Required value: one network, such as 192.168.0.0/16"}},
		"no services":       {services(), []string{servicesPath + ": Required value: one network, such as 10.96.0.0/12"}},
		"dual-stack pods":   {pods("192.168.0.0/16", "fd00::/48"), []string{podsPath + ": Invalid value: has 2 entries and must have one: dual-stack clusters are not supported; remove the others"}},
		"three of services": {services("a", "b", "c"), []string{servicesPath + ": Invalid value: has 3 entries and must have one: dual-stack clusters are not supported; remove the others"}},
		"no CIDR notation":  {pods("192.168.0.0"), []string{podsPath + `[0]: Invalid value: "192.168.0.0": must be a network in CIDR notation, such as 192.168.0.0/16`}},
		"empty network":     {services(""), []string{servicesPath + `[0]: Invalid value: "": must be a network in CIDR notation, such as 10.96.0.0/12`}},
		"mask too long":     {pods("192.168.0.0/33"), []string{podsPath + `[0]: Invalid value: "192.168.0.0/33": must be a network in CIDR notation, such as 192.168.0.0/16`}},
		"leading zeros":     {pods("192.168.000.0/16"), []string{podsPath + `[0]: Invalid value: "192.168.000.0/16": must be a network in CIDR notation, such as 192.168.0.0/16`}},
		"bits behind the mask of pods": {pods("192.168.1.0/16"), []string{
			podsPath + `[0]: Invalid value: "192.168.1.0/16": has bits set behind its mask; did you mean 192.168.0.0/16?`,
		}},
		"bits behind the mask of services": {services("10.96.0.1/12"), []string{
			servicesPath + `[0]: Invalid value: "10.96.0.1/12": has bits set behind its mask; did you mean 10.96.0.0/12?`,
		}},

		// kubeadm wants at least 10 addresses and at most 20 bits of them.
		"16 services":                {services("10.96.0.0/28"), nil},
		"8 services":                 {services("10.96.0.0/29"), []string{servicesPath + `[0]: Invalid value: "10.96.0.0/29": is too small for services; use a network from /12 to /28`}},
		"20 bits of services":        {services("10.0.0.0/12"), nil},
		"21 bits of services":        {services("10.0.0.0/11"), []string{servicesPath + `[0]: Invalid value: "10.0.0.0/11": is too large for services; use a network from /12 to /28`}},
		"16 services of IPv6":        {networks("fd00::/48", "fd01::/124"), nil},
		"8 services of IPv6":         {networks("fd00::/48", "fd01::/125"), []string{servicesPath + `[0]: Invalid value: "fd01::/125": is too small for services; use a network from /108 to /124`}},
		"20 bits of services, IPv6":  {networks("fd00::/48", "fd01::/108"), nil},
		"21 bits of services, IPv6":  {networks("fd00::/48", "fd01::/107"), []string{servicesPath + `[0]: Invalid value: "fd01::/107": is too large for services; use a network from /108 to /124`}},
		"pods for one node":          {pods("192.168.0.0/24"), nil},
		"pods for no node":           {pods("192.168.0.0/25"), []string{podsPath + `[0]: Invalid value: "192.168.0.0/25": is too small for pods: each node takes a /24; use a network from /8 to /24, or set nodes.cidrMaskSize`}},
		"16 bits of nodes":           {networks("11.0.0.0/8", "10.96.0.0/12"), nil},
		"17 bits of nodes":           {networks("12.0.0.0/7", "10.96.0.0/12"), []string{podsPath + `[0]: Invalid value: "12.0.0.0/7": is too large for pods: each node takes a /24, and there may be 2^16 of these; use a network from /8 to /24, or set nodes.cidrMaskSize`}},
		"pods for one node of IPv6":  {networks("fd00::/64", "fd01::/112"), nil},
		"pods for no node of IPv6":   {networks("fd00::/65", "fd01::/112"), []string{podsPath + `[0]: Invalid value: "fd00::/65": is too small for pods: each node takes a /64; use a network from /48 to /64, or set nodes.cidrMaskSize`}},
		"17 bits of nodes with IPv6": {networks("fd00::/47", "fe00::/112"), []string{podsPath + `[0]: Invalid value: "fd00::/47": is too large for pods: each node takes a /64, and there may be 2^16 of these; use a network from /48 to /64, or set nodes.cidrMaskSize`}},

		"loopback":             {pods("127.0.0.0/8"), []string{podsPath + `[0]: Invalid value: "127.0.0.0/8": must not be within or contain 127.0.0.0/8, which is for each machine itself; use another network, such as 192.168.0.0/16`}},
		"link-local":           {pods("169.254.0.0/16"), []string{podsPath + `[0]: Invalid value: "169.254.0.0/16": must not be within or contain 169.254.0.0/16, which is for addresses on one link; use another network, such as 192.168.0.0/16`}},
		"multicast services":   {services("239.0.0.0/16"), []string{servicesPath + `[0]: Invalid value: "239.0.0.0/16": must not be within or contain 224.0.0.0/3, which is for multicast and reserved addresses; use another network, such as 10.96.0.0/12`}},
		"link-local of IPv6":   {networks("fe80::/48", "fd01::/112"), []string{podsPath + `[0]: Invalid value: "fe80::/48": must not be within or contain fe80::/10, which is for addresses on one link; use another network, such as 192.168.0.0/16`}},
		"beside the loopback":  {pods("128.0.0.0/16"), nil},
		"carrier-grade shared": {pods("100.64.0.0/16"), nil},

		"side by side": {networks("10.0.0.0/16", "10.1.0.0/16"), nil},
		"services within pods": {networks("10.0.0.0/8", "10.96.0.0/12"), []string{
			servicesPath + `[0]: Invalid value: "10.96.0.0/12": overlaps with the network of pods (10.0.0.0/8); use a network of its own`,
		}},
		"pods within services": {networks("10.100.0.0/16", "10.96.0.0/12"), []string{
			servicesPath + `[0]: Invalid value: "10.96.0.0/12": overlaps with the network of pods (10.100.0.0/16); use a network of its own`,
		}},
		"the same network": {networks("10.96.0.0/16", "10.96.0.0/16"), []string{
			servicesPath + `[0]: Invalid value: "10.96.0.0/16": overlaps with the network of pods (10.96.0.0/16); use a network of its own`,
		}},
		"services of IPv6 only": {networks("192.168.0.0/16", "fd01::/112"), []string{
			servicesPath + `[0]: Invalid value: "fd01::/112": is of another IP version than the network of pods (192.168.0.0/16); use one version for both`,
		}},
		"pods of IPv6 only": {networks("fd00::/48", "10.96.0.0/12"), []string{
			servicesPath + `[0]: Invalid value: "10.96.0.0/12": is of another IP version than the network of pods (fd00::/48); use one version for both`,
		}},
	})
}

func TestSpecNodeMask(t *testing.T) {
	t.Parallel()
	const (
		podsPath = "spec.clusterNetwork.pods.cidrBlocks[0]"
		maskPath = "spec.clusterNetwork.nodes.cidrMaskSize"
	)
	mask := func(pods, services string, mask int) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.ClusterNetwork.Pods.CIDRBlocks = []string{pods}
			c.Spec.ClusterNetwork.Services.CIDRBlocks = []string{services}
			c.Spec.ClusterNetwork.Nodes = &v1alpha1.Nodes{CIDRMaskSize: &mask}
		}
	}
	ipv4 := func(bits int) func(*v1alpha1.Cluster) { return mask("192.168.0.0/16", "10.96.0.0/12", bits) }
	ipv6 := func(bits int) func(*v1alpha1.Cluster) { return mask("fd00::/48", "fd01::/112", bits) }
	from := func(mask, least, most, pods string) []string {
		return []string{maskPath + ": Invalid value: " + mask + ": must be from " + least + " to " + most + ": a part of the network of pods (" + pods + "), which has at most 2^16 parts; use one of these, or change pods.cidrBlocks"}
	}
	testSpec(t, map[string]specTest{
		"nodes without mask": {func(c *v1alpha1.Cluster) { c.Spec.ClusterNetwork.Nodes = &v1alpha1.Nodes{} }, nil},
		"nodes without mask, default too small": {
			func(c *v1alpha1.Cluster) {
				c.Spec.ClusterNetwork.Nodes = &v1alpha1.Nodes{}
				c.Spec.ClusterNetwork.Pods.CIDRBlocks = []string{"192.168.0.0/25"}
			},
			[]string{podsPath + `: Invalid value: "192.168.0.0/25": is too small for pods: each node takes a /24; use a network from /8 to /24, or set nodes.cidrMaskSize`},
		},
		"one node":                   {ipv4(16), nil},
		"larger than the network":    {ipv4(15), from("15", "16", "31", "192.168.0.0/16")},
		"two addresses":              {ipv4(31), nil},
		"one address":                {ipv4(32), from("32", "16", "31", "192.168.0.0/16")},
		"small network":              {mask("192.168.0.0/26", "10.96.0.0/12", 28), nil},
		"2^16 nodes":                 {mask("11.0.0.0/8", "10.96.0.0/12", 24), nil},
		"2^17 nodes":                 {mask("11.0.0.0/8", "10.96.0.0/12", 25), from("25", "8", "24", "11.0.0.0/8")},
		"2^16 nodes of IPv6":         {ipv6(64), nil},
		"2^17 nodes of IPv6":         {ipv6(65), from("65", "48", "64", "fd00::/48")},
		"one node of IPv6":           {ipv6(48), nil},
		"larger than that of IPv6":   {ipv6(47), from("47", "48", "64", "fd00::/48")},
		"two addresses of IPv6":      {mask("fd00::/120", "fd01::/112", 127), nil},
		"one address of IPv6":        {mask("fd00::/120", "fd01::/112", 128), from("128", "120", "127", "fd00::/120")},
		"part of all addresses":      {mask("::/0", "fd01::/112", 0), []string{podsPath + `: Invalid value: "::/0": must not be within or contain ::/127, which is for each machine itself; use another network, such as 192.168.0.0/16`}},
		"network of two addresses":   {mask("192.168.0.0/31", "10.96.0.0/12", 31), nil},
		"network of one address":     {mask("192.168.0.0/32", "10.96.0.0/12", 32), []string{podsPath + `: Invalid value: "192.168.0.0/32": is too small for pods: use /31 or larger`}},
		"mask of an invalid network": {mask("192.168.0.0", "10.96.0.0/12", 8), []string{podsPath + `: Invalid value: "192.168.0.0": must be a network in CIDR notation, such as 192.168.0.0/16`}},
	})
}

func TestSpecResolvConf(t *testing.T) {
	t.Parallel()
	const at = "spec.clusterNetwork.dns.resolvConf.path: "
	const rule = ": must be the absolute path of a file on the machines, such as /etc/my-resolv.conf, without spaces"
	file := func(path string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Spec.ClusterNetwork.DNS.ResolvConf = &v1alpha1.ResolvConf{Path: path} }
	}
	testSpec(t, map[string]specTest{
		"file":         {file("/etc/my-resolv.conf"), nil},
		"no path":      {file(""), []string{at + "Required value: the absolute path of a file on the machines, such as /etc/my-resolv.conf"}},
		"relative":     {file("etc/resolv.conf"), []string{at + `Invalid value: "etc/resolv.conf"` + rule}},
		"not clean":    {file("/etc/../resolv.conf"), []string{at + `Invalid value: "/etc/../resolv.conf"` + rule}},
		"directory":    {file("/etc/"), []string{at + `Invalid value: "/etc/"` + rule}},
		"root":         {file("/"), []string{at + `Invalid value: "/"` + rule}},
		"with a space": {file("/etc/my resolv.conf"), []string{at + `Invalid value: "/etc/my resolv.conf"` + rule}},
		"1024 bytes":   {file("/" + strings.Repeat("a", 1023)), nil},
		"1025 bytes":   {file("/" + strings.Repeat("a", 1024)), []string{at + "Invalid value: must have at most 1024 bytes, and has 1025; shorten it"}},
	})
}
