package validations_test

import (
	"math"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

func TestSpecKubelet(t *testing.T) {
	t.Parallel()
	const (
		path   = "spec.controlPlaneConfiguration.kubeletConfiguration"
		number = "must be a whole number in decimal digits, without quotes, that is not too large"
	)
	type fields = map[string]any
	config := func(fields fields) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Spec.ControlPlaneConfiguration.KubeletConfiguration = fields }
	}
	// A file of this many bytes.
	sized := func(size int) fields {
		around, err := yaml.Marshal(fields{"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "volumePluginDir": "a"})
		if err != nil {
			t.Fatal(err)
		}
		return fields{"volumePluginDir": long(size - len(around) + 1)}
	}
	testSpec(t, map[string]specTest{
		"empty": {config(fields{}), nil},
		"values of all types": {config(fields{
			"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "enableServer": true, "maxPods": 200, "nodeLeaseDurationSeconds": 40,
			"syncFrequency": "1m30s", "systemReserved": fields{"cpu": "500m"}, "evictionHard": fields{"memory.available": "5%"}, "tlsCipherSuites": []any{"a"},
			"authentication": fields{"webhook": fields{"cacheTTL": "2m"}}, "containerLogMaxSize": nil, "memoryThrottlingFactor": 0.9, "clusterDNS": []any{"10.96.0.10"},
			"shutdownGracePeriodByPodPriority": []any{fields{"priority": -10, "shutdownGracePeriodSeconds": 5}},
			"reservedMemory":                   []any{fields{"numaNode": 0, "limits": fields{"memory": "1Gi", "cpu": 1}}},
			"logging":                          fields{"verbosity": 3, "flushFrequency": "5s"}, "resolvConf": "/etc/resolv.conf",
		}), nil},
		"of another program": {config(fields{"apiVersion": "v1", "kind": "Kubelet"}), []string{path + `.apiVersion: Unsupported value: "v1": supported values: "kubelet.config.k8s.io/v1beta1"`, path + `.kind: Unsupported value: "Kubelet": supported values: "KubeletConfiguration"`}},
		"fields that are taken": {config(fields{"providerID": "a", "registerWithTaints": []any{}, "staticPodPath": nil}), []string{
			path + ".providerID: Forbidden: the infrastructure provider sets it; remove it",
			path + ".registerWithTaints: Forbidden: the spec has taints for this; use that",
			path + ".staticPodPath: Forbidden: kubeadm sets it; remove it",
		}},
		"resolvConf twice": {
			func(c *v1alpha1.Cluster) {
				c.Spec.ClusterNetwork.DNS.ResolvConf = &v1alpha1.ResolvConf{Path: "/etc/resolv.conf"}
				c.Spec.WorkerNodeGroupConfigurations[1].KubeletConfiguration = fields{"resolvConf": "/etc/resolv.conf"}
			},
			[]string{"spec.workerNodeGroupConfigurations[1].kubeletConfiguration.resolvConf: Forbidden: spec.clusterNetwork.dns.resolvConf sets it; remove one of the two"},
		},
		"resolvConf of the cluster only": {
			func(c *v1alpha1.Cluster) {
				c.Spec.ClusterNetwork.DNS.ResolvConf = &v1alpha1.ResolvConf{Path: "/etc/resolv.conf"}
				c.Spec.WorkerNodeGroupConfigurations[1].KubeletConfiguration = fields{"maxPods": 1}
			}, nil,
		},
		"unknown fields": {config(fields{"maxpods": 1, "zz": 1, "authentication": fields{"web hook": 1}, "registry": 1, "imageMzzimumGCAge": 1}), []string{
			path + `.authentication."web hook": Forbidden: unknown field; did you mean webhook?`,
			path + ".imageMzzimumGCAge: Forbidden: unknown field; did you mean imageMaximumGCAge?",
			path + ".maxpods: Forbidden: unknown field; did you mean maxPods?",
			path + ".registry: Forbidden: unknown field; did you mean registryBurst?",
			path + ".zz: Forbidden: unknown field; remove it",
		}},
		"values of other types": {config(fields{
			"enableServer": "true", "maxPods": "200", "registryPullQPS": 1 << 31, "nodeLeaseDurationSeconds": 1.5, "imageMaximumGCAge": 5, "syncFrequency": "soon", "systemReserved": fields{"cpu": 1},
			"tlsCipherSuites": "a", "evictionHard": "5%", "authentication": []any{}, "memoryThrottlingFactor": "0.9", "volumePluginDir": math.Inf(1),
			"shutdownGracePeriodByPodPriority": []any{fields{}, fields{"priority": "high"}},
			"reservedMemory":                   []any{fields{"limits": fields{"memory": "much"}}},
			"logging":                          fields{"verbosity": -1},
		}), []string{
			path + `.authentication: Invalid value: "a list": must be a mapping: fields with values`,
			path + `.enableServer: Invalid value: "true": must be true or false, without quotes`,
			path + `.evictionHard: Invalid value: "5%": must be a mapping: fields with values`,
			path + `.imageMaximumGCAge: Invalid value: 5: must be a duration such as 90s or 1m30s`,
			path + `.logging.verbosity: Invalid value: -1: ` + number + " or negative",
			path + `.maxPods: Invalid value: "200": ` + number,
			path + `.memoryThrottlingFactor: Invalid value: "0.9": must be a number in decimal digits, without quotes`,
			path + `.nodeLeaseDurationSeconds: Invalid value: 1.5: ` + number,
			path + `.registryPullQPS: Invalid value: 2147483648: ` + number,
			path + `.reservedMemory[0].limits.memory: Invalid value: "much": must be a quantity such as 500m or 2Gi`,
			path + `.shutdownGracePeriodByPodPriority[1].priority: Invalid value: "high": ` + number,
			path + `.syncFrequency: Invalid value: "soon": must be a duration such as 90s or 1m30s`,
			path + `.systemReserved.cpu: Invalid value: 1: must be text; put it in quotes`,
			path + `.tlsCipherSuites: Invalid value: "a": must be a list`,
			path + `.volumePluginDir: Invalid value: +Inf: must be text; put it in quotes`,
		}},
		"10240 bytes":                 {config(sized(10240)), nil},
		"10241 bytes":                 {config(sized(10241)), []string{path + ": Invalid value: must have at most 10240 bytes as YAML with apiVersion and kind, and has 10241; shorten it"}},
		"a wrong field, and too long": {config(fields{"volumePluginDir": strings.Repeat("a", 10241), "zz": 1}), []string{path + ".zz: Forbidden: unknown field; remove it"}},
	})
}
