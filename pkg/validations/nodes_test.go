package validations_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

func TestSpecLabels(t *testing.T) {
	t.Parallel()
	const (
		key    = "must be a key such as role or example.com/role: at most 63 letters, digits, dashes, underscores and dots that begin and end with a letter or digit, and before them a domain and a slash or nothing"
		value  = "must be at most 63 letters, digits, dashes, underscores and dots that begin and end with a letter or digit, or empty"
		domain = "must not be in a domain of Kubernetes in which a kubelet may not label its node; use a domain of your own, or node-role.kubernetes.io, node-restriction.kubernetes.io or node.kubernetes.io"
		group  = "spec.workerNodeGroupConfigurations[1].labels"
	)
	label := func(key, value string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.WorkerNodeGroupConfigurations[1].Labels = map[string]string{key: value}
		}
	}
	notAllowed := func(key string) specTest {
		return specTest{label(key, ""), []string{fmt.Sprintf("%s[%q]: Invalid value: %q: %s", group, key, key, domain)}}
	}
	tests := map[string]specTest{
		"key and value":                   {label("role", "a.B_c-9"), nil},
		"no value":                        {label("example.com/role", ""), nil},
		"key of 63 characters":            {label(long(63), ""), nil},
		"key of 64 characters":            {label(long(64), ""), []string{group + "[" + long(64) + `]: Invalid value: "` + long(64) + `": ` + key}},
		"key with a space":                {label("my role", ""), []string{group + `["my role"]: Invalid value: "my role": ` + key}},
		"no key":                          {label("", ""), []string{group + `[""]: Invalid value: "": ` + key}},
		"key that is none, of Kubernetes": {label("kubernetes.io/", ""), []string{group + `["kubernetes.io/"]: Invalid value: "kubernetes.io/": ` + key}},
		"value of 63 characters":          {label("role", long(63)), nil},
		"value of 64 characters":          {label("role", long(64)), []string{group + `[role]: Invalid value: "` + long(64) + `": ` + value}},
		"value with a comma":              {label("role", "a,b"), []string{group + `[role]: Invalid value: "a,b": ` + value}},
		"value of a managed label":        {label("node-role.kubernetes.io/x", "a b"), []string{group + `["node-role.kubernetes.io/x"]: Invalid value: "a b": ` + value}},
		"several": {
			func(c *v1alpha1.Cluster) {
				c.Spec.ControlPlaneConfiguration.Labels = map[string]string{"b": "!", "a": "?", "k8s.io/c": ","}
			},
			[]string{
				`spec.controlPlaneConfiguration.labels[a]: Invalid value: "?": ` + value,
				`spec.controlPlaneConfiguration.labels[b]: Invalid value: "!": ` + value,
				`spec.controlPlaneConfiguration.labels["k8s.io/c"]: Invalid value: ",": ` + value,
				`spec.controlPlaneConfiguration.labels["k8s.io/c"]: Invalid value: "k8s.io/c": ` + domain,
			},
		},

		"behind a managed one": {
			func(c *v1alpha1.Cluster) {
				c.Spec.WorkerNodeGroupConfigurations[1].Labels = map[string]string{"node-role.kubernetes.io/x": "", "role": "?"}
			},
			[]string{group + `[role]: Invalid value: "?": ` + value},
		},

		"of Kubernetes":                notAllowed("kubernetes.io/role"),
		"of k8s.io":                    notAllowed("k8s.io/role"),
		"below Kubernetes":             notAllowed("team.kubernetes.io/role"),
		"below k8s.io":                 notAllowed("team.k8s.io/role"),
		"below node-role":              notAllowed("team.node-role.kubernetes.io/role"),
		"of topology":                  notAllowed("topology.kubernetes.io/rack"),
		"with a domain that ends so":   {label("mykubernetes.io/role", ""), nil},
		"with that name":               {label("kubernetes.io", ""), nil},
		"of Cluster API's own objects": {label("cluster.x-k8s.io/role", ""), []string{secondGroup + `.labels["cluster.x-k8s.io/role"]: Forbidden: Cluster API acts on keys of its own domain; remove it`}},
	}
	for _, key := range []string{
		"node-role.kubernetes.io/x", "node-restriction.kubernetes.io/x", "a.node-restriction.kubernetes.io/x", "node.cluster.x-k8s.io/x", "a.node.cluster.x-k8s.io/x",
		"kubelet.kubernetes.io/x", "a.node.kubernetes.io/x", "node.kubernetes.io/instance-type",
		"topology.kubernetes.io/zone", "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/zone", "beta.kubernetes.io/instance-type",
	} {
		tests[key] = specTest{label(key, "x"), nil}
	}
	testSpec(t, tests)
}

// TestSpecLabelsTogether are one argument of the kubelet.
func TestSpecLabelsTogether(t *testing.T) {
	t.Parallel()
	// 16 labels of 63 bytes with 15 commas are 1023 bytes; the last is longer.
	labels := func(last int, more map[string]string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			all := map[string]string{"p": long(last)}
			for i := range 15 {
				all[string(rune('a'+i))] = long(61)
			}
			for key, value := range more {
				all[key] = value
			}
			c.Spec.ControlPlaneConfiguration.Labels = all
		}
	}
	tooLong := func(length string) []string {
		return []string{"spec.controlPlaneConfiguration.labels: Invalid value: must have at most 1024 bytes together, written as key=value with commas between, and have " + length + "; those in node-role.kubernetes.io, node-restriction.kubernetes.io and node.cluster.x-k8s.io do not count"}
	}
	testSpec(t, map[string]specTest{
		"1024 bytes":                {labels(62, nil), nil},
		"1025 bytes":                {labels(63, nil), tooLong("1025")},
		"1024 bytes and a managed":  {labels(62, map[string]string{"node-role.kubernetes.io/x": ""}), nil},
		"1024 bytes and one of own": {labels(62, map[string]string{"q": ""}), tooLong("1027")},
	})
}

func TestSpecTaints(t *testing.T) {
	t.Parallel()
	const path = "spec.workerNodeGroupConfigurations[1].taints"
	taints := func(taints ...v1alpha1.Taint) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Spec.WorkerNodeGroupConfigurations[1].Taints = &taints }
	}
	many := func(number int) []v1alpha1.Taint {
		var taints []v1alpha1.Taint
		for i := range number {
			taints = append(taints, v1alpha1.Taint{Key: fmt.Sprint("key-", i), Effect: "PreferNoSchedule"})
		}
		return taints
	}
	testSpec(t, map[string]specTest{
		"none":                 {taints(), nil},
		"of each effect":       {taints(v1alpha1.Taint{Key: "a", Effect: "NoSchedule"}, v1alpha1.Taint{Key: "a", Effect: "PreferNoSchedule"}, v1alpha1.Taint{Key: "a", Value: "b", Effect: "NoExecute"}), nil},
		"key twice":            {taints(v1alpha1.Taint{Key: "a", Effect: "NoSchedule"}, v1alpha1.Taint{Key: "b", Effect: "NoSchedule"}), nil},
		"key and effect twice": {taints(v1alpha1.Taint{Key: "a", Value: "1", Effect: "NoSchedule"}, v1alpha1.Taint{Key: "a", Value: "2", Effect: "NoSchedule"}), []string{path + `[1]: Duplicate value: "a:NoSchedule": ` + path + "[0] has this key and effect already; remove one of the two"}},
		"another effect":       {taints(v1alpha1.Taint{Key: "a", Effect: "noSchedule"}), []string{path + `[0].effect: Unsupported value: "noSchedule": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`}},
		"nothing given":        {taints(v1alpha1.Taint{}, v1alpha1.Taint{}), []string{path + "[0].key: Required value: the key of the taint, such as dedicated or example.com/dedicated", path + "[0].effect: Required value: NoSchedule, PreferNoSchedule or NoExecute", path + "[1].key: Required value: the key of the taint, such as dedicated or example.com/dedicated", path + "[1].effect: Required value: NoSchedule, PreferNoSchedule or NoExecute"}},
		"wrong key and value": {taints(v1alpha1.Taint{Key: "a b", Value: "a b", Effect: "NoExecute"}), []string{
			path + `[0].key: Invalid value: "a b": must be a key such as role or example.com/role: at most 63 letters, digits, dashes, underscores and dots that begin and end with a letter or digit, and before them a domain and a slash or nothing`,
			path + `[0].value: Invalid value: "a b": must be at most 63 letters, digits, dashes, underscores and dots that begin and end with a letter or digit, or empty`,
		}},
		"100": {taints(many(100)...), nil},
		"101": {taints(many(101)...), []string{path + ": Invalid value: has 101 entries and must have at most 100; remove some"}},
		"of the control plane": {
			func(c *v1alpha1.Cluster) {
				c.Spec.ControlPlaneConfiguration.Taints = &[]v1alpha1.Taint{{Key: "a", Effect: "Never"}}
			},
			[]string{`spec.controlPlaneConfiguration.taints[0].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`},
		},
	})
}

// TestSpecTaintsEverywhere leaves no node for pods.
func TestSpecTaintsEverywhere(t *testing.T) {
	t.Parallel()
	taint := func(effects ...string) *[]v1alpha1.Taint {
		taints := []v1alpha1.Taint{}
		for _, effect := range effects {
			taints = append(taints, v1alpha1.Taint{Key: "a", Effect: effect})
		}
		return &taints
	}
	cluster := func(managed string, controlPlane *[]v1alpha1.Taint, groups ...*[]v1alpha1.Taint) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.ManagementCluster.Name = managed
			c.Spec.ControlPlaneConfiguration.Taints = controlPlane
			c.Spec.WorkerNodeGroupConfigurations = nil
			for i, taints := range groups {
				c.Spec.WorkerNodeGroupConfigurations = append(c.Spec.WorkerNodeGroupConfigurations, v1alpha1.WorkerNodeGroupConfiguration{Name: fmt.Sprint("md-", i), Taints: taints})
			}
		}
	}
	all := []string{"spec.workerNodeGroupConfigurations: Invalid value: must have a group without NoSchedule and NoExecute taints: a cluster that manages itself runs its controllers there; remove the taints of one group, or add a group"}
	only := func(index int, effect string) []string {
		return []string{fmt.Sprintf("spec.controlPlaneConfiguration.taints[%d].effect: Invalid value: %q: must not keep pods off the only nodes there are; remove the taint, or add a worker node group", index, effect)}
	}
	testSpec(t, map[string]specTest{
		"all groups":                       {cluster("prod", nil, taint("NoSchedule"), taint("PreferNoSchedule", "NoExecute")), all},
		"all groups, managed by another":   {cluster("mgmt", nil, taint("NoSchedule"), taint("NoExecute")), nil},
		"all groups, managed by none":      {cluster("", nil, taint("NoSchedule")), nil},
		"one group of two":                 {cluster("prod", nil, taint("NoSchedule"), nil), nil},
		"groups that rather not":           {cluster("prod", nil, taint("PreferNoSchedule")), nil},
		"groups with an empty list":        {cluster("prod", nil, taint()), nil},
		"no groups":                        {cluster("prod", nil), nil},
		"no groups, no taints":             {cluster("prod", taint()), nil},
		"control plane and no groups":      {cluster("prod", taint("PreferNoSchedule", "NoSchedule")), only(1, "NoSchedule")},
		"control plane and no groups, not": {cluster("", taint("NoExecute")), only(0, "NoExecute")},
		"control plane that rather not":    {cluster("", taint("PreferNoSchedule")), nil},
		"control plane and a group":        {cluster("prod", taint("NoSchedule"), nil), nil},
	})
}

func long(length int) string { return strings.Repeat("a", length) }
