package e2e_test

// usesOfAClass are clusters that a class does not fit.
func usesOfAClass() map[string]brokenUse {
	return map[string]brokenUse{
		"unknown class": {
			"create cluster", managedSpec, []string{"{name: managed}", "{name: fresh}", "name: handmade", "name: strange"}, 3,
			"cluster.yaml:7: spec.clusterClass.name: Invalid value: \"strange\": namespace class-broken of the management cluster has no ClusterClass of this name; use one of badpatch, docker, half, handmade, inmemory, nomachines, otherkinds, paused, plain, unread\n",
		},
		"misspelt class": {
			"upgrade cluster", managedSpec, []string{"name: handmade", "name: handmaid"}, 3,
			"cluster.yaml:7: spec.clusterClass.name: Invalid value: \"handmaid\": namespace class-broken of the management cluster has no ClusterClass of this name; did you mean handmade?\n",
		},
		"class in another namespace only": {
			"create cluster", managedSpec, []string{"{name: managed}", "{name: fresh}", "name: handmade", "name: lonely"}, 3,
			"cluster.yaml:7: spec.clusterClass.name: Invalid value: \"lonely\": namespace class-broken of the management cluster has no ClusterClass of this name; there is one in class-elsewhere: name it with spec.clusterClass.namespace\n",
		},
		"namespace without classes": {
			"create cluster", managedSpec, []string{"{name: managed}", "{name: fresh}", "name: handmade", "name: strange\n    namespace: kube-system"}, 3,
			"cluster.yaml:7: spec.clusterClass.name: Invalid value: \"strange\": namespace kube-system of the management cluster has no ClusterClass of this name; apply it, or use 'clusterctl-x generate clusterclass' to make one\n",
		},
		"class with a missing template": {
			"create cluster", managedSpec, []string{"{name: managed}", "{name: fresh}", "name: handmade", "name: half"}, 3,
			"cluster.yaml:7: spec.clusterClass.name: Invalid value: \"half\": ClusterClass half names KubeadmConfigTemplate/gone, which does not exist; apply it, or name another one\n",
		},
		"class changed to one with a missing template": {
			"upgrade cluster", managedSpec, []string{"name: handmade", "name: half"}, 3,
			"cluster.yaml:7: spec.clusterClass.name: Invalid value: \"half\": ClusterClass half names KubeadmConfigTemplate/gone, which does not exist; apply it, or name another one\n",
		},
		"paused class": {
			"create cluster", managedSpec, []string{"{name: managed}", "{name: fresh}", "name: handmade", "name: paused"}, 3,
			"cluster.yaml:7: spec.clusterClass.name: Invalid value: \"paused\": Cluster API has not read this ClusterClass, which is paused: remove its annotation cluster.x-k8s.io/paused\n",
		},
		"class with variables that cannot be read": {
			"create cluster", managedSpec, []string{"{name: managed}", "{name: fresh}", "name: handmade", "name: unread"}, 3,
			"cluster.yaml:7: spec.clusterClass.name: Invalid value: \"unread\": Cluster API cannot read the variables of this ClusterClass (VariableDiscovery failed: failed to call DiscoverVariables for patch unread: failed to call extension handler \"variables.nowhere\": failed to get extension handler \"variables.nowhere\" from registry: handler with name \"variables.nowhere\" has not been registered); correct the class\n",
		},
		"class with a patch that fails": {
			"create cluster", managedSpec, []string{"{name: managed}", "{name: fresh}", "name: handmade", "name: badpatch"}, 3,
			"cluster.yaml:7: spec.clusterClass.name: Invalid value: \"badpatch\": Cluster API cannot generate this cluster: its patch region fails: failed to apply patch: error applying json patch (RFC6902): add operation does not apply: doc is missing path: \"/spec/template/spec/nothing/preKubeadmCommands\": missing value; correct the class, or the values that the spec gives it\n",
		},
		"class of another provider": {
			"create cluster", generatedSpec, []string{"name: inmemory", "name: docker"}, 3,
			"cluster.yaml:6: spec.clusterClass.name: Invalid value: \"docker\": the class is for provider docker, and spec.datacenterRef says inmemory; use a class of 'clusterctl-x generate clusterclass --provider inmemory'\n",
		},
		"the user's own class with a datacenterRef": {
			"create cluster", generatedSpec, []string{"name: inmemory", "name: handmade"}, 3,
			"cluster.yaml:6: spec.clusterClass.name: Invalid value: \"handmade\": with a datacenterRef it must be a class of 'clusterctl-x generate clusterclass --provider inmemory', and this one is not; name such a class, or remove spec.datacenterRef\n",
		},
		"class changed to one of another provider": {
			"upgrade cluster", managedSpec, []string{"name: handmade", "name: docker", withVariables, "", ofLarge, "  datacenterRef: {kind: DockerDatacenterConfig, name: any}\n"}, 3,
			"warning: cluster.yaml:8: spec.clusterNetwork: no cniConfig: nodes become ready once you have applied a network plugin\n" +
				"cluster.yaml:7: spec.clusterClass.name: Invalid value: \"docker\": cluster managed is made from ClusterClass handmade: its machines are of provider inmemory and would become those of docker, and Cluster API cannot replace one kind with another; use a class with the same kinds, or create a new cluster\n",
		},
		"class changed to one of other kinds": {
			"upgrade cluster", managedSpec, []string{"name: handmade", "name: otherkinds"}, 3,
			"cluster.yaml:7: spec.clusterClass.name: Invalid value: \"otherkinds\": cluster managed is made from ClusterClass handmade: its infrastructure is a DevCluster and would become a DockerCluster; its control plane machine is a DevMachine and would become a DockerMachine; its worker machine of class default-worker is a DevMachine and would become a DockerMachine; its worker machine of class large is a DevMachine and would become a DockerMachine, and Cluster API cannot replace one kind with another; use a class with the same kinds, or create a new cluster\n",
		},
		"class changed to one without the variables": {
			"upgrade cluster", managedSpec, []string{"name: handmade", "name: plain"}, 3,
			"cluster.yaml:9: spec.clusterClass.variables.region: Forbidden: ClusterClass plain has no such variable; it has none\n" +
				"cluster.yaml:10: spec.clusterClass.variables.size: Forbidden: ClusterClass plain has no such variable; it has none\n" +
				"cluster.yaml:11: spec.clusterClass.variables.proxy: Forbidden: ClusterClass plain has no such variable; it has none\n" +
				"cluster.yaml:12: spec.clusterClass.variables.epoch: Forbidden: ClusterClass plain has no such variable; it has none\n",
		},
		"health check without machines to check": {
			"create cluster", managedSpec, []string{"{name: managed}", "{name: fresh}", "name: handmade", "name: nomachines", "  workerNode", "  controlPlaneConfiguration: {machineHealthCheck: {}}\n  workerNode"}, 3,
			"cluster.yaml:16: spec.controlPlaneConfiguration.machineHealthCheck: Forbidden: can be only set if spec.controlPlane.machineInfrastructure is set in ClusterClass; change it, or the ClusterClass\n",
		},
		"exact version that the class lacks": {
			"upgrade cluster", managedSpec, []string{"\"1.32\"", "v1.32.2"}, 3,
			"cluster.yaml:5: spec.kubernetesVersion: Invalid value: \"v1.32.2\": ClusterClass handmade does not have this version; there are 1.31 (v1.31.14), 1.32 (v1.32.13), 1.33 (v1.33.13), 1.34 (v1.34.4); use one of these, or a class that has it: one of 'generate clusterclass' is made anew with --keep-used and bundles that have the version, one of your own gets it in spec.kubernetesVersions\n",
		},
		"minor that the class lacks": {
			"upgrade cluster", managedSpec, []string{"\"1.32\"", "\"1.35\""}, 3,
			"cluster.yaml:5: spec.kubernetesVersion: Invalid value: \"1.35\": ClusterClass handmade does not have this version; there are 1.31 (v1.31.14), 1.32 (v1.32.13), 1.33 (v1.33.13), 1.34 (v1.34.4); use one of these, or a class that has it: one of 'generate clusterclass' is made anew with --keep-used and bundles that have the version, one of your own gets it in spec.kubernetesVersions\n",
		},
		"minor that class and bundles lack": {
			"create cluster", managedSpec, []string{"{name: managed}", "{name: fresh}", "\"1.32\"", "\"1.28\""}, 3,
			"cluster.yaml:5: spec.kubernetesVersion: Invalid value: \"1.28\": ClusterClass handmade does not have this version; there are 1.31 (v1.31.14), 1.32 (v1.32.13), 1.33 (v1.33.13), 1.34 (v1.34.4); use one of these, or a class that has it: one of 'generate clusterclass' is made anew with --keep-used and bundles that have the version, one of your own gets it in spec.kubernetesVersions\n",
		},
		"downgrade": {
			"upgrade cluster", managedSpec, []string{"\"1.32\"", "\"1.31\""}, 3,
			"cluster.yaml:5: spec.kubernetesVersion: Invalid value: \"1.31\": the control plane runs v1.32.13 and cannot be downgraded; use v1.32.13 or newer\n",
		},
		"unknown class of a group": {
			"upgrade cluster", managedSpec, []string{"class: large", "class: larg"}, 3,
			"cluster.yaml:19: spec.workerNodeGroupConfigurations[1].class: Invalid value: \"larg\": ClusterClass handmade has no such class of workers; did you mean large?\n",
		},
		"class of a group, and no such class": {
			"create cluster", managedSpec, []string{"class: large", "class: gpu"}, 3,
			"cluster.yaml:19: spec.workerNodeGroupConfigurations[1].class: Invalid value: \"gpu\": ClusterClass handmade has no such class of workers; it has default-worker, large\n",
		},
		"clusterClass added to a cluster without one": {
			"upgrade cluster", classicSpec, []string{"  clusterNetwork", "  clusterClass: {name: inmemory}\n  clusterNetwork"}, 3,
			"cluster.yaml:6: spec.clusterClass: Forbidden: cluster classic was made without a ClusterClass, and Cluster API cannot adopt it: it would make a second control plane next to the existing one; remove the field, or create a new cluster and move the workloads of this one\n",
		},
		"clusterClass added to a cluster without one, by create": {
			"create cluster", classicSpec, []string{"  clusterNetwork", "  clusterClass: {name: inmemory}\n  clusterNetwork"}, 3,
			"cluster.yaml:6: spec.clusterClass: Forbidden: cluster classic was made without a ClusterClass, and Cluster API cannot adopt it: it would make a second control plane next to the existing one; remove the field, or create a new cluster and move the workloads of this one\n",
		},
		"clusterClass added to a cluster without one, by plan": {
			"plan upgrade", classicSpec, []string{"  clusterNetwork", "  clusterClass: {name: inmemory}\n  clusterNetwork"}, 3,
			"cluster.yaml:6: spec.clusterClass: Forbidden: cluster classic was made without a ClusterClass, and Cluster API cannot adopt it: it would make a second control plane next to the existing one; remove the field, or create a new cluster and move the workloads of this one\n",
		},
		"clusterClass removed": {
			"upgrade cluster", managedSpec, []string{withClass, "", ofLarge, "  datacenterRef: {kind: InMemoryDatacenterConfig, name: any}\n"}, 3,
			"cluster.yaml:4: spec.clusterClass: Required value: cluster managed is made from ClusterClass class-broken/handmade, and a cluster cannot leave its class; add the field\n",
		},
		"clusterClass removed, and its fields not": {
			"upgrade cluster", managedSpec, []string{withClass, "", ofLarge, ofLarge + "  datacenterRef: {kind: InMemoryDatacenterConfig, name: any}\n"}, 2,
			"cluster.yaml:12: spec.workerNodeGroupConfigurations[1].class: Forbidden: takes effect only with a ClusterClass, and this cluster has no spec.clusterClass; remove it, or name the class\n",
		},
		"clusterClass as a name": {
			"upgrade cluster", managedSpec, []string{withClass, "  clusterClass: handmade\n"}, 2,
			"cluster.yaml:6: spec.clusterClass: Invalid value: \"handmade\": must be a mapping: fields with values\n",
		},
		"clusterClass without a name": {
			"upgrade cluster", managedSpec, []string{"    name: handmade", "    name: \"\""}, 2,
			"cluster.yaml:7: spec.clusterClass.name: Required value: the name of a ClusterClass of the management cluster; 'clusterctl-x generate clusterclass' makes one\n",
		},
		"group pinned and deferred": {
			"upgrade cluster", managedSpec, []string{ofLarge, ofLarge + "    kubernetesVersion: \"1.31\"\n    deferUpgrade: true\n"}, 2,
			"cluster.yaml:21: spec.workerNodeGroupConfigurations[1].deferUpgrade: Forbidden: a group with a kubernetesVersion has no place in the upgrade sequence: remove one of the two\n",
		},
		"deferUpgrade without a class": {
			"upgrade cluster", classicSpec, []string{"  - name: md-0", "  - name: md-0\n    deferUpgrade: true"}, 2,
			"cluster.yaml:11: spec.workerNodeGroupConfigurations[0].deferUpgrade: Forbidden: takes effect only with a ClusterClass, and this cluster has no spec.clusterClass; give the group a kubernetesVersion to keep it where it is\n",
		},
		"other fields of a class without one": {
			"upgrade cluster", classicSpec, []string{"  - name: md-0", "  - name: md-0\n    class: large\n    holdUpgradeSequence: true\n    variables: {size: 2}"}, 2,
			"cluster.yaml:11: spec.workerNodeGroupConfigurations[0].class: Forbidden: takes effect only with a ClusterClass, and this cluster has no spec.clusterClass; remove it, or name the class\n" +
				"cluster.yaml:12: spec.workerNodeGroupConfigurations[0].holdUpgradeSequence: Forbidden: takes effect only with a ClusterClass, and this cluster has no spec.clusterClass; give the group a kubernetesVersion to keep it where it is\n" +
				"cluster.yaml:13: spec.workerNodeGroupConfigurations[0].variables: Forbidden: takes effect only with a ClusterClass, and this cluster has no spec.clusterClass; remove it, or name the class\n",
		},
		"field for which the class has no variable": {
			"upgrade cluster", managedSpec, []string{ofLarge, ofLarge + "    taints: []\n"}, 2,
			"cluster.yaml:20: spec.workerNodeGroupConfigurations[1].taints: Forbidden: takes effect only with classes of 'generate clusterclass', and without spec.datacenterRef spec.clusterClass is one of your own: give the class a variable for it and set that in spec.clusterClass.variables, or add the datacenterRef\n",
		},
		"one group": {
			"upgrade cluster --worker-node-groups md-0", managedSpec, []string{"\"1.32\"", "\"1.33\""}, 2,
			"cluster.yaml:6: spec.clusterClass: Forbidden: --worker-node-groups: md-0 has no kubernetesVersion of its own, so Cluster API upgrades it with the rest of the cluster; leave md-0 out of --worker-node-groups, or give it a kubernetesVersion first\n",
		},
		"control plane only": {
			"upgrade cluster --control-plane-only", managedSpec, []string{"\"1.32\"", "\"1.33\""}, 2,
			"cluster.yaml:6: spec.clusterClass: Forbidden: --control-plane-only: Cluster API upgrades control plane and worker node groups of a cluster from a ClusterClass in its own order; leave --control-plane-only out; deferUpgrade holds a group back\n",
		},
		"without a management cluster": {
			"plan upgrade --from cluster.yaml", managedSpec, []string{"\"1.32\"", "\"1.33\""}, 2,
			"cluster.yaml:6: spec.clusterClass: Forbidden: --from: ClusterClass handmade says what versions cluster managed goes through and what its machines are; leave --from out to ask the management cluster, which has the class\n",
		},
		"another network": {
			"upgrade cluster", managedSpec, []string{"192.168", "192.169"}, 3,
			"cluster.yaml:14: spec.clusterNetwork.pods.cidrBlocks: Invalid value: \"192.169.0.0/16\": cannot be changed, and is 192.168.0.0/16: nodes keep their part of this network for their lifetime; create a new cluster\n",
		},
		"name of a group too long": {
			"upgrade cluster", managedSpec, []string{"- name: md-1", "- name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}, 2,
			"cluster.yaml:18: spec.workerNodeGroupConfigurations[1].name: Invalid value: \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\": must have at most 48 characters, and has 49; shorten it\n",
		},
		"group twice": {
			"upgrade cluster", managedSpec, []string{"name: md-1", "name: md-0"}, 2,
			"cluster.yaml:18: spec.workerNodeGroupConfigurations[1].name: Duplicate value: \"md-0\": spec.workerNodeGroupConfigurations[0] has this name already; each group needs its own\n",
		},
	}
}
