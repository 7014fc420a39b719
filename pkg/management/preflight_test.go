package management

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/owners"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// quietCluster is ns/c with two groups, all of it as wanted.
func quietCluster() state.Cluster {
	return state.Cluster{
		Name: "c", Namespace: "ns", UID: "uid", Generation: 1,
		ControlPlane:     aPart(v1alpha1.ControlPlaneName, "v1.33.1", "v1.33.1"),
		WorkerNodeGroups: []state.Part{aPart("md-0", "v1.33.1", "v1.33.1"), aPart("md-1", "v1.33.1", "v1.33.1", "v1.33.1")},
	}
}

// TestPaused: what is paused stands in the way where the plan changes it, each
// with the remedy that its kind has; a paused cluster always does.
func TestPaused(t *testing.T) {
	t.Parallel()
	const (
		annotation = " is paused, so Cluster API would do nothing: remove its annotation cluster.x-k8s.io/paused"
		field      = annotation + ", or set its spec.paused to false"
		ofCluster  = "Cluster/c is paused, so Cluster API would do nothing: set spec.paused to false"
	)
	both := []plan.Step{enginetest.Step(plan.Workers, "v1.32.1", "v1.33.1", "md-0", "md-1")}
	second := func(c *state.Cluster) { c.WorkerNodeGroups[1].Paused = true }
	tests := map[string]struct {
		change func(*state.Cluster)
		steps  []plan.Step
		want   []string
	}{
		"nothing": {func(*state.Cluster) {}, both, nil},
		"everything": {
			func(c *state.Cluster) {
				c.Paused, c.ControlPlane.Paused, c.WorkerNodeGroups[0].Paused, c.WorkerNodeGroups[1].Paused = true, true, true, true
			},
			both,
			[]string{ofCluster, "KubeadmControlPlane/c" + annotation, "MachineDeployment/c-md-0" + field, "MachineDeployment/c-md-1" + field},
		},
		"a backup that was killed": {
			func(c *state.Cluster) {
				c.Paused, c.Pause = true, &state.Pause{Why: "save it", By: "me", For: state.PauseForBackup}
			},
			nil,
			[]string{"clusterctl-x paused the cluster to save it (me, since 0001-01-01T00:00:00Z); if that was interrupted, 'clusterctl-x backup management' completes it and lifts the pause"},
		},
		"a group on its way":                   {func(c *state.Cluster) { c.Paused, c.Pause = true, &state.Pause{Why: "detach md-0"} }, nil, nil},
		"the cluster, whatever is changed":     {func(c *state.Cluster) { c.Paused = true }, nil, []string{ofCluster}},
		"the control plane":                    {func(c *state.Cluster) { c.ControlPlane.Paused = true }, both, []string{"KubeadmControlPlane/c" + annotation}},
		"a group":                              {second, both, []string{"MachineDeployment/c-md-1" + field}},
		"a group that changes in place":        {second, []plan.Step{enginetest.Concurrent(enginetest.Step(plan.InPlace, "", "", "md-1"))}, []string{"MachineDeployment/c-md-1" + field}},
		"a group that goes":                    {second, []plan.Step{enginetest.Step(plan.RemoveWorkers, "v1.33.1", "", "md-1")}, []string{"MachineDeployment/c-md-1" + field}},
		"a group, and only others are changed": {second, []plan.Step{enginetest.Step(plan.ControlPlane, "v1.32.1", "v1.33.1"), enginetest.Step(plan.Workers, "v1.32.1", "v1.33.1", "md-0")}, nil},
		"a group of another":                   {func(c *state.Cluster) { second(c); c.WorkerNodeGroups[1].Unmanaged = true }, both, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := quietCluster()
			test.change(&cluster)
			if diff := cmp.Diff(test.want, paused(cluster, plan.Plan{Steps: test.steps})); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnhealthy: what is not as wanted stands in the way, unless the plan is
// what mends it.
func TestUnhealthy(t *testing.T) {
	t.Parallel()
	controlPlane := enginetest.Step(plan.ControlPlane, "v1.33.1", "v1.34.1")
	sick := func(c *state.Cluster) { c.WorkerNodeGroups[1].Machines[1].Ready = false }
	short := func(c *state.Cluster) { c.ControlPlane.Replicas = 3 }
	const (
		mend    = "; fix it first: an upgrade takes more machines away"
		isSick  = "md-1: 1 of 2 machines ready at v1.33.1; machine md-1-b is Running and not ready yet" + mend
		isShort = "control-plane: 1 of 3 machines ready at v1.33.1" + mend
	)
	tests := map[string]struct {
		change func(*state.Cluster)
		steps  []plan.Step
		want   []string
	}{
		"well": {func(*state.Cluster) {}, []plan.Step{controlPlane}, nil},
		"no infrastructure": {
			func(c *state.Cluster) { c.Infrastructure = "no network" }, []plan.Step{controlPlane}, []string{"infrastructure: no network"},
		},
		"a machine that is not ready": {sick, []plan.Step{controlPlane}, []string{isSick}},
		"all parts, the control plane first": {
			func(c *state.Cluster) { sick(c); short(c); c.WorkerNodeGroups[0].Replicas = 0 }, []plan.Step{controlPlane},
			[]string{isShort, isSick}, // md-0 is on its way down
		},
		"the group that would move": {sick, []plan.Step{enginetest.Step(plan.Workers, "v1.33.1", "v1.34.1", "md-0", "md-1")}, []string{isSick}},
		"a rollout under way":       {sick, []plan.Step{enginetest.UnderWay(enginetest.Step(plan.Workers, "v1.32.1", "v1.33.1", "md-1")), controlPlane}, nil},
		"a rollout under way, and a later move of the same": {
			sick, []plan.Step{enginetest.UnderWay(enginetest.Step(plan.Workers, "v1.32.1", "v1.33.1", "md-1")), enginetest.Step(plan.Workers, "v1.33.1", "v1.34.1", "md-1")}, nil,
		},
		"a rollout under way of another":        {sick, []plan.Step{enginetest.UnderWay(enginetest.Step(plan.Workers, "v1.32.1", "v1.33.1", "md-0"))}, []string{isSick}},
		"a control plane under way":             {short, []plan.Step{enginetest.UnderWay(enginetest.Step(plan.ControlPlane, "v1.32.1", "v1.33.1"))}, nil},
		"a group that goes":                     {sick, []plan.Step{enginetest.Step(plan.RemoveWorkers, "v1.33.1", "", "md-1")}, nil},
		"a group that goes back":                {sick, []plan.Step{enginetest.Step(plan.Workers, "v1.33.1", "v1.32.1", "md-1")}, nil},
		"a change in place":                     {sick, []plan.Step{enginetest.Concurrent(enginetest.Step(plan.InPlace, "", "", "md-1"))}, []string{isSick}},
		"other machines, which may be the cure": {sick, []plan.Step{enginetest.Concurrent(enginetest.Step(plan.Template, "v1.33.1", "v1.33.1", "md-1"))}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := quietCluster()
			test.change(&cluster)
			if diff := cmp.Diff(test.want, unhealthy(cluster, plan.Plan{Steps: test.steps}, PreflightOptions{})); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnhealthyForOneGroup: another group is the business of another run; the control
// plane, beside which every group's machines come, is not.
func TestUnhealthyForOneGroup(t *testing.T) {
	t.Parallel()
	cluster := quietCluster()
	cluster.WorkerNodeGroups[1].Machines[1].Ready = false
	p := plan.Plan{Steps: []plan.Step{enginetest.Step(plan.Workers, "v1.33.1", "v1.34.1", "md-0")}}
	if got := unhealthy(cluster, p, PreflightOptions{Groups: []string{"md-0"}}); got != nil {
		t.Errorf("another group stands in the way: %s", got)
	}
	cluster.ControlPlane.Replicas = 3
	want := []string{"control-plane: 1 of 3 machines ready at v1.33.1; fix it first: an upgrade takes more machines away"}
	if diff := cmp.Diff(want, unhealthy(cluster, p, PreflightOptions{Groups: []string{"md-0"}})); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

// TestUnhealthyForWantOfATemplate: what a group lacks comes with the upgrade, unless one
// of its machines is unwell.
func TestUnhealthyForWantOfATemplate(t *testing.T) {
	t.Parallel()
	cluster := quietCluster()
	group := &cluster.WorkerNodeGroups[1]
	group.Machines, group.Blocked, group.Reason = group.Machines[:1], true, "no template"
	p := plan.Plan{Steps: []plan.Step{enginetest.Step(plan.ControlPlane, "v1.33.1", "v1.34.1")}}
	want := []string{"md-1: 1 of 2 machines ready at v1.33.1; no template; fix it first: an upgrade takes more machines away"}
	if diff := cmp.Diff(want, unhealthy(cluster, p, PreflightOptions{Restored: []string{"md-0"}})); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	if got := unhealthy(cluster, p, PreflightOptions{Restored: []string{"md-1"}}); got != nil {
		t.Errorf("with its template again: %s", got)
	}
	group.Machines[0].Phase = "Failed"
	if got := unhealthy(cluster, p, PreflightOptions{Restored: []string{"md-1"}}); len(got) != 1 {
		t.Errorf("with a failed machine: %s", got)
	}
}

// TestPreflight: all that is found is told at once, in the order of the checks,
// but for what is to be left out.
func TestPreflight(t *testing.T) {
	t.Parallel()
	const (
		mayNot   = "\n  privileges: the user of this kubeconfig may not delete machinedeployments.cluster.x-k8s.io in namespace ns; give it the privileges of 'clusterctl-x generate rbac'"
		isPaused = "\n  paused: Cluster/c is paused, so Cluster API would do nothing: set spec.paused to false"
		isSick   = "\n  health: infrastructure: no network"
		image    = "\n  node-image: there is none"
		head     = "cluster ns/c cannot be upgraded in its current state; --skip-preflight NAME skips a check"
	)
	bad := quietCluster()
	bad.Paused, bad.Infrastructure = true, "no network"
	rest := []string{CheckClusterAPI, CheckBudgets} // these ask for more than a fake has
	known := []plan.Finding{{Check: "node-image", Reason: "there is none"}}
	tests := map[string]struct {
		cluster state.Cluster
		known   []plan.Finding
		skip    []string
		mayNot  string // resource
		err     error  // of asking for privileges
		want    string
	}{
		"nothing":                  {cluster: quietCluster()},
		"everything":               {cluster: bad, known: known, mayNot: "machinedeployments", want: head + mayNot + isPaused + isSick + image},
		"without one":              {cluster: bad, known: known, skip: []string{CheckPaused}, want: head + isSick + image},
		"without all":              {cluster: bad, known: known, skip: append(Checks(), "node-image"), mayNot: "machinedeployments"},
		"known only":               {cluster: quietCluster(), known: known, want: head + image},
		"a check that is no check": {cluster: bad, err: errors.New("no answer"), want: "checking whether cluster ns/c can be upgraded: checking the privilege to get clusters: no answer"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := clientOf(interceptor.Funcs{Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
				review := o.(*authorizationv1.SelfSubjectAccessReview)
				asked := review.Spec.ResourceAttributes
				review.Status.Allowed = asked.Namespace == "ns" && (asked.Resource != test.mayNot || asked.Verb != "delete")
				if asked.Resource == "clusters" && asked.Verb == "get" {
					return test.err
				}
				return nil
			}})
			got := ""
			if err := c.Preflight(t.Context(), test.cluster, plan.Plan{}, PreflightOptions{Known: test.known, Skip: append(rest, test.skip...), Warn: func(text string) { t.Error(text) }}); err != nil {
				got = err.Error()
				if refused := (*PreflightError)(nil); errors.As(err, &refused) != (test.err == nil) {
					t.Errorf("error is %T", err)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Preflight (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRehearsed: each rendering once, and of the control plane what its webhook
// can judge: the first one and the one minor after it. The guardrails are not to
// judge what comes after the first step.
func TestRehearsed(t *testing.T) {
	t.Parallel()
	first := desiredAt(enginetest.Versions("v1.32.1", "md-0", "v1.32.1"))
	second := desiredAt(enginetest.Versions("v1.33.1", "md-0", "v1.32.1"))
	third := desiredAt(enginetest.Versions("v1.34.1", "md-0", "v1.32.1"))
	before := described(slices.Concat(first.All(), second.All(), third.All()))
	fourth := desiredAt(enginetest.Versions("v1.34.1", "md-0", "v1.34.1"))
	got, err := rehearsed(first.All(), []engine.Objects{second, third, third, fourth})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Cluster/c", "DevMachineTemplate/c-v1.32.1", "KubeadmControlPlane/c v1.32.1",
		"DevMachineTemplate/c-md-0-v1.32.1", "KubeadmConfigTemplate/c-md-0-v1.32.1", "MachineDeployment/c-md-0 v1.32.1", "MachineHealthCheck/c-md-0",
		"DevMachineTemplate/c-v1.33.1", "KubeadmControlPlane/c v1.33.1", "MachineDeployment/c-md-0 v1.32.1 behind v1.33.1",
		"DevMachineTemplate/c-v1.34.1", "MachineDeployment/c-md-0 v1.32.1 behind v1.34.1, unguarded",
		"DevMachineTemplate/c-md-0-v1.34.1", "KubeadmConfigTemplate/c-md-0-v1.34.1", "MachineDeployment/c-md-0 v1.34.1, unguarded",
	}
	if diff := cmp.Diff(want, described(got)); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, described(slices.Concat(first.All(), second.All(), third.All()))); diff != "" {
		t.Errorf("objects that are written later (-before +after):\n%s", diff)
	}
}

// TestDryRun: the API server is asked without a write, and its error names
// the object.
func TestDryRun(t *testing.T) {
	t.Parallel()
	stage := desiredAt(enginetest.Versions("v1.33.1", "md-0", "v1.33.1"))
	for name, force := range map[string]bool{"": false, "with force": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := make(chan string, 100)
			c := clientOf(interceptor.Funcs{Apply: func(_ context.Context, _ client.WithWatch, o runtime.ApplyConfiguration, with ...client.ApplyOption) error {
				options <- applied(append([]client.ApplyOption{&client.ApplyOptions{Force: new(false)}}, with...))
				if object := unstructuredOf(t, o); object.GetKind() == "KubeadmControlPlane" {
					return errors.New("webhook says no")
				}
				return nil
			}})
			_, err := c.DryRun(t.Context(), Writes{First: stage.All(), Takeover: owners.Takeover{All: force}})
			if want := "trying to apply KubeadmControlPlane/c: webhook says no"; err == nil || err.Error() != want {
				t.Errorf("error is %v, want %s", err, want)
			}
			close(options)
			var got []string
			for option := range options {
				got = append(got, option)
			}
			want := "apply force=false dryRun=[All] fieldOwner=clusterctl-x"
			if force {
				want = strings.Replace(want, "false", "true", 1)
			}
			if diff := cmp.Diff(slices.Repeat([]string{want}, len(stage.All())), got); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDryRunNamesAllConflicts: fields that others own are told together, each
// once, with object and owner; any other error comes before them.
func TestDryRunNamesAllConflicts(t *testing.T) {
	t.Parallel()
	owned := func(fields ...string) error {
		var causes []metav1.StatusCause
		for _, field := range fields {
			causes = append(causes, metav1.StatusCause{Type: metav1.CauseTypeFieldManagerConflict, Field: field, Message: `conflict with "kubectl"`})
		}
		return apierrors.NewApplyConflict(causes, "conflicts")
	}
	const head = "other field managers own fields that the upgrade would change; set their values in the file, or take the fields over with --force-conflicts"
	twice := []engine.Objects{desiredAt(enginetest.Versions("v1.33.1", "md-0", "v1.32.1")), desiredAt(enginetest.Versions("v1.33.1", "md-0", "v1.33.1"))}
	tests := map[string]struct {
		errs map[string]error // by Kind
		want string
		is   bool // a *ConflictError
	}{
		"none": {nil, "", false},
		"several, of several stages": {
			map[string]error{"MachineDeployment": owned(".spec.template.spec.version", ".spec.replicas"), "KubeadmControlPlane": owned(".spec.version")},
			head + "\n  KubeadmControlPlane/c spec.version: conflict with \"kubectl\"\n  MachineDeployment/c-md-0 spec.replicas: conflict with \"kubectl\"" +
				"\n  MachineDeployment/c-md-0 spec.template.spec.version: conflict with \"kubectl\"", true,
		},
		"about the annotation of the dry run too": {
			map[string]error{"MachineDeployment": owned(".metadata.annotations.clusterctl-x.io/skip-guardrails", ".spec.replicas")},
			head + "\n  MachineDeployment/c-md-0 spec.replicas: conflict with \"kubectl\"", true,
		},
		"and a webhook that says no": {
			map[string]error{"MachineDeployment": owned(".spec.replicas"), "KubeadmControlPlane": errors.New("no")}, "trying to apply KubeadmControlPlane/c: no", false,
		},
		"a conflict of another kind": {
			map[string]error{"Cluster": apierrors.NewConflict(schema.GroupResource{Resource: "clusters"}, "c", errors.New("it has changed"))},
			`trying to apply Cluster/c: Operation cannot be fulfilled on clusters "c": it has changed`, false,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := clientOf(interceptor.Funcs{
				Apply: func(_ context.Context, _ client.WithWatch, o runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
					return test.errs[unstructuredOf(t, o).GetKind()]
				},
				Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
					return nil
				},
			})
			got, is := "", false
			if _, err := c.DryRun(t.Context(), Writes{Later: twice}); err != nil {
				got, is = err.Error(), errors.As(err, new(*ConflictError))
			}
			if diff := cmp.Diff(test.want, got); diff != "" || is != test.is {
				t.Errorf("conflict is %t; error (-want +got):\n%s", is, diff)
			}
		})
	}
}

// TestUnguarded: what has a version is not judged by it before its step.
func TestUnguarded(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]bool{"Cluster": true, "KubeadmControlPlane": true, "MachineDeployment": true, "MachinePool": true, "MachineHealthCheck": false} {
		o := object(kind, "a")
		o.SetAPIVersion("cluster.x-k8s.io/v1beta2")
		if got := unguarded(o).GetAnnotations()[skipGuardrails] != ""; got != want {
			t.Errorf("%s is unguarded: %t, want %t", kind, got, want)
		}
	}
}

// described are objects by kind and name, with what tells their renderings apart.
func described(objects []*unstructured.Unstructured) []string {
	texts := make([]string, len(objects))
	for i, object := range objects {
		texts[i] = enginetest.Describe(object)
		if object.GetAnnotations()[skipGuardrails] != "" {
			texts[i] += ", unguarded"
		}
	}
	return texts
}

// TestExplainsUnhealthy: a step that did not begin is told like a preflight.
func TestExplainsUnhealthy(t *testing.T) {
	t.Parallel()
	const want = "cluster ns/c: step 2 of 2 (the control plane from v1.34.1 to v1.35.1) did not start, because the cluster was not healthy after waiting 10m0s; fix it and run the same command again, or continue as it is with --skip-preflight health" +
		"\n  health: infrastructure: no network" +
		"\n  health: md-0: 0 of 1 machines ready at v1.33.1; fix it first: an upgrade takes more machines away"
	cluster := quietCluster()
	cluster.Infrastructure = "no network"
	cluster.WorkerNodeGroups[0].Machines = nil
	steps := []plan.Step{enginetest.Step(plan.ControlPlane, "v1.33.1", "v1.34.1"), enginetest.Step(plan.ControlPlane, "v1.34.1", "v1.35.1")}
	x := newWorld(t, enginetest.Versions("v1.33.1")).run(enginetest.Plan(cluster.Versions(), cluster.Versions(), steps...))
	err := x.explain(fmt.Errorf("stopped: %w", &engine.UnhealthyError{Plan: x.Plan, Step: 1, Waited: 10 * time.Minute, Cluster: cluster, Parts: cluster.WorkerNodeGroups[:1]}))
	if unhealthy := (*PreflightError)(nil); !errors.As(err, &unhealthy) || unhealthy.Waited != 10*time.Minute {
		t.Fatalf("error is %v", err)
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	other := errors.New("other")
	if got := x.explain(other); got != other { //nolint:errorlint // unchanged
		t.Errorf("another error becomes %v", got)
	}
}
