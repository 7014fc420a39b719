package management

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// budget selects the pods of app x in namespace web, and allows none to go.
func budget(change func(*policyv1.PodDisruptionBudget)) policyv1.PodDisruptionBudget {
	b := policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "b", Generation: 2},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}},
		Status:     policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 2, DesiredHealthy: 2, CurrentHealthy: 1},
	}
	if change != nil {
		change(&b)
	}
	return b
}

// pod is one of app x that runs on node n0.
func pod(name string, changes ...func(*corev1.Pod)) corev1.Pod {
	p := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: name, Labels: map[string]string{"app": "x"}},
		Spec:       corev1.PodSpec{NodeName: "n0"},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
	for _, change := range changes {
		change(&p)
	}
	return p
}

func TestBlockingBudgets(t *testing.T) {
	t.Parallel()
	drained := map[string]string{"n0": "md-0", "n1": "control-plane"}
	const held = "PodDisruptionBudget web/b allows no disruption now, so the drain would wait for %s; let more pods become ready, or change the budget"
	because := func(pods string) []string { return []string{fmt.Sprintf(held, pods)} }
	const first = "pod a on node n0 of md-0"
	with := func(change func(*policyv1.PodDisruptionBudget)) []policyv1.PodDisruptionBudget {
		return []policyv1.PodDisruptionBudget{budget(change)}
	}
	none := func(*corev1.Pod) {}
	unready := func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }
	ownedBy := func(kind string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: "o", Controller: new(true)}}
		}
	}
	phase := func(phase corev1.PodPhase) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Status.Phase = phase }
	}
	policy := func(policy policyv1.UnhealthyPodEvictionPolicyType, healthy int32) func(*policyv1.PodDisruptionBudget) {
		return func(b *policyv1.PodDisruptionBudget) {
			b.Spec.UnhealthyPodEvictionPolicy, b.Status.CurrentHealthy = &policy, healthy
		}
	}
	tests := map[string]struct {
		budget func(*policyv1.PodDisruptionBudget)
		pod    func(*corev1.Pod)
		want   []string
	}{
		"allows none":            {nil, none, because(first)},
		"allows one":             {func(b *policyv1.PodDisruptionBudget) { b.Status.DisruptionsAllowed = 1 }, none, nil},
		"is not counted yet":     {func(b *policyv1.PodDisruptionBudget) { b.Status.ObservedGeneration = 1 }, none, nil},
		"of another namespace":   {func(b *policyv1.PodDisruptionBudget) { b.Namespace = "db" }, none, nil},
		"selects others":         {nil, func(p *corev1.Pod) { p.Labels["app"] = "y" }, nil},
		"selects none":           {func(b *policyv1.PodDisruptionBudget) { b.Spec.Selector = nil }, none, nil},
		"selects all":            {func(b *policyv1.PodDisruptionBudget) { b.Spec.Selector = &metav1.LabelSelector{} }, func(p *corev1.Pod) { p.Labels = nil }, because(first)},
		"node that stays":        {nil, func(p *corev1.Pod) { p.Spec.NodeName = "n2" }, nil},
		"pod without a node":     {nil, func(p *corev1.Pod) { p.Spec.NodeName = "" }, nil},
		"node of another part":   {nil, func(p *corev1.Pod) { p.Spec.NodeName = "n1" }, because("pod a on node n1 of control-plane")},
		"pod of a ReplicaSet":    {nil, ownedBy("ReplicaSet"), because(first)},
		"pod of a DaemonSet":     {nil, ownedBy("DaemonSet"), nil},
		"static pod":             {nil, func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: ""} }, nil},
		"pod that is left alone": {nil, func(p *corev1.Pod) { p.Labels["cluster.x-k8s.io/drain"] = "skip" }, nil},
		"pod that goes": {nil, func(p *corev1.Pod) {
			p.DeletionTimestamp = &metav1.Time{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
		}, nil},
		"pod that is done":                               {nil, phase(corev1.PodSucceeded), nil},
		"pod that failed":                                {nil, phase(corev1.PodFailed), nil},
		"pod that did not start":                         {nil, phase(corev1.PodPending), nil},
		"pod that is not ready":                          {nil, unready, because(first)},
		"not ready, and the others are enough":           {policy(policyv1.IfHealthyBudget, 2), unready, nil},
		"not ready, and the others are not enough":       {policy(policyv1.IfHealthyBudget, 1), unready, because(first)},
		"ready, and just enough":                         {policy(policyv1.IfHealthyBudget, 2), none, because(first)},
		"not ready, and none is wanted":                  {func(b *policyv1.PodDisruptionBudget) { b.Status.DesiredHealthy = 0 }, unready, because(first)},
		"not ready, and such pods may always be evicted": {policy(policyv1.AlwaysAllow, 1), unready, nil},
		"ready, and such pods may always be evicted":     {policy(policyv1.AlwaysAllow, 1), none, because(first)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := blocking(with(test.budget), []corev1.Pod{pod("a", test.pod)}, drained)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("many", func(t *testing.T) {
		t.Parallel()
		other := budget(func(b *policyv1.PodDisruptionBudget) { b.Namespace = "app" })
		inApp := func(p *corev1.Pod) { p.Namespace = "app" }
		got, err := blocking([]policyv1.PodDisruptionBudget{budget(nil), other}, []corev1.Pod{
			pod("e"), pod("b"), pod("a"), pod("d"), pod("c"), pod("c", inApp), pod("a", inApp), pod("b", inApp),
		}, drained)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			"PodDisruptionBudget app/b allows no disruption now, so the drain would wait for pod a on node n0 of md-0, pod b on node n0 of md-0, pod c on node n0 of md-0; let more pods become ready, or change the budget",
			"PodDisruptionBudget web/b allows no disruption now, so the drain would wait for pod a on node n0 of md-0, pod b on node n0 of md-0, pod c on node n0 of md-0, 2 more; let more pods become ready, or change the budget",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("reasons (-want +got):\n%s", diff)
		}
	})
	t.Run("selector that cannot be read", func(t *testing.T) {
		t.Parallel()
		_, err := blocking(with(func(b *policyv1.PodDisruptionBudget) { b.Spec.Selector.MatchLabels["app"] = "no label!" }), nil, drained)
		if err == nil {
			t.Error("no error")
		}
	})
}

// aPart has machines, of each of which the version is given; a plus marks one
// that is of former templates.
func aPart(name, version string, machines ...string) state.Part {
	object := "MachineDeployment/c-" + name
	if name == v1alpha1.ControlPlaneName {
		object = "KubeadmControlPlane/c"
	}
	part := state.Part{Name: name, Object: object, Generation: 1, Version: v1alpha1.MustParseVersion(version), Replicas: len(machines), Settled: true}
	for i, text := range machines {
		outdated := text[len(text)-1] == '+'
		if outdated {
			text = text[:len(text)-1]
		}
		v, machine := v1alpha1.MustParseVersion(text), name+"-"+string(rune('a'+i))
		part.Machines = append(part.Machines, state.Machine{Name: machine, Phase: "Running", Version: v, Kubelet: v, Node: machine, Ready: true, Outdated: outdated})
	}
	return part
}

func TestDrainedNodes(t *testing.T) {
	t.Parallel()
	rolling := aPart("md-2", "v1.34.1", "v1.34.1", "v1.33.1", "v1.34.1+", "v1.34.1")
	rolling.Machines[3].Deleting = true
	unborn := aPart("md-3", "v1.33.1", "v1.33.1", "v1.33.1")
	unborn.Machines[0].Node = ""
	cluster := state.Cluster{
		ControlPlane:     aPart(v1alpha1.ControlPlaneName, "v1.33.1", "v1.33.1"),
		WorkerNodeGroups: []state.Part{aPart("md-0", "v1.33.1", "v1.33.1", "v1.33.1"), aPart("md-1", "v1.33.1", "v1.33.1"), rolling, unborn},
	}
	tests := map[string]struct {
		steps []plan.Step
		want  map[string]string
	}{
		"none":          {nil, map[string]string{}},
		"in place":      {[]plan.Step{enginetest.Concurrent(enginetest.Step(plan.InPlace, "", "", "md-0")), enginetest.Concurrent(enginetest.Step(plan.InPlace, "", ""))}, map[string]string{}},
		"new group":     {[]plan.Step{enginetest.Step(plan.CreateWorkers, "", "v1.34.1", "new")}, map[string]string{}},
		"control plane": {[]plan.Step{enginetest.Step(plan.ControlPlane, "v1.33.1", "v1.34.1")}, map[string]string{"control-plane-a": "control-plane"}},
		"its templates": {[]plan.Step{enginetest.Step(plan.Template, "v1.33.1", "v1.33.1")}, map[string]string{"control-plane-a": "control-plane"}},
		"a group":       {[]plan.Step{enginetest.Step(plan.Workers, "v1.33.1", "v1.34.1", "md-0")}, map[string]string{"md-0-a": "md-0", "md-0-b": "md-0"}},
		"two groups, other templates and none any more": {
			[]plan.Step{enginetest.Concurrent(enginetest.Step(plan.Template, "v1.33.1", "v1.33.1", "md-1")), enginetest.Step(plan.RemoveWorkers, "v1.33.1", "", "md-0")},
			map[string]string{"md-0-a": "md-0", "md-0-b": "md-0", "md-1-a": "md-1"},
		},
		"machine without a node":                      {[]plan.Step{enginetest.Step(plan.Workers, "v1.33.1", "v1.34.1", "md-3")}, map[string]string{"md-3-b": "md-3"}},
		"under way: what is new stays":                {[]plan.Step{enginetest.UnderWay(enginetest.Step(plan.Workers, "v1.33.1", "v1.34.1", "md-2"))}, map[string]string{"md-2-b": "md-2", "md-2-c": "md-2", "md-2-d": "md-2"}},
		"under way, and later to a version after all": {[]plan.Step{enginetest.UnderWay(enginetest.Step(plan.Workers, "v1.33.1", "v1.34.1", "md-2")), enginetest.Step(plan.Workers, "v1.34.1", "v1.35.1", "md-2")}, map[string]string{"md-2-a": "md-2", "md-2-b": "md-2", "md-2-c": "md-2", "md-2-d": "md-2"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := drainedNodes(cluster, plan.Plan{Steps: test.steps})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestBudgetsThatCannotBeLookedAt: a cluster that does not let itself be asked
// is a warning; a command that was stopped is not.
func TestBudgetsThatCannotBeLookedAt(t *testing.T) {
	t.Parallel()
	type result struct {
		Err      string
		Warnings []string
		Asked    bool
	}
	ended, end := context.WithCancel(t.Context())
	end()
	tests := map[string]struct {
		ctx  context.Context
		plan plan.Plan
		want result
	}{
		"nothing is drained": {t.Context(), plan.Plan{}, result{}},
		"no answer": {t.Context(), plan.Plan{Steps: []plan.Step{enginetest.Step(plan.ControlPlane, "v1.33.1", "v1.34.1")}}, result{
			Asked: true, Warnings: []string{"PodDisruptionBudgets were not checked: cluster ns/c does not answer: reading cluster ns/c: no answer"},
		}},
		"stopped": {ended, plan.Plan{Steps: []plan.Step{enginetest.Step(plan.ControlPlane, "v1.33.1", "v1.34.1")}}, result{
			Asked: true, Err: "interrupted while reading cluster ns/c: no answer (context canceled); run the same command again to continue",
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got result
			c := clientOf(interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				got.Asked = true
				return errors.New("no answer")
			}})
			cluster := state.Cluster{Namespace: "ns", Name: "c", ControlPlane: aPart(v1alpha1.ControlPlaneName, "v1.33.1", "v1.33.1")}
			_, err := c.blockingBudgets(test.ctx, cluster, test.plan, func(text string) { got.Warnings = append(got.Warnings, text) })
			if err != nil {
				got.Err = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("looking (-want +got):\n%s", diff)
			}
		})
	}
}
