package validations_test

import (
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
	cni := func(config *v1alpha1.CNIConfig) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Spec.ClusterNetwork.CNIConfig = config }
	}
	testSpec(t, map[string]specTest{
		"IPv6":              {networks("fd00::/48", "fd01::/112"), nil},
		"no pods":           {pods(), []string{podsPath + ": Required value: one network, such as 192.168.0.0/16"}},
		"no services":       {services(), []string{servicesPath + ": Required value: one network, such as 10.96.0.0/12"}},
		"dual-stack pods":   {pods("192.168.0.0/16", "fd00::/48"), []string{podsPath + ": Invalid value: 2: must be one network; dual-stack clusters are not supported"}},
		"three of services": {services("a", "b", "c"), []string{servicesPath + ": Invalid value: 3: must be one network; dual-stack clusters are not supported"}},
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
		"8 services":                 {services("10.96.0.0/29"), []string{servicesPath + `[0]: Invalid value: "10.96.0.0/29": is too small for services: use /28 or larger`}},
		"20 bits of services":        {services("10.0.0.0/12"), nil},
		"21 bits of services":        {services("10.0.0.0/11"), []string{servicesPath + `[0]: Invalid value: "10.0.0.0/11": is too large for services: use /12 or smaller`}},
		"16 services of IPv6":        {networks("fd00::/48", "fd01::/124"), nil},
		"8 services of IPv6":         {networks("fd00::/48", "fd01::/125"), []string{servicesPath + `[0]: Invalid value: "fd01::/125": is too small for services: use /124 or larger`}},
		"20 bits of services, IPv6":  {networks("fd00::/48", "fd01::/108"), nil},
		"21 bits of services, IPv6":  {networks("fd00::/48", "fd01::/107"), []string{servicesPath + `[0]: Invalid value: "fd01::/107": is too large for services: use /108 or smaller`}},
		"pods for one node":          {pods("192.168.0.0/24"), nil},
		"pods for no node":           {pods("192.168.0.0/25"), []string{podsPath + `[0]: Invalid value: "192.168.0.0/25": is too small for pods: each node takes a /24; use /24 or larger`}},
		"16 bits of nodes":           {networks("11.0.0.0/8", "10.96.0.0/12"), nil},
		"17 bits of nodes":           {networks("12.0.0.0/7", "10.96.0.0/12"), []string{podsPath + `[0]: Invalid value: "12.0.0.0/7": is too large for pods: use /8 or smaller`}},
		"pods for one node of IPv6":  {networks("fd00::/64", "fd01::/112"), nil},
		"pods for no node of IPv6":   {networks("fd00::/65", "fd01::/112"), []string{podsPath + `[0]: Invalid value: "fd00::/65": is too small for pods: each node takes a /64; use /64 or larger`}},
		"17 bits of nodes with IPv6": {networks("fd00::/47", "fe00::/112"), []string{podsPath + `[0]: Invalid value: "fd00::/47": is too large for pods: use /48 or smaller`}},

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

		"cilium":                 {cni(&v1alpha1.CNIConfig{Cilium: &v1alpha1.Cilium{}}), nil},
		"kindnetd":               {cni(&v1alpha1.CNIConfig{Kindnetd: &v1alpha1.Kindnetd{}}), nil},
		"no plugin named":        {cni(&v1alpha1.CNIConfig{}), nil},
		"cilium beside kindnetd": {cni(&v1alpha1.CNIConfig{Cilium: &v1alpha1.Cilium{}, Kindnetd: &v1alpha1.Kindnetd{}}), []string{`spec.clusterNetwork.cniConfig: Invalid value: "cilium, kindnetd": must name one network plugin; remove the other`}},
	})
}
