package e2e_test

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// TestUpgradeRefused asks for what is not allowed, and then looks at what stands
// in the way of what is. Nothing of it is written.
func TestUpgradeRefused(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "refused")
	spec := clusterSpec{name: "refused", version: "1.34.1", groups: []groupSpec{{name: "md-0"}, {name: "md-1", version: "1.32"}}}
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t))
	before := everything(t, namespace)
	t.Run("illegal requests", func(t *testing.T) { illegalRequests(t, namespace, spec) })
	t.Run("stale plan", func(t *testing.T) { stalePlan(t, namespace, spec) })
	t.Run("paused", func(t *testing.T) { pausedCluster(t, namespace, spec) })
	t.Run("privileges", func(t *testing.T) { missingPrivileges(t, namespace, spec) })
	t.Run("budgets", func(t *testing.T) { blockingBudget(t, namespace, spec) })
	after := everything(t, namespace)
	// It was paused, and is not: twice another generation.
	before["Cluster/refused"], after["Cluster/refused"] = "", ""
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("objects (-before +after):\n%s", diff)
	}
	t.Run("blocked by a hook", func(t *testing.T) { blockedByHook(t, namespace, spec) })
}

// everything maps the objects that an upgrade may write to their generations,
// or, of those without, their resource versions.
func everything(t *testing.T, namespace string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, o := range list[metav1.PartialObjectMetadata](t, shared, namespace, "clusters,kubeadmcontrolplanes,machinedeployments,kubeadmconfigtemplates,devmachinetemplates,leases,secrets,configmaps,machinehealthchecks,machines") {
		version := o.ResourceVersion
		if o.Generation > 0 {
			version = strconv.FormatInt(o.Generation, 10)
		}
		all[o.Kind+"/"+o.Name] = version
	}
	return all
}

// refused runs an upgrade that is to fail, and compares all that it says on
// stderr but the name of the management cluster, and the plan where it shows one.
func refused(t *testing.T, code int, namespace, file, want string, args ...string) {
	t.Helper()
	r := cli(t, code, append([]string{"upgrade", "cluster", "-n", namespace, "-f", file}, args...)...)
	said := strings.TrimPrefix(r.stderr, `management cluster: embedded "e2e", `+server(t)+"\n")
	if _, rest, shown := strings.Cut(said, "\nIn all: "); shown {
		_, said, _ = strings.Cut(rest, "\n")
	}
	if diff := cmp.Diff(want, strings.ReplaceAll(said, filepath.Dir(file)+"/", "")); diff != "" {
		t.Errorf("upgrade %s: stderr (-want +got):\n%s", strings.Join(args, " "), diff)
	}
}

func illegalRequests(t *testing.T, namespace string, spec clusterSpec) {
	for name, test := range map[string]struct {
		edit func(*clusterSpec)
		args []string
		code int
		want string
	}{
		"downgrade": {
			edit: func(s *clusterSpec) { s.version = "1.33" }, code: 3,
			want: "refused.yaml:5: spec.kubernetesVersion: Invalid value: \"1.33\": the control plane runs v1.34.1 and cannot be downgraded; use v1.34.1 or newer\n",
		},
		"pin above the control plane": {
			edit: func(s *clusterSpec) { s.groups[1].version = "1.35" }, code: 2,
			want: "refused.yaml:15: spec.workerNodeGroupConfigurations[1].kubernetesVersion: Invalid value: \"1.35\": group md-1 must not be newer than the control plane (v1.34.1); use 1.31 to v1.34.1, or change spec.kubernetesVersion\n",
		},
		"another provider": {
			edit: func(s *clusterSpec) { s.more = "  datacenterRef: {kind: DockerDatacenterConfig, name: any}\n" }, code: 3,
			want: "warning: refused.yaml:5: spec.kubernetesVersion: the versions bundle of v1.34.1 has no node image for provider docker, which would take kindest/node:v1.34.1, and that may not exist; add it with --bundles, or ask for a version that has one\n" +
				"warning: refused.yaml:7: spec.clusterNetwork: no cniConfig: nodes become ready once you have applied a network plugin\n" +
				"refused.yaml:16: spec.datacenterRef.kind: Invalid value: \"DockerDatacenterConfig\": cannot be changed, and is InMemoryDatacenterConfig: machines cannot move to another provider; create a new cluster there\n",
		},
		"unknown group": {
			edit: func(*clusterSpec) {}, args: []string{"--worker-node-groups", "md-7,md-0,md-8"}, code: 2,
			want: "error: --worker-node-groups: the file has no group \"md-7\"; it has md-0, md-1\nerror: --worker-node-groups: the file has no group \"md-8\"; it has md-0, md-1\n",
		},
		"group beyond the control plane": {
			edit: func(s *clusterSpec) { s.version = "1.35" }, args: []string{"--worker-node-groups", "md-0"}, code: 3,
			want: "error: group md-0: it cannot go to v1.35.4 before the control plane does, which is at v1.34.1; alone it can go to v1.34.1 at most: upgrade the control plane first, with --control-plane-only, or leave --worker-node-groups out\n",
		},
		"two scopes": {
			edit: func(*clusterSpec) {}, args: []string{"--control-plane-only", "--worker-node-groups", "md-0"}, code: 2,
			want: "error: --control-plane-only and --worker-node-groups exclude each other: leave both out for the control plane and all groups\n",
		},
		"unknown check": {
			edit: func(*clusterSpec) {}, args: []string{"--skip-preflight", "all"}, code: 2,
			want: "error: --skip-preflight: there is no check \"all\"; the checks are cluster-api-version, privileges, paused, health, pod-disruption-budgets, node-image, new-machines\n",
		},
		"no such cluster": {
			edit: func(s *clusterSpec) { s.name = "unknown" }, code: 3,
			want: "error: cluster refused/unknown: not found; 'clusterctl-x create cluster' creates it\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			edited := spec
			edited.groups = slices.Clone(spec.groups)
			test.edit(&edited)
			before := everything(t, namespace)
			refused(t, test.code, namespace, edited.path(t), test.want, test.args...)
			if diff := cmp.Diff(before, everything(t, namespace)); diff != "" {
				t.Errorf("objects (-before +after):\n%s", diff)
			}
		})
	}
}

func setPaused(t *testing.T, namespace, cluster string, paused bool) {
	t.Helper()
	kubectl(t, shared, nil, "patch", "cluster", cluster, "-n", namespace, "--type=merge", "-p", `{"spec":{"paused":`+strconv.FormatBool(paused)+`}}`)
}

// stalePlan follows plans that were made for something else.
func stalePlan(t *testing.T, namespace string, spec clusterSpec) {
	spec.version = "1.35"
	file, saved := spec.path(t), filepath.Join(t.TempDir(), "plan.json")
	planOf(t, namespace, file, "--out", saved)
	setPaused(t, namespace, "refused", true)
	generation := kubectl(t, shared, nil, "get", "cluster", "refused", "-n", namespace, "-o", "jsonpath={.metadata.generation}")
	now, err := strconv.Atoi(generation)
	if err != nil {
		t.Fatal(err)
	}
	const has = "error: cluster refused/refused has changed since the plan was made; look at the new one with 'plan upgrade', or run the same command again without --plan\n"
	refused(t, 4, namespace, file, has+"  Cluster/refused has changed: its generation is "+generation+", and was "+strconv.Itoa(now-1)+"\n", "--plan", saved)
	setPaused(t, namespace, "refused", false)

	offline := filepath.Join(t.TempDir(), "plan.json")
	cli(t, 0, "plan", "upgrade", "-f", file, "--from", spec.path(t), "--out", offline)
	refused(t, 2, namespace, file, "error: "+offline+" was made from two files, with --from, and belongs to no live cluster; make a plan without --from\n", "--plan", offline)
}

// pausedCluster is not upgraded, and a pause that a user made not lifted.
func pausedCluster(t *testing.T, namespace string, spec clusterSpec) {
	spec.version = "1.35"
	file := spec.path(t)
	setPaused(t, namespace, "refused", true)
	refused(t, 3, namespace, file, cannot+"  paused: Cluster/refused is paused, so Cluster API would do nothing: set spec.paused to false\n")
	assertFindings(t, namespace, file, "paused: Cluster/refused is paused, so Cluster API would do nothing: set spec.paused to false")
	allowed(t, namespace, file, "--skip-preflight", "paused")
	setPaused(t, namespace, "refused", false)
	assertFindings(t, namespace, file)
	allowed(t, namespace, file)
}

// assertFindings compares what a plan says that the upgrade would be refused for.
func assertFindings(t *testing.T, namespace, file string, want ...string) {
	t.Helper()
	var p struct {
		Findings []struct{ Check, Reason string }
	}
	if err := json.Unmarshal([]byte(cli(t, 0, "plan", "upgrade", "-n", namespace, "-f", file, "-o", "json").stdout), &p); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, finding := range p.Findings {
		got = append(got, finding.Check+": "+finding.Reason)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings of the plan (-want +got):\n%s", diff)
	}
}

const cannot = "error: cluster refused/refused cannot be upgraded in its current state; --skip-preflight NAME skips a check\n"

// allowed looks whether an upgrade could begin.
func allowed(t *testing.T, namespace, file string, args ...string) {
	t.Helper()
	r := cli(t, 0, append([]string{"upgrade", "cluster", "-n", namespace, "-f", file, "--dry-run=server"}, args...)...)
	if want := "cluster refused/refused: the upgrade can start (server dry run)\n"; r.stdout != want {
		t.Errorf("stdout is %q, want %q", r.stdout, want)
	}
}

// missingPrivileges has all but those for Leases.
func missingPrivileges(t *testing.T, namespace string, spec clusterSpec) {
	spec.version = "1.35"
	file := spec.path(t)
	first, _, _ := strings.Cut(cli(t, 0, "generate", "rbac").stdout, "---\n")
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict([]byte(first), &role); err != nil {
		t.Fatal(err)
	}
	apply := func(name string) []string {
		role.Name = namespace + "-" + name
		data, err := yaml.Marshal(role)
		if err != nil {
			t.Fatal(err)
		}
		kubectl(t, shared, data, "apply", "-f", "-")
		kubeconfig := accountKubeconfig(t, shared, namespace, name)
		kubectl(t, shared, nil, "create", "rolebinding", name, "-n", namespace, "--clusterrole="+role.Name, "--serviceaccount="+namespace+":"+name)
		return []string{"--management", "kubeconfig", "--kubeconfig", kubeconfig}
	}
	allowed(t, namespace, file, apply("all")...)

	role.Rules = slices.DeleteFunc(role.Rules, func(rule rbacv1.PolicyRule) bool { return slices.Contains(rule.Resources, "leases") })
	as := apply("no-leases")
	r := cli(t, 3, append([]string{"upgrade", "cluster", "-n", namespace, "-f", file}, as...)...)
	if want := cannot + "  privileges: the user of this kubeconfig may not get, list, create, update leases.coordination.k8s.io in namespace refused; give it the privileges of 'clusterctl-x generate rbac'\n"; !strings.HasSuffix(r.stderr, want) {
		t.Errorf("stderr is %q, want the end %q", r.stderr, want)
	}
	allowed(t, namespace, file, append(as, "--skip-preflight", "privileges")...)
}

// blockingBudget has a PodDisruptionBudget that allows no disruption, first on a
// group that moves, then on one that does not.
func blockingBudget(t *testing.T, namespace string, spec clusterSpec) {
	spec.version = "1.35"
	file := spec.path(t)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	cli(t, 0, "get", "kubeconfig", "refused", "-n", namespace, "--to", kubeconfig)
	into := func(stdin string) {
		t.Helper()
		if r := execute(t.Context(), []byte(stdin), everyone.environment(), everyone.kubectl, "--kubeconfig", kubeconfig, "-n", "default", "create", "--validate=false", "-f", "-"); r.code != 0 {
			t.Fatalf("kubectl create: %s", r.stderr)
		}
	}
	// The simulated API server deletes, and answers with what kubectl cannot read.
	deletePod := func() {
		t.Helper()
		execute(t.Context(), nil, everyone.environment(), everyone.kubectl, "--kubeconfig", kubeconfig, "-n", "default", "delete", "pod", "only", "--wait=false")
		until(t, "the pod is gone", func(context.Context) bool {
			return len(inside[corev1.PodList](t, kubeconfig, "get", "pods", "-n", "default").Items) == 0
		})
	}
	nodeOf := func(group string) string {
		for _, node := range inside[corev1.NodeList](t, kubeconfig, "get", "nodes").Items {
			if strings.HasPrefix(node.Name, "refused-"+group+"-") {
				return node.Name
			}
		}
		t.Fatalf("no node of %s", group)
		return ""
	}
	pod := func(node string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata: {name: only, labels: {app: x}}\nspec: {nodeName: " + node + ", containers: [{name: c, image: i}]}\nstatus: {phase: Running, conditions: [{type: Ready, status: \"True\"}]}\n"
	}
	into("apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: all}\nspec: {minAvailable: 1, selector: {matchLabels: {app: x}}}\n" +
		"status: {disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, observedGeneration: 1}\n---\n" + pod(nodeOf("md-0")))
	refused(t, 3, namespace, file, cannot+"  pod-disruption-budgets: PodDisruptionBudget default/all allows no disruption now, so the drain would wait for pod only on node "+nodeOf("md-0")+
		" of md-0; let more pods become ready, or change the budget\n")
	allowed(t, namespace, file, "--skip-preflight", "pod-disruption-budgets")
	allowed(t, namespace, file, "--control-plane-only")
	deletePod()
	into(pod(nodeOf("md-1")))
	allowed(t, namespace, file) // md-1 stays where it is
	deletePod()
}

// blockedByHook has a hook on a machine that goes: before the upgrade, and while
// it is on its way.
func blockedByHook(t *testing.T, namespace string, spec clusterSpec) {
	spec.version = "1.34.4"
	file := spec.path(t)
	holdOnly := func() (machine, is string) {
		only := namesOf(t, namespace, "refused", "md-0")
		hold(t, namespace, only)
		machine = slices.Collect(maps.Keys(only))[0]
		return machine, "machine " + machine + " is Deleting: Waiting for pre-drain hooks to succeed (hooks: " + preDrainHook + ")"
	}
	held := func(machine string) {
		t.Helper()
		kubectl(t, shared, nil, "wait", "machine/"+machine, "-n", namespace, "--for=jsonpath={.status.conditions[?(@.type==\"Deleting\")].reason}=WaitingForPreDrainHook", "--timeout=60s")
	}
	watch := []string{"watch", "cluster", "refused", "-n", namespace}

	old, is := holdOnly()
	kubectl(t, shared, nil, "delete", "machine", old, "-n", namespace, "--wait=false")
	held(old)
	refused(t, 3, namespace, file, cannot+"  health: md-0: 0 of 1 machines ready at v1.34.1; "+is+"; fix it first: an upgrade takes more machines away\n")
	allowed(t, namespace, file, "--skip-preflight", "health")
	r := cli(t, 5, append(watch, "--timeout", "20s")...)
	if want := "error: timed out watching; cluster refused/refused waits for md-0: 0 of 1 machines ready at v1.34.1; " + is + "\n"; !strings.HasSuffix(r.stderr, want) {
		t.Errorf("watch said %q, want the end %q", r.stderr, want)
	}
	release(t, namespace, map[string]string{old: ""})
	if r := cli(t, 0, watch...); !strings.HasPrefix(r.stdout, "cluster refused/refused is at v1.34.1 and matches its spec, after ") {
		t.Errorf("watch said %q", r.stdout)
	}

	old, is = holdOnly()
	p := planOf(t, namespace, file)
	made := observe(t, shared, namespace, "refused")
	upgrade := begin(t, "upgrade", "cluster", "-n", namespace, "-f", file)
	upgrade.until(t, ": md-0 from v1.34.1 to v1.34.4\n")
	held(old)
	r = cli(t, 5, append(watch, "--timeout", "20s")...)
	if want := "error: timed out watching; cluster refused/refused waits for md-0: 1 of 1 machines updated to v1.34.4, 1 serving, 1 old machine still to be removed; " + is + "\n"; !strings.HasSuffix(r.stderr, want) {
		t.Errorf("watch said %q, want the end %q", r.stderr, want)
	}
	upgrade.until(t, "waiting for md-0: 1 of 1 machines updated to v1.34.4, 1 serving, 1 old machine still to be removed; "+is+"\n") // the heartbeat
	release(t, namespace, map[string]string{old: ""})
	if r := upgrade.end(t); r.code != 0 || !strings.HasPrefix(r.stdout, "cluster refused/refused is at v1.34.4 after ") {
		t.Errorf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	assertMade(t, made(), p)
	assertMachines(t, shared, namespace, "refused", "control-plane v1.34.4", "md-0 v1.34.4", "md-1 v1.32.13")
}
