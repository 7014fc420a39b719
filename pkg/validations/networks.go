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

func networks(network v1alpha1.ClusterNetwork, provider providers.Provider, path *field.Path) field.ErrorList {
	podsPath, servicesPath := path.Child("pods", "cidrBlocks"), path.Child("services", "cidrBlocks")
	pods, errs := oneCIDR(network.Pods.CIDRBlocks, "192.168.0.0/16", podsPath)
	services, serviceErrs := oneCIDR(network.Services.CIDRBlocks, "10.96.0.0/12", servicesPath)
	errs = append(errs, serviceErrs...)
	if pods.IsValid() {
		errs = append(errs, podsSize(pods, network.Nodes, podsPath.Index(0), path.Child("nodes", "cidrMaskSize"))...)
	}
	if services.IsValid() {
		errs = append(errs, serviceSize(services, servicesPath.Index(0))...)
	}
	if pods.IsValid() && services.IsValid() {
		switch {
		case pods.Addr().Is4() != services.Addr().Is4():
			errs = append(errs, field.Invalid(servicesPath.Index(0), services.String(), fmt.Sprintf("is of another IP version than the network of pods (%s); use one version for both", pods)))
		case pods.Overlaps(services):
			errs = append(errs, field.Invalid(servicesPath.Index(0), services.String(), fmt.Sprintf("overlaps with the network of pods (%s); use a network of its own", pods)))
		}
	}
	return slices.Concat(errs, cni(network, pods, provider, path), resolvConf(network.DNS.ResolvConf, path.Child("dns", "resolvConf", "path")))
}

func oneCIDR(blocks []string, example string, path *field.Path) (netip.Prefix, field.ErrorList) {
	switch len(blocks) {
	case 0:
		return netip.Prefix{}, field.ErrorList{field.Required(path, "one network, such as "+example)}
	case 1:
		return cidr(blocks[0], example, path.Index(0))
	default:
		return netip.Prefix{}, field.ErrorList{tooMany(path, len(blocks), "must have one: dual-stack clusters are not supported; remove the others")}
	}
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
