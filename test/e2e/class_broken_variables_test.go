package e2e_test

// usesOfVariables are values that a class does not take.
func usesOfVariables() map[string]brokenUse {
	return map[string]brokenUse{
		"required one missing": {
			askUpgrade, managedSpec, []string{"      region: eu\n", ""},
			"validations.Refused: cluster.yaml:8: spec.clusterClass.variables.region: Required value: ClusterClass handmade requires this variable; set it to \"eu\" or \"us\": Where the machines are",
		},
		"string for an integer": {
			askUpgrade, managedSpec, []string{"size: 2", "size: two"},
			"validations.Refused: cluster.yaml:10: spec.clusterClass.variables.size: Invalid value: \"two\": must be of type integer, not string; ClusterClass handmade takes an integer from 1 to 5",
		},
		"fraction for an integer": {
			askUpgrade, managedSpec, []string{"size: 2", "size: 2.5"},
			"validations.Refused: cluster.yaml:10: spec.clusterClass.variables.size: Invalid value: 2.5: must be of type integer, not number; ClusterClass handmade takes an integer from 1 to 5",
		},
		"above the maximum": {
			askUpgrade, managedSpec, []string{"size: 2", "size: 7"},
			"validations.Refused: cluster.yaml:10: spec.clusterClass.variables.size: Invalid value: 7: should be less than or equal to 5; ClusterClass handmade takes an integer from 1 to 5",
		},
		"below the minimum": {
			askUpgrade, managedSpec, []string{"size: 2", "size: 0"},
			"validations.Refused: cluster.yaml:10: spec.clusterClass.variables.size: Invalid value: 0: should be greater than or equal to 1; ClusterClass handmade takes an integer from 1 to 5",
		},
		"not in the enum": {
			askUpgrade, managedSpec, []string{"region: eu", "region: mars"},
			"validations.Refused: cluster.yaml:9: spec.clusterClass.variables.region: Unsupported value: \"mars\": ClusterClass handmade takes \"eu\" or \"us\"",
		},
		"unknown field of an object": {
			askUpgrade, managedSpec, []string{"{url: \"http://proxy\"}", "{url: \"http://proxy\", port: 3}"},
			"validations.Refused: cluster.yaml:11: spec.clusterClass.variables.proxy.port: Forbidden: ClusterClass handmade has no such field in this variable; it has hosts, url",
		},
		"misspelt field of an object": {
			askUpgrade, managedSpec, []string{"{url: \"http://proxy\"}", "{url: \"http://proxy\", host: [a]}"},
			"validations.Refused: cluster.yaml:11: spec.clusterClass.variables.proxy.host: Forbidden: ClusterClass handmade has no such field in this variable; did you mean hosts?",
		},
		"required field of an object missing": {
			askUpgrade, managedSpec, []string{"{url: \"http://proxy\"}", "{hosts: [a]}"},
			"validations.Refused: cluster.yaml:11: spec.clusterClass.variables.proxy.url: Required value: ClusterClass handmade requires this field; set it to a string that is not empty",
		},
		"wrong type in a list": {
			askUpgrade, managedSpec, []string{"{url: \"http://proxy\"}", "{url: \"http://proxy\", hosts: [a, 3]}"},
			"validations.Refused: cluster.yaml:11: spec.clusterClass.variables.proxy.hosts[1]: Invalid value: must be of type string, not integer; ClusterClass handmade takes a string",
		},
		"empty field of an object": {
			askUpgrade, managedSpec, []string{"{url: \"http://proxy\"}", "{url: \"\"}"},
			"validations.Refused: cluster.yaml:11: spec.clusterClass.variables.proxy.url: Invalid value: should be at least 1 chars long; ClusterClass handmade takes a string that is not empty",
		},
		"list for an object": {
			askUpgrade, managedSpec, []string{"{url: \"http://proxy\"}", "[http://proxy]"},
			"validations.Refused: cluster.yaml:11: spec.clusterClass.variables.proxy: Invalid value: must be of type object, not array; ClusterClass handmade takes a mapping with the fields hosts, url (required)",
		},
		"null in an object": {
			askUpgrade, managedSpec, []string{"{url: \"http://proxy\"}", "{url: null}"},
			"validations.Refused: cluster.yaml:11: spec.clusterClass.variables.proxy.url: Invalid value: must be of type string, not null; ClusterClass handmade takes a string that is not empty",
		},
		"unknown": {
			askUpgrade, managedSpec, []string{"size: 2", "colour: red"},
			"validations.Refused: cluster.yaml:10: spec.clusterClass.variables.colour: Forbidden: ClusterClass handmade has no such variable; it has disks, epoch, proxy, region, size",
		},
		"misspelt": {
			askUpgrade, managedSpec, []string{"region: eu", "regoin: eu"},
			"validations.Refused: cluster.yaml:9: spec.clusterClass.variables.regoin: Forbidden: ClusterClass handmade has no such variable; did you mean region?",
		},
		"unknown, of a group": {
			askUpgrade, managedSpec, []string{ofLarge, ofLarge + "    variables: {colour: red}\n"},
			"validations.Refused: cluster.yaml:20: spec.workerNodeGroupConfigurations[1].variables.colour: Forbidden: ClusterClass handmade has no such variable; it has disks, epoch, proxy, region, size",
		},
		"wrong, of a group": {
			askUpgrade, managedSpec, []string{ofLarge, ofLarge + "    variables: {size: 9}\n"},
			"validations.Refused: cluster.yaml:20: spec.workerNodeGroupConfigurations[1].variables.size: Invalid value: 9: should be less than or equal to 5; ClusterClass handmade takes an integer from 1 to 5",
		},
		"unknown, of the control plane": {
			askUpgrade, managedSpec, []string{"  workerNode", "  controlPlaneConfiguration: {variables: {colour: red}}\n  workerNode"},
			"validations.Refused: cluster.yaml:16: spec.controlPlaneConfiguration.variables.colour: Forbidden: ClusterClass handmade has no such variable; it has disks, epoch, proxy, region, size",
		},
		"wrong, of the control plane": {
			askUpgrade, managedSpec, []string{"  workerNode", "  controlPlaneConfiguration: {variables: {region: mars}}\n  workerNode"},
			"validations.Refused: cluster.yaml:16: spec.controlPlaneConfiguration.variables.region: Unsupported value: \"mars\": ClusterClass handmade takes \"eu\" or \"us\"",
		},
		"rule": {
			askUpgrade, managedSpec, []string{"      epoch: 3\n", "      epoch: 3\n      disks: {least: 3, most: 2}\n"},
			"validations.Refused: cluster.yaml:13: spec.clusterClass.variables.disks: Invalid value: least must not be above most; ClusterClass handmade takes a mapping with the fields least, most that keeps to the rule self.least <= self.most",
		},
		"rule of transition": {
			askUpgrade, managedSpec, []string{"epoch: 3", "epoch: 2"},
			"validations.Refused: cluster.yaml:12: spec.clusterClass.variables.epoch: Invalid value: 2: an epoch only grows; ClusterClass handmade takes an integer that keeps to the rule self >= oldSelf",
		},
		"several mistakes": {
			askUpgrade, managedSpec, []string{"region: eu", "region: mars", "size: 2", "size: 7", "epoch: 3", "colour: red"},
			"validations.Refused: cluster.yaml:9: spec.clusterClass.variables.region: Unsupported value: \"mars\": ClusterClass handmade takes \"eu\" or \"us\"\n" +
				"cluster.yaml:10: spec.clusterClass.variables.size: Invalid value: 7: should be less than or equal to 5; ClusterClass handmade takes an integer from 1 to 5\n" +
				"cluster.yaml:12: spec.clusterClass.variables.colour: Forbidden: ClusterClass handmade has no such variable; it has disks, epoch, proxy, region, size",
		},
	}
}
