package validations_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// clusterVersions are "control plane, group version, group version ...".
func clusterVersions(controlPlane string, groups ...string) v1alpha1.ClusterVersions {
	v := v1alpha1.ClusterVersions{WorkerNodeGroups: map[string]v1alpha1.Version{}}
	if controlPlane != "" {
		v.ControlPlane = version(controlPlane)
	}
	for _, group := range groups {
		name, text, _ := strings.Cut(group, " ")
		v.WorkerNodeGroups[name] = version(text)
	}
	return v
}

// updateTest is a file that a cluster is to be changed to, and what of it the
// cluster does not allow.
type updateTest struct {
	text  string
	floor v1alpha1.ClusterVersions
	// before is the file that the cluster was made from; empty where it is not
	// known.
	before string
	want   []string
}

func testUpdate(t *testing.T, tests map[string]updateTest) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resolved, err := validations.Create(decode(t, test.text), devProviders(), bundles(), test.floor)
			if err != nil {
				t.Fatal(err)
			}
			var before *v1alpha1.Config
			if test.before != "" {
				before = decode(t, test.before)
			}
			err = validations.Update(resolved, test.floor, before)
			var got []string
			if refused := (validations.Refused{}); errors.As(err, &refused) {
				got = strings.Split(refused.Error(), "\n")
			} else if err != nil {
				t.Fatalf("the error is a %T: %v", err, err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUpdateMovesNothingDown: neither a part that has a version of its own nor
// one that follows, by a minor or by a patch.
func TestUpdateMovesNothingDown(t *testing.T) {
	t.Parallel()
	at := func(version string) string { return strings.Replace(file, `"1.34"`, version, 1) }
	const controlPlane = `cluster.yaml:6: spec.kubernetesVersion: Invalid value: `
	const first = `cluster.yaml:16: spec.workerNodeGroupConfigurations[0].kubernetesVersion: Invalid value: `
	const second = `cluster.yaml:17: spec.workerNodeGroupConfigurations[1].kubernetesVersion: Invalid value: `
	testUpdate(t, map[string]updateTest{
		"everything as it is":       {file + groups("{name: a}", "{name: b, kubernetesVersion: 1.31}"), clusterVersions("v1.34.2", "a v1.34.2", "b v1.31.5"), "", nil},
		"everything up":             {at("1.35") + groups("{name: a}", "{name: b, kubernetesVersion: 1.34}"), clusterVersions("v1.34.2", "a v1.34.2", "b v1.31.5"), "", nil},
		"nothing is known":          {file + groups("{name: a}"), v1alpha1.ClusterVersions{}, "", nil},
		"new groups have no floor":  {file + groups("{name: a}", "{name: b, kubernetesVersion: 1.31}"), clusterVersions("v1.34.2"), "", nil},
		"groups that go have none":  {file, clusterVersions("v1.34.2", "a v1.36.1"), "", nil},
		"control plane by a minor":  {at("1.31"), clusterVersions("v1.34.2"), "", []string{controlPlane + `"1.31": the control plane runs v1.34.2 and cannot be downgraded; use v1.34.2 or newer`}},
		"control plane by a patch":  {at("v1.34.2"), clusterVersions("v1.34.3"), "", []string{controlPlane + `"v1.34.2": the control plane runs v1.34.3 and cannot be downgraded; use v1.34.3 or newer`}},
		"control plane, just not":   {at("v1.34.3"), clusterVersions("v1.34.3"), "", nil},
		"pinned group by a minor":   {file + groups("{name: a, kubernetesVersion: 1.31}"), clusterVersions("v1.34.2", "a v1.34.2"), "", []string{first + `"1.31": group a runs v1.34.2 and cannot be downgraded; use v1.34.2 or newer`}},
		"pinned group by a patch":   {file + groups("{name: a, kubernetesVersion: v1.34.2}"), clusterVersions("v1.34.3", "a v1.34.3"), "", []string{first + `"v1.34.2": group a runs v1.34.3 and cannot be downgraded; use v1.34.3 or newer`}},
		"pinned group, just not":    {file + groups("{name: a, kubernetesVersion: v1.34.2}"), clusterVersions("v1.34.3", "a v1.34.2"), "", nil},
		"a pin is taken away":       {file + groups("{name: a}"), clusterVersions("v1.34.2", "a v1.31.5"), "", nil},
		"a pin is set where it is":  {at("1.35") + groups("{name: a, kubernetesVersion: 1.34}"), clusterVersions("v1.34.2", "a v1.34.2"), "", nil},
		"group that follows":        {file + groups("{name: a}"), clusterVersions("v1.34.2", "a v1.35.1"), "", []string{controlPlane + `"1.34": group a, which follows the cluster, runs v1.35.1 and cannot be downgraded; use v1.35.1 or newer`}},
		"group that follows, a fix": {at("1.35") + groups("{name: a}"), clusterVersions("v1.34.2", "a v1.35.1"), "", nil},
		// The way back of the control plane says it for those that follow it.
		"control plane with a group that follows": {at("1.31") + groups("{name: a}"), clusterVersions("v1.34.2", "a v1.34.2"), "", []string{
			controlPlane + `"1.31": the control plane runs v1.34.2 and cannot be downgraded; use v1.34.2 or newer`,
		}},
		"everything at once, in the order of the file": {at("1.31") + groups("{name: a, kubernetesVersion: 1.30}", "{name: b, kubernetesVersion: 1.31}", "{name: c}"), clusterVersions("v1.36.1", "a v1.31.5", "b v1.34.2", "c v1.36.1"), "", []string{
			controlPlane + `"1.31": the control plane runs v1.36.1 and cannot be downgraded; use v1.36.1 or newer`,
			first + `"1.30": group a runs v1.31.5 and cannot be downgraded; use v1.31.5 or newer`,
			second + `"1.31": group b runs v1.34.2 and cannot be downgraded; use v1.34.2 or newer`,
		}},
	})
}

// TestUpdateKeepsWhatCannotChange: each field that cannot be changed, next to
// what may be changed beside it.
func TestUpdateKeepsWhatCannotChange(t *testing.T) {
	t.Parallel()
	as := clusterVersions("v1.34.2")
	change := func(old, with string) string {
		if !strings.Contains(file, old) {
			t.Fatalf("the file has no %q", old)
		}
		return strings.Replace(file, old, with, 1)
	}
	const endpoint = "  externalEtcdConfiguration: {endpoints: [https://10.0.0.2:2379]}\n"
	const pods, services = "cidrBlocks: [192.168.0.0/16]", "cidrBlocks: [10.96.0.0/12]"
	testUpdate(t, map[string]updateTest{
		"nothing changes":                     {file, as, file, nil},
		"the file before is not known":        {onDocker(file), as, "", nil},
		"the file before cannot be read":      {onDocker(file), as, "nothing", nil},
		"another API group says the same":     {file, as, change("clusterctl-x.io", "anywhere.eks.amazonaws.com"), nil},
		"provider":                            {onDocker(file), as, file, []string{`cluster.yaml:13: spec.datacenterRef.kind: Invalid value: "DockerDatacenterConfig": cannot be changed, and is InMemoryDatacenterConfig: machines cannot move to another provider; create a new cluster there`}},
		"provider's document has other words": {change("    name: prod\n", "    name: other\n"), as, file, nil},
		"network of pods":                     {change("192.168.0.0/16", "172.16.0.0/16"), as, file, []string{`cluster.yaml:9: spec.clusterNetwork.pods.cidrBlocks: Invalid value: "172.16.0.0/16": cannot be changed, and is 192.168.0.0/16: nodes keep their part of this network for their lifetime; create a new cluster`}},
		"network of services":                 {change("10.96.0.0/12", "10.96.0.0/16"), as, file, []string{`cluster.yaml:11: spec.clusterNetwork.services.cidrBlocks: Invalid value: "10.96.0.0/16": cannot be changed, and is 10.96.0.0/12: the certificates of the API server, and every service, have addresses of this network; create a new cluster`}},
		"part of a node is given": {change(services, services+"\n    nodes: {cidrMaskSize: 25}"), as, file, []string{
			`cluster.yaml:12: spec.clusterNetwork.nodes.cidrMaskSize: Invalid value: "25": cannot be changed, and is not set: nodes keep their part of the network of pods for their lifetime; create a new cluster`,
		}},
		"part of a node is taken away": {file, as, change(services, services+"\n    nodes: {cidrMaskSize: 25}"), []string{
			`cluster.yaml:7: spec.clusterNetwork.nodes.cidrMaskSize: Invalid value: "": cannot be changed, and is 25: nodes keep their part of the network of pods for their lifetime; create a new cluster`,
		}},
		"network plugin is given": {change(services, services+"\n    cniConfig: {cilium: {}}"), as, file, []string{
			`cluster.yaml:12: spec.clusterNetwork.cniConfig: Invalid value: "cilium": cannot be changed, and is not set: pods have their addresses from it, and two network plugins would interfere; replace it inside the cluster, or create a new one`,
		}},
		"network plugin is another": {onDocker(change(services, services+"\n    cniConfig: {cilium: {}}")), as, onDocker(change(services, services+"\n    cniConfig: {kindnetd: {}}")), []string{
			`cluster.yaml:12: spec.clusterNetwork.cniConfig: Invalid value: "cilium": cannot be changed, and is kindnetd: pods have their addresses from it, and two network plugins would interfere; replace it inside the cluster, or create a new one`,
		}},
		"network plugin by its old name": {change(services, services+"\n    cni: cilium"), as, change(services, services+"\n    cniConfig: {cilium: {}}"), nil},
		"settings of the network plugin": {
			change(services, services+"\n    cniConfig: {cilium: {policyEnforcementMode: never}}"), as, change(services, services+"\n    cniConfig: {cilium: {}}"), nil,
		},
		"etcd outside is given": {file + endpoint, as, file, []string{
			`cluster.yaml:15: spec.externalEtcdConfiguration.endpoints: Invalid value: "https://10.0.0.2:2379": cannot be changed, and is not set: Cluster API cannot move the data of a cluster from one etcd to another; create a new cluster`,
		}},
		"etcd outside is taken away": {file, as, file + endpoint, []string{
			`cluster.yaml:5: spec.externalEtcdConfiguration.endpoints: Invalid value: "": cannot be changed, and is https://10.0.0.2:2379: Cluster API cannot move the data of a cluster from one etcd to another; create a new cluster`,
		}},
		"etcd outside has another address": {file + strings.Replace(endpoint, "10.0.0.2", "10.0.0.3", 1), as, file + endpoint, []string{
			`cluster.yaml:15: spec.externalEtcdConfiguration.endpoints: Invalid value: "https://10.0.0.3:2379": cannot be changed, and is https://10.0.0.2:2379: Cluster API cannot move the data of a cluster from one etcd to another; create a new cluster`,
		}},
		"etcd outside in another order": {
			file + "  externalEtcdConfiguration: {endpoints: [https://10.0.0.3:2379, https://10.0.0.2:2379, https://10.0.0.1:2379]}\n", as,
			file + "  externalEtcdConfiguration: {endpoints: [https://10.0.0.1:2379, https://10.0.0.2:2379, https://10.0.0.3:2379]}\n", nil,
		},
		"etcd that stays on the control plane": {file + "  externalEtcdConfiguration: {count: 3}\n", as, file, nil},
		"what may change": {
			change("    services:", "    dns: {resolvConf: {path: /etc/other.conf}}\n    services:") + "  controlPlaneConfiguration: {count: 5}\n" + groups("{name: a, count: 2}"), as,
			file + groups("{name: b}"), nil,
		},
		"several at once, in the order of the file, with a way back": {
			strings.NewReplacer("InMemory", "Docker", "192.168", "172.16", "10.96.0.0/12", "10.96.0.0/16", `"1.34"`, `"1.31"`).Replace(file) + groups("{name: a, kubernetesVersion: 1.30}"),
			clusterVersions("v1.34.2", "a v1.31.5"), file + groups("{name: a}"),
			[]string{
				`cluster.yaml:6: spec.kubernetesVersion: Invalid value: "1.31": the control plane runs v1.34.2 and cannot be downgraded; use v1.34.2 or newer`,
				`cluster.yaml:9: spec.clusterNetwork.pods.cidrBlocks: Invalid value: "172.16.0.0/16": cannot be changed, and is 192.168.0.0/16: nodes keep their part of this network for their lifetime; create a new cluster`,
				`cluster.yaml:11: spec.clusterNetwork.services.cidrBlocks: Invalid value: "10.96.0.0/16": cannot be changed, and is 10.96.0.0/12: the certificates of the API server, and every service, have addresses of this network; create a new cluster`,
				`cluster.yaml:13: spec.datacenterRef.kind: Invalid value: "DockerDatacenterConfig": cannot be changed, and is InMemoryDatacenterConfig: machines cannot move to another provider; create a new cluster there`,
				`cluster.yaml:16: spec.workerNodeGroupConfigurations[0].kubernetesVersion: Invalid value: "1.30": group a runs v1.31.5 and cannot be downgraded; use v1.31.5 or newer`,
			},
		},
	})
}
