package validations

import (
	"net/netip"
	"reflect"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// interfaces matches names of network interfaces, as the kernel allows them, separated
// by commas. A + at the end matches any text.
func interfaces() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9_.+-]{1,15}(,[A-Za-z0-9_.+-]{1,15})*$`)
}

// cni checks the network plugin. Decode has put what cni says into cniConfig,
// so that the two differ only where the file has both.
func cni(network v1alpha1.ClusterNetwork, pods netip.Prefix, provider providers.Provider, path *field.Path) field.ErrorList {
	at := path.Child("cniConfig")
	var errs field.ErrorList
	switch implied := impliedBy(network.CNI); {
	case network.CNI == "":
	case network.CNIConfig != nil && !reflect.DeepEqual(network.CNIConfig, implied):
		errs = append(errs, field.Invalid(path.Child("cni"), network.CNI, "must not be given together with cniConfig; remove one of the two"))
	case implied == nil:
		errs = append(errs, field.NotSupported(path.Child("cni"), network.CNI, []string{"cilium", "kindnetd"}))
	default:
		at = path.Child("cni")
	}
	return append(errs, plugin(network.CNIConfig, pods, provider, at)...)
}

func impliedBy(cni string) *v1alpha1.CNIConfig {
	switch cni {
	case "cilium":
		return &v1alpha1.CNIConfig{Cilium: &v1alpha1.Cilium{}}
	case "kindnetd":
		return &v1alpha1.CNIConfig{Kindnetd: &v1alpha1.Kindnetd{}}
	}
	return nil
}

func plugin(config *v1alpha1.CNIConfig, pods netip.Prefix, provider providers.Provider, path *field.Path) field.ErrorList {
	switch {
	case config == nil:
		return nil
	case config.Cilium != nil && config.Kindnetd != nil:
		return field.ErrorList{field.Invalid(path, "cilium, kindnetd", "must name one network plugin; remove the other")}
	case config.Cilium != nil:
		return cilium(*config.Cilium, pods, path.Child("cilium"))
	case config.Kindnetd == nil:
		return field.ErrorList{field.Required(path, "a network plugin: cilium, or kindnetd for nodes of kind; write one, or remove cniConfig")}
	case provider.Known() && !provider.Spec.Kindnetd:
		return field.ErrorList{field.Forbidden(path, "kindnetd is for nodes of kind, and provider "+provider.Name+" makes none; use cilium, or remove it")}
	}
	return nil
}

func cilium(config v1alpha1.Cilium, pods netip.Prefix, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		oneOf(config.PolicyEnforcementMode, []string{"default", "always", "never"}, path.Child("policyEnforcementMode")),
		oneOf(config.RoutingMode, []string{"overlay", "direct"}, path.Child("routingMode")),
		nativeRouting(config.IPv4NativeRoutingCIDR, config.RoutingMode, ipFamily{"10.0.0.0/8", netip.Addr.Is4}, pods, path.Child("ipv4NativeRoutingCIDR")),
		nativeRouting(config.IPv6NativeRoutingCIDR, config.RoutingMode, ipFamily{"fd00::/48", netip.Addr.Is6}, pods, path.Child("ipv6NativeRoutingCIDR")),
	)
	if config.SkipUpgrade != nil && *config.SkipUpgrade && config.PolicyEnforcementMode != "" {
		errs = append(errs, field.Forbidden(path.Child("policyEnforcementMode"), "must not be given together with skipUpgrade, which leaves Cilium alone; remove one of the two"))
	}
	if value := config.EgressMasqueradeInterfaces; value != "" && !interfaces().MatchString(value) {
		errs = append(errs, field.Invalid(path.Child("egressMasqueradeInterfaces"), value, "must be names of network interfaces with commas between and no spaces, such as eth0,eth1"))
	}
	return errs
}

// oneOf is one of some values, or nothing.
func oneOf(value string, values []string, path *field.Path) field.ErrorList {
	if value != "" && !slices.Contains(values, value) {
		return field.ErrorList{field.NotSupported(path, value, values)}
	}
	return nil
}

// ipFamily is one of the two IP versions.
type ipFamily struct {
	example string // of a network
	has     func(netip.Addr) bool
}

// nativeRouting is the network of one IP version that is reached without masquerading.
func nativeRouting(text, mode string, family ipFamily, pods netip.Prefix, path *field.Path) field.ErrorList {
	if text == "" {
		if mode == "direct" && pods.IsValid() && family.has(pods.Addr()) {
			return field.ErrorList{field.Required(path, "the network that routing mode direct reaches, such as "+family.example)}
		}
		return nil
	}
	network, errs := cidr(text, family.example, path)
	if network.IsValid() && !family.has(network.Addr()) {
		errs = append(errs, field.Invalid(path, text, "is of the other IP version; use a network such as "+family.example))
	}
	return errs
}
