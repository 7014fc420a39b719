package lifecycle

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// ownClassSpec is a cluster from a ClusterClass of the user's own.
const ownClassSpec = `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: managed}
spec:
  kubernetesVersion: "1.33"
  clusterClass:
    name: handmade
    variables:
      region: eu
      size: 2
  clusterNetwork:
    pods: {cidrBlocks: [192.168.0.0/16]}
    services: {cidrBlocks: [10.96.0.0/12]}
  workerNodeGroupConfigurations:
  - name: md-0
  - name: md-1
    class: large
`

// Edits of ownClassSpec, and of runningSpec.
const (
	variablesOfClass = "    variables:\n      region: eu\n      size: 2\n"
	ownClass         = "  clusterClass:\n    name: handmade\n" + variablesOfClass
	classOfGroup     = "    class: large\n"
	afterVersion     = "  controlPlaneConfiguration: {count: 1}\n"
)

// TestIllegalUsesOfAClass are refused before a management cluster is asked for the class.
func TestIllegalUsesOfAClass(t *testing.T) {
	t.Parallel()
	bundles, err := versionsbundle.Parse("bundles", config.Bundles)
	if err != nil {
		t.Fatal(err)
	}
	create := Spec.CheckCreation
	upgradeOf := func(scope plan.Scope) func(Spec) ([]strictyaml.Warning, error) {
		return func(s Spec) ([]strictyaml.Warning, error) { return s.CheckUpgrade(UpgradeOptions{Scope: scope}) }
	}
	upgrade := upgradeOf(plan.Scope{})
	for name, test := range map[string]struct {
		check func(Spec) ([]strictyaml.Warning, error)
		file  string
		edits []string
		want  string
	}{
		"clusterClass removed, and its fields not": {
			upgrade, ownClassSpec, []string{ownClass, "", classOfGroup, classOfGroup + "  datacenterRef: {kind: InMemoryDatacenterConfig, name: any}\n"},
			"strictyaml.Problems: cluster.yaml:12: spec.workerNodeGroupConfigurations[1].class: Forbidden: takes effect only with a ClusterClass, and this cluster has no spec.clusterClass; remove it, or name the class",
		},
		"clusterClass as a name": {
			upgrade, ownClassSpec, []string{ownClass, "  clusterClass: handmade\n"},
			"strictyaml.Problems: cluster.yaml:6: spec.clusterClass: Invalid value: \"handmade\": must be a mapping: fields with values",
		},
		"clusterClass without a name": {
			upgrade, ownClassSpec, []string{"    name: handmade", "    name: \"\""},
			"strictyaml.Problems: cluster.yaml:7: spec.clusterClass.name: Required value: the name of a ClusterClass of the management cluster; 'clusterctl-x generate clusterclass' makes one",
		},
		"group pinned and deferred": {
			upgrade, ownClassSpec, []string{classOfGroup, classOfGroup + "    kubernetesVersion: \"1.31\"\n    deferUpgrade: true\n"},
			"strictyaml.Problems: cluster.yaml:19: spec.workerNodeGroupConfigurations[1].deferUpgrade: Forbidden: a group with a kubernetesVersion has no place in the upgrade sequence: remove one of the two",
		},
		"deferUpgrade without a class": {
			upgrade, runningSpec, []string{"  - name: md-0", "  - name: md-0\n    deferUpgrade: true"},
			"strictyaml.Problems: cluster.yaml:12: spec.workerNodeGroupConfigurations[0].deferUpgrade: Forbidden: takes effect only with a ClusterClass, and this cluster has no spec.clusterClass; give the group a kubernetesVersion to keep it where it is",
		},
		"other fields of a class without one": {
			upgrade, runningSpec, []string{"  - name: md-0", "  - name: md-0\n    class: large\n    holdUpgradeSequence: true\n    variables: {size: 2}"},
			"strictyaml.Problems: cluster.yaml:12: spec.workerNodeGroupConfigurations[0].class: Forbidden: takes effect only with a ClusterClass, and this cluster has no spec.clusterClass; remove it, or name the class\n" +
				"cluster.yaml:13: spec.workerNodeGroupConfigurations[0].holdUpgradeSequence: Forbidden: takes effect only with a ClusterClass, and this cluster has no spec.clusterClass; give the group a kubernetesVersion to keep it where it is\n" +
				"cluster.yaml:14: spec.workerNodeGroupConfigurations[0].variables: Forbidden: takes effect only with a ClusterClass, and this cluster has no spec.clusterClass; remove it, or name the class",
		},
		"field for which the class has no variable": {
			upgrade, ownClassSpec, []string{classOfGroup, classOfGroup + "    taints: []\n"},
			"strictyaml.Problems: cluster.yaml:18: spec.workerNodeGroupConfigurations[1].taints: Forbidden: takes effect only with classes of 'generate clusterclass', and without spec.datacenterRef spec.clusterClass is one of your own: give the class a variable for it and set that in spec.clusterClass.variables, or add the datacenterRef",
		},
		"one group": {
			upgradeOf(plan.Scope{Groups: []string{"md-0"}}), ownClassSpec, nil,
			"strictyaml.Problems: cluster.yaml:6: spec.clusterClass: Forbidden: --worker-node-groups: md-0 has no kubernetesVersion of its own, so Cluster API upgrades it with the rest of the cluster; leave md-0 out of --worker-node-groups, or give it a kubernetesVersion first",
		},
		"control plane only": {
			upgradeOf(plan.Scope{ControlPlaneOnly: true}), ownClassSpec, nil,
			"strictyaml.Problems: cluster.yaml:6: spec.clusterClass: Forbidden: --control-plane-only: Cluster API upgrades control plane and worker node groups of a cluster from a ClusterClass in its own order; leave --control-plane-only out; deferUpgrade holds a group back",
		},
		"without a management cluster": {
			func(s Spec) ([]strictyaml.Warning, error) {
				_, err := PlanBetween(t.Context(), s, s, UpgradeOptions{}, Options{})
				return nil, err
			}, ownClassSpec, nil,
			"strictyaml.Problems: cluster.yaml:6: spec.clusterClass: Forbidden: --from: ClusterClass handmade says what versions cluster managed goes through and what its machines are; leave --from out to ask the management cluster, which has the class",
		},
		"name of a group too long": {
			upgrade, ownClassSpec, []string{"- name: md-1", "- name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
			"strictyaml.Problems: cluster.yaml:16: spec.workerNodeGroupConfigurations[1].name: Invalid value: \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\": must have at most 48 characters, and has 49; shorten it",
		},
		"group twice": {
			upgrade, ownClassSpec, []string{"name: md-1", "name: md-0"},
			"strictyaml.Problems: cluster.yaml:16: spec.workerNodeGroupConfigurations[1].name: Duplicate value: \"md-0\": spec.workerNodeGroupConfigurations[0] has this name already; each group needs its own",
		},
		"variable null": {
			upgrade, ownClassSpec, []string{"size: 2", "size: null"},
			"strictyaml.Problems: cluster.yaml:10: spec.clusterClass.variables.size: Required value: a variable must have a value; write one, or remove it",
		},
		"variables as a list": {
			upgrade, ownClassSpec, []string{variablesOfClass, "    variables: [{name: region, value: eu}]\n"},
			"strictyaml.Problems: cluster.yaml:8: spec.clusterClass.variables: Invalid value: \"a list\": must be a mapping: fields with values",
		},
		"variable that fields of the spec set too": {
			create, runningSpec, []string{afterVersion, afterVersion + "  clusterClass: {name: inmemory, variables: {machineStartup: 1s}}\n", "any}\n", "any}\n---\napiVersion: clusterctl-x.io/v1alpha1\nkind: InMemoryDatacenterConfig\nmetadata: {name: any}\nspec: {machineStartup: 1s}\n"},
			"strictyaml.Problems: cluster.yaml:7: spec.clusterClass.variables.machineStartup: Forbidden: other fields of the spec, which mean this variable of the class, are set too; remove it, or say it there",
		},
		"variable that fields of a group set too": {
			create, runningSpec, []string{afterVersion, afterVersion + "  clusterClass: {name: inmemory}\n", "  - name: md-0", "  - name: md-0\n    labels: {rack: a}\n    variables: {kubeletExtraArgs: []}"},
			"warning: cluster.yaml:19: spec.datacenterRef: simulated machines run no kubelet, containerd or kube-apiserver that would read labels: it is rendered, and has no visible effect\n" +
				"strictyaml.Problems: cluster.yaml:14: spec.workerNodeGroupConfigurations[0].variables.kubeletExtraArgs: Forbidden: other fields of the spec, which mean this variable of the class, are set too; remove it, or say it there",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			warnings, err := test.check(ReadSpec("cluster.yaml", []byte(strings.NewReplacer(test.edits...).Replace(test.file)), providers.BuiltIn(), bundles))
			got := ""
			for _, warning := range warnings {
				if !strings.Contains(warning.Text, "has been out of support") { // which time brings
					got += fmt.Sprintf("warning: %s\n", warning)
				}
			}
			if diff := cmp.Diff(test.want, got+typed(err)); diff != "" {
				t.Errorf("warnings and error (-want +got):\n%s", diff)
			}
		})
	}
}

// typed is an error with its type. Errors that were joined are listed.
func typed(err error) string {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return fmt.Sprintf("%T: %v", err, err)
	}
	var all []string
	for _, one := range joined.Unwrap() {
		all = append(all, typed(one))
	}
	return strings.Join(all, "\n")
}
