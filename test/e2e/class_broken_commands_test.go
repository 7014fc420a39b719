package e2e_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// brokenCommand is a command with a file that it refuses, with exit code 3.
type brokenCommand struct {
	command string
	name    string // of the file
	file    string
	edits   []string // as those of a brokenUse
	stderr  string
}

// commandsOfAClass has a refusal of each use case.
func commandsOfAClass() map[string]brokenCommand {
	return map[string]brokenCommand{
		"class in another namespace only": {
			"create cluster", "cluster.yaml", managedSpec, []string{"{name: managed}", "{name: fresh}", "name: handmade", "name: lonely"},
			"cluster.yaml:7: spec.clusterClass.name: Invalid value: \"lonely\": namespace class-broken of the management cluster has no ClusterClass of this name; there is one in class-elsewhere: name it with spec.clusterClass.namespace\n",
		},
		"class changed to one of another provider": {
			"upgrade cluster", "cluster.yaml", managedSpec, []string{"name: handmade", "name: docker", withVariables, "", ofLarge, "  datacenterRef: {kind: DockerDatacenterConfig, name: any}\n"},
			"warning: cluster.yaml:8: spec.clusterNetwork: no cniConfig: nodes become ready once you have applied a network plugin\n" +
				"cluster.yaml:7: spec.clusterClass.name: Invalid value: \"docker\": cluster managed is made from ClusterClass handmade: its machines are of provider inmemory and would become those of docker, and Cluster API cannot replace one kind with another; use a class with the same kinds, or create a new cluster\n",
		},
		"version in use removed": {
			"plan clusterclass", "class.yaml", handmadeClass, []string{"v1.31.14, v1.32.13, ", ""},
			"class.yaml:5: spec.kubernetesVersions: Forbidden: Kubernetes Version v1.32.13 is used by Cluster \"managed\" but not set in ClusterClass; keep the versions that clusters have, and one of each minor between ('generate clusterclass --keep-used' does)\n",
		},
	}
}

// brokenCommands shows that the commands pass on what the library says.
func brokenCommands(t *testing.T, namespace string) {
	before := everythingOfClasses(t, namespace)
	for name, test := range commandsOfAClass() {
		t.Run(name, func(t *testing.T) {
			path := textFile(t, test.name, []byte(changed(t, test.file, test.edits...)))
			r := cli(t, 3, append(strings.Fields(test.command), "-n", namespace, "-f", path)...)
			assertStderr(t, r, test.stderr, filepath.Dir(path)+"/")
		})
	}
	assertAsBefore(t, before, namespace)
}
