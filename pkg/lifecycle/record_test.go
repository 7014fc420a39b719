package lifecycle

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// TestContinues: an upgrade is continued where something that it began with has moved,
// and not where groups came and went, or where it has ended.
func TestContinues(t *testing.T) {
	t.Parallel()
	versions := func(controlPlane string, groups ...string) v1alpha1.ClusterVersions {
		v := v1alpha1.ClusterVersions{ControlPlane: v1alpha1.MustParseVersion(controlPlane), WorkerNodeGroups: map[string]v1alpha1.Version{}}
		for i := 0; i < len(groups); i += 2 {
			v.WorkerNodeGroups[groups[i]] = v1alpha1.MustParseVersion(groups[i+1])
		}
		return v
	}
	const old, now = "v1.33.1", "v1.34.1"
	begin, end := versions(old, "md-0", old), versions(now, "md-0", now)
	controlPlane, workers := plan.Step{Kind: plan.ControlPlane}, plan.Step{Kind: plan.Workers}
	tests := map[string]struct {
		from, to v1alpha1.ClusterVersions // of the record
		plan     plan.Plan
		want     bool
	}{
		"nothing was started":          {begin, end, plan.Plan{From: begin, To: end, Steps: []plan.Step{controlPlane, workers}}, false},
		"the control plane moved":      {begin, end, plan.Plan{From: versions(now, "md-0", old), To: end, Steps: []plan.Step{workers}}, true},
		"a group moved":                {versions(now, "md-0", old, "md-1", old), versions(now, "md-0", now, "md-1", now), plan.Plan{From: versions(now, "md-0", now, "md-1", old), To: versions(now, "md-0", now, "md-1", now), Steps: []plan.Step{workers}}, true},
		"a group was created":          {begin, versions(now, "md-0", now, "md-1", old), plan.Plan{From: versions(old, "md-0", old, "md-1", old), To: versions(now, "md-0", now, "md-1", old), Steps: []plan.Step{controlPlane, workers}}, false},
		"a group was removed":          {versions(old, "md-0", old, "md-1", old), end, plan.Plan{From: begin, To: end, Steps: []plan.Step{controlPlane, workers}}, false},
		"it has ended":                 {begin, end, plan.Plan{From: end, To: end, Steps: []plan.Step{{Kind: plan.Template}}}, false},
		"to another version":           {begin, end, plan.Plan{From: end, To: versions("v1.35.1", "md-0", "v1.35.1"), Steps: []plan.Step{controlPlane, workers}}, false},
		"no record, or an older one's": {v1alpha1.ClusterVersions{}, end, plan.Plan{From: versions(now, "md-0", old), To: end, Steps: []plan.Step{workers}}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Upgrade{Plan: test.plan}
			if got := p.continues(management.Record{From: test.from, Versions: test.to}); got != test.want {
				t.Errorf("continued: %t, want %t", got, test.want)
			}
		})
	}
}

// TestOutline: of a file with every field only those are public that plans depend on.
func TestOutline(t *testing.T) {
	t.Parallel()
	const text = `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: prod, namespace: fleet}
spec:
  kubernetesVersion: "1.34"
  clusterClass: {name: c, namespace: classes, variables: {token: s3cret}}
  controlPlaneConfiguration: {count: 3, labels: {a: s3cret}, kubeletConfiguration: {maxPods: 7}}
  workerNodeGroupConfigurations:
  - {name: md-0, count: 2, kubernetesVersion: "1.33", labels: {a: s3cret}, annotations: {a: s3cret}, variables: {token: s3cret}, taints: [{key: s3cret, effect: NoSchedule}]}
  - {name: md-1, autoscalingConfiguration: {minCount: 1, maxCount: 2}, class: s3cret}
  clusterNetwork:
    pods: {cidrBlocks: [192.168.0.0/16]}
    services: {cidrBlocks: [10.96.0.0/12]}
    nodes: {cidrMaskSize: 25}
    cniConfig: {cilium: {egressMasqueradeInterfaces: s3cret}}
    dns: {resolvConf: {path: /s3cret}}
  externalEtcdConfiguration: {endpoints: ["https://10.0.0.1:2379"]}
  proxyConfiguration: {httpProxy: "s3cret:1", httpsProxy: "s3cret:1"}
  registryMirrorConfiguration: {endpoint: s3cret}
  addOns: [{name: s3cret, resources: [{kind: Secret, name: s3cret}]}]
  upgradePolicy: {maxConcurrentWorkerGroups: 2, maxWorkerVersionSkew: 1}
  managementCluster: {name: s3cret}
  datacenterRef: {kind: DockerDatacenterConfig, name: prod}
---
apiVersion: clusterctl-x.io/v1alpha1
kind: DockerDatacenterConfig
metadata: {name: prod}
spec: {}
`
	config := providers.BuiltIn().Decode("prod.yaml", []byte(text))
	if err := config.Problems.OrNil(); err != nil {
		t.Fatal(err)
	}
	version := func(text string) v1alpha1.KubernetesVersion {
		parsed, err := v1alpha1.ParseKubernetesVersion(text)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	pinned := version("1.33")
	want := &v1alpha1.Config{Cluster: &v1alpha1.Cluster{
		APIVersion: "clusterctl-x.io/v1alpha1", Kind: "Cluster", Metadata: v1alpha1.Meta{Name: "prod", Namespace: "fleet"},
		Spec: v1alpha1.ClusterSpec{
			KubernetesVersion:         version("1.34"),
			ClusterClass:              &v1alpha1.ClusterClass{Name: "c", Namespace: "classes"},
			ControlPlaneConfiguration: v1alpha1.ControlPlaneConfiguration{Count: new(3)},
			WorkerNodeGroupConfigurations: []v1alpha1.WorkerNodeGroupConfiguration{
				{Name: "md-0", Count: new(2), KubernetesVersion: &pinned},
				{Name: "md-1", AutoscalingConfiguration: &v1alpha1.AutoscalingConfiguration{MinCount: 1, MaxCount: 2}},
			},
			ClusterNetwork: v1alpha1.ClusterNetwork{
				Pods: v1alpha1.Network{CIDRBlocks: []string{"192.168.0.0/16"}}, Services: v1alpha1.Network{CIDRBlocks: []string{"10.96.0.0/12"}},
				Nodes: &v1alpha1.Nodes{CIDRMaskSize: new(25)}, CNIConfig: &v1alpha1.CNIConfig{Cilium: &v1alpha1.Cilium{}},
			},
			ExternalEtcdConfiguration: &v1alpha1.ExternalEtcdConfiguration{Endpoints: []string{"https://10.0.0.1:2379"}},
			UpgradePolicy:             v1alpha1.UpgradePolicy{MaxConcurrentWorkerGroups: new(2), MaxWorkerVersionSkew: new(1)},
			DatacenterRef:             v1alpha1.Ref{Kind: "DockerDatacenterConfig", Name: "prod"},
		},
	}}
	stored, err := json.Marshal(management.Record{Cluster: outline(config.Cluster)})
	if err != nil {
		t.Fatal(err)
	}
	var record management.Record
	if err := json.Unmarshal(stored, &record); err != nil {
		t.Fatal(err)
	}
	for from, record := range map[string]management.Record{
		"written now":                   record,
		"written by an older one":       {Spec: text},
		"and changed by a newer one":    {Spec: "other: file", Cluster: record.Cluster},
		"of a run that was interrupted": {Cluster: record.Cluster},
	} {
		if diff := cmp.Diff(want, configOf(record, providers.BuiltIn()), cmpopts.IgnoreUnexported(v1alpha1.Config{}), cmpopts.EquateComparable(v1alpha1.KubernetesVersion{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", from, diff)
		}
	}
	for from, record := range map[string]management.Record{"no record": {}, "a file that is not understood": {Spec: "kind: Cluster\nunknown: 1\n"}} {
		if got := configOf(record, providers.BuiltIn()); got != nil {
			t.Errorf("%s: %v", from, got)
		}
	}
}
