package e2e_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// TestGuardrails edits objects of clusters in dry runs. The clusters are paused, so that no
// controller changes them.
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
	until(t, "the guardrails know the parameter that was written last", func(context.Context) bool { return last.run(t, namespace) != nil })
}

// edit is one that a user tries.
type edit struct {
	name string
	// object gets another version by a patch; reason is that for which it is to
	// pass by the guardrails.
	object, version, reason string
	// write is what is done in the place of that.
	write write
	// in is the namespace, where it is not the one of the others.
	in string
	// policy refuses it, with the message; without a policy it passes, or, with a message,
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

func (e edit) run(t *testing.T, namespace string) error {
	t.Helper()
	do := e.write
	if do == nil {
		do = merged(e.object, e.patch())
	}
	r, err := everyone.readers.of(shared)
	if err != nil {
		t.Fatal(err)
	}
	return do(t.Context(), r, cmp.Or(e.in, namespace))
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

// try compares what the API server says.
func (e edit) try(t *testing.T, namespace string) {
	t.Helper()
	err := e.run(t, namespace)
	got, want := "", e.message
	if err != nil {
		got = err.Error()
	}
	if e.policy != "" {
		name := "clusterctl-x-" + e.policy
		policy := strings.TrimSuffix(strings.TrimSuffix(name, byControlPlane), byTopology)
		_, got, _ = strings.Cut(got, "ValidatingAdmissionPolicy ")
		want = fmt.Sprintf("'%s' with binding '%s' denied request: %s; to do it all the same, set its annotation clusterctl-x.io/skip-guardrails to the reason", policy, name, e.message)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("the API server says (-want +got):\n%s", diff)
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
	namespace = cmp.Or(th.in, namespace)
	createManifest(t, namespace, th.manifest(""))
	if th.machines == "" {
		return
	}
	r, err := everyone.readers.of(shared)
	if err != nil {
		t.Fatal(err)
	}
	resource, err := r.resource(strings.ToLower(th.kind), namespace)
	if err == nil {
		_, err = resource.Patch(t.Context(), th.name, types.MergePatchType, []byte(th.machines), metav1.PatchOptions{}, "status")
	}
	if err != nil {
		t.Fatal(err)
	}
}

// createManifest creates an object for good, and returns it.
func createManifest(t *testing.T, namespace, manifest string) *unstructured.Unstructured {
	t.Helper()
	r, err := everyone.readers.of(shared)
	if err != nil {
		t.Fatal(err)
	}
	object, resource, err := r.decode(manifest, namespace)
	if err == nil {
		object, err = resource.Create(t.Context(), object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	}
	if err != nil {
		t.Fatalf("creating %s: %v", manifest, err)
	}
	return object
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
			uid := createManifest(t, namespace, cluster.manifest("")).GetUID()
			owners := ""
			if name != "legal" { // only what moves has owners; without them it is new
				owners = fmt.Sprintf(", ownerReferences: [{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, name: moved, uid: %s}]", uid)
			}
			for _, n := range order {
				createManifest(t, namespace, objects[n].manifest(owners))
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
