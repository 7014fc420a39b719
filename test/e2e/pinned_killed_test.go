package e2e_test

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// killer stands between clusterctl-x and an API server, and has it killed
// before one of its writes.
type killer struct {
	server *httptest.Server

	mu      sync.Mutex
	allowed int // writes that still come through; negative ones have no end
	kill    func()
	dead    bool
}

func newKiller(t *testing.T, instance string) *killer {
	t.Helper()
	config, err := configOf(instance)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport, proxy.FlushInterval = transport, -1
	e := &killer{}
	e.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if writes(r) && !e.lets() {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(e.server.Close)
	return e
}

// writes reports whether a request changes objects of a cluster.
func writes(r *http.Request) bool {
	if r.Method == http.MethodGet || r.URL.Query().Get("dryRun") != "" {
		return false
	}
	for _, other := range []string{"/leases", "/events", "/selfsubjectaccessreviews", "/selfsubjectreviews"} {
		if strings.Contains(r.URL.Path, other) {
			return false
		}
	}
	return true
}

// lets counts a write. It is false where clusterctl-x is killed instead.
func (e *killer) lets() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.allowed == 0 && !e.dead {
		e.dead = true
		e.kill()
	}
	if e.allowed > 0 {
		e.allowed--
	}
	return !e.dead
}

// kubeconfig leads to the API server by way of the killer.
func (e *killer) kubeconfig(t *testing.T, namespace string) string {
	t.Helper()
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, clusters: [{name: a, cluster: {server: %q}}], users: [{name: a, user: {}}],
contexts: [{name: a, context: {cluster: a, user: a, namespace: %s}}], current-context: a}`, e.server.URL, namespace)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// upgradeKilled runs an upgrade until it has written so often, and is false where it
// came to its end before.
func (e *killer) upgradeKilled(t *testing.T, kubeconfig, file string, after int) bool {
	t.Helper()
	return e.killed(t, after, "upgrade", "cluster", "-f", file, "--management", "kubeconfig", "--kubeconfig", kubeconfig, "--take-over")
}

// killed runs a command until it has written so often, and is false where it came to its end
// before.
func (e *killer) killed(t *testing.T, after int, args ...string) bool {
	t.Helper()
	e.mu.Lock()
	e.allowed, e.dead, e.kill = after, false, func() {}
	command := begin(t, args...)
	e.kill = func() { command.signal(t, syscall.SIGKILL) }
	e.mu.Unlock()
	if r := command.end(t); r.code > 0 {
		t.Fatalf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	return e.dead
}

// TestPinKilled kills clusterctl-x in the middle of detaching a group and of
// returning it, while the cluster is paused. The same command again completes what was
// begun, and nothing is paused that does not say why.
func TestPinKilled(t *testing.T) {
	t.Parallel()
	const paused = 3 // writes: both parts of the record, and the pause
	kills, pauses := killPins(t, "pin-killed", paused, paused)
	if diff := cmp.Diff([]map[string]int{{"detach": 1, "return": 1}, {"detach": 1, "return": 1}}, []map[string]int{kills, pauses}); diff != "" {
		t.Errorf("kills, and kills of a paused cluster (-want +got):\n%s", diff)
	}
}

// TestPinKilledEverywhere kills it between each two writes.
func TestPinKilledEverywhere(t *testing.T) {
	t.Parallel()
	kills, pauses := killPins(t, "pin-killed-everywhere", 0, math.MaxInt)
	if kills["detach"] < 6 || kills["return"] < 4 || pauses["detach"] == 0 || pauses["return"] == 0 {
		t.Errorf("killed %v times, paused %v: there are more writes than that", kills, pauses)
	}
}

// killPins kills after first to last writes, or until there are no more. It returns
// how often it did, and how often the cluster was paused then.
func killPins(t *testing.T, namespace string, first, last int) (kills, pauses map[string]int) {
	t.Helper()
	applyClass(t, namespace)
	spec := clusterSpec{name: "killed", version: "1.34", class: "name: inmemory", groups: []groupSpec{{name: "md-0"}, {name: "md-1", more: "machineHealthCheck: {}"}}}
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t))
	before := map[string]map[string]string{}
	for _, kind := range []string{"machines", "machinedeployments", "machinehealthchecks", "machinesets"} {
		before[kind] = objectsOfKind(t, namespace, kind)
	}
	e := newKiller(t, shared)
	kubeconfig := e.kubeconfig(t, namespace)
	kills, pauses = map[string]int{}, map[string]int{}
	for after, killed := first, true; killed && after <= last; after++ {
		killed = false
		for _, pin := range []string{"1.34", ""} {
			spec.groups[1].version = pin
			file := spec.path(t)
			verb := map[string]string{"1.34": "detach", "": "return"}[pin]
			if e.upgradeKilled(t, kubeconfig, file, after) {
				killed = true
				kills[verb]++
				if isPaused(t, namespace, "killed") {
					if pauses[verb]++; pauses[verb] == 1 {
						assertPauseTold(t, namespace, "killed", verb+" md-1")
					}
				}
			}
			cli(t, 0, "upgrade", "cluster", "-n", namespace, "-f", file, "--take-over")
			assertPlan(t, planOf(t, namespace, file))
			assertOwned(t, namespace, "killed", map[string]bool{"md-0": true, "md-1": pin == ""})
			for kind, objects := range before {
				assertSame(t, objects, objectsOfKind(t, namespace, kind))
			}
		}
	}
	t.Logf("killed %d times detaching, %d times returning", kills["detach"], kills["return"])
	return kills, pauses
}

// isPaused reports whether a cluster is paused. It has a mark then, and only then.
func isPaused(t *testing.T, namespace, name string) bool {
	t.Helper()
	cluster := clusterOf(t, namespace, name)
	paused := cluster.Spec.Paused != nil && *cluster.Spec.Paused
	if mark := cluster.Annotations["clusterctl-x.io/paused"]; paused != (mark != "") {
		t.Errorf("paused %t, with the mark %q", paused, mark)
	}
	return paused
}

// assertPauseTold looks whether every command says why a cluster is paused.
func assertPauseTold(t *testing.T, namespace, name, why string) {
	t.Helper()
	said := "clusterctl-x paused the cluster to " + why + " ("
	if r := cli(t, 0, "describe", "cluster", name, "-n", namespace); !strings.Contains(r.stdout, said) {
		t.Errorf("describe does not say %q:\n%s", said, r.stdout)
	}
	if r := cli(t, 0, "get", "clusters", "-n", namespace); !strings.Contains(r.stdout, "paused to "+why) {
		t.Errorf("get clusters does not say that it is paused:\n%s", r.stdout)
	}
	watch := begin(t, "watch", "cluster", name, "-n", namespace)
	watch.until(t, "the end of the pause that clusterctl-x set to "+why+" (")
	watch.signal(t, syscall.SIGINT)
	watch.end(t)
}

func clusterOf(t *testing.T, namespace, name string) clusterv1.Cluster {
	t.Helper()
	for _, cluster := range list[clusterv1.Cluster](t, shared, namespace, "clusters") {
		if cluster.Name == name {
			return cluster
		}
	}
	t.Fatalf("there is no cluster %s/%s", namespace, name)
	return clusterv1.Cluster{}
}

// assertOwned compares which groups the topology has, by its entries and by the
// labels of the MachineDeployments.
func assertOwned(t *testing.T, namespace, name string, want map[string]bool) {
	t.Helper()
	entries := map[string]bool{}
	for _, entry := range clusterOf(t, namespace, name).Spec.Topology.Workers.MachineDeployments {
		entries[entry.Name] = true
	}
	for _, d := range list[clusterv1.MachineDeployment](t, shared, namespace, "machinedeployments", clusterv1.ClusterNameLabel+"="+name) {
		group := d.Labels[v1alpha1.WorkerNodeGroupLabel]
		_, owned := d.Labels[clusterv1.ClusterTopologyOwnedLabel]
		if owned != want[group] || entries[group] != want[group] {
			t.Errorf("group %s: owned by the topology %t, has an entry %t, want %t", group, owned, entries[group], want[group])
		}
	}
}
