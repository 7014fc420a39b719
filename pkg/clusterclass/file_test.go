package clusterclass

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// classFile is a template and a ClusterClass that has it.
const classFile = `apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DevClusterTemplate
metadata: {name: handmade}
spec: {template: {spec: {backend: {inMemory: {}}}}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: {name: handmade}
spec:
  kubernetesVersions: [v1.31.14, v1.32.13, v1.33.13, v1.34.4]
  infrastructure:
    templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DevClusterTemplate, name: handmade}
`

// TestBrokenFiles: what is wrong in the file alone is refused with its line and a remedy.
func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	template, class, _ := strings.Cut(classFile, "---\n")
	for name, test := range map[string]struct{ file, want string }{
		"minor left out": {
			edited(t, classFile, "v1.33.13, ", ""),
			"class.yaml:10: spec.kubernetesVersions[2]: Invalid value: \"v1.34.4\": leaves out a minor after v1.32.13, and a control plane moves one minor at a time; add a version of each minor between",
		},
		"versions not in order": {
			edited(t, classFile, "v1.32.13, v1.33.13", "v1.33.13, v1.32.13"),
			"class.yaml:10: spec.kubernetesVersions[2]: Invalid value: \"v1.32.13\": must be newer than v1.33.13 before it; list the versions from the oldest to the newest, each once",
		},
		"version twice": {
			edited(t, classFile, "v1.31.14, ", "v1.31.14, v1.31.14, "),
			"class.yaml:10: spec.kubernetesVersions[1]: Invalid value: \"v1.31.14\": must be newer than v1.31.14 before it; list the versions from the oldest to the newest, each once",
		},
		"minor instead of a version": {
			edited(t, classFile, "v1.31.14, ", "\"1.31\", "),
			"class.yaml:10: spec.kubernetesVersions[0]: Invalid value: \"1.31\": must be an exact version such as v1.34.2; write it out",
		},
		"no class": {
			template,
			"class.yaml: the file has no ClusterClass (apiVersion cluster.x-k8s.io/v1beta2); 'clusterctl-x generate clusterclass' writes one, with its templates",
		},
		"two classes": {
			classFile + "---\n" + class,
			"class.yaml:14: ClusterClass handmade is the second one in this file; put each into a file of its own, with its templates",
		},
		"another kind": {
			classFile + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: handmade}\n",
			"class.yaml:14: ConfigMap handmade is not part of a ClusterClass; leave it out: the file may have one ClusterClass and templates",
		},
		"file of a cluster": {
			"apiVersion: clusterctl-x.io/v1alpha1\nkind: Cluster\nmetadata: {name: managed}\n",
			"class.yaml:1: Cluster managed is not part of a ClusterClass; 'clusterctl-x plan upgrade' takes a cluster spec; this command takes a file with one ClusterClass and its templates",
		},
		"broken YAML": {
			edited(t, classFile, "  infrastructure:", "\tinfrastructure:"),
			"class.yaml:11: not valid YAML: found character that cannot start any token; check indentation, quotes and brackets here and above",
		},
		"empty": {
			"\n",
			"class.yaml: the file has no ClusterClass (apiVersion cluster.x-k8s.io/v1beta2); 'clusterctl-x generate clusterclass' writes one, with its templates",
		},
		"nothing but comments": {
			"# nothing\n---\n",
			"class.yaml: the file has no ClusterClass (apiVersion cluster.x-k8s.io/v1beta2); 'clusterctl-x generate clusterclass' writes one, with its templates",
		},
		"list": {
			"- a\n",
			"class.yaml:1: a document must be a mapping with apiVersion and kind: is this the right file?",
		},
		"no name": {
			edited(t, classFile, "kind: ClusterClass\nmetadata: {name: handmade}", "kind: ClusterClass\nmetadata: {}"),
			"class.yaml:6: ClusterClass has no name; give it one, as metadata.name",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Decode("class.yaml", []byte(test.file))
			if diff := cmp.Diff("strictyaml.Problems: "+test.want, fmt.Sprintf("%T: %v", err, err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// edited replaces what must be in a text.
func edited(t *testing.T, text, from, to string) string {
	t.Helper()
	if !strings.Contains(text, from) {
		t.Fatalf("nothing to edit: %q", from)
	}
	return strings.ReplaceAll(text, from, to)
}
