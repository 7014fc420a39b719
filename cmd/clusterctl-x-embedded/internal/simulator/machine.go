package simulator

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/finalizers"
)

// machineReconciler plays the controller of one kind of infrastructure machines.
type machineReconciler struct {
	client.Client
	kind    schema.GroupVersionKind
	servers *servers
}

func (r *machineReconciler) setup(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).
		Named(strings.ToLower(r.kind.GroupKind().String())).
		For(newObject(r.kind)).
		Watches(&clusterv1.Machine{}, handler.EnqueueRequestsFromMapFunc(util.MachineToInfrastructureMapFunc(r.kind))).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(r.machinesOf)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 10}).
		Complete(r)
}

// machinesOf names the infrastructure machines of a cluster.
func (r *machineReconciler) machinesOf(ctx context.Context, cluster client.Object) []reconcile.Request {
	var machines clusterv1.MachineList
	if err := r.List(ctx, &machines, client.InNamespace(cluster.GetNamespace()), client.MatchingLabels{clusterv1.ClusterNameLabel: cluster.GetName()}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "listing the machines of a cluster", "cluster", client.ObjectKeyFromObject(cluster))
		return nil
	}
	var requests []reconcile.Request
	for _, machine := range machines.Items {
		if ref := machine.Spec.InfrastructureRef; ref.GroupKind() == r.kind.GroupKind() {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKey{Namespace: machine.Namespace, Name: ref.Name}})
		}
	}
	return requests
}

// Reconcile makes an infrastructure machine a node of its workload cluster, or removes it.
func (r *machineReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	object := newObject(r.kind)
	if err := r.Get(ctx, request.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	cluster := &clusterv1.Cluster{}
	if err := r.Get(ctx, clusterOf(object), cluster); client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, fmt.Errorf("reading the Cluster of %s %s: %w", r.kind.Kind, request, err)
	}
	machine, err := util.GetOwnerMachine(ctx, r.Client, metadataOf(object))
	switch {
	case client.IgnoreNotFound(err) != nil:
		return ctrl.Result{}, fmt.Errorf("reading the Machine of %s %s: %w", r.kind.Kind, request, err)
	case annotations.IsPaused(cluster, object):
		return ctrl.Result{}, nil
	case object.GetDeletionTimestamp() != nil:
		return ctrl.Result{}, r.remove(ctx, object)
	case machine == nil, machine.Spec.Bootstrap.DataSecretName == nil, !ptr.Deref(cluster.Status.Initialization.InfrastructureProvisioned, false):
		return ctrl.Result{}, nil // each comes with an event
	}
	return ctrl.Result{}, r.provide(ctx, cluster, machine, object)
}

func (r *machineReconciler) provide(ctx context.Context, cluster *clusterv1.Cluster, machine *clusterv1.Machine, object *unstructured.Unstructured) error {
	if _, err := finalizers.EnsureFinalizer(ctx, r.Client, object, finalizer); err != nil {
		return fmt.Errorf("adding the finalizer of %s %s: %w", r.kind.Kind, client.ObjectKeyFromObject(object), err)
	}
	n := node{
		name: object.GetName(), version: machine.Spec.Version, controlPlane: util.IsControlPlaneMachine(machine),
		providerID: fmt.Sprintf("simulated:///%s/%s", object.GetNamespace(), object.GetName()),
	}
	if err := patchSpec(ctx, r.Client, object, fields{"spec.providerID": n.providerID}); err != nil {
		return err
	}
	err := patchStatus(ctx, r.Client, object, fields{
		// What contract v1beta1 asks for, and v1beta2.
		"status.ready": true, "status.initialization.provisioned": true,
		"status.addresses": []any{
			map[string]any{"type": "InternalIP", "address": host},
			map[string]any{"type": "Hostname", "address": n.name},
		},
	})
	if err != nil {
		return err
	}
	dns, err := r.dnsOf(ctx, cluster)
	if err != nil {
		return err
	}
	key := client.ObjectKeyFromObject(cluster)
	// After a start the machine may come before its cluster.
	if _, err := r.servers.serve(ctx, cluster, cluster.Spec.ControlPlaneEndpoint.Port, nil); err != nil {
		return err
	}
	return r.servers.join(ctx, key, n, dns)
}

// dnsOf is how kubeadm was told to run CoreDNS.
func (r *machineReconciler) dnsOf(ctx context.Context, cluster *clusterv1.Cluster) (bootstrapv1.DNS, error) {
	ref := cluster.Spec.ControlPlaneRef
	if ref.Kind != "KubeadmControlPlane" {
		return bootstrapv1.DNS{}, nil
	}
	var controlPlane controlplanev1.KubeadmControlPlane
	if err := r.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: ref.Name}, &controlPlane); err != nil {
		return bootstrapv1.DNS{}, fmt.Errorf("reading the control plane of %s: %w", client.ObjectKeyFromObject(cluster), err)
	}
	return controlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS, nil
}

func (r *machineReconciler) remove(ctx context.Context, object *unstructured.Unstructured) error {
	if err := r.servers.leave(ctx, clusterOf(object), object.GetName()); err != nil {
		return err
	}
	return removeFinalizer(ctx, r.Client, object)
}
