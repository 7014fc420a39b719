package e2e_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUpgradeByManifests has kubectl make a cluster, and take it through every
// step of a plan. Then clusterctl-x is to go on.
func TestUpgradeByManifests(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "manifests")
	spec := clusterSpec{name: "manifests", version: "1.33", groups: []groupSpec{{name: "md-0"}, {name: "md-1", version: "1.31"}}}
	old := spec.path(t)
	apply := func(args ...string) {
		t.Helper()
		kubectl(t, shared, []byte(cli(t, 0, append([]string{"generate", "manifests", "-n", namespace}, args...)...).stdout), "apply", "-f", "-")
		cli(t, 0, "watch", "cluster", "manifests", "-n", namespace)
	}
	apply("-f", old)

	spec.version, spec.groups[1].version = "1.35", "1.33"
	file := spec.path(t)
	p := planOf(t, namespace, file)
	offline := decodePlan(t, cli(t, 0, "plan", "upgrade", "-n", namespace, "-f", file, "--from", old, "-o", "json").stdout)
	if diff := cmp.Diff(p, offline); diff != "" {
		t.Errorf("plans (-of the cluster +of the file that it was made from):\n%s", diff)
	}
	assertPlan(t, p,
		"ControlPlane v1.33.13->v1.34.4", "Workers md-1 v1.31.14->v1.33.13", "ControlPlane v1.34.4->v1.35.4", "Workers md-0 v1.33.13->v1.35.4")
	t.Run("kubectl owns what it applied", func(t *testing.T) {
		before := everything(t, namespace)
		r := cli(t, 4, "upgrade", "cluster", "-n", namespace, "-f", file)
		const by = `: conflict with "kubectl-client-side-apply" using `
		conflicts := []string{
			"KubeadmControlPlane/manifests spec.kubeadmConfigSpec.clusterConfiguration.dns.imageTag" + by + "controlplane.cluster.x-k8s.io/v1beta2",
			"KubeadmControlPlane/manifests spec.kubeadmConfigSpec.clusterConfiguration.etcd.local.imageTag" + by + "controlplane.cluster.x-k8s.io/v1beta2",
			"KubeadmControlPlane/manifests spec.version" + by + "controlplane.cluster.x-k8s.io/v1beta2",
			"MachineDeployment/manifests-md-0 spec.template.spec.version" + by + "cluster.x-k8s.io/v1beta2",
			"MachineDeployment/manifests-md-1 spec.template.spec.version" + by + "cluster.x-k8s.io/v1beta2",
		}
		want := "\nerror: other field managers own fields that the upgrade would change; set their values in the file, or take the fields over with --force-conflicts\n"
		var findings []string
		for _, conflict := range conflicts {
			want += "  " + conflict + "\n"
			findings = append(findings, "field-conflict: "+conflict)
		}
		assertFindings(t, namespace, file, findings...)
		if !strings.HasSuffix(r.stderr, want) {
			t.Errorf("stderr is %q, want the end %q", r.stderr, want)
		}
		if diff := cmp.Diff(before, everything(t, namespace)); diff != "" {
			t.Errorf("objects (-before +after):\n%s", diff)
		}
	})

	made := observe(t, shared, namespace, "manifests")
	versions := map[string]string{controlPlane: "v1.33.13", "md-0": "v1.33.13", "md-1": "v1.31.14"}
	for i, step := range p.Steps {
		apply("-f", file, "--from", old, "--step", strconv.Itoa(i+1))
		if step.Kind == "ControlPlane" {
			versions[controlPlane] = step.To
		}
		for _, group := range step.WorkerNodeGroups {
			versions[group.Name] = group.To
		}
		assertMachines(t, shared, namespace, "manifests", controlPlane+" "+versions[controlPlane], "md-0 "+versions["md-0"], "md-1 "+versions["md-1"])
	}
	assertMade(t, made(), p)
	assertPlan(t, planOf(t, namespace, file))

	spec.groups[1].version = "1.34"
	file = spec.path(t)
	cli(t, 4, "upgrade", "cluster", "-n", namespace, "-f", file)
	assertPlan(t, planOf(t, namespace, file), "Workers md-1 v1.33.13->v1.34.4")
	cli(t, 0, "upgrade", "cluster", "-n", namespace, "-f", file, "--force-conflicts")
	assertMachines(t, shared, namespace, "manifests", "control-plane v1.35.4", "md-0 v1.35.4", "md-1 v1.34.4")
}
