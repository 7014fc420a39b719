package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// managersOf lists the field managers of the objects of a namespace that people write, with
// the fields that each of them owns.
func managersOf(t *testing.T, namespace string) string {
	t.Helper()
	var lines []string
	for _, o := range list[unstructured.Unstructured](t, shared, namespace, "clusters,devclusters,kubeadmcontrolplanes,machinedeployments,kubeadmconfigtemplates,devmachinetemplates") {
		for _, entry := range o.GetManagedFields() {
			if entry.Subresource == "" && entry.Manager != "manager" && !strings.HasPrefix(entry.Manager, "cluster") {
				lines = append(lines, fmt.Sprintf("%s/%s %s: %s", o.GetKind(), o.GetName(), entry.Manager, entry.FieldsV1.GetRawString()))
			}
			if entry.Manager == "clusterctl-x" {
				lines = append(lines, fmt.Sprintf("%s/%s clusterctl-x: %s", o.GetKind(), o.GetName(), entry.FieldsV1.GetRawString()))
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// found is what a plan finds about fields of others: checks, and who owns what.
type found struct{ Check, Owner string }

func findingsOf(t *testing.T, args ...string) []found {
	t.Helper()
	var p struct {
		Findings []struct{ Check, Reason string }
	}
	if err := json.Unmarshal([]byte(cli(t, 0, append([]string{"plan", "upgrade", "-o", "json"}, args...)...).stdout), &p); err != nil {
		t.Fatal(err)
	}
	var all []found
	for _, finding := range p.Findings {
		owner, _, _ := strings.Cut(finding.Reason, ", and ")
		all = append(all, found{finding.Check, owner})
	}
	return all
}

// TestFieldOwners: the objects of a cluster belong to Flux, Argo CD, Rancher Fleet and a
// person with kubectl. An upgrade names each of them and takes over nothing unasked; fields of
// people only where these are what is asked for. What a tool puts back in the middle ends the
// upgrade at once.
func TestFieldOwners(t *testing.T) {
	t.Parallel()
	const namespace = "field-owners"
	applyOwned(t, newNamespace(t, shared, namespace))
	cli(t, 0, "watch", "cluster", "names", "-n", namespace)
	if got := cli(t, 0, "get", "cluster", "names", "-n", namespace, "-o", "jsonpath={.data.owner.tool} {.data.owner.name}").stdout; got != "Rancher Fleet Bundle default-clusters" {
		t.Errorf("the owner is %q", got)
	}
	to := []string{"names", "-n", namespace, "--kubernetes-version", "1.34"}
	upgrade := append([]string{"upgrade", "cluster"}, to...)
	before := managersOf(t, namespace)
	want := []found{
		{"gitops-owner", "Argo CD Application fleet writes MachineDeployment/argo-pool spec.template.spec.version"},
		{"gitops-owner", "Flux Kustomization flux-system/clusters writes KubeadmControlPlane/names-kcp spec.version"},
		{"gitops-owner", "Rancher Fleet Bundle default-clusters writes MachineDeployment/fleet-pool spec.template.spec.version"},
	}
	if diff := cmp.Diff(want, findingsOf(t, to...)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	for args, owners := range map[string][]string{
		"": {"Argo CD", "Flux", "Rancher Fleet"},
		"--force-conflicts=kustomize-controller,argocd-controller":                   {"Rancher Fleet"},
		"--force-conflicts=kubectl-client-side-apply,argocd-controller":              {"Flux", "Rancher Fleet"},
		"--force-conflicts=kustomize-controller,fleetagent,helm,kubectl-client-side": {"Argo CD"},
	} {
		r := cli(t, 4, append(slices.Clone(upgrade), strings.Fields(args)...)...)
		var named []string
		for line := range strings.Lines(r.stderr) {
			for _, tool := range []string{"Argo CD", "Flux", "Rancher Fleet"} {
				if strings.HasPrefix(line, "  gitops-owner: "+tool) {
					named = append(named, tool)
				}
			}
		}
		if diff := cmp.Diff(owners, named); diff != "" {
			t.Errorf("%s: owners (-want +got):\n%s\n%s", args, diff, r.stderr)
		}
	}
	if diff := cmp.Diff(before, managersOf(t, namespace)); diff != "" {
		t.Errorf("field managers (-before +after):\n%s", diff)
	}

	r := cli(t, 0, append(upgrade, "--force-conflicts=kustomize-controller,argocd-controller,fleetagent")...)
	if taken := "warning: takes over MachineDeployment/general-pool spec.template.spec.version from kubectl-client-side-apply; "; !strings.Contains(r.stderr, taken) {
		t.Errorf("stderr lacks %q: %s", taken, r.stderr)
	}
	assertMachines(t, shared, namespace, "names", "argo-pool v1.34.4", "control-plane v1.34.4", "fleet-pool v1.34.4", "general-pool v1.34.4")
	putBack(t, namespace)
}

// putBack upgrades a group, and has Argo CD put its version back once the upgrade has begun.
func putBack(t *testing.T, namespace string) {
	t.Helper()
	run := begin(t, "upgrade", "cluster", "names", "-n", namespace, "--kubernetes-version", "1.35", "--force-conflicts=kustomize-controller,argocd-controller,fleetagent", "--timeout", "10m")
	until(t, "the group is moved", func(context.Context) bool {
		for _, o := range list[unstructured.Unstructured](t, shared, namespace, "machinedeployments") {
			if version, _, _ := unstructured.NestedString(o.Object, "spec", "template", "spec", "version"); o.GetName() == "argo-pool" && version == "v1.35.4" {
				return true
			}
		}
		return false
	})
	began := time.Now()
	kubectl(t, shared, nil, "patch", "machinedeployment", "argo-pool", "-n", namespace, "--type=merge", "--field-manager=argocd-controller", "-p", `{"spec":{"template":{"spec":{"version":"v1.34.4"}}}}`)
	r := run.end(t)
	const want = `MachineDeployment/argo-pool was changed by "argocd-controller": Argo CD Application fleet writes it, and shows OutOfSync`
	if r.code != 4 || !strings.Contains(r.stderr, want) {
		t.Errorf("exit code %d, want 4 and %q: %s", r.code, want, r.stderr)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it was said after %s", took)
	}
}

// applyOwned applies a cluster with a control plane machine and three groups, each object in
// the name of another tool.
func applyOwned(t *testing.T, namespace string) {
	t.Helper()
	documents := strings.Split(strings.ReplaceAll(string(otherNames(t)), "replicas: 2", "replicas: 1"), "\n---\n")
	pool := documents[len(documents)-1]
	for _, name := range []string{"argo-pool", "fleet-pool"} {
		documents = append(documents, strings.NewReplacer("name: general-pool", "name: "+name, "pool: general", "pool: "+name).Replace(pool))
	}
	for _, document := range documents {
		var marks, manager string
		switch {
		case strings.Contains(document, "kind: Cluster\n"), strings.Contains(document, "name: fleet-pool"):
			manager, marks = "fleetagent", `{"labels":{"objectset.rio.cattle.io/hash":"1f2e"},"annotations":{"objectset.rio.cattle.io/id":"default-clusters"}}`
		case strings.Contains(document, "name: argo-pool"):
			manager, marks = "argocd-controller", `{"annotations":{"argocd.argoproj.io/tracking-id":"fleet:cluster.x-k8s.io/MachineDeployment:field-owners/argo-pool"}}`
		case strings.Contains(document, "name: general-pool"):
			kubectl(t, shared, []byte(document), "apply", "-n", namespace, "-f", "-")
			continue
		default:
			manager, marks = "kustomize-controller", `{"labels":{"kustomize.toolkit.fluxcd.io/name":"clusters","kustomize.toolkit.fluxcd.io/namespace":"flux-system"}}`
		}
		kubectl(t, shared, []byte(document), "apply", "--server-side", "--field-manager="+manager, "-n", namespace, "-f", "-")
		kubectl(t, shared, []byte(document), "patch", "-n", namespace, "-f", "-", "--type=merge", "--field-manager="+manager, "-p", `{"metadata":`+marks+`}`)
	}
}
