package providers_test

import "testing"

// TestOpenStackRules: fields of OpenStack's documents that exclude or need each other.
func TestOpenStackRules(t *testing.T) {
	t.Parallel()
	const (
		id       = "00000000-0000-4000-8000-000000000001"
		datum    = "20: spec: Invalid value: "
		networks = datum + "give managedSubnets, for a network that the provider makes, or network or subnets of one that is there already, and not both"
	)
	add := func(fields string) string { return "managedSubnets: [{cidr: 10.6.0.0/24}]\n  " + fields }
	const subnets, flavor = "managedSubnets: [{cidr: 10.6.0.0/24}]", "flavor: m1.large"
	assertRules(t, "openstack-minimal", map[string]ruleTest{
		"nothing wrong":             {"", "", ""},
		"no network":                {subnets, "", networks},
		"two networks":              {subnets, add("network: {id: " + id + "}"), networks},
		"router elsewhere":          {subnets, "network: {id: " + id + "}\n  router: {id: " + id + "}", datum + "router is for managedSubnets; give these, or remove router"},
		"MTU elsewhere":             {subnets, "network: {id: " + id + "}\n  networkMTU: 1400", datum + "networkMTU is of the network that the provider makes; give managedSubnets, or remove networkMTU"},
		"floating IP from nowhere":  {subnets, add("disableExternalNetwork: true"), datum + "without an external network there is no floating IP; set disableAPIServerFloatingIP to true as well"},
		"API server has no address": {subnets, add("disableAPIServerFloatingIP: true\n  apiServerLoadBalancer: {enabled: false}"), datum + "without a load balancer and a floating IP the API server needs an address; give apiServerFixedIP"},
		"bastion of nothing":        {subnets, add("bastion: {enabled: true}"), "23: spec.bastion: Invalid value: the host needs a spec; give it, or set enabled to false"},
		"no flavor":                 {flavor, "", "27: spec: Invalid value: give flavor or flavorID, and not both"},
		"two references":            {flavor, flavor + "\n  securityGroups: [{id: " + id + ", filter: {name: a}}]", "29: spec.securityGroups[0]: Invalid value: give id or filter, and not both"},
		"volume of a local disk":    {flavor, flavor + "\n  additionalBlockDevices: [{name: a, sizeGiB: 1, storage: {type: Local, volume: {}}}]", "29: spec.additionalBlockDevices[0].storage: Invalid value: volume is for type Volume; give that type, or remove volume"},
		"no UUID":                   {flavor, flavor + "\n  securityGroups: [{id: a}]", `29: spec.securityGroups[0].id: Invalid value: "a": must be of type uuid: "a"`},
	})
}
