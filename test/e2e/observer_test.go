package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/tools/clientcmd"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// observeEvery is how often an observer looks.
	observeEvery = 250 * time.Millisecond
	// maxLag is how many minors a node may be older than the newest API server.
	maxLag = 3
	// controlPlane is how tests call the control plane among the parts of a cluster.
	controlPlane = "control-plane"
)

// observer looks at one cluster four times a second, with a client of its own
// that knows nothing of clusterctl-x, and notes what must not be.
type observer struct {
	client  client.Client
	inSight []client.ListOption

	mu      sync.Mutex
	known   map[string]bool            // UIDs of the machines at the beginning
	created map[string]map[string]bool // part -> UIDs that came later
	asked   map[string]*version.Version
	wrong   []string
	looked  int
}

// observe looks at a cluster until the returned function is called, which fails
// the test for every moment at which something was wrong, and returns the
// machines that were created, by part.
func observe(t *testing.T, instance, namespace, cluster string) (finish func() map[string]int) {
	t.Helper()
	o := &observer{
		client:  clientOf(t, instance),
		inSight: []client.ListOption{client.InNamespace(namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: cluster}},
		created: map[string]map[string]bool{},
		asked:   map[string]*version.Version{},
	}
	if err := o.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var looking sync.WaitGroup
	looking.Go(func() { o.run(ctx) })
	t.Cleanup(func() { stop(); looking.Wait() })
	return func() map[string]int {
		t.Helper()
		stop()
		looking.Wait()
		// What happened since it looked last counts too.
		if err := o.look(t.Context()); err != nil {
			t.Error(err)
		}
		for _, wrong := range o.wrong {
			t.Error(wrong)
		}
		t.Logf("the observer of %s/%s looked %d times", namespace, cluster, o.looked)
		counts := map[string]int{}
		for part, uids := range o.created {
			counts[part] = len(uids)
		}
		return counts
	}
}

// clientOf is a client of a management cluster.
func clientOf(t *testing.T, instance string) client.Client {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(everyone.home, "embedded", instance, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	scheme := runtime.NewScheme()
	if err := errors.Join(clusterv1.AddToScheme(scheme), controlplanev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (o *observer) run(ctx context.Context) {
	ticker := time.NewTicker(observeEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			// A test may kill the API server; nobody sees anything then.
			_ = o.look(ctx)
		}
	}
}

// look reads everything once, and judges it.
func (o *observer) look(ctx context.Context) error {
	var machines clusterv1.MachineList
	var deployments clusterv1.MachineDeploymentList
	var controlPlanes controlplanev1.KubeadmControlPlaneList
	for _, list := range []client.ObjectList{&machines, &deployments, &controlPlanes} {
		if err := o.client.List(ctx, list, o.inSight...); err != nil {
			return err
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.looked++
	o.count(machines.Items)
	o.skew(machines.Items)
	for _, d := range deployments.Items {
		o.neverLower("MachineDeployment/"+d.Name, d.Spec.Template.Spec.Version)
	}
	for _, cp := range controlPlanes.Items {
		o.neverLower("KubeadmControlPlane/"+cp.Name, cp.Spec.Version)
	}
	return nil
}

func (o *observer) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(o.wrong, text) {
		o.wrong = append(o.wrong, text)
	}
}

func (o *observer) count(machines []clusterv1.Machine) {
	first := o.known == nil
	if first {
		o.known = map[string]bool{}
	}
	for _, m := range machines {
		uid, part := string(m.UID), partOf(m)
		switch {
		case first:
			o.known[uid] = true
		case !o.known[uid]:
			if o.created[part] == nil {
				o.created[part] = map[string]bool{}
			}
			o.created[part][uid] = true
		}
	}
}

// partOf is the part that a machine belongs to.
func partOf(m clusterv1.Machine) string {
	if _, ok := m.Labels[clusterv1.MachineControlPlaneLabel]; ok {
		return controlPlane
	}
	return m.Labels["clusterctl-x.io/worker-node-group"]
}

// skew compares every worker with every machine of the control plane, each with
// what it is to run and what it runs. A machine that is being deleted runs.
func (o *observer) skew(machines []clusterv1.Machine) {
	var oldest, newest *version.Version
	for _, m := range machines {
		if partOf(m) != controlPlane {
			continue
		}
		for _, v := range versionsOf(m) {
			if oldest == nil || v.LessThan(oldest) {
				oldest = v
			}
			if newest == nil || newest.LessThan(v) {
				newest = v
			}
		}
	}
	if oldest == nil {
		o.note("there was no machine of the control plane")
		return
	}
	for _, m := range machines {
		if partOf(m) == controlPlane {
			continue
		}
		for _, v := range versionsOf(m) {
			if oldest.LessThan(v) {
				o.note("Machine/%s at %s was newer than the oldest machine of the control plane, at %s", m.Name, v, oldest)
			}
			if newest.Minor() > v.Minor()+maxLag {
				o.note("Machine/%s at %s was too old beside a machine of the control plane at %s", m.Name, v, newest)
			}
		}
	}
}

// versionsOf are those of a machine and its node.
func versionsOf(m clusterv1.Machine) []*version.Version {
	texts := []string{m.Spec.Version}
	if m.Status.NodeInfo != nil {
		texts = append(texts, m.Status.NodeInfo.KubeletVersion)
	}
	var versions []*version.Version
	for _, text := range texts {
		if v, err := version.ParseSemantic(text); err == nil {
			versions = append(versions, v)
		}
	}
	return versions
}

func (o *observer) neverLower(object, text string) {
	v, err := version.ParseSemantic(text)
	if err != nil {
		o.note("%s has the version %q", object, text)
		return
	}
	if before := o.asked[object]; before != nil && v.LessThan(before) {
		o.note("%s was set from %s down to %s", object, before, v)
	}
	o.asked[object] = v
}

// upgradePlan is as much of a plan as tests look at.
type upgradePlan struct {
	From, To struct {
		ControlPlane     string
		WorkerNodeGroups map[string]string
	}
	Steps []struct {
		Kind, From, To                                   string
		MachinesReplaced, MachinesAdded, MachinesRemoved int
		WorkerNodeGroups                                 []struct {
			Name, From, To                                   string
			MachinesReplaced, MachinesAdded, MachinesRemoved int
			Changes                                          []string
		}
	}
}

// lines are the steps of a plan, one line each.
func (p upgradePlan) lines() []string {
	lines := []string{}
	for _, step := range p.Steps {
		line := step.Kind
		if step.To != "" {
			line += fmt.Sprintf(" %s->%s", step.From, step.To)
		}
		for _, group := range step.WorkerNodeGroups {
			line += fmt.Sprintf(" %s %s->%s", group.Name, group.From, group.To)
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

// machines counts those that the plan makes, by part.
func (p upgradePlan) machines() map[string]int {
	counts := map[string]int{}
	for _, step := range p.Steps {
		counts[controlPlane] += step.MachinesReplaced + step.MachinesAdded
		for _, group := range step.WorkerNodeGroups {
			counts[group.Name] += group.MachinesReplaced + group.MachinesAdded
		}
	}
	maps.DeleteFunc(counts, func(_ string, count int) bool { return count == 0 })
	return counts
}

// assertMade compares the machines that an observer counted with those of plans.
func assertMade(t *testing.T, made map[string]int, plans ...upgradePlan) {
	t.Helper()
	want := map[string]int{}
	for _, p := range plans {
		for part, count := range p.machines() {
			want[part] += count
		}
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("machines created (-plan +seen):\n%s", diff)
	}
}
