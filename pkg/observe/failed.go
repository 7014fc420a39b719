package observe

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// readFailed reads of the machines of a cluster whose infrastructure fails in its
// bootstrap whether that is final, and whether a health check has them replaced.
func (s *snapshot) readFailed(ctx context.Context, live client.Client, failures []state.BootstrapFailure) error {
	for _, failure := range failures {
		if err := s.readFailedOf(ctx, live, failure); err != nil {
			return err
		}
	}
	return nil
}

func (s *snapshot) readFailedOf(ctx context.Context, live client.Client, failure state.BootstrapFailure) error {
	if !slices.ContainsFunc(s.machines, func(machine clusterv1.Machine) bool { return mayBeOf(failure, machine) }) {
		return nil
	}
	ofCluster := []client.ListOption{client.InNamespace(s.cluster.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: s.cluster.Name}}
	machines := &unstructured.UnstructuredList{}
	machines.SetGroupVersionKind(failure.Kind.GroupVersion().WithKind(failure.Kind.Kind + "List"))
	if err := live.List(ctx, machines, ofCluster...); apierrors.IsForbidden(err) || meta.IsNoMatchError(err) {
		return nil // the rest of the cluster can be seen all the same
	} else if err != nil {
		return fmt.Errorf("reading the %ss of cluster %s: %w", failure.Kind.Kind, s.cluster.Name, err)
	}
	var checks clusterv1.MachineHealthCheckList
	if err := live.List(ctx, &checks, client.InNamespace(s.cluster.Namespace)); err != nil {
		return fmt.Errorf("reading the MachineHealthChecks of cluster %s: %w", s.cluster.Name, err)
	}
	failed := map[string]*metav1.Condition{} // with what the machine of the provider says about itself
	for _, machine := range machines.Items {
		condition, err := conditions.UnstructuredGet(&machine, failure.Condition)
		if err != nil {
			return fmt.Errorf("reading %s/%s: %w", failure.Kind.Kind, machine.GetName(), err)
		}
		if condition == nil || condition.Status != metav1.ConditionFalse || condition.Reason != failure.Reason {
			continue
		}
		if failed[machine.GetName()], err = conditions.UnstructuredGet(&machine, clusterv1.ReadyCondition); err != nil {
			return fmt.Errorf("reading %s/%s: %w", failure.Kind.Kind, machine.GetName(), err)
		}
	}
	if s.failed == nil {
		s.failed = map[string]state.Failure{}
	}
	for _, machine := range s.machines {
		says, fails := failed[machine.Spec.InfrastructureRef.Name]
		if !mayBeOf(failure, machine) || !fails || !hasCopied(machine, says) {
			continue
		}
		s.failed[machine.Name] = state.Failed
		if covered(machine, checks.Items) {
			s.failed[machine.Name] = state.FailedRemediated
		}
	}
	return nil
}

// mayBeOf reports whether it is worth a request to ask for the machine's infrastructure: the
// summary of its conditions names the one of the failure.
func mayBeOf(f state.BootstrapFailure, machine clusterv1.Machine) bool {
	ready := meta.FindStatusCondition(machine.Status.Conditions, clusterv1.MachineInfrastructureReadyCondition)
	return machine.Spec.InfrastructureRef.GroupKind() == f.Kind.GroupKind() && ready != nil && ready.Status != metav1.ConditionTrue && strings.Contains(ready.Message, f.Condition)
}

// hasCopied reports whether a machine has what its infrastructure says about itself. Cluster API
// copies it a little later; until then the reason of the machine is an old one.
func hasCopied(machine clusterv1.Machine, says *metav1.Condition) bool {
	ready := meta.FindStatusCondition(machine.Status.Conditions, clusterv1.MachineInfrastructureReadyCondition)
	return says == nil || ready != nil && ready.Message == says.Message
}

// covered reports whether a health check of the cluster selects a machine.
func covered(machine clusterv1.Machine, checks []clusterv1.MachineHealthCheck) bool {
	return slices.ContainsFunc(checks, func(check clusterv1.MachineHealthCheck) bool {
		selector, err := metav1.LabelSelectorAsSelector(&check.Spec.Selector)
		return err == nil && check.Spec.ClusterName == machine.Spec.ClusterName && selector.Matches(labels.Set(machine.Labels))
	})
}
