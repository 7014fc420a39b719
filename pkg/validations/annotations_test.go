package validations_test

import (
	"strings"
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

func TestSpecAnnotations(t *testing.T) {
	t.Parallel()
	const rule = ": must be a key such as role or example.com/role: at most 63 letters, digits, dashes, underscores and dots that begin and end with a letter or digit, and before them a domain and a slash or nothing"
	group := func(annotations map[string]string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Spec.WorkerNodeGroupConfigurations[1].Annotations = annotations }
	}
	controlPlane := func(annotations map[string]string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Spec.ControlPlaneConfiguration.Annotations = annotations }
	}
	text := func(length int) map[string]string { return map[string]string{"a": strings.Repeat("x", length-1)} }
	tests := map[string]specTest{
		"any value":            {group(map[string]string{"a": "", "example.org/b": "two words: \"{{ x }}\""}), nil},
		"in capitals":          {group(map[string]string{"Example.ORG/Contact": "a"}), nil},
		"131072 bytes":         {group(text(128 << 10)), nil},
		"131073 bytes":         {group(text(128<<10 + 1)), []string{secondGroup + ".annotations: Invalid value: must have at most 131072 bytes together, names and values, and have 131073"}},
		"of a control plane":   {controlPlane(map[string]string{"cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size": "a"}), nil},
		"too many there":       {controlPlane(text(128<<10 + 1)), []string{theControlPlane + ".annotations: Invalid value: must have at most 131072 bytes together, names and values, and have 131073"}},
		"key with two slashes": {controlPlane(map[string]string{"a/b/C": ""}), []string{theControlPlane + `.annotations[a/b/C]: Invalid value: "a/b/C"` + rule}},
		"no key":               {group(map[string]string{"": "a"}), []string{secondGroup + `.annotations[""]: Invalid value: ""` + rule}},
		"key with a space":     {group(map[string]string{"a b": "a"}), []string{secondGroup + `.annotations["a b"]: Invalid value: "a b"` + rule}},
	}
	for key, field := range map[string]string{
		"cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size": "autoscalingConfiguration", "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size": "autoscalingConfiguration",
		"topology.cluster.x-k8s.io/defer-upgrade": "deferUpgrade", "topology.cluster.x-k8s.io/hold-upgrade-sequence": "holdUpgradeSequence",
	} {
		want := []string{secondGroup + `.annotations["` + key + `"]: Forbidden: a field of the group says this; use ` + field}
		tests[key], tests[key+" with a class"] = specTest{group(map[string]string{key: ""}), want}, specTest{fromClass(group(map[string]string{key: ""})), want}
	}
	testSpec(t, tests)
}
