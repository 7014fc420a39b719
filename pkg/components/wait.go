package components

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/management"
)

// progress says what is waited for, whenever that changes.
type progress struct {
	say  func(what string)
	last string
}

func (p *progress) report(what string) {
	if what != "" && what != p.last {
		p.last = what
		p.say(what)
	}
}

// failed adds what was waited for last to an error, which may be nil.
func (p *progress) failed(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	switch {
	case err != nil && errors.Is(cause, management.ErrTimeout):
		return fmt.Errorf("%w waiting for %s", cause, cmp.Or(p.last, "the components"))
	case err != nil && p.last != "":
		return fmt.Errorf("%w; the last wait was for %s", err, p.last)
	default:
		return err
	}
}

// poll is how often the components are looked at.
const poll = time.Second

// while reports which Deployments are not available until something is done: the library of
// clusterctl waits for those of cert-manager without a word.
func (p *progress) while(ctx context.Context, connect func(context.Context) (client.Client, error), do func() error) error {
	watched, stop := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		var live client.Client
		wait.UntilWithContext(watched, func(ctx context.Context) {
			var err error
			if live == nil {
				if live, err = connect(ctx); err != nil {
					return // do has an error then
				}
			}
			if what, err := unavailable(ctx, live); err == nil {
				p.report(what)
			}
		}, poll)
	})
	err := do()
	stop()
	watching.Wait()
	return p.failed(ctx, err)
}

// waitAvailable waits until all Deployments of the components are available and their webhooks
// answer.
func (c *Client) waitAvailable(ctx context.Context, p *progress) error {
	live, err := c.cluster.Proxy().NewClient(ctx)
	if err != nil {
		return fmt.Errorf("connecting to the management cluster: %w", err)
	}
	err = wait.PollUntilContextCancel(ctx, poll, true, func(ctx context.Context) (bool, error) {
		what, err := unavailable(ctx, live)
		if err == nil && what == "" {
			what, err = unanswered(ctx, live)
		}
		p.report(what)
		return err == nil && what == "", err
	})
	return p.failed(ctx, err)
}

// unavailable names the first Deployment of a component that is not available, with the reason;
// empty where all are.
func unavailable(ctx context.Context, live client.Client) (string, error) {
	var deployments appsv1.DeploymentList
	if err := live.List(ctx, &deployments, client.HasLabels{clusterctlv1.ClusterctlLabel}); err != nil {
		return "", fmt.Errorf("listing the Deployments of the components: %w", err)
	}
	slices.SortFunc(deployments.Items, func(a, b appsv1.Deployment) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, deployment := range deployments.Items {
		if available(deployment) {
			continue
		}
		what := fmt.Sprintf("Deployment %s/%s: ", deployment.Namespace, deployment.Name)
		if wanted(deployment) == 0 { // clusterctl upgrades it
			return what + fmt.Sprintf("pods left: %d", deployment.Status.Replicas), nil
		}
		reason, err := podReason(ctx, live, deployment)
		if err != nil {
			return "", err
		}
		what += fmt.Sprintf("%d of %d pods available", deployment.Status.AvailableReplicas, wanted(deployment))
		if reason != "" {
			what += "; " + reason
		}
		return what, nil
	}
	return "", nil
}

func wanted(deployment appsv1.Deployment) int32 {
	if deployment.Spec.Replicas == nil {
		return 1
	}
	return *deployment.Spec.Replicas
}

// available reports whether all pods of the latest generation of a Deployment are available.
func available(deployment appsv1.Deployment) bool {
	status, replicas := deployment.Status, wanted(deployment)
	return status.ObservedGeneration == deployment.Generation && status.UpdatedReplicas == replicas && status.AvailableReplicas == replicas && status.Replicas == replicas
}

// podReason is why a pod of a Deployment does not run, in the words of the scheduler or the
// kubelet; empty where none says.
func podReason(ctx context.Context, live client.Client, deployment appsv1.Deployment) (string, error) {
	selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
	if err != nil {
		return "", fmt.Errorf("reading the selector of Deployment %s/%s: %w", deployment.Namespace, deployment.Name, err)
	}
	var pods corev1.PodList
	if err := live.List(ctx, &pods, client.InNamespace(deployment.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return "", fmt.Errorf("listing the pods of Deployment %s/%s: %w", deployment.Namespace, deployment.Name, err)
	}
	for _, pod := range pods.Items {
		for _, container := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			if waiting := container.State.Waiting; waiting != nil && waiting.Message != "" {
				return fmt.Sprintf("pod %s: %s: %s", pod.Name, waiting.Reason, waiting.Message), nil
			}
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
				return fmt.Sprintf("pod %s: %s: %s", pod.Name, condition.Reason, condition.Message), nil
			}
		}
	}
	return "", nil
}
