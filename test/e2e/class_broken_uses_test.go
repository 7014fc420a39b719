package e2e_test

// usesOfAClass are clusters that a class does not fit.
func usesOfAClass() map[string]brokenUse {
	return map[string]brokenUse{
		"unknown class": {
			askCreate, managedSpec, []string{"{name: managed}", "{name: fresh}", "name: handmade", "name: strange"},
			"validations.Refused: cluster.yaml:7: spec.clusterClass.name: Invalid value: \"strange\": namespace class-broken of the management cluster has no ClusterClass of this name; use one of badpatch, docker, half, handmade, inmemory, nomachines, otherkinds, paused, plain, unread",
		},
		"misspelt class": {
			askUpgrade, managedSpec, []string{"name: handmade", "name: handmaid"},
			"validations.Refused: cluster.yaml:7: spec.clusterClass.name: Invalid value: \"handmaid\": namespace class-broken of the management cluster has no ClusterClass of this name; did you mean handmade?",
		},
		"namespace without classes": {
			askCreate, managedSpec, []string{"{name: managed}", "{name: fresh}", "name: handmade", "name: strange\n    namespace: kube-system"},
			"validations.Refused: cluster.yaml:7: spec.clusterClass.name: Invalid value: \"strange\": namespace kube-system of the management cluster has no ClusterClass of this name; apply it, or use 'clusterctl-x generate clusterclass' to make one",
		},
		"class with a missing template": {
			askCreate, managedSpec, []string{"{name: managed}", "{name: fresh}", "name: handmade", "name: half"},
			"validations.Refused: cluster.yaml:7: spec.clusterClass.name: Invalid value: \"half\": ClusterClass half names KubeadmConfigTemplate/gone, which does not exist; apply it, or name another one",
		},
		"class changed to one with a missing template": {
			askUpgrade, managedSpec, []string{"name: handmade", "name: half"},
			"validations.Refused: cluster.yaml:7: spec.clusterClass.name: Invalid value: \"half\": ClusterClass half names KubeadmConfigTemplate/gone, which does not exist; apply it, or name another one",
		},
		"paused class": {
			askCreate, managedSpec, []string{"{name: managed}", "{name: fresh}", "name: handmade", "name: paused"},
			"validations.Refused: cluster.yaml:7: spec.clusterClass.name: Invalid value: \"paused\": Cluster API has not read this ClusterClass, which is paused: remove its annotation cluster.x-k8s.io/paused",
		},
		"class with variables that cannot be read": {
			askCreate, managedSpec, []string{"{name: managed}", "{name: fresh}", "name: handmade", "name: unread"},
			"validations.Refused: cluster.yaml:7: spec.clusterClass.name: Invalid value: \"unread\": Cluster API cannot read the variables of this ClusterClass (VariableDiscovery failed: failed to call DiscoverVariables for patch unread: failed to call extension handler \"variables.nowhere\": failed to get extension handler \"variables.nowhere\" from registry: handler with name \"variables.nowhere\" has not been registered); correct the class",
		},
		"class with a patch that fails": {
			askCreate, managedSpec, []string{"{name: managed}", "{name: fresh}", "name: handmade", "name: badpatch"},
			"validations.Refused: cluster.yaml:7: spec.clusterClass.name: Invalid value: \"badpatch\": Cluster API cannot generate this cluster: its patch region fails: failed to apply patch: error applying json patch (RFC6902): add operation does not apply: doc is missing path: \"/spec/template/spec/nothing/preKubeadmCommands\": missing value; correct the class, or the values that the spec gives it",
		},
		"class of another provider": {
			askCreate, generatedSpec, []string{"name: inmemory", "name: docker"},
			"validations.Refused: cluster.yaml:6: spec.clusterClass.name: Invalid value: \"docker\": the class is for provider docker, and spec.datacenterRef says inmemory; use a class of 'clusterctl-x generate clusterclass --provider inmemory'",
		},
		"the user's own class with a datacenterRef": {
			askCreate, generatedSpec, []string{"name: inmemory", "name: handmade"},
			"validations.Refused: cluster.yaml:6: spec.clusterClass.name: Invalid value: \"handmade\": with a datacenterRef it must be a class of 'clusterctl-x generate clusterclass --provider inmemory', and this one is not; name such a class, or remove spec.datacenterRef",
		},
		"class changed to one of other kinds": {
			askUpgrade, managedSpec, []string{"name: handmade", "name: otherkinds"},
			"validations.Refused: cluster.yaml:7: spec.clusterClass.name: Invalid value: \"otherkinds\": cluster managed is made from ClusterClass handmade: its infrastructure is a DevCluster and would become a DockerCluster; its control plane machine is a DevMachine and would become a DockerMachine; its worker machine of class default-worker is a DevMachine and would become a DockerMachine; its worker machine of class large is a DevMachine and would become a DockerMachine, and Cluster API cannot replace one kind with another; use a class with the same kinds, or create a new cluster",
		},
		"class changed to one without the variables": {
			askUpgrade, managedSpec, []string{"name: handmade", "name: plain"},
			"validations.Refused: cluster.yaml:9: spec.clusterClass.variables.region: Forbidden: ClusterClass plain has no such variable; it has none\n" +
				"cluster.yaml:10: spec.clusterClass.variables.size: Forbidden: ClusterClass plain has no such variable; it has none\n" +
				"cluster.yaml:11: spec.clusterClass.variables.proxy: Forbidden: ClusterClass plain has no such variable; it has none\n" +
				"cluster.yaml:12: spec.clusterClass.variables.epoch: Forbidden: ClusterClass plain has no such variable; it has none",
		},
		"health check without machines to check": {
			askCreate, managedSpec, []string{"{name: managed}", "{name: fresh}", "name: handmade", "name: nomachines", "  workerNode", "  controlPlaneConfiguration: {machineHealthCheck: {}}\n  workerNode"},
			"validations.Refused: cluster.yaml:16: spec.controlPlaneConfiguration.machineHealthCheck: Forbidden: can be only set if spec.controlPlane.machineInfrastructure is set in ClusterClass; change it, or the ClusterClass",
		},
		"exact version that the class lacks": {
			askUpgrade, managedSpec, []string{"\"1.32\"", "v1.32.2"},
			"validations.Refused: cluster.yaml:5: spec.kubernetesVersion: Invalid value: \"v1.32.2\": ClusterClass handmade does not have this version; there are 1.31 (v1.31.14), 1.32 (v1.32.13), 1.33 (v1.33.13), 1.34 (v1.34.4); use one of these, or a class that has it: one of 'generate clusterclass' is made anew with --keep-used and bundles that have the version, one of your own gets it in spec.kubernetesVersions",
		},
		"minor that the class lacks": {
			askUpgrade, managedSpec, []string{"\"1.32\"", "\"1.35\""},
			"validations.Refused: cluster.yaml:5: spec.kubernetesVersion: Invalid value: \"1.35\": ClusterClass handmade does not have this version; there are 1.31 (v1.31.14), 1.32 (v1.32.13), 1.33 (v1.33.13), 1.34 (v1.34.4); use one of these, or a class that has it: one of 'generate clusterclass' is made anew with --keep-used and bundles that have the version, one of your own gets it in spec.kubernetesVersions",
		},
		"minor that class and bundles lack": {
			askCreate, managedSpec, []string{"{name: managed}", "{name: fresh}", "\"1.32\"", "\"1.28\""},
			"validations.Refused: cluster.yaml:5: spec.kubernetesVersion: Invalid value: \"1.28\": ClusterClass handmade does not have this version; there are 1.31 (v1.31.14), 1.32 (v1.32.13), 1.33 (v1.33.13), 1.34 (v1.34.4); use one of these, or a class that has it: one of 'generate clusterclass' is made anew with --keep-used and bundles that have the version, one of your own gets it in spec.kubernetesVersions",
		},
		"downgrade": {
			askUpgrade, managedSpec, []string{"\"1.32\"", "\"1.31\""},
			"validations.Refused: cluster.yaml:5: spec.kubernetesVersion: Invalid value: \"1.31\": the control plane runs v1.32.13 and cannot be downgraded; use v1.32.13 or newer",
		},
		"unknown class of a group": {
			askUpgrade, managedSpec, []string{"class: large", "class: larg"},
			"validations.Refused: cluster.yaml:19: spec.workerNodeGroupConfigurations[1].class: Invalid value: \"larg\": ClusterClass handmade has no such class of workers; did you mean large?",
		},
		"class of a group, and no such class": {
			askCreate, managedSpec, []string{"class: large", "class: gpu"},
			"validations.Refused: cluster.yaml:19: spec.workerNodeGroupConfigurations[1].class: Invalid value: \"gpu\": ClusterClass handmade has no such class of workers; it has default-worker, large",
		},
		"clusterClass added to a cluster without one": {
			askUpgrade, classicSpec, []string{"  clusterNetwork", "  clusterClass: {name: inmemory}\n  clusterNetwork"},
			"validations.Refused: cluster.yaml:6: spec.clusterClass: Forbidden: cluster classic was made without a ClusterClass, and Cluster API cannot adopt it: it would make a second control plane next to the existing one; remove the field, or create a new cluster and move the workloads of this one",
		},
		"clusterClass added to a cluster without one, by create": {
			askCreate, classicSpec, []string{"  clusterNetwork", "  clusterClass: {name: inmemory}\n  clusterNetwork"},
			"validations.Refused: cluster.yaml:6: spec.clusterClass: Forbidden: cluster classic was made without a ClusterClass, and Cluster API cannot adopt it: it would make a second control plane next to the existing one; remove the field, or create a new cluster and move the workloads of this one",
		},
		"clusterClass added to a cluster without one, by plan": {
			askPlan, classicSpec, []string{"  clusterNetwork", "  clusterClass: {name: inmemory}\n  clusterNetwork"},
			"validations.Refused: cluster.yaml:6: spec.clusterClass: Forbidden: cluster classic was made without a ClusterClass, and Cluster API cannot adopt it: it would make a second control plane next to the existing one; remove the field, or create a new cluster and move the workloads of this one",
		},
		"clusterClass removed": {
			askUpgrade, managedSpec, []string{withClass, "", ofLarge, "  datacenterRef: {kind: InMemoryDatacenterConfig, name: any}\n"},
			"validations.Refused: cluster.yaml:4: spec.clusterClass: Required value: cluster managed is made from ClusterClass class-broken/handmade, and a cluster cannot leave its class; add the field",
		},
		"another network": {
			askUpgrade, managedSpec, []string{"192.168", "192.169"},
			"validations.Refused: cluster.yaml:14: spec.clusterNetwork.pods.cidrBlocks: Invalid value: \"192.169.0.0/16\": cannot be changed, and is 192.168.0.0/16: nodes keep their part of this network for their lifetime; create a new cluster",
		},
	}
}
