package validations

import (
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// Limits of kubeadm for the networks of services and pods (its
// validation.ValidateNetworking). An API server allocates service addresses from a
// bitmap of at most 20 bits, and kubeadm wants at least 10 of them. Each node gets a
// part of the network of pods, of the controller manager's default size unless the spec
// sets one; there may be 2^16 of these.
const (
	maxServiceBits = 20
	minServiceBits = 4
	nodeMaskIPv4   = 24
	nodeMaskIPv6   = 64
	maxNodeBits    = 16
)

func networks(cluster *v1alpha1.Cluster, provider providers.Provider, path *field.Path) field.ErrorList {
	network, count := cluster.Spec.ClusterNetwork, oneNetwork
	if ownClass(cluster) {
		count = upToTwoNetworks
	}
	podsPath, servicesPath := path.Child("pods", "cidrBlocks"), path.Child("services", "cidrBlocks")
	pods, errs := cidrs(network.Pods.CIDRBlocks, count, "192.168.0.0/16", podsPath)
	services, serviceErrs := cidrs(network.Services.CIDRBlocks, count, "10.96.0.0/12", servicesPath)
	errs = append(errs, serviceErrs...)
	for i, block := range pods {
		if block.IsValid() {
			errs = append(errs, podsSize(block, network.Nodes, podsPath.Index(i), path.Child("nodes", "cidrMaskSize"))...)
		}
	}
	for i, block := range services {
		if block.IsValid() {
			errs = append(errs, serviceSize(block, servicesPath.Index(i))...)
			errs = append(errs, besidePods(block, pods, servicesPath.Index(i))...)
		}
	}
	var first netip.Prefix
	if len(pods) > 0 {
		first = pods[0]
	}
	if network.CNIConfig != nil && count == upToTwoNetworks && len(pods) != 1 {
		errs = append(errs, field.Forbidden(path.Child("cniConfig"), fmt.Sprintf("needs one network of pods, and pods.cidrBlocks has %d; give it one, or install the network plugin yourself", len(pods))))
	}
	return slices.Concat(errs, cni(network, first, provider, path), resolvConf(network.DNS.ResolvConf, path.Child("dns", "resolvConf", "path")))
}

// besidePods checks a network of services against those of pods.
func besidePods(services netip.Prefix, pods []netip.Prefix, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, block := range pods {
		switch {
		case !block.IsValid():
		case len(pods) == 1 && block.Addr().Is4() != services.Addr().Is4():
			errs = append(errs, field.Invalid(path, services.String(), fmt.Sprintf("is of another IP version than the network of pods (%s); use one version for both", block)))
		case block.Overlaps(services):
			errs = append(errs, field.Invalid(path, services.String(), fmt.Sprintf("overlaps with the network of pods (%s); use a network of its own", block)))
		}
	}
	return errs
}

// networkCount is how many networks of a kind a cluster has.
type networkCount int

const (
	oneNetwork networkCount = iota
	// upToTwoNetworks is what Cluster API allows: none, one, or one of each IP version. With
	// a class of one's own, the class says what becomes of them.
	upToTwoNetworks
)

// cidrs returns a network for each block, which is not valid where the block is wrong.
func cidrs(blocks []string, count networkCount, example string, path *field.Path) ([]netip.Prefix, field.ErrorList) {
	switch {
	case len(blocks) == 0 && count == oneNetwork:
		return nil, field.ErrorList{field.Required(path, "one network, such as "+example)}
	case len(blocks) > 1 && count == oneNetwork:
		return nil, field.ErrorList{tooMany(path, len(blocks), "must have one: dual-stack clusters are not supported; remove the others")}
	case len(blocks) > 2:
		return nil, field.ErrorList{tooMany(path, len(blocks), "must have at most two, one of each IP version; remove the others")}
	}
	var errs field.ErrorList
	prefixes := make([]netip.Prefix, len(blocks))
	for i, block := range blocks {
		prefix, wrong := cidr(block, example, path.Index(i))
		prefixes[i], errs = prefix, append(errs, wrong...)
	}
	if len(errs) == 0 && len(prefixes) == 2 && prefixes[0].Addr().Is4() == prefixes[1].Addr().Is4() {
		errs = append(errs, field.Invalid(path.Index(1), blocks[1], "is of the same IP version as the first; a second network is of the other version"))
	}
	return prefixes, errs
}

func cidr(text, example string, path *field.Path) (netip.Prefix, field.ErrorList) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, field.ErrorList{field.Invalid(path, text, "must be a network in CIDR notation, such as "+example)}
	}
	if masked := prefix.Masked(); masked != prefix {
		return netip.Prefix{}, field.ErrorList{field.Invalid(path, text, fmt.Sprintf("has bits set behind its mask; did you mean %s?", masked))}
	}
	for _, special := range specialNetworks() {
		if special.prefix.Overlaps(prefix) {
			return netip.Prefix{}, field.ErrorList{field.Invalid(path, text, fmt.Sprintf("must not be within or contain %s, which is for %s; use another network, such as %s", special.prefix, special.use, example))}
		}
	}
	return prefix, nil
}

// specialNetwork is one whose addresses no pod and no service can have.
type specialNetwork struct {
	prefix netip.Prefix
	use    string
}

func specialNetworks() []specialNetwork {
	return []specialNetwork{
		{netip.MustParsePrefix("0.0.0.0/8"), "no address at all"},
		{netip.MustParsePrefix("127.0.0.0/8"), "each machine itself"},
		{netip.MustParsePrefix("169.254.0.0/16"), "addresses on one link"},
		{netip.MustParsePrefix("224.0.0.0/3"), "multicast and reserved addresses"},
		{netip.MustParsePrefix("::/127"), "each machine itself"},
		{netip.MustParsePrefix("fe80::/10"), "addresses on one link"},
		{netip.MustParsePrefix("ff00::/8"), "multicast"},
	}
}

func serviceSize(services netip.Prefix, path *field.Path) field.ErrorList {
	bits := services.Addr().BitLen() - services.Bits()
	switch {
	case bits > maxServiceBits:
		return field.ErrorList{field.Invalid(path, services.String(), fmt.Sprintf("is too large for services; use a network from /%d to /%d", services.Addr().BitLen()-maxServiceBits, services.Addr().BitLen()-minServiceBits))}
	case bits < minServiceBits:
		return field.ErrorList{field.Invalid(path, services.String(), fmt.Sprintf("is too small for services; use a network from /%d to /%d", services.Addr().BitLen()-maxServiceBits, services.Addr().BitLen()-minServiceBits))}
	}
	return nil
}

// podsSize compares the network of pods with the part that a node takes of it.
func podsSize(pods netip.Prefix, nodes *v1alpha1.Nodes, path, maskPath *field.Path) field.ErrorList {
	if nodes != nil && nodes.CIDRMaskSize != nil {
		return nodeMask(*nodes.CIDRMaskSize, pods, path, maskPath)
	}
	node := nodeMaskIPv4
	if pods.Addr().Is6() {
		node = nodeMaskIPv6
	}
	switch {
	case pods.Bits() > node:
		return field.ErrorList{field.Invalid(path, pods.String(), fmt.Sprintf("is too small for pods: each node takes a /%d; use a network from /%d to /%d, or set nodes.cidrMaskSize", node, node-maxNodeBits, node))}
	case pods.Bits() < node-maxNodeBits:
		return field.ErrorList{field.Invalid(path, pods.String(), fmt.Sprintf("is too large for pods: each node takes a /%d, and there may be 2^%d of these; use a network from /%d to /%d, or set nodes.cidrMaskSize", node, maxNodeBits, node-maxNodeBits, node))}
	}
	return nil
}

// nodeMask is the part of a node where the spec gives it.
func nodeMask(mask int, pods netip.Prefix, path, maskPath *field.Path) field.ErrorList {
	least, most := max(pods.Bits(), 1), min(pods.Bits()+maxNodeBits, pods.Addr().BitLen()-1)
	switch {
	case least > most:
		return field.ErrorList{field.Invalid(path, pods.String(), fmt.Sprintf("is too small for pods: use /%d or larger", most))}
	case mask < least || mask > most:
		return field.ErrorList{field.Invalid(maskPath, mask, fmt.Sprintf("must be from %d to %d: a part of the network of pods (%s), which has at most 2^%d parts; use one of these, or change pods.cidrBlocks", least, most, pods, maxNodeBits))}
	}
	return nil
}

func resolvConf(config *v1alpha1.ResolvConf, at *field.Path) field.ErrorList {
	switch {
	case config == nil:
		return nil
	case config.Path == "":
		return field.ErrorList{field.Required(at, "the absolute path of a file on the machines, such as /etc/my-resolv.conf")}
	case !absolute(config.Path):
		return field.ErrorList{field.Invalid(at, config.Path, "must be the absolute path of a file on the machines, such as /etc/my-resolv.conf, without spaces")}
	}
	return argument(config.Path, at)
}

// absolute reports whether text is a path in its shortest form and can stand in
// an argument.
func absolute(text string) bool {
	return path.IsAbs(text) && path.Clean(text) == text && text != "/" && !strings.ContainsAny(text, " \t\n,")
}
