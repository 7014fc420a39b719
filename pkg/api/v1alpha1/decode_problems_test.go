package v1alpha1_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	inMemoryDocument = "---\napiVersion: clusterctl-x.io/v1alpha1\nkind: InMemoryDatacenterConfig\nmetadata:\n  name: prod\n"
	dockerDocument   = "---\napiVersion: clusterctl-x.io/v1alpha1\nkind: DockerDatacenterConfig\nmetadata:\n  name: prod\n"
	documentKinds    = `"AWSIamConfig", "Cluster", "DockerDatacenterConfig", "InMemoryDatacenterConfig", "OIDCConfig"`
)

// problemsOf are the printed lines of all problems of a file.
func problemsOf(t *testing.T, data []byte) []string {
	t.Helper()
	var lines []string
	for _, problem := range devProviders().Decode("cluster.yaml", data).Problems {
		lines = append(lines, problem.String())
	}
	return lines
}

func TestDecodeReportsAllProblems(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want []string
	}{
		"unknown field": {with("metadata:\n", "metadata:\n  color: red\n"), []string{
			"cluster.yaml:4: metadata.color: Forbidden: unknown field; there are name, namespace",
		}},
		"unknown field where there are none": {with("  clusterNetwork:\n", "  clusterNetwork:\n    cniConfig: {kindnetd: {mtu: 1}}\n"), []string{
			"cluster.yaml:8: spec.clusterNetwork.cniConfig.kindnetd.mtu: Forbidden: unknown field; there are none here: remove it",
		}},
		"unknown field without value": {with("metadata:\n", "metadata:\n  color:\n"), []string{
			"cluster.yaml:4: metadata.color: Forbidden: unknown field; there are name, namespace",
		}},
		"misspelt field": {with("kubernetesVersion", "kubernetesVerison"), []string{
			"cluster.yaml:6: spec.kubernetesVerison: Forbidden: unknown field; did you mean kubernetesVersion?",
		}},
		"wrong case": {with("kubernetesVersion", "KubernetesVersion"), []string{
			"cluster.yaml:6: spec.KubernetesVersion: Forbidden: unknown field; did you mean kubernetesVersion?",
		}},
		"all in capitals": {with("    name: prod", "    NAME: prod"), []string{
			"cluster.yaml:14: spec.datacenterRef.NAME: Forbidden: unknown field; did you mean name?",
		}},
		"wrong case of a list's field": {minimal + "  workerNodeGroupConfigurations:\n  - name: a\n    Count: 2\n", []string{
			"cluster.yaml:17: spec.workerNodeGroupConfigurations[0].Count: Forbidden: unknown field; did you mean count?",
		}},
		"field in the wrong place": {minimal + "kubernetesVersion: 1.34\n", []string{
			"cluster.yaml:15: kubernetesVersion: Forbidden: unknown field here; did you mean spec.kubernetesVersion?",
		}},
		"path of a field as its name": {minimal + "spec.bundlesRef: 1\nstatus[0]: 1\n", []string{
			`cluster.yaml:15: "spec.bundlesRef": Forbidden: unknown field; there are apiVersion, kind, metadata, spec`,
			`cluster.yaml:16: "status[0]": Forbidden: unknown field; there are apiVersion, kind, metadata, spec`,
		}},
		"names that do not fit on a line": {minimal + "\"a\\nb\": 1\n\"\": 1\n\"\\e[31m\": 1\n", []string{
			`cluster.yaml:15: "a\nb": Forbidden: unknown field; there are apiVersion, kind, metadata, spec`,
			`cluster.yaml:16: "": Forbidden: unknown field; there are apiVersion, kind, metadata, spec`,
			`cluster.yaml:17: "\x1b[31m": Forbidden: unknown field; there are apiVersion, kind, metadata, spec`,
		}},
		"duplicate fields": {with("metadata:\n  name: prod\n", "metadata:\n  name: prod\n  name: test\n  name: prod\nkind: Cluster\n"), []string{
			`cluster.yaml:5: metadata.name: Duplicate value: "name": the field is already on line 4; remove one of them`,
			`cluster.yaml:6: metadata.name: Duplicate value: "name": the field is already on line 4; remove one of them`,
			`cluster.yaml:7: kind: Duplicate value: "kind": the field is already on line 2; remove one of them`,
		}},
		"wrong types": {
			with("name: prod\nspec", "name: 17\n  namespace: {a: b}\nspec") + "  controlPlaneConfiguration: [1]\n  workerNodeGroupConfigurations: {name: a}\n" +
				"  externalEtcdConfiguration:\n    count: three\n  managementCluster: mgmt\n",
			[]string{
				`cluster.yaml:4: metadata.name: Invalid value: "17": must be text; put it in quotes`,
				`cluster.yaml:5: metadata.namespace: Invalid value: "a mapping": must be text: write one value`,
				`cluster.yaml:16: spec.controlPlaneConfiguration: Invalid value: "a list": must be a mapping: fields with values`,
				`cluster.yaml:17: spec.workerNodeGroupConfigurations: Invalid value: "a mapping": must be a list`,
				`cluster.yaml:19: spec.externalEtcdConfiguration.count: Invalid value: "three": must be a whole number in decimal digits, without quotes`,
				`cluster.yaml:20: spec.managementCluster: Invalid value: "mgmt": must be a mapping: fields with values`,
			},
		},
		"text that cannot be seen": {
			with("name: prod\nspec", "name: \"a\\eb\"\n  namespace: \"a\\u0085\"\nspec") + "  managementCluster: {name: a\u00a0b}\n  workerNodeGroupConfigurations:\n  - name: |\n      md-0\n  - name: \"\\t\"\n",
			[]string{
				`cluster.yaml:4: metadata.name: Invalid value: "a\x1bb": must be printable text; remove the character U+001B`,
				`cluster.yaml:5: metadata.namespace: Invalid value: "a\u0085": must be printable text; remove the character U+0085`,
				`cluster.yaml:16: spec.managementCluster.name: Invalid value: "a\u00a0b": must be printable text; remove the character U+00A0`,
				`cluster.yaml:18: spec.workerNodeGroupConfigurations[0].name: Invalid value: "md-0\n": must be printable text; remove the character U+000A`,
				`cluster.yaml:20: spec.workerNodeGroupConfigurations[1].name: Invalid value: "\t": must be printable text; remove the character U+0009`,
			},
		},
		"numbers": {
			minimal + "  workerNodeGroupConfigurations:\n  - count: 1.0\n  - count: \"3\"\n  - count: 010\n  - count: 0x10\n  - count: 1_000\n  - count: +3\n  - count: 1e3\n  - count: 99999999999999999999\n  - count: true\n",
			[]string{
				`cluster.yaml:16: spec.workerNodeGroupConfigurations[0].count: Invalid value: "1.0": must be a whole number in decimal digits, without quotes`,
				`cluster.yaml:17: spec.workerNodeGroupConfigurations[1].count: Invalid value: "3": must be a whole number in decimal digits, without quotes`,
				`cluster.yaml:18: spec.workerNodeGroupConfigurations[2].count: Invalid value: "010": must be a whole number in decimal digits, without quotes`,
				`cluster.yaml:19: spec.workerNodeGroupConfigurations[3].count: Invalid value: "0x10": must be a whole number in decimal digits, without quotes`,
				`cluster.yaml:20: spec.workerNodeGroupConfigurations[4].count: Invalid value: "1_000": must be a whole number in decimal digits, without quotes`,
				`cluster.yaml:21: spec.workerNodeGroupConfigurations[5].count: Invalid value: "+3": must be a whole number in decimal digits, without quotes`,
				`cluster.yaml:22: spec.workerNodeGroupConfigurations[6].count: Invalid value: "1e3": must be a whole number in decimal digits, without quotes`,
				`cluster.yaml:23: spec.workerNodeGroupConfigurations[7].count: Invalid value: "99999999999999999999": must be a whole number of at most 64 bits; use a smaller one`,
				`cluster.yaml:24: spec.workerNodeGroupConfigurations[8].count: Invalid value: "true": must be a whole number in decimal digits, without quotes`,
			},
		},
		"versions": {
			with(`"1.34"`, "1") + "  workerNodeGroupConfigurations:\n  - kubernetesVersion: 1.34.0-rc.01\n  - kubernetesVersion: [1.34]\n  - kubernetesVersion: \"\"\n",
			[]string{
				`cluster.yaml:6: spec.kubernetesVersion: Invalid value: "1": write a minor such as "1.34" or an exact version such as "1.34.2"`,
				`cluster.yaml:16: spec.workerNodeGroupConfigurations[0].kubernetesVersion: Invalid value: "1.34.0-rc.01": write a minor such as "1.34" or an exact version such as "1.34.2"`,
				`cluster.yaml:17: spec.workerNodeGroupConfigurations[1].kubernetesVersion: Invalid value: "a list": must be one value`,
				`cluster.yaml:18: spec.workerNodeGroupConfigurations[2].kubernetesVersion: Invalid value: "": write a minor such as "1.34" or an exact version such as "1.34.2"`,
			},
		},
		"durations": {minimal + inMemoryDocument + "spec:\n  machineStartup: 5\n  nodeStartup: -1s\n  etcdStartup: {}\n", []string{
			`cluster.yaml:21: spec.machineStartup: Invalid value: "5": write a duration such as 90s or 1m30s, or 0s`,
			`cluster.yaml:22: spec.nodeStartup: Invalid value: "-1s": write a duration such as 90s or 1m30s, or 0s`,
			`cluster.yaml:23: spec.etcdStartup: Invalid value: "a mapping": must be one value`,
		}},
		"upgrade policies": {minimal + "  maxWorkerVersionSkew: 1\n  upgradePolicy:\n    maxConcurrentWorkerGroups: all\n    maxWorkerVersionSkew: 1.5\n    maxWorkerVersionSkews: 1\n", []string{
			"cluster.yaml:15: spec.maxWorkerVersionSkew: Forbidden: unknown field here; did you mean spec.upgradePolicy.maxWorkerVersionSkew?",
			`cluster.yaml:17: spec.upgradePolicy.maxConcurrentWorkerGroups: Invalid value: "all": must be a whole number in decimal digits, without quotes`,
			`cluster.yaml:18: spec.upgradePolicy.maxWorkerVersionSkew: Invalid value: "1.5": must be a whole number in decimal digits, without quotes`,
			"cluster.yaml:19: spec.upgradePolicy.maxWorkerVersionSkews: Forbidden: unknown field; did you mean maxWorkerVersionSkew?",
		}},
		"upgrade policy that is a number": {minimal + "  upgradePolicy: 1\n", []string{
			`cluster.yaml:15: spec.upgradePolicy: Invalid value: "1": must be a mapping: fields with values`,
		}},
		"null in lists": {with("[10.96.0.0/12]", "[null]") + "  workerNodeGroupConfigurations:\n  - name: a\n  -\n", []string{
			"cluster.yaml:11: spec.clusterNetwork.services.cidrBlocks[0]: Required value: an item of a list must have a value; write one or remove the item",
			"cluster.yaml:17: spec.workerNodeGroupConfigurations[1]: Required value: an item of a list must have a value; write one or remove the item",
		}},
		"merge key": {with("metadata:\n", "metadata: &meta\n") + "  managementCluster:\n    <<: *meta\n", []string{
			"cluster.yaml:16: spec.managementCluster.\"<<\": Forbidden: merging fields with << is not supported; write the fields out",
		}},
		"names of fields that are no text": {with("metadata:\n", "metadata:\n  ? [a]\n  : b\n  ? {a: b}\n  : c\n") + "? [x]\n: y\n", []string{
			`cluster.yaml:4: metadata: Invalid value: "a list": the name of a field must be text; write one, or remove it`,
			`cluster.yaml:6: metadata: Invalid value: "a mapping": the name of a field must be text; write one, or remove it`,
			`cluster.yaml:19: the name of a field must be text; write one, or remove it`,
		}},
		"template that was not filled": {with("name: prod\nspec", "name: {{ .Name }}\nspec"), []string{
			`cluster.yaml:4: metadata.name: Invalid value: "a mapping": has braces of a template that was not filled in; render the file first, or put the value in quotes`,
		}},
		"fields of EKS Anywhere": {minimal + "  controlPlaneConfiguration: {skipAdmissionForSystemResources: true}\n  workerNodeGroupConfigurations:\n  - name: a\n    machineGroupRef: {}\n", []string{
			"cluster.yaml:15: spec.controlPlaneConfiguration.skipAdmissionForSystemResources: Forbidden: only the API server of EKS Distro can do this; remove it",
			"cluster.yaml:18: spec.workerNodeGroupConfigurations[0].machineGroupRef: Forbidden: with a datacenterRef of kind InMemoryDatacenterConfig no document describes machines; remove it",
		}},
		"problems of several documents and kinds": {
			with("kubernetesVersion", "kubernetesVerison") + strings.Replace(inMemoryDocument, "prod", "test", 1) + "spec:\n  bootTime: 5s\n---\nkind: Secret\napiVersion: clusterctl-x.io/v1alpha1\n---\n- a\n",
			[]string{
				"cluster.yaml:6: spec.kubernetesVerison: Forbidden: unknown field; did you mean kubernetesVersion?",
				`cluster.yaml:19: metadata.name: Invalid value: "test": spec.datacenterRef of the cluster names "prod"; use one name for both`,
				"cluster.yaml:21: spec.bootTime: Forbidden: unknown field; there are apiServerStartup, etcdStartup, machineStartup, nodeStartup",
				`cluster.yaml:23: kind: Unsupported value: "Secret": supported values: ` + documentKinds,
				"cluster.yaml:26: a document must be a mapping with apiVersion and kind: is this the right file?",
			},
		},
		"mistakes before a mistake in the syntax": {with("name: prod\nspec", "nam: prod\nspec") + "---\na: [1\n", []string{
			"cluster.yaml:4: metadata.nam: Forbidden: unknown field; did you mean name?",
			"cluster.yaml:16: not valid YAML: did not find expected ',' or ']'; check indentation, quotes and brackets here and above",
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, problemsOf(t, []byte(test.text))); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}
