package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"regexp"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
)

// TestRuntimeExtension takes a cluster through the plan that the runtime extension
// makes, with a worker step that nothing but its settings asks for: Cluster API's own
// core asks it over HTTPS. In the middle the cluster is held, and the server is gone.
func TestRuntimeExtension(t *testing.T) {
	t.Parallel()
	const name = "c1"
	namespace := newNamespace(t, shared, "extension")
	on := []string{"-n", namespace}
	deployable(t)
	asksAbout(t, namespace)
	serve := extensionServer(t, on...)
	server := serve()
	applyTo(t, namespace, classText(t, namespace, "--upgrade-plans-from", "generate-upgrade-plan.clusterctl-x"))
	spec := clusterSpec{name: name, version: "1.32", class: "name: inmemory", groups: []groupSpec{{name: "md-0"}}}
	cli(t, 0, append(on, "create", "cluster", "-f", spec.path(t))...)
	spec.version = "1.34"
	file := spec.path(t)
	p := planOf(t, namespace, file)
	assertPlan(t, p,
		"ControlPlane v1.32.13->v1.33.13", "Workers md-0 v1.32.13->v1.33.13", "ControlPlane v1.33.13->v1.34.4", "Workers md-0 v1.33.13->v1.34.4")
	made := observe(t, shared, namespace, name)

	cli(t, 0, append(on, "hold", "cluster", name, "--before", "workers", "--reason", "database migration")...)
	upgrade := begin(t, append(on, "upgrade", "cluster", "-f", file)...)
	upgrade.until(t, ": database migration; 'clusterctl-x release cluster c1 -n extension --before workers' lifts it\n")
	held := assertHeld(t, shared, namespace, name, "before-workers", "database migration")
	assertCondition(t, shared, namespace, name, clusterv1.ClusterTopologyReconciledCondition, "BeforeWorkersUpgrade: "+held)
	watch := cli(t, 5, append(on, "watch", "cluster", name, "--timeout", "30s")...)
	if want := "error: timed out watching; cluster extension/c1 waits for the hold to be lifted: " + held + "\n"; !strings.HasSuffix(watch.stderr, want) {
		t.Errorf("watch ends with %q, want %q", watch.stderr, want)
	}
	cli(t, 0, append(on, "release", "cluster", name, "--before", "workers")...)
	upgrade.until(t, "the hold was lifted\n")

	upgrade.until(t, ": the control plane from v1.33.13 to v1.34.4\n")
	server.signal(t, syscall.SIGTERM)
	if r := server.end(t); r.code != 0 || !strings.HasSuffix(r.stderr, " msg=stopped\n") {
		t.Errorf("the server ended with code %d: %s", r.code, r.stderr)
	}
	upgrade.until(t, "Cluster API cannot reconcile the topology: ")
	refused := cli(t, 1, append(on, "plan", "upgrade", "-f", file)...)
	if want := regexp.MustCompile(`\nerror: the runtime extension generate-upgrade-plan\.clusterctl-x, which makes the upgrade plans of the ClusterClass, could not be called: .*connection refused; check that it is running and can be reached at the address in ExtensionConfig clusterctl-x\n$`); !want.MatchString(refused.stderr) {
		t.Errorf("plan without the server: %s", refused.stderr)
	}
	serve()
	upgrade.until(t, "Cluster API reconciles the topology again\n")
	if r := upgrade.end(t); r.code != 0 || !strings.HasPrefix(r.stdout, "cluster extension/c1 is at v1.34.4 after ") || strings.Contains(r.stderr, deviates) {
		t.Errorf("upgrade: exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	for _, config := range list[runtimev1.ExtensionConfig](t, shared, metav1.NamespaceAll, "extensionconfigs") {
		if got := config.Spec.NamespaceSelector.MatchLabels; got[corev1.LabelMetadataName] != namespace {
			t.Errorf("ExtensionConfig %s selects namespaces by %v, want what it had before the extension registered", config.Name, got)
		}
	}
	assertMade(t, made(), p)
	assertMachines(t, shared, namespace, name, "control-plane v1.34.4", "md-0 v1.34.4")
	assertPlan(t, planOf(t, namespace, file))
}

// deployable has the API server look at what deploys the runtime extension, but for
// the certificate: cert-manager's kinds are not there.
func deployable(t *testing.T) {
	t.Helper()
	var known []string
	for _, document := range strings.Split(cli(t, 0, "generate", "runtime-extension", "--image", "clusterctl-x:v1", "-n", "default").stdout, "---\n") {
		if !strings.Contains(document, "apiVersion: cert-manager.io/") {
			known = append(known, document)
		}
	}
	applied := kubectl(t, shared, []byte(strings.Join(known, "---\n")), "apply", "--dry-run=server", "-f", "-")
	want := strings.Join([]string{
		"serviceaccount/clusterctl-x-runtime-extension", "deployment.apps/clusterctl-x-runtime-extension", "poddisruptionbudget.policy/clusterctl-x-runtime-extension",
		"service/clusterctl-x-runtime-extension", "extensionconfig.runtime.cluster.x-k8s.io/clusterctl-x", "",
	}, " created (server dry run)\n")
	if applied != want {
		t.Errorf("kubectl says %q, want %q", applied, want)
	}
}

// asksAbout has Cluster API ask the runtime extension about one namespace, so that tests
// in others do not depend on it. The extension keeps to that when it registers.
func asksAbout(t *testing.T, namespace string) {
	t.Helper()
	const config = `{apiVersion: runtime.cluster.x-k8s.io/v1beta2, kind: ExtensionConfig, metadata: {name: clusterctl-x},
spec: {clientConfig: {url: "https://127.0.0.1:1"}, namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %s}}}}`
	kubectl(t, shared, fmt.Appendf(nil, config, namespace), "apply", "--server-side", "-f", "-")
}

// extensionServer is what starts the runtime extension, always at the same address,
// and waits until Cluster API has found it.
func extensionServer(t *testing.T, on ...string) func() *running {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return func() *running {
		t.Helper()
		server := begin(t, append(on, "serve", "runtime-extension", "--register", "--port", fmt.Sprint(port), "--health-address", "", "--setting", "workersThrough=1.33")...)
		server.until(t, "msg=registered extensionConfig=clusterctl-x handlers=\"generate-upgrade-plan.clusterctl-x ")
		return server
	}
}

// assertHeld looks whether describe says where a cluster is held and why, and returns
// what it says.
func assertHeld(t *testing.T, instance, namespace, name, point, reason string) string {
	t.Helper()
	args := []string{"describe", "cluster", name, "-n", namespace, "--name", instance}
	var described struct {
		Data struct {
			Held struct{ Point, Reason, By, Annotation string }
		}
	}
	if err := json.Unmarshal([]byte(cli(t, 0, append(args, "-o", "json")...).stdout), &described); err != nil {
		t.Fatal(err)
	}
	if held := described.Data.Held; held.Point != point || held.Reason != reason || held.By == "" {
		t.Errorf("it is held at %+v, want %s: %s", held, point, reason)
	}
	line := regexp.MustCompile(`\n  waits: (held .*)\n`).FindStringSubmatch(cli(t, 0, args...).stdout)
	if line == nil {
		t.Fatal("describe has no line that says what it waits for")
	}
	when, what, _ := strings.Cut(point, "-")
	want := regexp.MustCompile(fmt.Sprintf(`^held %s by \S+@\S+ since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ: %s; 'clusterctl-x release cluster %s -n %s --%s %s' lifts it$`,
		strings.ReplaceAll(point, "-", " "), reason, name, namespace, when, what))
	if !want.MatchString(line[1]) {
		t.Errorf("describe says %q, want %s", line[1], want)
	}
	return line[1]
}

// assertCondition waits until a condition of the Cluster says something.
func assertCondition(t *testing.T, instance, namespace, name, condition, says string) {
	t.Helper()
	var got string
	until(t, fmt.Sprintf("condition %s says %q", condition, says), func(context.Context) bool {
		var cluster clusterv1.Cluster
		if err := json.Unmarshal([]byte(kubectl(t, instance, nil, "get", "cluster", name, "-n", namespace, "-o", "json")), &cluster); err != nil {
			t.Fatal(err)
		}
		if found := meta.FindStatusCondition(cluster.Status.Conditions, condition); found != nil {
			got = found.Message
		}
		return strings.Contains(got, says)
	})
}
