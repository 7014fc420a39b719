package v1alpha1_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDecodeChecksDocuments is about which documents a file holds, and how they
// refer to each other.
func TestDecodeChecksDocuments(t *testing.T) {
	t.Parallel()
	const noCluster = "cluster.yaml: no document of kind Cluster: 'clusterctl-x generate clusterconfig NAME --provider inmemory' writes a sample"
	tests := map[string]struct {
		text string
		want []string
	}{
		"two clusters": {minimal + "---\n" + minimal, []string{
			`cluster.yaml:16: kind: Duplicate value: "Cluster": the document on line 1 has this kind already; a file describes one cluster: put the others into files of their own`,
		}},
		"two clusters, the second with mistakes": {minimal + "---\n" + with("name: prod\nspec", "nam: prod\nspec"), []string{
			`cluster.yaml:16: kind: Duplicate value: "Cluster": the document on line 1 has this kind already; a file describes one cluster: put the others into files of their own`,
		}},
		"two provider documents": {minimal + inMemoryDocument + inMemoryDocument, []string{
			`cluster.yaml:21: kind: Duplicate value: "InMemoryDatacenterConfig": the document on line 16 has this kind already; a file describes one cluster: put the others into files of their own`,
		}},
		"no cluster": {strings.TrimPrefix(inMemoryDocument, "---\n"), []string{noCluster}},
		"no cluster, and a mistake": {inMemoryDocument + "  nam: x\n", []string{
			noCluster,
			"cluster.yaml:6: metadata.nam: Forbidden: unknown field; did you mean name?",
		}},
		"unknown kind": {strings.Replace(minimal, "kind: Cluster", "kind: cluster", 1), []string{
			`cluster.yaml:2: kind: Unsupported value: "cluster": supported values: ` + documentKinds,
		}},
		"kind of another provider": {minimal + "---\napiVersion: anywhere.eks.amazonaws.com/v1alpha1\nkind: TinkerbellMachineConfig\nmetadata:\n  name: x\n", []string{
			`cluster.yaml:17: kind: Invalid value: "TinkerbellMachineConfig": there is no provider tinkerbell; have a ClusterAPIDatacenterConfig and ClusterAPIMachineConfigs carry its objects instead (docs/tasks/any-infrastructure.md)`,
		}},
		"kind by an alias": {strings.Replace(minimal, "kind: Cluster\nmetadata:\n  name: prod", "metadata:\n  name: &kind Secret\nkind: *kind", 1), []string{
			`cluster.yaml:4: kind: Unsupported value: "Secret": supported values: ` + documentKinds,
		}},
		"neither kind nor version": {"\n\nmetadata: {name: x}\n", []string{
			"cluster.yaml:3: apiVersion: Required value: each document needs one of clusterctl-x.io/v1alpha1, anywhere.eks.amazonaws.com/v1alpha1",
			"cluster.yaml:3: kind: Required value: each document needs one of AWSIamConfig, Cluster, DockerDatacenterConfig, InMemoryDatacenterConfig, OIDCConfig",
		}},
		"null kind": {strings.Replace(minimal, "kind: Cluster", "kind: null", 1), []string{
			"cluster.yaml:1: kind: Required value: each document needs one of AWSIamConfig, Cluster, DockerDatacenterConfig, InMemoryDatacenterConfig, OIDCConfig",
		}},
		"list as kind": {strings.Replace(minimal, "kind: Cluster", "kind: [Cluster]", 1), []string{
			"cluster.yaml:1: kind: Required value: each document needs one of AWSIamConfig, Cluster, DockerDatacenterConfig, InMemoryDatacenterConfig, OIDCConfig",
		}},
		"wrong apiVersion": {strings.Replace(minimal, "clusterctl-x.io/v1alpha1", "cluster.x-k8s.io/v1beta2", 1), []string{
			`cluster.yaml:1: apiVersion: Unsupported value: "cluster.x-k8s.io/v1beta2": supported values: "clusterctl-x.io/v1alpha1", "anywhere.eks.amazonaws.com/v1alpha1"`,
		}},
		"wrong case of the apiVersion": {strings.Replace(minimal, "clusterctl-x.io/v1alpha1", "clusterctl-x.io/V1Alpha1", 1), []string{
			`cluster.yaml:1: apiVersion: Unsupported value: "clusterctl-x.io/V1Alpha1": supported values: "clusterctl-x.io/v1alpha1", "anywhere.eks.amazonaws.com/v1alpha1"`,
		}},
		"provider document of another name": {minimal + strings.Replace(inMemoryDocument, "prod", "test", 1), []string{
			`cluster.yaml:19: metadata.name: Invalid value: "test": spec.datacenterRef of the cluster names "prod"; use one name for both`,
		}},
		"provider document without name": {minimal + strings.Replace(inMemoryDocument, "metadata:\n  name: prod\n", "", 1), []string{
			`cluster.yaml:16: metadata.name: Invalid value: "": spec.datacenterRef of the cluster names "prod"; use one name for both`,
		}},
		"provider document whose name cannot be read": {minimal + strings.Replace(inMemoryDocument, "prod", "17", 1), []string{
			`cluster.yaml:19: metadata.name: Invalid value: "17": must be text; put it in quotes`,
		}},
		"provider document in another namespace": {minimal + inMemoryDocument + "  namespace: team\n", []string{
			`cluster.yaml:20: metadata.namespace: Invalid value: "team": the cluster has namespace ""; use one for both, or leave it out here`,
		}},
		"provider document that nothing refers to": {minimal + dockerDocument, []string{
			`cluster.yaml:19: metadata.name: Invalid value: "prod": no datacenterRef names this DockerDatacenterConfig: the cluster's spec.datacenterRef has kind "InMemoryDatacenterConfig"; remove this document or correct the reference`,
		}},
		"one provider document too many": {minimal + dockerDocument + inMemoryDocument, []string{
			`cluster.yaml:19: metadata.name: Invalid value: "prod": no datacenterRef names this DockerDatacenterConfig: the cluster's spec.datacenterRef has kind "InMemoryDatacenterConfig"; remove this document or correct the reference`,
		}},
		// The reference is wrong and not the document.
		"reference that cannot be read": {strings.Replace(minimal, "kind: InMemoryDatacenterConfig", "knd: InMemoryDatacenterConfig", 1) + inMemoryDocument, []string{
			"cluster.yaml:13: spec.datacenterRef.knd: Forbidden: unknown field; did you mean kind?",
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
