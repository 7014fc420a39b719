package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestGuardrails lets kubectl edit, one edit after the other and none of them for
// good, objects of clusters that are paused, so that nobody else changes them.
func TestGuardrails(t *testing.T) {
	t.Parallel()
	namespace := applyClass(t, "guardrails")
	newNamespace(t, shared, elsewhere)
	for _, object := range guarded() {
		object.create(t, namespace)
	}
	awaitGuardrails(t, namespace)
	edits := slices.Concat(controlPlaneEdits(), workerEdits(), calledOffEdits(), brokenEdits(), topologyEdits(), otherEdits(), createEdits())
	t.Logf("%d edits", len(edits))
	names := map[string]bool{}
	for _, e := range edits {
		if names[e.name] {
			t.Errorf("two edits are called %q", e.name)
		}
		names[e.name] = true
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			e.try(t, namespace)
		})
	}
}

// elsewhere is a namespace with a cluster of the same name as one in the other.
const elsewhere = "guardrails-elsewhere"

// awaitGuardrails: the API server reads objects that are parameters of the
// guardrails a moment after they were written.
func awaitGuardrails(t *testing.T, namespace string) {
	t.Helper()
	last := edit{object: "kubeadmcontrolplane/rolling", version: "v1.35.0"}
	until(t, "the guardrails know the parameter that was written last", func(context.Context) bool { return last.run(t, namespace).code != 0 })
}

// edit is one that somebody tries with kubectl.
type edit struct {
	name string
	// object gets another version by a patch; reason is that for which it is to
	// pass by the guardrails.
	object, version, reason string
	// args are of kubectl, in the place of a patch; stdin is what it reads.
	args  []string
	stdin string
	// in is the namespace, where it is not the one of the others.
	in string
	// policy refuses it, saying so; without a policy it passes, or, with a message,
	// Cluster API says that.
	policy, message string
}

const (
	movesDown   = "nothing-moves-down"
	besideCP    = "workers-beside-control-plane"
	calledOff   = "called-off-rollouts"
	groupBehind = "machinedeployments-left-behind"
	poolBehind  = "machinepools-left-behind"
	nodeBehind  = "machines-left-behind"

	byControlPlane = "-by-control-planes"
	byTopology     = "-by-topologies"
)

func (e edit) run(t *testing.T, namespace string) result {
	t.Helper()
	args := e.args
	if args == nil {
		args = []string{"patch", e.object, "--type=merge", "-p", e.patch()}
	}
	if e.in != "" {
		namespace = e.in
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	kubeconfig := filepath.Join(everyone.home, "embedded", shared, "kubeconfig")
	args = append([]string{"--kubeconfig", kubeconfig, "-n", namespace}, append(args, "--dry-run=server")...)
	return execute(ctx, []byte(e.stdin), everyone.environment(), everyone.kubectl, args...)
}

func (e edit) patch() string {
	annotations := ""
	if e.reason != "" {
		annotations = fmt.Sprintf(`"metadata":{"annotations":{"clusterctl-x.io/skip-guardrails":%q}},`, strings.TrimPrefix(e.reason, "empty"))
	}
	spec := fmt.Sprintf(`{"template":{"spec":{"version":%q}}}`, e.version)
	switch kind, _, _ := strings.Cut(e.object, "/"); {
	case strings.HasPrefix(kind, "cluster"):
		spec = fmt.Sprintf(`{"topology":{"version":%q}}`, e.version)
	case kind == "kubeadmcontrolplane":
		spec = fmt.Sprintf(`{"version":%q}`, e.version)
	}
	return "{" + annotations + `"spec":` + spec + "}"
}

// try compares all that kubectl says on stderr, but warnings.
func (e edit) try(t *testing.T, namespace string) {
	t.Helper()
	r := e.run(t, namespace)
	got := r.stderr
	for strings.HasPrefix(got, "Warning: ") {
		_, got, _ = strings.Cut(got, "\n")
	}
	want := e.message
	if e.policy != "" {
		const remedy = "; to do it all the same, set its annotation clusterctl-x.io/skip-guardrails to the reason\n"
		name := "clusterctl-x-" + e.policy
		policy := strings.TrimSuffix(strings.TrimSuffix(name, byControlPlane), byTopology)
		_, got, _ = strings.Cut(got, "ValidatingAdmissionPolicy ")
		want = fmt.Sprintf("'%s' with binding '%s' denied request: %s%s", policy, name, e.message, remedy)
	}
	if diff := cmp.Diff(want, got); diff != "" || (r.code == 0) != (want == "") {
		t.Errorf("exit code %d, %s; stderr (-want +got):\n%s", r.code, r.stdout, diff)
	}
}

// thing is an object that is edited.
type thing struct {
	kind, cluster, name, version string
	owned                        bool // by a topology
	// machines are those in the status: by version, or how many are ready.
	machines string
	reason   string // for which it may break the guardrails
	in       string // namespace, where it is not the one of the others
}

// guarded are the objects of clusters by which each is named for what it is about.
func guarded() []thing {
	const kcp, md, mp, ms = "KubeadmControlPlane", "MachineDeployment", "MachinePool", "MachineSet"
	return []thing{
		// Everything may go on.
		{kind: "Cluster", cluster: "even"}, {kind: kcp, cluster: "even", version: "v1.34.2"},
		{kind: md, cluster: "even", name: "even-0", version: "v1.33.1"}, {kind: mp, cluster: "even", name: "even-1", version: "v1.33.1"},
		// One of the same name, which is farther.
		{kind: "Cluster", cluster: "even", in: elsewhere}, {kind: kcp, cluster: "even", version: "v1.36.0", in: elsewhere},
		{kind: md, cluster: "even", name: "even-0", version: "v1.33.1", in: elsewhere},
		// Something is as old as it may be.
		{kind: "Cluster", cluster: "late"}, {kind: kcp, cluster: "late", version: "v1.34.2"}, {kind: md, cluster: "late", name: "late-0", version: "v1.31.5"},
		{kind: "Cluster", cluster: "pool"}, {kind: kcp, cluster: "pool", version: "v1.34.2"}, {kind: mp, cluster: "pool", name: "pool-0", version: "v1.31.5"},
		{kind: "Cluster", cluster: "old"}, {kind: kcp, cluster: "old", version: "v1.26.3"}, {kind: md, cluster: "old", name: "old-0", version: "v1.24.9"},
		{kind: "Cluster", cluster: "rolling"}, {kind: kcp, cluster: "rolling", version: "v1.34.2"}, {kind: md, cluster: "rolling", name: "rolling-0", version: "v1.34.2"},
		// Further forms of versions.
		{kind: "Cluster", cluster: "forms"}, {kind: kcp, cluster: "forms", version: "v1.34.0-rc.2"}, {kind: md, cluster: "forms", name: "forms-0", version: "v1.33.4+vendor.2"},
		// The policy is broken already.
		{kind: "Cluster", cluster: "broken"}, {kind: md, cluster: "broken", name: "ahead", version: "v1.35.1"},
		{kind: md, cluster: "broken", name: "behind", version: "v1.30.1"}, {kind: md, cluster: "broken", name: "far-behind", version: "v1.28.1"},
		{kind: kcp, cluster: "broken", version: "v1.34.2"},
		{kind: "Cluster", cluster: "reasoned"}, {kind: kcp, cluster: "reasoned", version: "v1.34.2", reason: "kept from earlier"},
		// Rollouts that brought no ready machine, and others.
		{kind: "Cluster", cluster: "back"}, {kind: kcp, cluster: "back", version: "v1.34.2"},
		{kind: md, cluster: "back", name: "stuck", version: "v1.34.1", machines: versionsAt("v1.33.6", "v1.34.1")},
		{kind: ms, cluster: "back", name: "stuck-old", version: "v1.33.6", machines: ready(3)}, {kind: ms, cluster: "back", name: "stuck-new", version: "v1.34.1", machines: ready(0)},
		{kind: md, cluster: "back", name: "moving", version: "v1.34.1", machines: versionsAt("v1.33.6", "v1.34.1")},
		{kind: ms, cluster: "back", name: "moving-old", version: "v1.33.6", machines: ready(3)}, {kind: ms, cluster: "back", name: "moving-new", version: "v1.34.1", machines: ready(1)},
		{kind: mp, cluster: "back", name: "stuck-pool", version: "v1.34.1", machines: versionsAt("v1.33.6")},
		{kind: mp, cluster: "back", name: "moving-pool", version: "v1.34.1", machines: versionsAt("v1.33.6", "v1.34.1")},
		// Of a ClusterClass.
		{kind: "Cluster", cluster: "managed", version: "v1.33.6"}, {kind: kcp, cluster: "managed", version: "v1.33.6", owned: true},
		{kind: md, cluster: "managed", name: "managed-0", version: "v1.31.14", owned: true},
		{kind: "Cluster", cluster: "left", version: "v1.33.6"}, {kind: md, cluster: "left", name: "left-0", version: "v1.31.14"},
		{kind: "Cluster", cluster: "left-pool", version: "v1.33.6"}, {kind: mp, cluster: "left-pool", name: "left-pool-0", version: "v1.31.14"},
		{kind: "Cluster", cluster: "left-machine", version: "v1.33.6"}, {kind: "Machine", cluster: "left-machine", name: "left-machine-0", version: "v1.31.14"},
		{kind: "Machine", cluster: "rolling", name: "rolling-0-x", version: "v1.31.5"},
	}
}

func versionsAt(versions ...string) string {
	entries := make([]string, len(versions))
	for i, version := range versions {
		entries[i] = fmt.Sprintf(`{"version":%q,"replicas":1}`, version)
	}
	return `{"status":{"versions":[` + strings.Join(entries, ",") + `]}}`
}

func ready(machines int) string { return fmt.Sprintf(`{"status":{"readyReplicas":%d}}`, machines) }

func (th thing) create(t *testing.T, namespace string) {
	t.Helper()
	if th.in != "" {
		namespace = th.in
	}
	kubectl(t, shared, []byte(th.manifest("")), "create", "-n", namespace, "-f", "-")
	if th.machines != "" {
		kubectl(t, shared, nil, "patch", "-n", namespace, strings.ToLower(th.kind)+"/"+th.name, "--subresource=status", "--type=merge", "-p", th.machines)
	}
}

// manifest is the object; owners is what its metadata has besides.
func (th thing) manifest(owners string) string {
	name, labels, reason := th.name, "", ""
	if name == "" {
		name = th.cluster
	}
	if th.owned {
		labels = `, topology.cluster.x-k8s.io/owned: ""`
	}
	if th.reason != "" {
		reason = fmt.Sprintf("clusterctl-x.io/skip-guardrails: %q", th.reason)
	}
	machine := func(kind string) string {
		return fmt.Sprintf("clusterName: %s, version: %s, bootstrap: {dataSecretName: none}, infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: %s, name: none}",
			th.cluster, th.version, kind)
	}
	template := func(kind string) string { return "{spec: {" + machine(kind) + "}}" }
	group, spec := "cluster.x-k8s.io", "clusterName: "+th.cluster+", template: "+template("DevMachineTemplate")
	switch th.kind {
	case "Cluster":
		// Which versions follow each other in a topology is Cluster API's to say.
		reason, spec = `unsafe.topology.cluster.x-k8s.io/disable-update-version-check: ""`, "paused: true, clusterNetwork: {pods: {cidrBlocks: [192.168.0.0/16]}}"
		if th.version != "" {
			spec += ", topology: {classRef: {name: inmemory}, version: " + th.version + "}"
		} else {
			spec += ", infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevCluster, name: none}"
		}
	case "KubeadmControlPlane":
		group = "controlplane.cluster.x-k8s.io"
		spec = "version: " + th.version + ", machineTemplate: {spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevMachineTemplate, name: none}}}"
	case "MachinePool":
		spec = "clusterName: " + th.cluster + ", template: " + template("DevMachinePool")
	case "MachineSet":
		group, labels = "cluster.x-k8s.io", labels+", cluster.x-k8s.io/deployment-name: "+strings.TrimSuffix(strings.TrimSuffix(th.name, "-old"), "-new")
		spec = "clusterName: " + th.cluster + ", selector: {matchLabels: {of: " + th.name + "}}, template: {metadata: {labels: {of: " + th.name + "}}, spec: {" + machine("DevMachineTemplate") + "}}"
	case "Machine":
		spec = machine("DevMachine")
	}
	return fmt.Sprintf("apiVersion: %s/v1beta2\nkind: %s\nmetadata: {name: %s, labels: {cluster.x-k8s.io/cluster-name: %s%s}, annotations: {%s}%s}\nspec: {%s}\n",
		group, th.kind, name, th.cluster, labels, reason, owners, spec)
}

// TestGuardrailsLetClustersMove creates the objects of clusters as 'clusterctl
// move' and 'kubectl apply' do, in several orders, in each for good.
func TestGuardrailsLetClustersMove(t *testing.T) {
	t.Parallel()
	cluster := thing{kind: "Cluster", cluster: "moved"}
	parts := func(controlPlane, group, pool string) []thing {
		return []thing{
			{kind: "KubeadmControlPlane", cluster: "moved", version: controlPlane},
			{kind: "MachineDeployment", cluster: "moved", name: "md", version: group},
			{kind: "MachinePool", cluster: "moved", name: "mp", version: pool},
		}
	}
	for name, objects := range map[string][]thing{
		"legal": parts("v1.34.2", "v1.34.2", "v1.31.0"), "ahead": parts("v1.34.2", "v1.35.1", "v1.34.3"), "behind": parts("v1.34.2", "v1.29.3", "v1.30.4"),
	} {
		for i, order := range [][]int{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}} {
			namespace := newNamespace(t, shared, fmt.Sprintf("guardrails-move-%s-%d", name, i))
			cluster.create(t, namespace)
			owners := ""
			if name != "legal" { // only what moves has owners; without them it is new
				uid := kubectl(t, shared, nil, "get", "cluster/moved", "-n", namespace, "-o", "jsonpath={.metadata.uid}")
				owners = fmt.Sprintf(", ownerReferences: [{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, name: moved, uid: %s}]", uid)
			}
			for _, n := range order {
				kubectl(t, shared, []byte(objects[n].manifest(owners)), "create", "-n", namespace, "-f", "-")
			}
		}
	}
}

// TestGuardrailsFiles: what 'generate guardrails' prints is what the embedded
// management cluster has, field by field.
func TestGuardrailsFiles(t *testing.T) {
	t.Parallel()
	printed := cli(t, 0, "generate", "guardrails").stdout
	path := filepath.Join(t.TempDir(), "guardrails.yaml")
	if err := os.WriteFile(path, []byte(printed), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := kubectl(t, shared, nil, "diff", "--server-side", "--field-manager=clusterctl-x", "--force-conflicts", "-f", path); diff != "" {
		t.Errorf("what is there, and what is printed:\n%s", diff)
	}
}
