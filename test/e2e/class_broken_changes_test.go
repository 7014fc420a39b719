package e2e_test

// changesOfAClass are files of classes that its cluster, or Cluster API, cannot take.
func changesOfAClass() map[string]brokenUse {
	return map[string]brokenUse{
		"class of workers in use removed": {
			askClassPlan, handmadeClass, []string{"class: large", "class: huge", "[default-worker, large]", "[default-worker, huge]"},
			"validations.Refused: class.yaml:13: spec.workers.machineDeployments: Forbidden: MachineDeploymentClass \"large\" cannot be deleted because it is used by Cluster \"managed\"; remove the groups of this class from their clusters first",
		},
		"variable in use removed": {
			askClassPlan, handmadeClass, []string{"name: epoch", "name: era"},
			"validations.Refused: class.yaml:24: spec.variables: Required value: cluster class-broken/managed sets the variable epoch, which the class no longer has; change the cluster first, or let the class keep accepting its value",
		},
		"enum without a value in use": {
			askClassPlan, handmadeClass, []string{"enum: [eu, us]", "enum: [us]"},
			"validations.Refused: class.yaml:25: spec.variables[region]: Invalid value: cluster class-broken/managed sets it to \"eu\": not one of the supported values: \"us\"; change the cluster first, or let the class keep accepting its value",
		},
		"another type of a variable in use": {
			askClassPlan, handmadeClass, []string{"type: integer, minimum: 1, maximum: 5, default: 2", "type: string"},
			"validations.Refused: class.yaml:28: spec.variables[size]: Invalid value: cluster class-broken/managed sets it to 2: must be of type string, not integer; change the cluster first, or let the class keep accepting its value",
		},
		"variable required that clusters lack": {
			askClassPlan, handmadeClass, []string{"  - name: disks\n    required: false", "  - name: disks\n    required: true"},
			"validations.Refused: class.yaml:40: spec.variables[disks]: Invalid value: cluster class-broken/managed does not set this variable, and the class requires it; give it a default, or do not require it until all clusters set it",
		},
		"default beyond the bounds": {
			askClassPlan, handmadeClass, []string{"default: 2", "default: 9"},
			"validations.Refused: class.yaml:30: spec.variables[size].schema.openAPIV3Schema.default: Invalid value: 9: should be less than or equal to 5; correct the schema",
		},
		"type that there is not": {
			askClassPlan, handmadeClass, []string{"type: integer, minimum: 1", "type: intger, minimum: 1"},
			"validations.Refused: class.yaml:30: spec.variables[1].schema.openAPIV3Schema.type: Unsupported value: \"intger\": supported values: \"object\", \"array\", \"string\", \"integer\", \"number\", \"boolean\"; correct the schema",
		},
		"rule that cannot be compiled": {
			askClassPlan, handmadeClass, []string{"self >= oldSelf", "self >= other"},
			"validations.Refused: class.yaml:52: spec.variables[epoch].schema.openAPIV3Schema.x-kubernetes-validations[0].rule: Invalid value: compilation failed: ERROR: <input>:1:9: undeclared reference to 'other' (in container ''); correct the schema",
		},
		"patch that writes no JSON": {
			askClassPlan, handmadeClass, []string{"'[\"echo {{ .region }} {{ .size }}\"]'", "'[\"echo'"},
			"validations.Refused: class.yaml:54: spec.patches[region]: Invalid value: Cluster API cannot generate cluster class-broken/managed: its patch region fails: failed to generate JSON patches for \"KubeadmConfigTemplate\": failed to calculate value for template: failed to unmarshal rendered template: \"[\\\"echo\": error converting YAML to JSON: yaml: found unexpected end of stream; correct the patch",
		},
		"patch where nothing is": {
			askClassPlan, handmadeClass, []string{"/spec/template/spec/preKubeadmCommands", "/spec/template/spec/nothing/preKubeadmCommands"},
			"validations.Refused: class.yaml:54: spec.patches[region]: Invalid value: Cluster API cannot generate cluster class-broken/managed: its patch region fails: failed to apply patch: error applying json patch (RFC6902): add operation does not apply: doc is missing path: \"/spec/template/spec/nothing/preKubeadmCommands\": missing value; correct the patch",
		},
		"patch that writes a value of another type": {
			askClassPlan, handmadeClass, []string{"'[\"echo {{ .region }} {{ .size }}\"]'", "'echo'"},
			"validations.Refused: class.yaml:58: spec.patches[region].definitions[0].jsonPatches[0]: Invalid value: the management cluster refuses the KubeadmConfigTemplate of cluster class-broken/managed: admission webhook \"default.kubeadmconfigtemplate.bootstrap.cluster.x-k8s.io\" denied the request: json: cannot unmarshal string into Go struct field KubeadmConfigSpec.spec.template.spec.preKubeadmCommands of type []string; correct the patch region",
		},
		"patch that writes a field that there is not": {
			askClassPlan, handmadeClass, []string{"/spec/template/spec/preKubeadmCommands", "/spec/template/spec/beforeKubeadmCommands"},
			"validations.Refused: class.yaml:58: spec.patches[region].definitions[0].jsonPatches[0]: Invalid value: the management cluster refuses the KubeadmConfigTemplate of cluster class-broken/managed: spec.template.spec.beforeKubeadmCommands: KubeadmConfigTemplate has no such field; remove it, or correct its name; correct the patch region",
		},
		"patch for a class of workers that there is not": {
			askClassPlan, handmadeClass, []string{"[default-worker, large]", "[default-worker, larg]"},
			"validations.Refused: class.yaml:56: spec.patches[0].definitions[0].selector.matchResources.machineDeploymentClass.names[1]: Invalid value: \"larg\": selector is enabled but matches neither the bootstrap ref nor the infrastructure ref of a MachineDeployment class; correct the patch",
		},
		"other kind of template": {
			askClassPlan, handmadeClass, []string{"kind: DevClusterTemplate", "kind: DockerClusterTemplate"},
			"validations.Refused: class.yaml:7: spec.infrastructure.templateRef.kind: Forbidden: kind cannot be changed from \"DevClusterTemplate\" to \"DockerClusterTemplate\" to prevent incompatible changes in the Clusters; a class keeps the kinds of its templates: make another class for others",
		},
		"template that is nowhere": {
			askClassPlan, handmadeClass, []string{"KubeadmConfigTemplate, name: handmade", "KubeadmConfigTemplate, name: renamed"},
			"validations.Refused: class.yaml:16: spec.workers.machineDeployments[0].bootstrap.templateRef: Not found: \"KubeadmConfigTemplate/renamed\": neither this file nor the management cluster has this template; add it to the file, or name another one\n" +
				"class.yaml:21: spec.workers.machineDeployments[1].bootstrap.templateRef: Not found: \"KubeadmConfigTemplate/renamed\": neither this file nor the management cluster has this template; add it to the file, or name another one",
		},
		"template that is nowhere, of a new class": {
			askClassPlan, handmadeClass, []string{"metadata: {name: handmade}", "metadata: {name: fresh}", "KubeadmConfigTemplate, name: handmade", "KubeadmConfigTemplate, name: renamed"},
			"validations.Refused: class.yaml:16: spec.workers.machineDeployments[0].bootstrap.templateRef: Not found: \"KubeadmConfigTemplate/renamed\": neither this file nor the management cluster has this template; add it to the file, or name another one\n" +
				"class.yaml:21: spec.workers.machineDeployments[1].bootstrap.templateRef: Not found: \"KubeadmConfigTemplate/renamed\": neither this file nor the management cluster has this template; add it to the file, or name another one",
		},
		"template changed under its name": {
			askClassPlan, handmadeTemplates + handmadeClass, []string{"startupDuration: 1s", "startupDuration: 2s"},
			"validations.Refused: class.yaml:18: spec.template: Forbidden: DevMachineTemplate/handmade already exists with other content, and templates cannot be changed: give the new one another name, and name it in the class",
		},
		"field removed from a template under its name": {
			askClassPlan, handmadeTemplates + handmadeClass, []string{"{vm: {provisioning: {startupDuration: 1s}}}", "{}"},
			"validations.Refused: class.yaml:18: spec.template: Forbidden: DevMachineTemplate/handmade already exists with other content, and templates cannot be changed: give the new one another name, and name it in the class",
		},
		"unknown field of the class": {
			askClassPlan, handmadeClass, []string{"  workers:", "  worker:"},
			"validations.Refused: class.yaml:12: spec.worker: Forbidden: ClusterClass has no such field; remove it, or correct its name",
		},
		"unknown field of a template": {
			askClassPlan, handmadeTemplates + handmadeClass, []string{"startupDuration: 1s", "startup: 2s"},
			"validations.Refused: class.yaml:18: spec.template.spec.backend.inMemory.vm.provisioning.startup: Forbidden: DevMachineTemplate has no such field; remove it, or correct its name",
		},
		"apiVersion that is not served": {
			askClassPlan, handmadeClass, []string{"apiVersion: cluster.x-k8s.io/v1beta2", "apiVersion: cluster.x-k8s.io/v1beta9"},
			"validations.Refused: class.yaml:1: apiVersion: Forbidden: the management cluster knows no ClusterClass of cluster.x-k8s.io/v1beta9; use the version that it has ('kubectl api-resources' lists them)",
		},
	}
}
