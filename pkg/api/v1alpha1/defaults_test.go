package v1alpha1_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// TestHealthCheckDefaults: each part has its own fields, then the cluster's,
// then the defaults; and no check where neither the part nor the cluster has one.
func TestHealthCheckDefaults(t *testing.T) {
	t.Parallel()
	check := func(startup, unhealthy time.Duration, limit v1alpha1.IntOrPercent) *v1alpha1.MachineHealthCheck {
		return &v1alpha1.MachineHealthCheck{
			NodeStartupTimeout: &v1alpha1.Duration{Duration: startup}, UnhealthyMachineTimeout: &v1alpha1.Duration{Duration: unhealthy}, MaxUnhealthy: &limit,
		}
	}
	percent := func(value int) v1alpha1.IntOrPercent { return v1alpha1.IntOrPercent{Value: value, Percent: true} }
	number := func(value int) v1alpha1.IntOrPercent { return v1alpha1.IntOrPercent{Value: value} }
	type checks struct{ Cluster, ControlPlane, First, Second *v1alpha1.MachineHealthCheck }
	const m, all = time.Minute, "{nodeStartupTimeout: 1m, unhealthyMachineTimeout: 2m, maxUnhealthy: 3}"
	tests := map[string]struct {
		cluster, controlPlane, first string // the second group has none of its own
		want                         checks
	}{
		"none": {"", "", "", checks{}},
		"null": {"null", "~", "null", checks{}},
		"cluster's, without fields": {"{}", "", "", checks{
			Cluster: &v1alpha1.MachineHealthCheck{}, ControlPlane: check(10*m, 5*m, percent(100)), First: check(10*m, 5*m, percent(40)), Second: check(10*m, 5*m, percent(40)),
		}},
		"cluster's, with all fields": {all, "", "", checks{check(m, 2*m, number(3)), check(m, 2*m, number(3)), check(m, 2*m, number(3)), check(m, 2*m, number(3))}},
		"cluster's, with zeros": {"{nodeStartupTimeout: 0s, unhealthyMachineTimeout: 0s, maxUnhealthy: 0}", "", "", checks{
			check(0, 0, number(0)), check(0, 0, number(0)), check(0, 0, number(0)), check(0, 0, number(0)),
		}},
		"control plane's own": {"", all, "", checks{ControlPlane: check(m, 2*m, number(3))}},
		"group's own":         {"", "", all, checks{First: check(m, 2*m, number(3))}},
		"own ones, without fields": {"", "{}", "{}", checks{
			ControlPlane: check(10*m, 5*m, percent(100)), First: check(10*m, 5*m, percent(40)),
		}},
		"both": {all, "{nodeStartupTimeout: 7m, unhealthyMachineTimeout: 8m, maxUnhealthy: 9%}", "{nodeStartupTimeout: 4m, unhealthyMachineTimeout: 5m, maxUnhealthy: 6}", checks{
			check(m, 2*m, number(3)), check(7*m, 8*m, percent(9)), check(4*m, 5*m, number(6)), check(m, 2*m, number(3)),
		}},
		"both, own zeros": {all, "{nodeStartupTimeout: 0s, unhealthyMachineTimeout: 0s, maxUnhealthy: 0}", "{maxUnhealthy: 0%}", checks{
			check(m, 2*m, number(3)), check(0, 0, number(0)), check(m, 2*m, percent(0)), check(m, 2*m, number(3)),
		}},
		"nodeStartupTimeout of each": {"{nodeStartupTimeout: 1m}", "{nodeStartupTimeout: 2m}", "{unhealthyMachineTimeout: 3m}", checks{
			&v1alpha1.MachineHealthCheck{NodeStartupTimeout: &v1alpha1.Duration{Duration: m}},
			check(2*m, 5*m, percent(100)), check(m, 3*m, percent(40)), check(m, 5*m, percent(40)),
		}},
		"unhealthyMachineTimeout of each": {"{unhealthyMachineTimeout: 1m}", "{maxUnhealthy: 2}", "{unhealthyMachineTimeout: 3m}", checks{
			&v1alpha1.MachineHealthCheck{UnhealthyMachineTimeout: &v1alpha1.Duration{Duration: m}},
			check(10*m, m, number(2)), check(10*m, 3*m, percent(40)), check(10*m, m, percent(40)),
		}},
		"maxUnhealthy of each": {"{maxUnhealthy: 1%}", "{nodeStartupTimeout: 2m}", "{maxUnhealthy: 3}", checks{
			&v1alpha1.MachineHealthCheck{MaxUnhealthy: &v1alpha1.IntOrPercent{Value: 1, Percent: true}},
			check(2*m, 5*m, percent(1)), check(10*m, 5*m, number(3)), check(10*m, 5*m, percent(1)),
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := minimal + "  machineHealthCheck: " + test.cluster + "\n  controlPlaneConfiguration:\n    machineHealthCheck: " + test.controlPlane +
				"\n  workerNodeGroupConfigurations:\n  - name: a\n    machineHealthCheck: " + test.first + "\n  - name: b\n"
			spec := decode(t, text).Cluster.Spec
			groups := spec.WorkerNodeGroupConfigurations
			got := checks{spec.MachineHealthCheck, spec.ControlPlaneConfiguration.MachineHealthCheck, groups[0].MachineHealthCheck, groups[1].MachineHealthCheck}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("checks (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNodeStartup: the longest one of the groups counts.
func TestNodeStartup(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"": 0,
		"  machineHealthCheck: {}\n  workerNodeGroupConfigurations: [{name: a, machineHealthCheck: {nodeStartupTimeout: 30m}}, {name: b}]\n": 30 * time.Minute,
		"  workerNodeGroupConfigurations: [{name: a, machineHealthCheck: {nodeStartupTimeout: 0s}}, {name: b}]\n":                            0,
		"  workerNodeGroupConfigurations: [{name: a, machineHealthCheck: {}}]\n":                                                             10 * time.Minute,
	} {
		if got := decode(t, minimal+text).Cluster.Spec.NodeStartup(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestDefaultedHealthChecksShareNothing: a change of one is no change of another.
func TestDefaultedHealthChecksShareNothing(t *testing.T) {
	t.Parallel()
	spec := decode(t, minimal+"  machineHealthCheck: {}\n  workerNodeGroupConfigurations: [{name: a}, {name: b}]\n").Cluster.Spec
	groups := spec.WorkerNodeGroupConfigurations
	groups[0].MachineHealthCheck.MaxUnhealthy.Value = 1
	groups[0].MachineHealthCheck.NodeStartupTimeout.Duration = 1
	spec.ControlPlaneConfiguration.MachineHealthCheck.MaxUnhealthy.Value = 2
	want := &v1alpha1.MachineHealthCheck{
		NodeStartupTimeout:      &v1alpha1.Duration{Duration: 10 * time.Minute},
		UnhealthyMachineTimeout: &v1alpha1.Duration{Duration: 5 * time.Minute},
		MaxUnhealthy:            &v1alpha1.IntOrPercent{Value: 40, Percent: true},
	}
	if diff := cmp.Diff(want, groups[1].MachineHealthCheck); diff != "" {
		t.Errorf("check of the second group (-want +got):\n%s", diff)
	}
}

func TestNetworkPluginDefaults(t *testing.T) {
	t.Parallel()
	cilium, kindnetd := &v1alpha1.CNIConfig{Cilium: &v1alpha1.Cilium{}}, &v1alpha1.CNIConfig{Kindnetd: &v1alpha1.Kindnetd{}}
	type plugin struct {
		CNI    string
		Config *v1alpha1.CNIConfig
	}
	tests := map[string]struct {
		fields string
		want   plugin
	}{
		"none":                   {"", plugin{}},
		"old way, cilium":        {"cni: cilium", plugin{"cilium", cilium}},
		"old way, kindnetd":      {"cni: kindnetd", plugin{"kindnetd", kindnetd}},
		"old way, unknown":       {"cni: calico", plugin{"calico", nil}},
		"old way, wrong case":    {"cni: Cilium", plugin{"Cilium", nil}},
		"old way, empty":         {`cni: ""`, plugin{}},
		"new way":                {"cniConfig: {kindnetd: {}}", plugin{"", kindnetd}},
		"new way, with settings": {"cniConfig: {cilium: {policyEnforcementMode: always}}", plugin{"", &v1alpha1.CNIConfig{Cilium: &v1alpha1.Cilium{PolicyEnforcementMode: "always"}}}},
		"new way, of nothing":    {"cniConfig: {}", plugin{"", &v1alpha1.CNIConfig{}}},
		"new way is null":        {"cniConfig: null, cni: cilium", plugin{"cilium", cilium}},
		"both ways":              {"cni: cilium, cniConfig: {kindnetd: {}}", plugin{"cilium", kindnetd}},
		"both ways, alike":       {"cni: cilium, cniConfig: {cilium: {cniExclusive: false}}", plugin{"cilium", &v1alpha1.CNIConfig{Cilium: &v1alpha1.Cilium{CNIExclusive: new(false)}}}},
		"both ways, of nothing":  {"cni: cilium, cniConfig: {}", plugin{"cilium", &v1alpha1.CNIConfig{}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := with("  clusterNetwork:\n", "  clusterNetwork: {"+test.fields+"}\n  unused:\n")
			network := devProviders().Decode("cluster.yaml", []byte(text)).Cluster.Spec.ClusterNetwork
			if diff := cmp.Diff(test.want, plugin{network.CNI, network.CNIConfig}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.fields, diff)
			}
		})
	}
}

func TestRegistryMirrorDefaults(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		mirror string
		want   *v1alpha1.RegistryMirrorConfiguration
	}{
		"none":         {"null", nil},
		"nothing":      {"{}", &v1alpha1.RegistryMirrorConfiguration{Port: 443}},
		"without port": {"{endpoint: a}", &v1alpha1.RegistryMirrorConfiguration{Endpoint: "a", Port: 443}},
		"port is null": {"{endpoint: a, port: null}", &v1alpha1.RegistryMirrorConfiguration{Endpoint: "a", Port: 443}},
		"with port":    {"{endpoint: a, port: 5000}", &v1alpha1.RegistryMirrorConfiguration{Endpoint: "a", Port: 5000}},
		"first port":   {"{endpoint: a, port: 1}", &v1alpha1.RegistryMirrorConfiguration{Endpoint: "a", Port: 1}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := decode(t, minimal+"  registryMirrorConfiguration: "+test.mirror+"\n").Cluster.Spec.RegistryMirrorConfiguration
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("mirror (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCountDefaults: what the autoscaler counts has no default.
func TestCountDefaults(t *testing.T) {
	t.Parallel()
	type counts struct {
		Given    *int
		Replicas int
	}
	tests := map[string]struct {
		fields string
		want   counts
	}{
		"not given":                      {"", counts{new(1), 1}},
		"null":                           {"count: ~", counts{new(1), 1}},
		"none":                           {"count: 0", counts{new(0), 0}},
		"given":                          {"count: 3", counts{new(3), 3}},
		"autoscaled":                     {"autoscalingConfiguration: {minCount: 2, maxCount: 5}", counts{nil, 2}},
		"autoscaled from none":           {"autoscalingConfiguration: {maxCount: 5}", counts{nil, 0}},
		"autoscaled, without fields":     {"autoscalingConfiguration: {}", counts{nil, 0}},
		"autoscaled, and given":          {"autoscalingConfiguration: {minCount: 2, maxCount: 5}, count: 3", counts{new(3), 2}}, // a mistake, which others find
		"autoscalingConfiguration: null": {"autoscalingConfiguration: null", counts{new(1), 1}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			group := decode(t, minimal+"  workerNodeGroupConfigurations: [{"+test.fields+"}]\n").Cluster.Spec.WorkerNodeGroupConfigurations[0]
			if diff := cmp.Diff(test.want, counts{group.Count, group.Replicas()}); diff != "" {
				t.Errorf("{%s} (-want +got):\n%s", test.fields, diff)
			}
		})
	}
}

// TestUpgradePolicyDefaults: the skew has no default of its own, but the policy
// of Kubernetes, which depends on the versions.
func TestUpgradePolicyDefaults(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		policy string
		want   v1alpha1.UpgradePolicy
	}{
		"null":            {"null", v1alpha1.UpgradePolicy{MaxConcurrentWorkerGroups: new(1)}},
		"nothing":         {"{}", v1alpha1.UpgradePolicy{MaxConcurrentWorkerGroups: new(1)}},
		"fields are null": {"{maxConcurrentWorkerGroups: null, maxWorkerVersionSkew: ~}", v1alpha1.UpgradePolicy{MaxConcurrentWorkerGroups: new(1)}},
		"zeros":           {"{maxConcurrentWorkerGroups: 0, maxWorkerVersionSkew: 0}", v1alpha1.UpgradePolicy{MaxConcurrentWorkerGroups: new(0), MaxWorkerVersionSkew: new(0)}}, // mistakes, which others find
		"skew":            {"{maxWorkerVersionSkew: 2}", v1alpha1.UpgradePolicy{MaxConcurrentWorkerGroups: new(1), MaxWorkerVersionSkew: new(2)}},
		"groups":          {"{maxConcurrentWorkerGroups: 3}", v1alpha1.UpgradePolicy{MaxConcurrentWorkerGroups: new(3)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := decode(t, minimal+"  upgradePolicy: "+test.policy+"\n").Cluster.Spec.UpgradePolicy
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("policy (-want +got):\n%s", diff)
			}
		})
	}
}
