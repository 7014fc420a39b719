package e2e_test

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// existing is a cluster of testdata/existing, which kubectl makes, and what its upgrade
// without a file is to do.
type existing struct {
	cluster string
	// flags of 'plan upgrade' and of 'upgrade cluster'.
	flags []string
	// begin is done to the cluster once it is ready.
	begin func(t *testing.T, c *existingCluster)
	// upgrade does it in another way than by one command.
	upgrade func(t *testing.T, c *existingCluster)
	// end looks at more than the rest does.
	end func(t *testing.T, c *existingCluster)
	// older is true where objects are compared in version v1beta1 of Cluster API, too.
	older bool
	// steps of the plan, and the machines when it is done.
	steps, machines []string
	// written are all changes of objects, as changesOf names them.
	written []string
}

// existingCluster is one that is being upgraded.
type existingCluster struct {
	existing
	namespace string
}

// command is a command line about the cluster with the flags of the upgrade.
func (c *existingCluster) command(words ...string) []string {
	return slices.Concat(words, []string{c.cluster, "-n", c.namespace}, c.flags)
}

// plan asks for the plan without a file.
func (c *existingCluster) plan(t *testing.T) upgradePlan {
	t.Helper()
	return decodePlan(t, cli(t, 0, c.command("plan", "upgrade", "-o", "json")...).stdout)
}

// The steps of the control plane, and what is written of it.
const (
	to34 = "ControlPlane v1.33.13->v1.34.4"
	to35 = "ControlPlane v1.34.4->v1.35.4"
	to36 = "ControlPlane v1.35.4->v1.36.3"

	behind = " metadata.annotations.machineset.cluster.x-k8s.io/skip-preflight-checks: <nil> -> KubeadmVersionSkew"
)

// TestVersionOnly upgrades clusters that kubectl alone made, in shapes that clusterctl-x would
// not write, over three minors without a file. The machines are those of the plan, and nothing
// of any object has changed but what was asked for.
func TestVersionOnly(t *testing.T) {
	t.Parallel()
	for name, shape := range existingShapes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &existingCluster{shape, newNamespace(t, shared, "existing-"+name)}
			c.flags = append([]string{"--kubernetes-version", "1.36"}, c.flags...)
			kubectl(t, shared, nil, "apply", "-n", c.namespace, "-f", filepath.Join("testdata/existing", name+".yaml"))
			cli(t, 0, "watch", "cluster", c.cluster, "-n", c.namespace)
			if c.begin != nil {
				c.begin(t, c)
			}
			c.upgradeAsPlanned(t)
		})
	}
}

// upgradeAsPlanned asks for the plan, follows it, and compares what has come of it.
func (c *existingCluster) upgradeAsPlanned(t *testing.T) {
	t.Helper()
	p := c.plan(t)
	assertPlan(t, p, c.steps...)
	before, made := c.objects(t), observe(t, shared, c.namespace, c.cluster)
	if c.upgrade == nil {
		cli(t, 0, c.command("upgrade", "cluster")...)
	} else {
		c.upgrade(t, c)
	}
	assertMade(t, made(), p)
	assertMachines(t, shared, c.namespace, c.cluster, c.machines...)
	if diff := cmp.Diff(c.written, changesOf(before, c.objects(t))); diff != "" {
		t.Errorf("changes of objects (-want +got):\n%s", diff)
	}
	assertPlan(t, c.plan(t))
	if c.end != nil {
		c.end(t, c)
	}
}

func existingShapes() map[string]existing {
	const cp, worker = "control-plane v1.36.3", " v1.34.4"
	return map[string]existing{
		"other-names": {
			cluster: "names", flags: []string{"--worker-node-group", "general-pool=1.34"}, upgrade: bySavedPlan,
			steps: []string{to34, to35, to36, "Workers general-pool v1.33.13->v1.34.4"}, machines: []string{cp, "general-pool" + worker, "general-pool" + worker},
			written: []string{
				"KubeadmControlPlane/names-kcp spec.version: v1.33.13 -> v1.36.3",
				"MachineDeployment/general-pool" + behind, "MachineDeployment/general-pool spec.template.spec.version: v1.33.13 -> v1.34.4",
			},
		},
		"own-kubeadm": {
			cluster: "kubeadm", flags: []string{"--worker-node-group", "md-0=1.34"}, upgrade: killedAndAgain,
			steps: []string{to34, to35, to36, "Workers md-0 v1.33.13->v1.34.4"}, machines: []string{cp, cp, cp, "md-0" + worker, "md-0" + worker},
			written: []string{
				"KubeadmControlPlane/kubeadm-control-plane spec.version: v1.33.13 -> v1.36.3",
				"MachineDeployment/kubeadm-md-0" + behind, "MachineDeployment/kubeadm-md-0 spec.template.spec.version: v1.33.13 -> v1.34.4",
			},
		},
		"shared-template": {
			cluster: "shared", flags: []string{"--worker-node-group", "b=1.34"}, begin: withImages, end: assertClone,
			steps: []string{to34, to35, to36, "Workers a v1.33.13->v1.36.3 b v1.33.13->v1.34.4"}, machines: []string{"a v1.36.3", "a v1.36.3", "b" + worker, cp},
			written: []string{
				"DevMachineTemplate/shared-a-81327abb0e was created",
				"KubeadmControlPlane/shared-control-plane spec.version: v1.33.13 -> v1.36.3",
				"MachineDeployment/shared-a spec.template.spec.infrastructureRef.name: shared-worker -> shared-a-81327abb0e",
				"MachineDeployment/shared-a spec.template.spec.version: v1.33.13 -> v1.36.3",
				"MachineDeployment/shared-b" + behind, "MachineDeployment/shared-b spec.template.spec.version: v1.33.13 -> v1.34.4",
			},
		},
		"one-template": {
			cluster: "onetemplate", flags: []string{"--worker-node-group", "wmd=1.34"}, upgrade: heldBeforeWorkers,
			steps: []string{to34, to35, to36, "Workers wmd v1.33.13->v1.34.4"}, machines: []string{cp, "wmd" + worker, "wmd" + worker},
			written: []string{
				"KubeadmControlPlane/onetemplate-control-plane spec.version: v1.33.13 -> v1.36.3",
				"MachineDeployment/onetemplate-wmd" + behind, "MachineDeployment/onetemplate-wmd spec.template.spec.version: v1.33.13 -> v1.34.4",
			},
		},
		"paused-group": {
			cluster: "paused", flags: []string{"--worker-node-group", "md-0=1.33"}, begin: pauseGroup,
			steps: []string{to34, to35, to36, "Workers md-1 v1.33.13->v1.36.3"}, machines: []string{cp, "md-0 v1.33.13", "md-1 v1.36.3"},
			written: []string{
				"KubeadmControlPlane/paused-control-plane spec.version: v1.33.13 -> v1.36.3",
				"MachineDeployment/paused-md-1 spec.template.spec.version: v1.33.13 -> v1.36.3",
			},
		},
		"own-class": {
			cluster: "classy", begin: groupOfTopology, end: pinByFile,
			steps: []string{
				to34, "Workers first v1.33.13->v1.34.4 second v1.33.13->v1.34.4", to35, "Workers first v1.34.4->v1.35.4 second v1.34.4->v1.35.4",
				to36, "Workers first v1.35.4->v1.36.3 second v1.35.4->v1.36.3",
			},
			machines: []string{cp, "first v1.36.3", "first v1.36.3", "second v1.36.3"},
			written: []string{
				"Cluster/classy spec.topology.version: v1.33.13 -> v1.36.3",
				"KubeadmControlPlane/classy-* spec.version: v1.33.13 -> v1.36.3",
				"MachineDeployment/classy-first-* spec.template.spec.version: v1.33.13 -> v1.36.3",
				"MachineDeployment/classy-second-* spec.template.spec.version: v1.33.13 -> v1.36.3",
			},
		},
		"v1beta1": {
			cluster: "older", flags: []string{"--worker-node-group", "md-0=1.34"}, older: true,
			steps: []string{to34, to35, to36, "Workers md-0 v1.33.13->v1.34.4"}, machines: []string{cp, "md-0" + worker, "md-0" + worker},
			written: []string{
				"KubeadmControlPlane/older-control-plane spec.version: v1.33.13 -> v1.36.3",
				"MachineDeployment/older-md-0" + behind, "MachineDeployment/older-md-0 spec.template.spec.version: v1.33.13 -> v1.34.4",
				"v1beta1 KubeadmControlPlane/older-control-plane spec.version: v1.33.13 -> v1.36.3",
				"v1beta1 MachineDeployment/older-md-0" + behind, "v1beta1 MachineDeployment/older-md-0 spec.template.spec.version: v1.33.13 -> v1.34.4",
			},
		},
	}
}

// bySavedPlan upgrades by a plan in a file.
func bySavedPlan(t *testing.T, c *existingCluster) {
	file := filepath.Join(t.TempDir(), "plan.json")
	cli(t, 0, c.command("plan", "upgrade", "--out", file)...)
	cli(t, 0, "upgrade", "cluster", "--plan", file, "-n", c.namespace)
}

// killedAndAgain kills the command in its second step, and gives it again.
func killedAndAgain(t *testing.T, c *existingCluster) {
	upgrade := c.command("upgrade", "cluster")
	run := begin(t, upgrade...)
	run.until(t, ": the control plane from v1.34.4 to v1.35.4\n")
	run.signal(t, syscall.SIGKILL)
	run.end(t)
	cli(t, 0, upgrade...)
}

// heldBeforeWorkers holds the upgrade where the control plane is done.
func heldBeforeWorkers(t *testing.T, c *existingCluster) {
	of := []string{"cluster", c.cluster, "-n", c.namespace, "--before", "workers"}
	cli(t, 0, append(append([]string{"hold"}, of...), "--reason", "backup first")...)
	run := begin(t, c.command("upgrade", "cluster")...)
	run.until(t, "s  held before workers by ")
	described := cli(t, 0, "describe", "cluster", c.cluster, "-n", c.namespace).stdout
	for _, want := range []string{"owner: kubectl", "KubeadmControlPlane/onetemplate-control-plane  v1.36.3  1/1 ready", "MachineDeployment/onetemplate-wmd  v1.33.13  2/2 ready", "backup first"} {
		if !strings.Contains(described, want) {
			t.Errorf("describe does not say %q: %s", want, described)
		}
	}
	cli(t, 0, append([]string{"release"}, of...)...)
	if r := run.end(t); r.code != 0 || !strings.HasPrefix(r.stdout, "cluster "+c.namespace+"/onetemplate is at v1.36.3 after ") {
		t.Errorf("upgrade: exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	watched := cli(t, 0, "watch", "cluster", c.cluster, "-n", c.namespace).stdout
	if want := "cluster " + c.namespace + "/onetemplate is at v1.36.3 and matches its spec, after "; !strings.HasPrefix(watched, want) {
		t.Errorf("watch: %q, want the beginning %q", watched, want)
	}
}
