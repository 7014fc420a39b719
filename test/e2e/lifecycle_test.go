package e2e_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/test/observer"
)

// machine is what a person looks at in 'kubectl get machines'.
type machine struct{ Owner, Phase, Version, Kubelet string }

// machines reads the machines of a cluster with kubectl, by group.
func machines(t *testing.T, instance, namespace, cluster string) []machine {
	t.Helper()
	var all []machine
	for _, m := range list[clusterv1.Machine](t, instance, namespace, "machines", clusterv1.ClusterNameLabel+"="+cluster) {
		kubelet := ""
		if m.Status.NodeInfo != nil {
			kubelet = m.Status.NodeInfo.KubeletVersion
		}
		all = append(all, machine{observer.PartOf(m), m.Status.Phase, m.Spec.Version, kubelet})
	}
	slices.SortFunc(all, func(a, b machine) int { return strings.Compare(a.Owner, b.Owner) })
	return all
}

// TestQuickstart takes the sample of the README through its whole life.
func TestQuickstart(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "quickstart")
	create := []string{"create", "cluster", "-n", namespace, "-f", "../../config/samples/quickstart.yaml"}
	cli(t, 0, create...)

	cp, md0, md1 := "v1.34.4", "v1.34.4", "v1.33.13"
	want := []machine{
		{"control-plane", "Running", cp, cp},
		{"md-0", "Running", md0, md0}, {"md-0", "Running", md0, md0}, {"md-0", "Running", md0, md0},
		{"md-1", "Running", md1, md1}, {"md-1", "Running", md1, md1}, {"md-1", "Running", md1, md1},
	}
	if diff := cmp.Diff(want, machines(t, shared, namespace, "quickstart")); diff != "" {
		t.Errorf("machines (-want +got):\n%s", diff)
	}

	if got, want := cli(t, 0, create...).stdout, "cluster quickstart/quickstart exists and matches the file; nothing to do\n"; got != want {
		t.Errorf("create again said %q, want %q", got, want)
	}
	if got := len(list[corev1.Node](t, shared, metav1.NamespaceAll, "nodes")); got != 0 {
		t.Errorf("the management cluster has %d nodes, want none", got)
	}
	nodesOf(t, namespace)
	if tree := cli(t, 0, "describe", "cluster", "quickstart", "-n", namespace).stdout; strings.Count(tree, "✓") != 11 || strings.Contains(tree, "✗") {
		t.Errorf("describe does not show everything as ready:\n%s", tree)
	}
	cli(t, 0, "delete", "cluster", "quickstart", "-n", namespace)
	assertNothingLeft(t, namespace)
}

// nodesOf looks into the cluster itself, with the kubeconfig that get
// kubeconfig writes.
func nodesOf(t *testing.T, namespace string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	cli(t, 0, "get", "kubeconfig", "quickstart", "-n", namespace, "--to", path)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the kubeconfig has mode %v, want 0600", info.Mode().Perm())
	}
	r := execute(t.Context(), nil, everyone.environment(), everyone.kubectl, "--kubeconfig", path, "get", "nodes", "-o", "jsonpath={.items[*].status.nodeInfo.kubeletVersion}")
	versions := strings.Fields(r.stdout)
	slices.Sort(versions)
	want := []string{"v1.33.13", "v1.33.13", "v1.33.13", "v1.34.4", "v1.34.4", "v1.34.4", "v1.34.4"}
	if diff := cmp.Diff(want, versions); diff != "" {
		t.Errorf("nodes (-want +got):\n%s%s", diff, r.stderr)
	}
}

// assertNothingLeft compares all objects of a namespace.
func assertNothingLeft(t *testing.T, namespace string, besides ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{}, besides...), objectsIn(t, namespace)); diff != "" {
		t.Errorf("objects of namespace %s (-want +left):\n%s", namespace, diff)
	}
}

func server(t *testing.T) string {
	t.Helper()
	config, err := configOf(shared)
	if err != nil {
		t.Fatal(err)
	}
	return config.Host
}

// TestDeleteManagementClusterIsRefused protects clusters from the loss of
// their management cluster.
func TestDeleteManagementClusterIsRefused(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "manages")
	cli(t, 0, "create", "cluster", "-n", namespace, "--wait=false", "-f", specFile(t, "mgmt", "1.34", "md-0"))
	data, err := os.ReadFile(specFile(t, "managed", "1.34", "md-0"))
	if err != nil {
		t.Fatal(err)
	}
	managed := append(data, []byte("  managementCluster: {name: mgmt}\n")...)
	cliWith(t, 0, managed, "create", "cluster", "-n", namespace, "--wait=false", "-f", "-")
	r := cli(t, 3, "delete", "cluster", "mgmt", "-n", namespace)
	if want := "error: cluster manages/mgmt is the management cluster of manages/managed; delete these first, or change their spec.managementCluster\n"; !strings.HasSuffix(r.stderr, want) {
		t.Errorf("stderr is %q, want the end %q", r.stderr, want)
	}
	cli(t, 0, "delete", "cluster", "managed", "-n", namespace)
	cli(t, 0, "delete", "cluster", "mgmt", "-n", namespace)
	assertNothingLeft(t, namespace)
}
