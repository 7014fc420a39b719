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

// TestSpecReservedKeys: what Cluster API, kubelets or clusterctl-x act on is not
// for a spec to set, except for what Cluster API has people set on machines.
func TestSpecReservedKeys(t *testing.T) {
	t.Parallel()
	const (
		ours    = "clusterctl-x acts on keys of its own domain; remove it (holds are set with 'clusterctl-x hold cluster', and fields of the spec cover the rest)"
		capi    = "Cluster API acts on keys of its own domain; remove it"
		paused  = "it stops Cluster API from doing what this file asks for; remove it, and pause a cluster with kubectl, on its Cluster object"
		checks  = "it disables checks that the plan of an upgrade relies on; remove it: clusterctl-x sets it where a group needs it"
		kubelet = "each kubelet sets it for its own machine; remove it"
		role    = "it makes a worker count as a node of the control plane; remove it"
	)
	tests := map[string]specTest{}
	add := func(key, field, of, why string, change func(*v1alpha1.Cluster)) {
		var want []string
		if why != "" {
			want = []string{of + "." + field + `["` + key + `"]: Forbidden: ` + why}
		}
		tests[field+" "+key+" of "+of] = specTest{change, want}
	}
	annotation := func(key, why string) {
		given := map[string]string{key: "a"}
		add(key, "annotations", secondGroup, why, func(c *v1alpha1.Cluster) { c.Spec.WorkerNodeGroupConfigurations[1].Annotations = given })
		add(key, "annotations", theControlPlane, why, func(c *v1alpha1.Cluster) { c.Spec.ControlPlaneConfiguration.Annotations = given })
	}
	label := func(key, ofGroup, ofControlPlane string) {
		given := map[string]string{key: "a"}
		add(key, "labels", secondGroup, ofGroup, func(c *v1alpha1.Cluster) { c.Spec.WorkerNodeGroupConfigurations[1].Labels = given })
		add(key, "labels", theControlPlane, ofControlPlane, func(c *v1alpha1.Cluster) { c.Spec.ControlPlaneConfiguration.Labels = given })
	}
	annotation("cluster.x-k8s.io/paused", paused)
	annotation("machineset.cluster.x-k8s.io/skip-preflight-checks", checks)
	annotation("clusterctl-x.io/detached", ours)
	annotation("clusterctl-x.io/hold-before-workers", ours)
	annotation("controlplane.cluster.x-k8s.io/skip-coredns", capi)
	annotation("topology.cluster.x-k8s.io/upgrade-concurrency", capi)
	annotation("machinedeployment.clusters.x-k8s.io/revision", capi)
	annotation("cluster.x-k8s.io/delete-machine", capi)
	annotation("cluster.x-k8s.io/skip-remediation", "")
	annotation("machine.cluster.x-k8s.io/exclude-node-draining", "")
	annotation("machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach", "")
	annotation("pre-drain.delete.hook.machine.cluster.x-k8s.io/backup", "")
	annotation("pre-terminate.delete.hook.machine.cluster.x-k8s.io/backup", "")
	annotation("cluster.x-k8s.io/autoscaling-options-scaledownunneededtime", "")
	annotation("rack.node.cluster.x-k8s.io/row", "")
	annotation("cluster-x.k8s.io/a", "")
	label("cluster.x-k8s.io/cluster-name", capi, capi)
	label("clusterctl-x.io/worker-node-group", ours, ours)
	label("kubernetes.io/hostname", kubelet, kubelet)
	label("kubernetes.io/arch", kubelet, kubelet)
	label("topology.kubernetes.io/zone", "", "")
	label("node.cluster.x-k8s.io/rack", "", "")
	label("node-role.kubernetes.io/control-plane", role, "")
	label("node-role.kubernetes.io/worker", "", "")
	// In a cluster from a class they are those of the KubeadmControlPlane.
	tests["skip-coredns with a class"] = specTest{fromClass(func(c *v1alpha1.Cluster) {
		c.Spec.ControlPlaneConfiguration.Annotations = map[string]string{"controlplane.cluster.x-k8s.io/skip-coredns": ""}
	}), nil}
	testSpec(t, tests)
}
