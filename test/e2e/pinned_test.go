package e2e_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// TestIndependentWorkerVersions are scenarios of "Independent Worker Topology
// Versions", one after the other on one cluster from a ClusterClass.
func TestIndependentWorkerVersions(t *testing.T) {
	t.Parallel()
	namespace := applyClass(t, "independent")
	class := objectsIn(t, namespace)
	spec := clusterSpec{name: "pins", version: "1.31", class: "name: inmemory", groups: []groupSpec{{name: "md-0"}, {name: "md-1", count: 2}}}
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t))
	follows := func(t *testing.T, want ...string) {
		t.Helper()
		assertPlan(t, upgradeAsPlanned(t, namespace, "pins", spec.path(t)), want...)
	}

	t.Run("Single cluster uses Worker Node Group Version for the First Time", func(t *testing.T) {
		before := names(t, shared, namespace, "pins")
		spec.groups[1].version = "1.31"
		follows(t, "Detach md-1 v1.31.14->v1.31.14")
		assertSame(t, before, names(t, shared, namespace, "pins"))
	})
	t.Run("Cluster Version Topology Upgraded on a Cluster with Independent Worker Node Group Versions", func(t *testing.T) {
		upgradedAround(t, namespace, spec)
		spec.version, spec.groups[1].count = "1.34", 3
		assertPlan(t, planOf(t, namespace, spec.path(t)))
	})
	t.Run("the pin is raised", func(t *testing.T) {
		before := namesOf(t, namespace, "pins", controlPlane, "md-0")
		spec.groups[1].version = "1.33"
		follows(t, "Workers md-1 v1.31.14->v1.33.13")
		assertMachines(t, shared, namespace, "pins", "control-plane v1.34.4", "md-0 v1.34.4", "md-1 v1.33.13", "md-1 v1.33.13", "md-1 v1.33.13")
		assertSame(t, before, namesOf(t, namespace, "pins", controlPlane, "md-0"))
	})
	t.Run("the pin is taken away", func(t *testing.T) {
		before := namesOf(t, namespace, "pins", controlPlane, "md-0")
		spec.groups[1].version = ""
		follows(t, "Workers md-1 v1.33.13->v1.34.4", "Return md-1 v1.34.4->v1.34.4")
		assertMachines(t, shared, namespace, "pins", "control-plane v1.34.4", "md-0 v1.34.4", "md-1 v1.34.4", "md-1 v1.34.4", "md-1 v1.34.4")
		assertSame(t, before, namesOf(t, namespace, "pins", controlPlane, "md-0"))
	})
	t.Run("Existing behavior with ClusterClass Topology Version", func(t *testing.T) {
		spec.version, spec.groups[1].count = "1.35", 1
		follows(t, "ControlPlane v1.34.4->v1.35.4", "Workers md-0 v1.34.4->v1.35.4 md-1 v1.34.4->v1.35.4")
	})
	t.Run("nothing is left", func(t *testing.T) {
		cli(t, 0, "delete", "cluster", "pins", "-n", namespace)
		if diff := cmp.Diff(class, objectsIn(t, namespace)); diff != "" {
			t.Errorf("objects (-before +after):\n%s", diff)
		}
	})
}

// upgradedAround takes the cluster to 1.34 around the pinned group, which is scaled
// and has a machine replaced meanwhile.
func upgradedAround(t *testing.T, namespace string, spec clusterSpec) {
	spec.version = "1.34"
	file := spec.path(t)
	p := planOf(t, namespace, file)
	assertPlan(t, p, "ControlPlane v1.31.14->v1.32.13", "ControlPlane v1.32.13->v1.33.13", "ControlPlane v1.33.13->v1.34.4", "Workers md-0 v1.31.14->v1.34.4")
	before := namesOf(t, namespace, "pins", "md-1")
	gone := slices.Min(slices.Collect(maps.Keys(before)))
	made := observe(t, shared, namespace, "pins")
	upgrade := begin(t, "upgrade", "cluster", "-n", namespace, "-f", file)

	t.Run("Configuration and Scale Changes During Upgrades", func(t *testing.T) {
		upgrade.until(t, "step 2 of 4")
		kubectl(t, shared, nil, "scale", "machinedeployment", "-n", namespace, "-l", "clusterctl-x.io/worker-node-group=md-1", "--replicas", "3")
		upgrade.until(t, "md-1 v1.31.14: 3 of 3 machines ready")
	})
	t.Run("Remediation During Upgrades", func(t *testing.T) {
		kubectl(t, shared, nil, "delete", "machine", gone, "-n", namespace, "--wait=false")
		if r := upgrade.end(t); r.code != 0 || strings.Contains(r.stderr, deviates) {
			t.Fatalf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
		}
		assertMachines(t, shared, namespace, "pins", "control-plane v1.34.4", "md-0 v1.34.4", "md-1 v1.31.14", "md-1 v1.31.14", "md-1 v1.31.14")
	})
	want := p.machines()
	want["md-1"] = 2 // one more, and one in the place of the one that went
	if diff := cmp.Diff(want, made()); diff != "" {
		t.Errorf("machines created (-want +seen):\n%s", diff)
	}
	delete(before, gone)
	after := namesOf(t, namespace, "pins", "md-1")
	maps.DeleteFunc(after, func(name string, _ string) bool { return before[name] == "" })
	assertSame(t, before, after)
}

// versionAware is a class of a user whose workers are made otherwise for each
// version.
func versionAware(t *testing.T) []byte {
	t.Helper()
	text := strings.Replace(string(ownClass(t)), "[v1.33.13, v1.34.3, v1.35.4]", "[v1.32.13, v1.33.13, v1.34.3, v1.34.4, v1.35.4, v1.36.3]", 1)
	const workers = `matchResources: {machineDeploymentClass: {names: ['*']}}
      jsonPatches:
      - {op: add, path: /spec/template/spec/preKubeadmCommands, valueFrom: {template: '["echo {{ .region }}`
	if !strings.Contains(text, workers) {
		t.Fatal("the class has no patch of its workers")
	}
	return []byte(strings.Replace(text, workers, workers+" {{ .builtin.machineDeployment.version }}", 1))
}

// TestPinsOfAVersionAwareClass: with a class that makes other machines for each
// version, a pin costs none by itself, and a group gets what its class gives for
// its own version.
func TestPinsOfAVersionAwareClass(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "version-aware")
	applyTo(t, namespace, versionAware(t))
	spec := clusterSpec{name: "aware", version: "1.34.3", class: "name: own, variables: {region: us-east-1}", ownClass: true, groups: []groupSpec{{name: "md-0"}, {name: "md-1"}}}
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t))
	before := names(t, shared, namespace, "aware")
	checks := objectsOfKind(t, namespace, "machinehealthchecks")
	for _, test := range []struct{ pin, plan string }{
		{"1.34", "Detach md-1 v1.34.3->v1.34.3"},
		{"", "Return md-1 v1.34.3->v1.34.3"},
		{"v1.34.3", "Detach md-1 v1.34.3->v1.34.3"},
	} {
		spec.groups[1].version = test.pin
		assertPlan(t, upgradeAsPlanned(t, namespace, "aware", spec.path(t)), test.plan)
		assertSame(t, before, names(t, shared, namespace, "aware"))
		if diff := cmp.Diff(checks, objectsOfKind(t, namespace, "machinehealthchecks")); diff != "" {
			t.Errorf("health checks (-before +after):\n%s", diff)
		}
	}

	t.Run("Upgrading Both Cluster Version Topology and Independent Worker Node Group Versions on Existing Cluster", func(t *testing.T) {
		spec.version, spec.groups[1].version = "1.35", "1.34.4"
		assertPlan(t, upgradeAsPlanned(t, namespace, "aware", spec.path(t)),
			"ControlPlane v1.34.3->v1.35.4", "Workers md-0 v1.34.3->v1.35.4", "Workers md-1 v1.34.3->v1.34.4")
		assertMachines(t, shared, namespace, "aware", "control-plane v1.35.4", "md-0 v1.35.4", "md-1 v1.34.4")
		assertCommands(t, namespace, map[string]string{"md-0": "echo us-east-1 v1.35.4", "md-1": "echo us-east-1 v1.34.4"})
	})
	t.Run("ClusterClass Change with Version Upgrades", func(t *testing.T) { changedClass(t, namespace, &spec) })
	t.Run("group of its own, older than the cluster", func(t *testing.T) {
		spec.groups = append(spec.groups, groupSpec{name: "old", version: "1.33"})
		file := spec.path(t)
		upgrade := begin(t, "upgrade", "cluster", "-n", namespace, "-f", file)
		older := map[string]bool{}
		until(t, "it has ended", func(context.Context) bool {
			for _, m := range machines(t, shared, namespace, "aware") {
				if m.Owner == "old" {
					older[m.Version] = true
				}
			}
			return upgrade.hasEnded()
		})
		if r := upgrade.end(t); r.code != 0 || !strings.Contains(r.stderr, "new group old at v1.33.13") {
			t.Fatalf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
		}
		if diff := cmp.Diff(map[string]bool{"v1.33.13": true}, older); diff != "" {
			t.Errorf("versions of its machines (-want +seen):\n%s", diff)
		}
		assertPlan(t, planOf(t, namespace, file))
	})
	t.Run("pinned groups are removed", func(t *testing.T) {
		spec.groups = spec.groups[:1]
		assertPlan(t, upgradeAsPlanned(t, namespace, "aware", spec.path(t)), "RemoveWorkers md-1 v1.35.4-> old v1.33.13->")
		for _, object := range objectsIn(t, namespace) {
			if strings.Contains(object, "/aware-md-1") || strings.Contains(object, "/aware-old") {
				t.Errorf("left behind: %s", object)
			}
		}
	})
	t.Run("another ClusterClass with both versions", func(t *testing.T) { otherClass(t, namespace, &spec) })
}

// otherClass: a cluster becomes one of another class together with its version, while a
// group is pinned. The pinned group gets what that class makes in one rollout with its
// own version.
func otherClass(t *testing.T, namespace string, spec *clusterSpec) {
	second := strings.NewReplacer("metadata: {name: own}", "metadata: {name: second}", `["echo {{ .region }}`, `["echo second {{ .region }}`).Replace(string(versionAware(t)))
	applyTo(t, namespace, withKubeletArgument(t, []byte(second)))
	spec.groups = append(spec.groups, groupSpec{name: "late", version: "1.34.3"})
	assertPlan(t, upgradeAsPlanned(t, namespace, "aware", spec.path(t)), "CreateWorkers late ->v1.34.3")
	pinned := namesOf(t, namespace, "aware", "late")

	spec.class, spec.version, spec.groups[1].version = "name: second, variables: {region: us-east-1}", "1.36", "1.34.4"
	assertPlan(t, upgradeAsPlanned(t, namespace, "aware", spec.path(t)),
		"InPlace", "ControlPlane v1.35.4->v1.36.3", "Workers md-0 v1.35.4->v1.36.3", "Workers late v1.34.3->v1.34.4")
	assertMachines(t, shared, namespace, "aware", "control-plane v1.36.3", "late v1.34.4", "md-0 v1.36.3")
	assertCommands(t, namespace, map[string]string{"md-0": "echo second us-east-1 v1.36.3", "late": "echo second us-east-1 v1.34.4"})
	for name := range namesOf(t, namespace, "aware", "late") {
		if _, kept := pinned[name]; kept {
			t.Errorf("machine %s was not replaced", name)
		}
	}

	spec.groups[1].version = ""
	assertPlan(t, upgradeAsPlanned(t, namespace, "aware", spec.path(t)), "Workers late v1.34.4->v1.36.3", "Return late v1.36.3->v1.36.3")
	assertCommands(t, namespace, map[string]string{"late": "echo second us-east-1 v1.36.3"})
	returned := namesOf(t, namespace, "aware", "late")
	cli(t, 0, "watch", "cluster", "aware", "-n", namespace, "--timeout", "5m")
	assertSame(t, returned, namesOf(t, namespace, "aware", "late"))
	assertPlan(t, planOf(t, namespace, spec.path(t)))
}

// changedClass: a changed class reaches the groups of the topology at once, and the
// pinned one with the next upgrade, together with its version.
func changedClass(t *testing.T, namespace string, spec *clusterSpec) {
	text := withKubeletArgument(t, versionAware(t))
	pinned := namesOf(t, namespace, "aware", "md-1")
	const note = "md-1 is pinned at v1.34.4: the control plane cannot go beyond 1.37, and changes of the class reach the group only through 'upgrade cluster'"
	plan := planOfClass(t, namespace, textFile(t, "class.yaml", text))
	if diff := cmp.Diff([]string{"aware: Template md-0 v1.35.4->v1.35.4", "0 and 1 machines"}, plan.lines()); diff != "" {
		t.Errorf("plan of the class (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{note}, plan.Clusters[0].Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	applyTo(t, namespace, text)
	until(t, "the group of the topology has the change", func(context.Context) bool { return templateOf(t, namespace, "md-0").hasVerbosity() })
	cli(t, 0, "watch", "cluster", "aware", "-n", namespace, "--timeout", "5m")
	assertSame(t, pinned, namesOf(t, namespace, "aware", "md-1"))
	var described struct{ Data struct{ Unreached []string } }
	if err := json.Unmarshal([]byte(cli(t, 0, "describe", "cluster", "aware", "-n", namespace, "-o", "json").stdout), &described); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"md-1"}, described.Data.Unreached); diff != "" {
		t.Errorf("groups that the class does not reach (-want +got):\n%s", diff)
	}
	assertPlan(t, planOf(t, namespace, spec.path(t)), "Template md-1 v1.34.4->v1.34.4")
	spec.groups[1].version = "1.35"
	assertPlan(t, upgradeAsPlanned(t, namespace, "aware", spec.path(t)), "Workers md-1 v1.34.4->v1.35.4")
	if !templateOf(t, namespace, "md-1").hasVerbosity() {
		t.Error("the pinned group has not what its class gives now")
	}
}

// bootstrapTemplate is what the machines of a group are made from.
type bootstrapTemplate struct {
	bootstrapv1.KubeadmConfigTemplate
}

func (b bootstrapTemplate) hasVerbosity() bool {
	return len(b.Spec.Template.Spec.JoinConfiguration.NodeRegistration.KubeletExtraArgs) > 0
}

func templateOf(t *testing.T, namespace, group string) bootstrapTemplate {
	t.Helper()
	deployments := list[clusterv1.MachineDeployment](t, shared, namespace, "machinedeployments", "topology.cluster.x-k8s.io/deployment-name="+group)
	deployments = append(deployments, list[clusterv1.MachineDeployment](t, shared, namespace, "machinedeployments", "!topology.cluster.x-k8s.io/deployment-name,clusterctl-x.io/worker-node-group="+group)...)
	if len(deployments) != 1 {
		t.Fatalf("group %s has %d MachineDeployments", group, len(deployments))
	}
	var template bootstrapTemplate
	text := kubectl(t, shared, nil, "get", "kubeadmconfigtemplate", deployments[0].Spec.Template.Spec.Bootstrap.ConfigRef.Name, "-n", namespace, "-o", "json")
	if err := json.Unmarshal([]byte(text), &template); err != nil {
		t.Fatal(err)
	}
	return template
}

// assertCommands compares the commands that the machines of groups begin with.
func assertCommands(t *testing.T, namespace string, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for group := range want {
		got[group] = strings.Join(templateOf(t, namespace, group).Spec.Template.Spec.PreKubeadmCommands, "; ")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}
