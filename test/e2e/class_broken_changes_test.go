package e2e_test

// changesOfAClass are files of classes that its cluster, or Cluster API, cannot take.
func changesOfAClass() map[string]brokenUse {
	return map[string]brokenUse{
		"minor left out": {
			"plan clusterclass", handmadeClass, []string{"v1.33.13, ", ""}, 2,
			"class.yaml:5: spec.kubernetesVersions[2]: Invalid value: \"v1.34.4\": leaves out a minor after v1.32.13, and a control plane moves one minor at a time; add a version of each minor between\n",
		},
		"versions not in order": {
			"plan clusterclass", handmadeClass, []string{"v1.32.13, v1.33.13", "v1.33.13, v1.32.13"}, 2,
			"class.yaml:5: spec.kubernetesVersions[2]: Invalid value: \"v1.32.13\": must be newer than v1.33.13 before it; list the versions from the oldest to the newest, each once\n",
		},
		"version twice": {
			"plan clusterclass", handmadeClass, []string{"v1.31.14, ", "v1.31.14, v1.31.14, "}, 2,
			"class.yaml:5: spec.kubernetesVersions[1]: Invalid value: \"v1.31.14\": must be newer than v1.31.14 before it; list the versions from the oldest to the newest, each once\n",
		},
		"minor instead of a version": {
			"plan clusterclass", handmadeClass, []string{"v1.31.14, ", "\"1.31\", "}, 2,
			"class.yaml:5: spec.kubernetesVersions[0]: Invalid value: \"1.31\": must be an exact version such as v1.34.2; write it out\n",
		},
		"version in use removed": {
			"plan clusterclass", handmadeClass, []string{"v1.31.14, v1.32.13, ", ""}, 3,
			"class.yaml:5: spec.kubernetesVersions: Forbidden: Kubernetes Version v1.32.13 is used by Cluster \"managed\" but not set in ClusterClass; keep the versions that clusters have, and one of each minor between ('generate clusterclass --keep-used' does)\n",
		},
		"class of workers in use removed": {
			"plan clusterclass", handmadeClass, []string{"class: large", "class: huge", "[default-worker, large]", "[default-worker, huge]"}, 3,
			"class.yaml:13: spec.workers.machineDeployments: Forbidden: MachineDeploymentClass \"large\" cannot be deleted because it is used by Cluster \"managed\"; remove the groups of this class from their clusters first\n",
		},
		"variable in use removed": {
			"plan clusterclass", handmadeClass, []string{"name: epoch", "name: era"}, 3,
			"class.yaml:24: spec.variables: Required value: cluster class-broken/managed sets the variable epoch, which the class no longer has; change the cluster first, or let the class keep accepting its value\n",
		},
		"enum without a value in use": {
			"plan clusterclass", handmadeClass, []string{"enum: [eu, us]", "enum: [us]"}, 3,
			"class.yaml:25: spec.variables[region]: Invalid value: cluster class-broken/managed sets it to \"eu\": not one of the supported values: \"us\"; change the cluster first, or let the class keep accepting its value\n",
		},
		"another type of a variable in use": {
			"plan clusterclass", handmadeClass, []string{"type: integer, minimum: 1, maximum: 5, default: 2", "type: string"}, 3,
			"class.yaml:28: spec.variables[size]: Invalid value: cluster class-broken/managed sets it to 2: must be of type string, not integer; change the cluster first, or let the class keep accepting its value\n",
		},
		"variable required that clusters lack": {
			"plan clusterclass", handmadeClass, []string{"  - name: disks\n    required: false", "  - name: disks\n    required: true"}, 3,
			"class.yaml:40: spec.variables[disks]: Invalid value: cluster class-broken/managed does not set this variable, and the class requires it; give it a default, or do not require it until all clusters set it\n",
		},
		"default beyond the bounds": {
			"plan clusterclass", handmadeClass, []string{"default: 2", "default: 9"}, 3,
			"class.yaml:30: spec.variables[size].schema.openAPIV3Schema.default: Invalid value: 9: should be less than or equal to 5; correct the schema\n",
		},
		"type that there is not": {
			"plan clusterclass", handmadeClass, []string{"type: integer, minimum: 1", "type: intger, minimum: 1"}, 3,
			"class.yaml:30: spec.variables[1].schema.openAPIV3Schema.type: Unsupported value: \"intger\": supported values: \"object\", \"array\", \"string\", \"integer\", \"number\", \"boolean\"; correct the schema\n",
		},
		"rule that cannot be compiled": {
			"plan clusterclass", handmadeClass, []string{"self >= oldSelf", "self >= other"}, 3,
			"class.yaml:52: spec.variables[epoch].schema.openAPIV3Schema.x-kubernetes-validations[0].rule: Invalid value: compilation failed: ERROR: <input>:1:9: undeclared reference to 'other' (in container ''); correct the schema\n",
		},
		"patch that writes no JSON": {
			"plan clusterclass", handmadeClass, []string{"'[\"echo {{ .region }} {{ .size }}\"]'", "'[\"echo'"}, 3,
			"class.yaml:54: spec.patches[region]: Invalid value: Cluster API cannot generate cluster class-broken/managed: its patch region fails: failed to generate JSON patches for \"KubeadmConfigTemplate\": failed to calculate value for template: failed to unmarshal rendered template: \"[\\\"echo\": error converting YAML to JSON: yaml: found unexpected end of stream; correct the patch\n",
		},
		"patch where nothing is": {
			"plan clusterclass", handmadeClass, []string{"/spec/template/spec/preKubeadmCommands", "/spec/template/spec/nothing/preKubeadmCommands"}, 3,
			"class.yaml:54: spec.patches[region]: Invalid value: Cluster API cannot generate cluster class-broken/managed: its patch region fails: failed to apply patch: error applying json patch (RFC6902): add operation does not apply: doc is missing path: \"/spec/template/spec/nothing/preKubeadmCommands\": missing value; correct the patch\n",
		},
		"patch that writes a value of another type": {
			"plan clusterclass", handmadeClass, []string{"'[\"echo {{ .region }} {{ .size }}\"]'", "'echo'"}, 3,
			"class.yaml:58: spec.patches[region].definitions[0].jsonPatches[0]: Invalid value: the management cluster refuses the KubeadmConfigTemplate of cluster class-broken/managed: admission webhook \"default.kubeadmconfigtemplate.bootstrap.cluster.x-k8s.io\" denied the request: json: cannot unmarshal string into Go struct field KubeadmConfigSpec.spec.template.spec.preKubeadmCommands of type []string; correct the patch region\n",
		},
		"patch that writes a field that there is not": {
			"plan clusterclass", handmadeClass, []string{"/spec/template/spec/preKubeadmCommands", "/spec/template/spec/beforeKubeadmCommands"}, 3,
			"class.yaml:58: spec.patches[region].definitions[0].jsonPatches[0]: Invalid value: the management cluster refuses the KubeadmConfigTemplate of cluster class-broken/managed: spec.template.spec.beforeKubeadmCommands: KubeadmConfigTemplate has no such field; remove it, or correct its name; correct the patch region\n",
		},
		"patch for a class of workers that there is not": {
			"plan clusterclass", handmadeClass, []string{"[default-worker, large]", "[default-worker, larg]"}, 3,
			"class.yaml:56: spec.patches[0].definitions[0].selector.matchResources.machineDeploymentClass.names[1]: Invalid value: \"larg\": selector is enabled but matches neither the bootstrap ref nor the infrastructure ref of a MachineDeployment class; correct the patch\n",
		},
		"other kind of template": {
			"plan clusterclass", handmadeClass, []string{"kind: DevClusterTemplate", "kind: DockerClusterTemplate"}, 3,
			"class.yaml:7: spec.infrastructure.templateRef.kind: Forbidden: kind cannot be changed from \"DevClusterTemplate\" to \"DockerClusterTemplate\" to prevent incompatible changes in the Clusters; a class keeps the kinds of its templates: make another class for others\n",
		},
		"template that is nowhere": {
			"plan clusterclass", handmadeClass, []string{"KubeadmConfigTemplate, name: handmade", "KubeadmConfigTemplate, name: renamed"}, 3,
			"class.yaml:16: spec.workers.machineDeployments[0].bootstrap.templateRef: Not found: \"KubeadmConfigTemplate/renamed\": neither this file nor the management cluster has this template; add it to the file, or name another one\n" +
				"class.yaml:21: spec.workers.machineDeployments[1].bootstrap.templateRef: Not found: \"KubeadmConfigTemplate/renamed\": neither this file nor the management cluster has this template; add it to the file, or name another one\n",
		},
		"template that is nowhere, of a new class": {
			"plan clusterclass", handmadeClass, []string{"metadata: {name: handmade}", "metadata: {name: fresh}", "KubeadmConfigTemplate, name: handmade", "KubeadmConfigTemplate, name: renamed"}, 3,
			"class.yaml:16: spec.workers.machineDeployments[0].bootstrap.templateRef: Not found: \"KubeadmConfigTemplate/renamed\": neither this file nor the management cluster has this template; add it to the file, or name another one\n" +
				"class.yaml:21: spec.workers.machineDeployments[1].bootstrap.templateRef: Not found: \"KubeadmConfigTemplate/renamed\": neither this file nor the management cluster has this template; add it to the file, or name another one\n",
		},
		"template changed under its name": {
			"plan clusterclass", handmadeTemplates + handmadeClass, []string{"startupDuration: 1s", "startupDuration: 2s"}, 3,
			"class.yaml:18: spec.template: Forbidden: DevMachineTemplate/handmade already exists with other content, and templates cannot be changed: give the new one another name, and name it in the class\n",
		},
		"field removed from a template under its name": {
			"plan clusterclass", handmadeTemplates + handmadeClass, []string{"{vm: {provisioning: {startupDuration: 1s}}}", "{}"}, 3,
			"class.yaml:18: spec.template: Forbidden: DevMachineTemplate/handmade already exists with other content, and templates cannot be changed: give the new one another name, and name it in the class\n",
		},
		"unknown field of the class": {
			"plan clusterclass", handmadeClass, []string{"  workers:", "  worker:"}, 3,
			"class.yaml:12: spec.worker: Forbidden: ClusterClass has no such field; remove it, or correct its name\n",
		},
		"unknown field of a template": {
			"plan clusterclass", handmadeTemplates + handmadeClass, []string{"startupDuration: 1s", "startup: 2s"}, 3,
			"class.yaml:18: spec.template.spec.backend.inMemory.vm.provisioning.startup: Forbidden: DevMachineTemplate has no such field; remove it, or correct its name\n",
		},
		"no class": {
			"plan clusterclass", handmadeTemplates + handmadeClass, []string{"", handmadeTemplates}, 2,
			"class.yaml: the file has no ClusterClass (apiVersion cluster.x-k8s.io/v1beta2); 'clusterctl-x generate clusterclass' writes one, with its templates\n",
		},
		"two classes": {
			"plan clusterclass", handmadeClass, []string{"", handmadeClass + "---\n" + handmadeClass}, 2,
			"class.yaml:60: ClusterClass handmade is the second one in this file; put each into a file of its own, with its templates\n",
		},
		"another kind": {
			"plan clusterclass", handmadeClass, []string{"", handmadeClass + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: handmade}\n"}, 2,
			"class.yaml:60: ConfigMap handmade is not part of a ClusterClass; leave it out: the file may have one ClusterClass and templates\n",
		},
		"file of a cluster": {
			"plan clusterclass", managedSpec, nil, 2,
			"class.yaml:1: Cluster managed is not part of a ClusterClass; 'clusterctl-x plan upgrade' takes a cluster spec; this command takes a file with one ClusterClass and its templates\n",
		},
		"broken YAML": {
			"plan clusterclass", handmadeTemplates + handmadeClass, []string{"  infrastructure:", "\tinfrastructure:"}, 2,
			"class.yaml:33: not valid YAML: found character that cannot start any token; check indentation, quotes and brackets here and above\n",
		},
		"empty": {
			"plan clusterclass", handmadeClass, []string{"", "\n"}, 2,
			"class.yaml: the file has no ClusterClass (apiVersion cluster.x-k8s.io/v1beta2); 'clusterctl-x generate clusterclass' writes one, with its templates\n",
		},
		"nothing but comments": {
			"plan clusterclass", handmadeClass, []string{"", "# nothing\n---\n"}, 2,
			"class.yaml: the file has no ClusterClass (apiVersion cluster.x-k8s.io/v1beta2); 'clusterctl-x generate clusterclass' writes one, with its templates\n",
		},
		"list": {
			"plan clusterclass", handmadeClass, []string{"", "- a\n"}, 2,
			"class.yaml:1: a document must be a mapping with apiVersion and kind: is this the right file?\n",
		},
		"no name": {
			"plan clusterclass", handmadeClass, []string{"metadata: {name: handmade}", "metadata: {}"}, 2,
			"class.yaml:1: ClusterClass has no name; give it one, as metadata.name\n",
		},
		"apiVersion that is not served": {
			"plan clusterclass", handmadeClass, []string{"apiVersion: cluster.x-k8s.io/v1beta2", "apiVersion: cluster.x-k8s.io/v1beta9"}, 3,
			"class.yaml:1: apiVersion: Forbidden: the management cluster knows no ClusterClass of cluster.x-k8s.io/v1beta9; use the version that it has ('kubectl api-resources' lists them)\n",
		},
	}
}
