package e2e_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/backup"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
)

// TestMove moves a cluster from one management cluster to another and back, stopped each time
// after every few writes and continued: machines, keys and field managers stay, and it can be
// upgraded where it is.
func TestMove(t *testing.T) {
	t.Parallel()
	const first, second = "move-first", "move-second"
	kubectlOn := func(instance string) {
		cli(t, 0, "management", "start", "--name", instance)
		kubectl(t, instance, classText(t, "default"), "apply", "-f", "-")
	}
	kubectlOn(first)
	cli(t, 0, "management", "start", "--name", second)
	kubectl(t, first, nil, "create", "configmap", "extra", addOnManifests)
	spec := clusterSpec{name: "mover", version: "1.35", class: "name: inmemory", groups: []groupSpec{{name: "md-0"}, {name: "md-1", version: "1.34"}}, more: addOn}
	cli(t, 0, "create", "cluster", "-f", spec.path(t), "--name", first)
	before := everythingOf(t, first)
	key := client.ObjectKey{Namespace: "default", Name: spec.name}

	assertMoveRefused(t, key, first, second)
	moveStopped(t, key, first, second)
	assertMoved(t, key, before, first, second)
	cli(t, 0, "create", "cluster", "-f", spec.path(t), "--name", second) // waits until it is ready
	moveStopped(t, key, second, first)
	assertMoved(t, key, before, second, first)
	cli(t, 0, "create", "cluster", "-f", spec.path(t), "--name", first)
	spec.version = "1.36"
	cli(t, 0, "upgrade", "cluster", "-f", spec.path(t), "--name", first)
}

// moveStopped moves a cluster, and stops the move after more and more writes until it comes to
// its end.
func moveStopped(t *testing.T, key client.ObjectKey, from, to string) {
	t.Helper()
	for writes := 1; writes < 2000; writes += 11 {
		stopped, err := moveOnce(t, key, from, to, writes)
		switch {
		case err == nil:
			t.Logf("moved with %d writes in the last run", writes)
			return
		case !stopped:
			t.Fatalf("with %d writes: %v", writes, err)
		}
	}
	t.Fatal("the move has no end")
}

// moveOnce moves a cluster, or completes its move, with so many writes. It reports whether they
// were too few.
func moveOnce(t *testing.T, key client.ObjectKey, from, to string, writes int) (stopped bool, err error) {
	t.Helper()
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	limit := &limit{writes: writes, stop: stop}
	service := func(instance string) (*backup.Service, error) {
		return moverOf(ctx, instance, func(config *rest.Config) {
			config.Wrap(func(next http.RoundTripper) http.RoundTripper { return limited{next, limit} })
		})
	}
	source, err := service(from)
	if err != nil {
		return limit.reached(), err
	}
	place, err := source.Place(ctx, key)
	if err != nil {
		return limit.reached(), err
	}
	if place == backup.Absent {
		target, err := service(to)
		if err == nil {
			err = target.Finish(ctx, key)
		}
		return limit.reached(), err
	}
	err = source.Move(ctx, key, backup.Moving{Why: "move it", Command: "TestMove"}, func(context.Context) (*backup.Service, error) { return service(to) })
	return limit.reached(), err
}

// moverOf returns what moves clusters of a management cluster, by a changed client.
func moverOf(ctx context.Context, instance string, change func(*rest.Config)) (*backup.Service, error) {
	config, err := configOf(instance)
	if err != nil {
		return nil, err
	}
	change(config)
	c, err := management.Connect(ctx, config, management.Options{RetryTimeout: time.Second})
	if err != nil {
		return nil, err
	}
	return backup.New(c, backup.Options{TakeOver: true})
}

// assertMoveRefused tries moves that cannot be. Nothing is written.
func assertMoveRefused(t *testing.T, key client.ObjectKey, from, to string) {
	t.Helper()
	unchanged := func(*rest.Config) {}
	weak := func(config *rest.Config) { config.Impersonate.UserName = "weak" }
	pause := func(value string) func() {
		return func() {
			kubectl(t, from, nil, "patch", "cluster", key.Name, "--type=merge", "-p", `{"spec":{"paused":`+value+`}}`)
		}
	}
	nothing := func() {}
	for name, test := range map[string]struct {
		before, after  func()
		source, target func(*rest.Config)
		want           string
	}{
		"a cluster that a user paused": {
			pause("true"), pause("null"), unchanged, unchanged,
			"cluster default/mover is paused by a user, and clusterctl would end that pause; set its spec.paused to false",
		},
		"a target without a provider": {
			func() { kubectl(t, to, nil, "delete", "crd", "devclusters.infrastructure.cluster.x-k8s.io") },
			func() { // a start brings it back
				cli(t, 0, "management", "stop", "--name", to)
				cli(t, 0, "management", "start", "--name", to)
			},
			unchanged, unchanged,
			"the management cluster that cluster default/mover is moved into has no kind DevCluster of infrastructure.cluster.x-k8s.io; install the provider that has it",
		},
		"a target that does not answer": {nothing, nothing, unchanged, func(config *rest.Config) { config.Host = "https://127.0.0.1:1" }, "connection refused"},
		"a user without the privileges": {nothing, nothing, unchanged, weak, `"weak"`},
	} {
		test.before()
		source, err := moverOf(t.Context(), from, test.source)
		if err != nil {
			t.Fatal(err)
		}
		before := specOf(t, from, key.Name)
		err = source.Move(t.Context(), key, backup.Moving{Why: "move it", Command: "TestMove"}, func(ctx context.Context) (*backup.Service, error) { return moverOf(ctx, to, test.target) })
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if diff := cmp.Diff(before, specOf(t, from, key.Name)); diff != "" {
			t.Errorf("%s: the cluster was written (-before +after):\n%s", name, diff)
		}
		test.after()
		if there := kubectl(t, to, nil, "get", "clusters", "-o", "name"); there != "" {
			t.Errorf("%s: the target has %s", name, there)
		}
	}
}

// specOf is what users write of a Cluster: its spec and annotations.
func specOf(t *testing.T, instance, name string) string {
	t.Helper()
	return kubectl(t, instance, nil, "get", "cluster", name, "-o", "jsonpath={.metadata.annotations} {.spec}")
}

// assertMoved compares what there is in a management cluster with what there was.
func assertMoved(t *testing.T, key client.ObjectKey, before map[string]string, from, to string) {
	t.Helper()
	everyone.readers.forget(from)
	everyone.readers.forget(to)
	assertNotPaused(t, to)
	if diff := cmp.Diff(before, everythingOf(t, to)); diff != "" {
		t.Errorf("what there is after the move (-before +after):\n%s", diff)
	}
	left := kubectl(t, from, nil, "get", "clusters,machines,devmachines,machinedeployments,kubeadmcontrolplanes", "-n", key.Namespace, "-o", "name")
	if left != "" {
		t.Errorf("left behind: %s", left)
	}
}

// limit ends a run after so many writes, as a loss of power does: nothing comes through after it.
type limit struct {
	mu     sync.Mutex
	writes int
	over   bool
	stop   context.CancelCauseFunc
}

var errPowerLost = errors.New("the power was lost")

func (l *limit) lets(r *http.Request) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if writes(r) && !l.over {
		if l.writes == 0 {
			l.over = true
			l.stop(errPowerLost)
		}
		l.writes--
	}
	return !l.over
}

func (l *limit) reached() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// limited is a transport with a limit.
type limited struct {
	next http.RoundTripper
	*limit
}

func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	if !l.lets(r) {
		return nil, errPowerLost
	}
	return l.next.RoundTrip(r)
}
