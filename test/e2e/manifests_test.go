package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// TestEveryRenderedDocumentIsAccepted sends every sample and every golden file
// through the API server and the webhooks.
func TestEveryRenderedDocumentIsAccepted(t *testing.T) {
	t.Parallel()
	specs := map[string][]string{"../../config/samples/quickstart.yaml": nil}
	for _, provider := range []string{"inmemory", "docker"} {
		path := filepath.Join(t.TempDir(), provider+".yaml")
		if err := os.WriteFile(path, []byte(cli(t, 0, "generate", "clusterconfig", "sample", "--provider", provider).stdout), 0o600); err != nil {
			t.Fatal(err)
		}
		specs[path] = nil
	}
	for path := range specs {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			dryRun(t, cli(t, 0, "generate", "manifests", "-f", path).stdout)
		})
	}
	goldens, err := filepath.Glob("../../pkg/manifests/testdata/*/want.yaml")
	if err != nil || len(goldens) == 0 {
		t.Fatalf("no golden files (%v)", err)
	}
	for _, golden := range goldens {
		if describesMachines(filepath.Base(filepath.Dir(golden))) {
			continue // of kinds that this management cluster lacks; TestProviderWebhooks has some of them
		}
		t.Run(filepath.Base(filepath.Dir(golden)), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			dryRun(t, string(data))
		})
	}
}

// describesMachines reports whether a golden file is of a provider with documents that
// describe machines, after which it is named.
func describesMachines(golden string) bool {
	for name, provider := range providers.BuiltIn() {
		if provider.Spec.Machine.Kind != "" && strings.HasPrefix(golden, name+"-") {
			return true
		}
	}
	return false
}

// dryRun sends documents to the API server, into a namespace that exists.
func dryRun(t *testing.T, documents string) {
	t.Helper()
	r, err := everyone.readers.of(shared)
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(documents, "\n---\n") {
		if err := applied(document, "kubectl")(t.Context(), r, metav1.NamespaceDefault); err != nil {
			t.Errorf("%v\n%s", err, document)
		}
	}
}

// TestManifestsGiveTheSameCluster compares a cluster that kubectl applied with
// one that create made, object by object. Groups that lag behind get their machines in both.
func TestManifestsGiveTheSameCluster(t *testing.T) {
	t.Parallel()
	byKubectl, byCreate := newNamespace(t, shared, "by-kubectl"), newNamespace(t, shared, "by-create")
	file := specFile(t, "same", "1.36", "md-0=1.33", "md-1=1.36.1")
	manifests := cli(t, 0, "generate", "manifests", "-n", byKubectl, "-f", file).stdout
	kubectl(t, shared, []byte(manifests), "apply", "-f", "-")
	cli(t, 0, "create", "cluster", "-n", byCreate, "-f", file)
	// It takes part in nothing but the waiting: all objects are there already.
	said := cli(t, 0, "create", "cluster", "-n", byKubectl, "-f", file).stderr
	if strings.Contains(said, "objects created") {
		t.Errorf("create made objects that kubectl had made already: %s", said)
	}
	if diff := cmp.Diff(specs(t, byCreate), specs(t, byKubectl)); diff != "" {
		t.Errorf("objects (-create +kubectl):\n%s", diff)
	}
	for _, namespace := range []string{byCreate, byKubectl} {
		assertMachines(t, shared, namespace, "same", "control-plane v1.36.3", "md-0 v1.33.13", "md-1 v1.36.1")
	}
}

// specs are labels and spec of the objects that are rendered, by kind and name.
func specs(t *testing.T, namespace string) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, o := range list[unstructured.Unstructured](t, shared, namespace, "clusters,kubeadmcontrolplanes,machinedeployments,devclusters,devmachinetemplates,kubeadmconfigtemplates") {
		spec, _, err := unstructured.NestedMap(o.Object, "spec")
		if err != nil {
			t.Fatal(err)
		}
		// Ports of simulated clusters differ, and what copies them.
		delete(spec, "controlPlaneEndpoint")
		all[o.GetKind()+"/"+o.GetName()] = map[string]any{"labels": o.GetLabels(), "spec": spec}
	}
	if len(all) != 10 {
		t.Errorf("%d objects, want 10", len(all))
	}
	return all
}
