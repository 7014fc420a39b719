package e2e_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/test/observer"
)

// ownClass is a ClusterClass of a user.
func ownClass(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/own-class.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// storyTeller has the cluster of TestClusterClassStories.
type storyTeller struct {
	namespace string
	spec      clusterSpec
}

// follows takes the cluster to its file by the plan that is wanted.
func (s *storyTeller) follows(t *testing.T, want ...string) {
	t.Helper()
	assertPlan(t, upgradeAsPlanned(t, s.namespace, s.spec.name, s.spec.path(t)), want...)
}

// machines of parts.
func (s *storyTeller) machines(t *testing.T, parts ...string) map[string]string {
	t.Helper()
	return namesOf(t, s.namespace, s.spec.name, parts...)
}

// TestClusterClassStories are the stories and behaviours of "ClusterClass and
// Managed Topologies", with a class of a user's own.
func TestClusterClassStories(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "class-stories")
	applyTo(t, namespace, ownClass(t))
	s := &storyTeller{namespace, clusterSpec{
		name: "one", version: "1.33", class: "name: own", ownClass: true,
		groups: []groupSpec{{name: "md-0"}, {name: "md-1", more: "class: large-worker"}},
	}}
	two := clusterSpec{
		name: "two", version: "1.34", class: "name: own, variables: {region: us-east-1, workerMachine: 2s}", ownClass: true, groups: []groupSpec{{name: "md-0"}},
	}
	t.Run("variables are validated", func(t *testing.T) { s.wrongVariables(t) })
	s.spec.class = "name: own, variables: {region: eu-central-1}"
	for _, spec := range []clusterSpec{s.spec, two} {
		cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t), "--wait=false")
	}
	t.Run("story 1: stamp clusters", func(t *testing.T) {
		for _, cluster := range []string{"one", "two"} {
			cli(t, 0, "watch", "cluster", cluster, "-n", namespace)
		}
		assertMachines(t, shared, namespace, "one", "control-plane v1.33.13", "md-0 v1.33.13", "md-1 v1.33.13")
		assertMachines(t, shared, namespace, "two", "control-plane v1.34.3", "md-0 v1.34.3")
	})
	t.Run("create a new Cluster with patches", s.created)
	t.Run("story 3: scale by one edit", s.scaled)
	t.Run("update an existing Cluster: what replaces no machine", s.changedInPlace)
	t.Run("story 7: mutate variables", s.mutated)
	t.Run("story 8: machine health checks", s.checked)
	t.Run("add and remove a MachineDeployment", s.regrouped)
	t.Run("another default of the class", s.otherDefault)
	t.Run("another class and another version", s.otherClass)
	assertMachines(t, shared, namespace, "two", "control-plane v1.34.3", "md-0 v1.34.3")
}

// wrongVariables: what the class does not take is an error at its line.
func (s *storyTeller) wrongVariables(t *testing.T) {
	for name, test := range map[string]struct{ variables, want string }{
		"required": {"", "one.yaml:16: spec.clusterClass.variables.region: Required value: ClusterClass own requires this variable; set it to \"eu-central-1\" or \"us-east-1\": Where the machines are\n"},
		"not one of": {
			", variables: {region: moon}", "one.yaml:16: spec.clusterClass.variables.region: Unsupported value: \"moon\": ClusterClass own takes \"eu-central-1\" or \"us-east-1\"\n",
		},
		"unknown": {", variables: {region: us-east-1, reqion: x}", "one.yaml:16: spec.clusterClass.variables.reqion: Forbidden: ClusterClass own has no such variable; did you mean region?\n"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := s.spec
			spec.class += test.variables
			file := spec.path(t)
			assertStderr(t, cli(t, 3, "create", "cluster", "-n", s.namespace, "-f", file), test.want, strings.TrimSuffix(file, "one.yaml"))
		})
	}
}

// created looks at what Cluster API made of the variables: stories 5 and 6.
func (s *storyTeller) created(t *testing.T) {
	got := map[string]string{}
	for _, cluster := range list[clusterv1.Cluster](t, shared, s.namespace, "clusters") {
		for _, variable := range cluster.Spec.Topology.Variables {
			got[cluster.Name+" "+variable.Name] = string(variable.Value.Raw)
		}
	}
	for _, controlPlane := range list[controlplanev1.KubeadmControlPlane](t, shared, s.namespace, "kubeadmcontrolplanes") {
		got[controlPlane.Labels[clusterv1.ClusterNameLabel]+" commands"] = strings.Join(controlPlane.Spec.KubeadmConfigSpec.PreKubeadmCommands, "; ")
	}
	want := map[string]string{
		"one region": `"eu-central-1"`, "one controlPlaneMachine": `"1s"`, "one workerMachine": `"1s"`, "one commands": "echo eu-central-1",
		"two region": `"us-east-1"`, "two controlPlaneMachine": `"1s"`, "two workerMachine": `"2s"`, "two commands": "echo us-east-1",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("variables, and what became of them (-want +got):\n%s", diff)
	}
	check := []string{"Ready Unknown 300"}
	s.assertChecks(t, map[string][]string{controlPlane: check, "md-0": check})
}

func (s *storyTeller) scaled(t *testing.T) {
	before := s.machines(t, controlPlane, "md-0", "md-1")
	s.spec.groups[0].count, s.spec.groups[1].count = 2, 2
	s.follows(t, "InPlace md-0 -> md-1 ->")
	s.assertStay(t, before)
	s.spec.groups[0].count = 1
	s.follows(t, "InPlace md-0 ->")
	assertMachines(t, shared, s.namespace, "one", "control-plane v1.33.13", "md-0 v1.33.13", "md-1 v1.33.13", "md-1 v1.33.13")
	s.spec.groups[1].count = 1
	s.follows(t, "InPlace md-1 ->")
}

// assertStay looks whether machines are still there.
func (s *storyTeller) assertStay(t *testing.T, before map[string]string) {
	t.Helper()
	after := names(t, shared, s.namespace, s.spec.name)
	maps.DeleteFunc(after, func(name, _ string) bool { return before[name] == "" })
	assertSame(t, before, after)
}

// changedInPlace: labels, annotations and timeouts go through the topology to
// machines that run.
func (s *storyTeller) changedInPlace(t *testing.T) {
	before := s.machines(t, controlPlane, "md-0", "md-1")
	more := s.spec.groups[0].more
	s.spec.groups[0].more = "labels: {node-restriction.kubernetes.io/tenant: blue}\n    annotations: {example.org/contact: team-b}\n    machineDeletion: {nodeDrainTimeout: 10m}"
	s.follows(t, "InPlace md-0 ->")
	want := map[string]string{controlPlane: "  ", "md-0": "blue team-b 600", "md-1": "  "}
	// Cluster API carries it on from the MachineDeployment by and by.
	until(t, "the machine has label, annotation and drain timeout", func(context.Context) bool { return maps.Equal(want, s.metadata(t)) })
	s.spec.groups[0].more = more
	s.follows(t, "InPlace md-0 ->")
	s.assertStay(t, before)
}

// metadata are label, annotation and drain timeout of the machines, by part.
func (s *storyTeller) metadata(t *testing.T) map[string]string {
	t.Helper()
	got := map[string]string{}
	for _, m := range list[clusterv1.Machine](t, shared, s.namespace, "machines", clusterv1.ClusterNameLabel+"=one") {
		timeout := ""
		if seconds := m.Spec.Deletion.NodeDrainTimeoutSeconds; seconds != nil {
			timeout = fmt.Sprint(*seconds)
		}
		got[observer.PartOf(m)] = strings.Join([]string{m.Labels["node-restriction.kubernetes.io/tenant"], m.Annotations["example.org/contact"], timeout}, " ")
	}
	return got
}

// mutated: a variable replaces the machines of what it is about, and no others.
func (s *storyTeller) mutated(t *testing.T) {
	workers := s.machines(t, "md-0", "md-1")
	s.spec.class = "name: own, variables: {region: eu-central-1, controlPlaneMachine: 2s}"
	s.follows(t, "InPlace", "Template v1.33.13->v1.33.13")
	s.assertStay(t, workers)

	others := s.machines(t, controlPlane, "md-0")
	s.spec.groups[1].more += "\n    variables: {workerMachine: 2s}"
	s.follows(t, "Template md-1 v1.33.13->v1.33.13")
	s.assertStay(t, others)
}

// checked: health checks of the class are overridden by those of the spec.
func (s *storyTeller) checked(t *testing.T) {
	before := s.machines(t, controlPlane, "md-0", "md-1")
	more := s.spec.groups[0].more
	s.spec.groups[0].more += "\n    machineHealthCheck: {unhealthyMachineTimeout: 10m}"
	s.follows(t, "InPlace md-0 ->")
	check := []string{"Ready Unknown 300"}
	s.assertChecks(t, map[string][]string{controlPlane: check, "md-0": {"Ready False 600", "Ready Unknown 600"}})
	s.spec.groups[0].more = more
	s.follows(t, "InPlace md-0 ->")
	s.assertChecks(t, map[string][]string{controlPlane: check, "md-0": check})
	s.assertStay(t, before)
}

// assertChecks compares the conditions of the health checks of cluster one, by
// part.
func (s *storyTeller) assertChecks(t *testing.T, want map[string][]string) {
	t.Helper()
	got := map[string][]string{}
	for _, check := range list[clusterv1.MachineHealthCheck](t, shared, s.namespace, "machinehealthchecks", clusterv1.ClusterNameLabel+"=one") {
		part := cmp.Or(check.Spec.Selector.MatchLabels[clusterv1.ClusterTopologyMachineDeploymentNameLabel], controlPlane)
		for _, condition := range check.Spec.Checks.UnhealthyNodeConditions {
			got[part] = append(got[part], fmt.Sprintf("%s %s %d", condition.Type, condition.Status, *condition.TimeoutSeconds))
		}
		slices.Sort(got[part])
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("health checks (-want +got):\n%s", diff)
	}
}

func (s *storyTeller) regrouped(t *testing.T) {
	before := s.machines(t, controlPlane, "md-0")
	s.spec.groups[1].name = "md-2"
	s.follows(t, "CreateWorkers md-2 ->v1.33.13", "RemoveWorkers md-1 v1.33.13->")
	assertMachines(t, shared, s.namespace, "one", "control-plane v1.33.13", "md-0 v1.33.13", "md-2 v1.33.13")
	s.assertStay(t, before)
}

// otherDefault: what a variable had by default it keeps, until somebody sets it.
func (s *storyTeller) otherDefault(t *testing.T) {
	class := []byte(strings.ReplaceAll(string(ownClass(t)), "default: 1s", "default: 4s"))
	got := cli(t, 0, "plan", "clusterclass", "-n", s.namespace, "-f", textFile(t, "class.yaml", class)).stdout
	if want := "ClusterClass class-stories/own: 2 clusters, 2 of them unchanged; at most 0 control plane machines and 0 worker machines replaced.\n"; got != want {
		t.Errorf("plan clusterclass said %q, want %q", got, want)
	}
	before := s.machines(t, controlPlane, "md-0", "md-2")
	applyTo(t, s.namespace, class)
	assertPlan(t, planOf(t, s.namespace, s.spec.path(t)))
	cli(t, 0, "watch", "cluster", "one", "-n", s.namespace)
	s.assertStay(t, before)
}

// otherClass gives the cluster another class of the same shape together with a
// new version: each machine is replaced once.
func (s *storyTeller) otherClass(t *testing.T) {
	text := strings.NewReplacer("name: own", "name: other", "echo {{", "echo other {{").Replace(string(ownClass(t)))
	applyTo(t, s.namespace, []byte(text))
	s.spec.class, s.spec.version = strings.Replace(s.spec.class, "name: own", "name: other", 1), "1.34"
	s.follows(t, "InPlace", "ControlPlane v1.33.13->v1.34.3", "Workers md-0 v1.33.13->v1.34.3 md-2 v1.33.13->v1.34.3")
	assertMachines(t, shared, s.namespace, "one", "control-plane v1.34.3", "md-0 v1.34.3", "md-2 v1.34.3")
	var commands []string
	for _, controlPlane := range list[controlplanev1.KubeadmControlPlane](t, shared, s.namespace, "kubeadmcontrolplanes", clusterv1.ClusterNameLabel+"=one") {
		commands = append(commands, controlPlane.Spec.KubeadmConfigSpec.PreKubeadmCommands...)
	}
	if diff := gocmp.Diff([]string{"echo other eu-central-1"}, commands); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}
