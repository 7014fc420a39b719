package management

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// blockingBudgets are the PodDisruptionBudgets that allow no disruption and
// select pods on nodes that the plan drains.
func (c *Client) blockingBudgets(ctx context.Context, cluster state.Cluster, p plan.Plan, warn func(string)) ([]string, error) {
	drained := drainedNodes(cluster, p)
	if len(drained) == 0 {
		return nil, nil
	}
	var pods corev1.PodList
	var budgets policyv1.PodDisruptionBudgetList
	if err := c.listInside(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Name}, &pods, &budgets); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		why := fmt.Sprintf("cluster %s/%s does not answer: %v", cluster.Namespace, cluster.Name, err)
		if refused := (*RefusedError)(nil); errors.As(err, &refused) && refused.Check == CheckPrivileges {
			why = fmt.Sprintf("the kubeconfig of cluster %s/%s is in a Secret, and you may read none", cluster.Namespace, cluster.Name)
		}
		warn("PodDisruptionBudgets were not checked: " + why)
		return nil, nil
	}
	return blocking(budgets.Items, pods.Items, drained)
}

// drainedNodes returns the nodes whose machines the plan replaces or removes, with the
// part that each belongs to. Which machines a scale-down removes is not known in
// advance, so that all of the part are returned.
func drainedNodes(cluster state.Cluster, p plan.Plan) map[string]string {
	nodes := map[string]string{}
	for _, step := range p.Steps {
		for _, name := range step.Parts() {
			part, _ := cluster.Part(name)
			for _, machine := range part.Machines {
				stays := (step.UnderWay || step.Group(name).UnderWay) && machine.Version == part.Version && !machine.Outdated && !machine.Deleting
				if machine.Node != "" && !stays {
					nodes[machine.Node] = name
				}
			}
		}
	}
	return nodes
}

// blocking are the budgets that would hold up the drain of the nodes.
func blocking(budgets []policyv1.PodDisruptionBudget, pods []corev1.Pod, drained map[string]string) ([]string, error) {
	var reasons []string
	for _, budget := range budgets {
		if budget.Status.DisruptionsAllowed > 0 || budget.Status.ObservedGeneration < budget.Generation {
			continue // there is room, or nobody has counted yet
		}
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err != nil {
			return nil, fmt.Errorf("reading the selector of PodDisruptionBudget %s/%s: %w", budget.Namespace, budget.Name, err)
		}
		if held := heldPods(budget, selector, pods, drained); len(held) > 0 {
			reasons = append(reasons, fmt.Sprintf("PodDisruptionBudget %s/%s allows no disruption now, so the drain would wait for %s; let more pods become ready, or change the budget",
				budget.Namespace, budget.Name, strings.Join(held, ", ")))
		}
	}
	slices.Sort(reasons)
	return reasons, nil
}

// maxHeld is how many pods of a budget are named.
const maxHeld = 3

func heldPods(budget policyv1.PodDisruptionBudget, selector labels.Selector, pods []corev1.Pod, drained map[string]string) []string {
	var held []string
	for _, pod := range pods {
		part, onDrained := drained[pod.Spec.NodeName]
		if onDrained && pod.Namespace == budget.Namespace && selector.Matches(labels.Set(pod.Labels)) && holds(budget, pod) {
			held = append(held, fmt.Sprintf("pod %s on node %s of %s", pod.Name, pod.Spec.NodeName, part))
		}
	}
	slices.Sort(held)
	if more := len(held) - maxHeld; more > 0 {
		held = append(held[:maxHeld], fmt.Sprintf("%d more", more))
	}
	return held
}

// holds reports whether a drain evicts the pod, and the budget is asked first.
// What Cluster API and the API server pass over is the same for all clusters.
func holds(budget policyv1.PodDisruptionBudget, pod corev1.Pod) bool {
	owner := metav1.GetControllerOf(&pod)
	_, static := pod.Annotations[corev1.MirrorPodAnnotationKey]
	skipped := strings.EqualFold(pod.Labels[clusterv1.PodDrainLabel], string(clusterv1.MachineDrainRuleDrainBehaviorSkip))
	switch {
	case static, skipped, owner != nil && owner.Kind == "DaemonSet", !pod.DeletionTimestamp.IsZero(), pod.Status.Phase != corev1.PodRunning:
		return false
	case ready(pod):
		return true
	}
	policy := budget.Spec.UnhealthyPodEvictionPolicy
	enough := budget.Status.DesiredHealthy > 0 && budget.Status.CurrentHealthy >= budget.Status.DesiredHealthy
	return !enough && (policy == nil || *policy != policyv1.AlwaysAllow)
}

func ready(pod corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// listInside lists objects of the cluster itself.
func (c *Client) listInside(ctx context.Context, key client.ObjectKey, lists ...client.ObjectList) error {
	kubeconfig, err := c.Kubeconfig(ctx, key)
	if err != nil {
		return err
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return err
	}
	config.Timeout = requestTimeout
	inside, err := client.New(config, client.Options{Scheme: c.scheme})
	if err != nil {
		return err
	}
	for _, list := range lists {
		if err := inside.List(ctx, list); err != nil {
			return err
		}
	}
	return nil
}
