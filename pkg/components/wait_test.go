package components

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/clusterctl-x/clusterctl-x/pkg/management"
)

// unpullable returns a Deployment of a component, and its pod, whose image cannot be pulled.
func unpullable() []client.Object {
	labels := map[string]string{"app": "webhook"}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "webhook", Namespace: "ns", Labels: map[string]string{clusterctlv1.ClusterctlLabel: ""}}}
	deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "webhook-1", Namespace: "ns", Labels: labels}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "no such host"}}}}
	return []client.Object{deployment, pod}
}

const unpulled = "Deployment ns/webhook: 0 of 1 pods available; pod webhook-1: ErrImagePull: no such host"

// TestWhile: what clusterctl's library waits for is said while it does, and in its error.
func TestWhile(t *testing.T) {
	t.Parallel()
	live := fake.NewClientBuilder().WithObjects(unpullable()...).Build()
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		unreachable, err error
		said             []string
		want             string
	}{
		"it is done":       {nil, nil, []string{unpulled}, ""},
		"it fails":         {nil, broken, []string{unpulled}, "broken; the last wait was for " + unpulled},
		"nothing is known": {broken, broken, nil, "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var said []string
			looked := make(chan struct{})
			p := &progress{say: func(what string) {
				said = append(said, what)
				close(looked)
			}}
			connect := func(context.Context) (client.Client, error) {
				if test.unreachable != nil {
					close(looked)
				}
				return live, test.unreachable
			}
			err := p.while(t.Context(), connect, func() error {
				<-looked
				return test.err
			})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != test.want || !errors.Is(err, test.err) {
				t.Errorf("error %q, want %q", got, test.want)
			}
			if diff := cmp.Diff(test.said, said); diff != "" {
				t.Errorf("what was said (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnavailable: what the first Deployment that is not available waits for.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	available := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "ns", Labels: map[string]string{clusterctlv1.ClusterctlLabel: ""}}}
	available.Status = appsv1.DeploymentStatus{Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1}
	stopping := available.DeepCopy()
	stopping.Spec.Replicas = new(int32)
	foreign := available.DeepCopy()
	foreign.Labels, foreign.Status = nil, appsv1.DeploymentStatus{}
	for name, test := range map[string]struct {
		objects []client.Object
		want    string
	}{
		"all are available":                  {[]client.Object{available}, ""},
		"one is not":                         {append(unpullable(), available), unpulled},
		"clusterctl stops one to upgrade it": {[]client.Object{stopping}, "Deployment ns/a: pods left: 1"},
		"not one of the components":          {[]client.Object{foreign}, ""},
	} {
		got, err := unavailable(t.Context(), fake.NewClientBuilder().WithObjects(test.objects...).Build())
		if err != nil || got != test.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, test.want)
		}
	}
}

// TestWaitThatTimesOut: the error has what was waited for, and its cause is the timeout.
func TestWaitThatTimesOut(t *testing.T) {
	t.Parallel()
	for last, want := range map[string]string{
		unpulled: management.ErrTimeout.Error() + " waiting for " + unpulled,
		"":       management.ErrTimeout.Error() + " waiting for the components",
	} {
		ctx, end := context.WithCancelCause(t.Context())
		end(management.ErrTimeout)
		err := (&progress{last: last}).failed(ctx, ctx.Err())
		if !errors.Is(err, management.ErrTimeout) || err.Error() != want {
			t.Errorf("error %q, want %q", err, want)
		}
	}
}
