package validations

import (
	"fmt"
	"net/netip"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// What kubeadm asks of the networks of services and pods (its
// validation.ValidateNetworking). An API server allocates service addresses
// from a bitmap of at most 20 bits, and kubeadm wants at least 10 of them. Each
// node gets a part of the network of pods, of the size that the controller
// manager gives by itself; there may be 2^16 of these.
const (
	maxServiceBits = 20
	minServiceBits = 4
	nodeMaskIPv4   = 24
	nodeMaskIPv6   = 64
	maxNodeBits    = 16
)

func networks(network v1alpha1.ClusterNetwork, path *field.Path) field.ErrorList {
	podsPath, servicesPath := path.Child("pods", "cidrBlocks"), path.Child("services", "cidrBlocks")
	pods, errs := oneCIDR(network.Pods.CIDRBlocks, "192.168.0.0/16", podsPath)
	services, serviceErrs := oneCIDR(network.Services.CIDRBlocks, "10.96.0.0/12", servicesPath)
	errs = append(errs, serviceErrs...)
	if pods.IsValid() {
		errs = append(errs, podsSize(pods, podsPath.Index(0))...)
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
	return append(errs, cni(network.CNIConfig, path.Child("cniConfig"))...)
}

func oneCIDR(blocks []string, example string, path *field.Path) (netip.Prefix, field.ErrorList) {
	switch len(blocks) {
	case 0:
		return netip.Prefix{}, field.ErrorList{field.Required(path, "one network, such as "+example)}
	case 1:
	default:
		return netip.Prefix{}, field.ErrorList{field.Invalid(path, len(blocks), "must be one network; dual-stack clusters are not supported")}
	}
	prefix, err := netip.ParsePrefix(blocks[0])
	if err != nil {
		return netip.Prefix{}, field.ErrorList{field.Invalid(path.Index(0), blocks[0], "must be a network in CIDR notation, such as "+example)}
	}
	if masked := prefix.Masked(); masked != prefix {
		return netip.Prefix{}, field.ErrorList{field.Invalid(path.Index(0), blocks[0], fmt.Sprintf("has bits set behind its mask; did you mean %s?", masked))}
	}
	return prefix, nil
}

func serviceSize(services netip.Prefix, path *field.Path) field.ErrorList {
	bits := services.Addr().BitLen() - services.Bits()
	switch {
	case bits > maxServiceBits:
		return field.ErrorList{field.Invalid(path, services.String(), fmt.Sprintf("is too large for services: use /%d or smaller", services.Addr().BitLen()-maxServiceBits))}
	case bits < minServiceBits:
		return field.ErrorList{field.Invalid(path, services.String(), fmt.Sprintf("is too small for services: use /%d or larger", services.Addr().BitLen()-minServiceBits))}
	}
	return nil
}

func podsSize(pods netip.Prefix, path *field.Path) field.ErrorList {
	node := nodeMaskIPv4
	if pods.Addr().Is6() {
		node = nodeMaskIPv6
	}
	switch {
	case pods.Bits() > node:
		return field.ErrorList{field.Invalid(path, pods.String(), fmt.Sprintf("is too small for pods: each node takes a /%d; use /%d or larger", node, node))}
	case pods.Bits() < node-maxNodeBits:
		return field.ErrorList{field.Invalid(path, pods.String(), fmt.Sprintf("is too large for pods: use /%d or smaller", node-maxNodeBits))}
	}
	return nil
}

func cni(config *v1alpha1.CNIConfig, path *field.Path) field.ErrorList {
	if config != nil && config.Cilium != nil && config.Kindnetd != nil {
		return field.ErrorList{field.Invalid(path, "cilium, kindnetd", "must name one network plugin; remove the other")}
	}
	return nil
}
