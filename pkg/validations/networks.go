package validations

import (
	"fmt"
	"net/netip"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// What kubeadm asks of the networks of services and pods (kubeadm's
// validation.ValidateNetworking and ValidateIPNetFromString): an API server
// allocates service addresses from a bitmap of at most 20 bits, and at least
// 8 addresses must be there.
const (
	maxServiceBits = 20
	minServiceBits = 3
)

func networks(network v1alpha1.ClusterNetwork, path *field.Path) field.ErrorList {
	podsPath, servicesPath := path.Child("pods", "cidrBlocks"), path.Child("services", "cidrBlocks")
	pods, errs := oneCIDR(network.Pods.CIDRBlocks, "192.168.0.0/16", podsPath)
	services, serviceErrs := oneCIDR(network.Services.CIDRBlocks, "10.96.0.0/12", servicesPath)
	errs = append(errs, serviceErrs...)
	if services.IsValid() {
		errs = append(errs, serviceSize(services, servicesPath.Index(0))...)
	}
	if pods.IsValid() && services.IsValid() && pods.Overlaps(services) {
		errs = append(errs, field.Invalid(servicesPath.Index(0), services.String(), fmt.Sprintf("overlaps with the network of pods (%s); use a network of its own", pods)))
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

func cni(config *v1alpha1.CNIConfig, path *field.Path) field.ErrorList {
	if config != nil && config.Cilium != nil && config.Kindnetd != nil {
		return field.ErrorList{field.Invalid(path, "cilium, kindnetd", "must name one network plugin; remove the other")}
	}
	return nil
}
