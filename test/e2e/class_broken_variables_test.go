package e2e_test

// usesOfVariables are values that a class does not take.
func usesOfVariables() map[string]brokenUse {
	return map[string]brokenUse{
		"required one missing": {
			"upgrade cluster", managedSpec, []string{"      region: eu\n", ""}, 3,
			"cluster.yaml:8: spec.clusterClass.variables.region: Required value: ClusterClass handmade requires this variable; set it to \"eu\" or \"us\": Where the machines are\n",
		},
		"string for an integer": {
			"upgrade cluster", managedSpec, []string{"size: 2", "size: two"}, 3,
			"cluster.yaml:10: spec.clusterClass.variables.size: Invalid value: \"two\": must be of type integer, not string; ClusterClass handmade takes an integer from 1 to 5\n",
		},
		"fraction for an integer": {
			"upgrade cluster", managedSpec, []string{"size: 2", "size: 2.5"}, 3,
			"cluster.yaml:10: spec.clusterClass.variables.size: Invalid value: 2.5: must be of type integer, not number; ClusterClass handmade takes an integer from 1 to 5\n",
		},
		"above the maximum": {
			"upgrade cluster", managedSpec, []string{"size: 2", "size: 7"}, 3,
			"cluster.yaml:10: spec.clusterClass.variables.size: Invalid value: 7: should be less than or equal to 5; ClusterClass handmade takes an integer from 1 to 5\n",
		},
		"below the minimum": {
			"upgrade cluster", managedSpec, []string{"size: 2", "size: 0"}, 3,
			"cluster.yaml:10: spec.clusterClass.variables.size: Invalid value: 0: should be greater than or equal to 1; ClusterClass handmade takes an integer from 1 to 5\n",
		},
		"not in the enum": {
			"upgrade cluster", managedSpec, []string{"region: eu", "region: mars"}, 3,
			"cluster.yaml:9: spec.clusterClass.variables.region: Unsupported value: \"mars\": ClusterClass handmade takes \"eu\" or \"us\"\n",
		},
		"unknown field of an object": {
			"upgrade cluster", managedSpec, []string{"{url: \"http://proxy\"}", "{url: \"http://proxy\", port: 3}"}, 3,
			"cluster.yaml:11: spec.clusterClass.variables.proxy.port: Forbidden: ClusterClass handmade has no such field in this variable; it has hosts, url\n",
		},
		"misspelt field of an object": {
			"upgrade cluster", managedSpec, []string{"{url: \"http://proxy\"}", "{url: \"http://proxy\", host: [a]}"}, 3,
			"cluster.yaml:11: spec.clusterClass.variables.proxy.host: Forbidden: ClusterClass handmade has no such field in this variable; did you mean hosts?\n",
		},
		"required field of an object missing": {
			"upgrade cluster", managedSpec, []string{"{url: \"http://proxy\"}", "{hosts: [a]}"}, 3,
			"cluster.yaml:11: spec.clusterClass.variables.proxy.url: Required value: ClusterClass handmade requires this field; set it to a string that is not empty\n",
		},
		"wrong type in a list": {
			"upgrade cluster", managedSpec, []string{"{url: \"http://proxy\"}", "{url: \"http://proxy\", hosts: [a, 3]}"}, 3,
			"cluster.yaml:11: spec.clusterClass.variables.proxy.hosts[1]: Invalid value: must be of type string, not integer; ClusterClass handmade takes a string\n",
		},
		"empty field of an object": {
			"upgrade cluster", managedSpec, []string{"{url: \"http://proxy\"}", "{url: \"\"}"}, 3,
			"cluster.yaml:11: spec.clusterClass.variables.proxy.url: Invalid value: should be at least 1 chars long; ClusterClass handmade takes a string that is not empty\n",
		},
		"list for an object": {
			"upgrade cluster", managedSpec, []string{"{url: \"http://proxy\"}", "[http://proxy]"}, 3,
			"cluster.yaml:11: spec.clusterClass.variables.proxy: Invalid value: must be of type object, not array; ClusterClass handmade takes a mapping with the fields hosts, url (required)\n",
		},
		"null": {
			"upgrade cluster", managedSpec, []string{"size: 2", "size: null"}, 2,
			"cluster.yaml:10: spec.clusterClass.variables.size: Required value: a variable must have a value; write one, or remove it\n",
		},
		"null in an object": {
			"upgrade cluster", managedSpec, []string{"{url: \"http://proxy\"}", "{url: null}"}, 3,
			"cluster.yaml:11: spec.clusterClass.variables.proxy.url: Invalid value: must be of type string, not null; ClusterClass handmade takes a string that is not empty\n",
		},
		"unknown": {
			"upgrade cluster", managedSpec, []string{"size: 2", "colour: red"}, 3,
			"cluster.yaml:10: spec.clusterClass.variables.colour: Forbidden: ClusterClass handmade has no such variable; it has disks, epoch, proxy, region, size\n",
		},
		"misspelt": {
			"upgrade cluster", managedSpec, []string{"region: eu", "regoin: eu"}, 3,
			"cluster.yaml:9: spec.clusterClass.variables.regoin: Forbidden: ClusterClass handmade has no such variable; did you mean region?\n",
		},
		"unknown, of a group": {
			"upgrade cluster", managedSpec, []string{ofLarge, ofLarge + "    variables: {colour: red}\n"}, 3,
			"cluster.yaml:20: spec.workerNodeGroupConfigurations[1].variables.colour: Forbidden: ClusterClass handmade has no such variable; it has disks, epoch, proxy, region, size\n",
		},
		"wrong, of a group": {
			"upgrade cluster", managedSpec, []string{ofLarge, ofLarge + "    variables: {size: 9}\n"}, 3,
			"cluster.yaml:20: spec.workerNodeGroupConfigurations[1].variables.size: Invalid value: 9: should be less than or equal to 5; ClusterClass handmade takes an integer from 1 to 5\n",
		},
		"unknown, of the control plane": {
			"upgrade cluster", managedSpec, []string{"  workerNode", "  controlPlaneConfiguration: {variables: {colour: red}}\n  workerNode"}, 3,
			"cluster.yaml:16: spec.controlPlaneConfiguration.variables.colour: Forbidden: ClusterClass handmade has no such variable; it has disks, epoch, proxy, region, size\n",
		},
		"wrong, of the control plane": {
			"upgrade cluster", managedSpec, []string{"  workerNode", "  controlPlaneConfiguration: {variables: {region: mars}}\n  workerNode"}, 3,
			"cluster.yaml:16: spec.controlPlaneConfiguration.variables.region: Unsupported value: \"mars\": ClusterClass handmade takes \"eu\" or \"us\"\n",
		},
		"rule": {
			"upgrade cluster", managedSpec, []string{"      epoch: 3\n", "      epoch: 3\n      disks: {least: 3, most: 2}\n"}, 3,
			"cluster.yaml:13: spec.clusterClass.variables.disks: Invalid value: least must not be above most; ClusterClass handmade takes a mapping with the fields least, most that keeps to the rule self.least <= self.most\n",
		},
		"rule of transition": {
			"upgrade cluster", managedSpec, []string{"epoch: 3", "epoch: 2"}, 3,
			"cluster.yaml:12: spec.clusterClass.variables.epoch: Invalid value: 2: an epoch only grows; ClusterClass handmade takes an integer that keeps to the rule self >= oldSelf\n",
		},
		"several mistakes": {
			"upgrade cluster", managedSpec, []string{"region: eu", "region: mars", "size: 2", "size: 7", "epoch: 3", "colour: red"}, 3,
			"cluster.yaml:9: spec.clusterClass.variables.region: Unsupported value: \"mars\": ClusterClass handmade takes \"eu\" or \"us\"\n" +
				"cluster.yaml:10: spec.clusterClass.variables.size: Invalid value: 7: should be less than or equal to 5; ClusterClass handmade takes an integer from 1 to 5\n" +
				"cluster.yaml:12: spec.clusterClass.variables.colour: Forbidden: ClusterClass handmade has no such variable; it has disks, epoch, proxy, region, size\n",
		},
		"that fields of the spec set too": {
			"create cluster", generatedSpec, []string{"{name: inmemory}", "{name: inmemory, variables: {machineStartup: 1s}}", "any}\n", "any}\n---\napiVersion: clusterctl-x.io/v1alpha1\nkind: InMemoryDatacenterConfig\nmetadata: {name: any}\nspec: {machineStartup: 1s}\n"}, 2,
			"cluster.yaml:6: spec.clusterClass.variables.machineStartup: Forbidden: other fields of the spec, which mean this variable of the class, are set too; remove it, or say it there\n",
		},
		"that fields of a group set too": {
			"create cluster", generatedSpec, []string{"  - name: md-0", "  - name: md-0\n    labels: {rack: a}\n    variables: {kubeletExtraArgs: []}"}, 2,
			"warning: cluster.yaml:14: spec.datacenterRef: simulated machines run no kubelet, containerd or kube-apiserver that would read labels: it is rendered, and has no visible effect\n" +
				"cluster.yaml:13: spec.workerNodeGroupConfigurations[0].variables.kubeletExtraArgs: Forbidden: other fields of the spec, which mean this variable of the class, are set too; remove it, or say it there\n",
		},
		"as a list": {
			"upgrade cluster", managedSpec, []string{withVariables, "    variables: [{name: region, value: eu}]\n"}, 2,
			"cluster.yaml:8: spec.clusterClass.variables: Invalid value: \"a list\": must be a mapping: fields with values\n",
		},
	}
}
