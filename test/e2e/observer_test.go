package e2e_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/test/observer"
)

// controlPlane is how tests call the control plane among the parts of a cluster.
const controlPlane = observer.ControlPlane

// observe looks at a cluster until the returned function is called, which fails
// the test for everything that was wrong, and returns the machines that were
// created, by part.
func observe(t *testing.T, instance, namespace, cluster string) (finish func() map[string]int) {
	t.Helper()
	report := observeAll(t, instance, namespace, cluster)
	return func() map[string]int {
		t.Helper()
		return report().Created
	}
}

// observeAll is observe for tests that look at more than the machines.
func observeAll(t *testing.T, instance, namespace, cluster string) (finish func() observer.Report) {
	t.Helper()
	o, err := observer.Start(t.Context(), clientOf(t, instance), client.ObjectKey{Namespace: namespace, Name: cluster})
	if err != nil {
		t.Fatal(err)
	}
	return func() observer.Report {
		t.Helper()
		seen, err := o.Stop(t.Context())
		if err != nil {
			t.Error(err)
		}
		for _, wrong := range seen.Wrong {
			t.Error(wrong)
		}
		t.Logf("the observer of %s/%s looked %d times", namespace, cluster, seen.Looked)
		return seen
	}
}

// clientOf is a client of a management cluster.
func clientOf(t *testing.T, instance string) client.Client {
	t.Helper()
	config, err := configOf(instance)
	if err != nil {
		t.Fatal(err)
	}
	c, err := observer.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
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
