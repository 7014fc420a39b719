package providers_test

import "testing"

// TestAWSRules: what AWS's webhooks would refuse is refused at its line.
func TestAWSRules(t *testing.T) {
	t.Parallel()
	assertRules(t, "aws-all-fields", map[string]ruleTest{
		"nothing wrong":              {"", "", ""},
		"no CIDR block":              {"10.0.0.0/16", "10.0.0.0", `31: spec.network.vpc.cidrBlock: Invalid value: "10.0.0.0": must be of type cidr: "10.0.0.0"`},
		"blank behind a key name":    {"sshKeyName: bastion", `sshKeyName: "bastion "`, `28: spec.sshKeyName: Invalid value: "bastion ": should match '^([!-~]([ -~]*[!-~])?)?$'`},
		"bastion without rules":      {"disableIngressRules: false", "disableIngressRules: true", "50: spec.bastion: Invalid value: allowedCIDRBlocks and disableIngressRules exclude each other; remove one of the two"},
		"volume without IOPS":        {"rootVolume: {size: 8, type: gp2}", "rootVolume: {size: 8, type: io2}", "91: spec.rootVolume: Invalid value: types io1 and io2 need iops"},
		"throughput of gp2":          {"nonRootVolumes: [{deviceName: /dev/sdc,", "nonRootVolumes: [{deviceName: /dev/sdc, throughput: 250,", "92: spec.nonRootVolumes[0]: Invalid value: throughput is for type gp3; name that type, or remove throughput"},
		"another character in a tag": {"{role: control-plane}", `{role: "control,plane"}`, `77: spec.additionalTags.role: Invalid value: "control,plane": should match '^[A-Za-z0-9 _.:/=+@-]*$'`},
		"two references":             {"{id: sg-0b1}", `{id: sg-0b1, filters: [{name: "tag:Name", values: [any]}]}`, "76: spec.additionalSecurityGroups[0]: Invalid value: give id or filters, and not both"},
	})
}
