package simulator

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/finalizers"
)

// clusterReconciler plays the controller of one kind of infrastructure clusters.
type clusterReconciler struct {
	client.Client
	kind    schema.GroupVersionKind
	servers *servers
}

func (r *clusterReconciler) setup(ctx context.Context, manager ctrl.Manager) error {
	object := newObject(r.kind)
	return ctrl.NewControllerManagedBy(manager).
		Named(strings.ToLower(r.kind.GroupKind().String())).
		For(object).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(util.ClusterToInfrastructureMapFunc(ctx, r.kind, r.Client, object))).
		Complete(r)
}

// Reconcile serves the workload cluster of an infrastructure cluster, or removes it.
func (r *clusterReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	object := newObject(r.kind)
	if err := r.Get(ctx, request.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	cluster, err := util.GetOwnerCluster(ctx, r.Client, metadataOf(object))
	switch {
	case client.IgnoreNotFound(err) != nil:
		return ctrl.Result{}, fmt.Errorf("reading the Cluster of %s %s: %w", r.kind.Kind, request, err)
	case cluster != nil && annotations.IsPaused(cluster, object):
		return ctrl.Result{}, nil
	case object.GetDeletionTimestamp() != nil:
		return ctrl.Result{}, r.remove(ctx, object)
	case cluster == nil: // Cluster API makes the Cluster its owner, which is an event
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, r.provide(ctx, cluster, object)
}

func (r *clusterReconciler) provide(ctx context.Context, cluster *clusterv1.Cluster, object *unstructured.Unstructured) error {
	if _, err := finalizers.EnsureFinalizer(ctx, r.Client, object, finalizer); err != nil {
		return fmt.Errorf("adding the finalizer of %s %s: %w", r.kind.Kind, client.ObjectKeyFromObject(object), err)
	}
	port, err := givenPort(cluster, object)
	if err != nil {
		return err
	}
	taken, err := r.takenPorts(ctx)
	if err != nil {
		return err
	}
	port, err = r.servers.serve(ctx, cluster, port, taken)
	if err != nil {
		return err
	}
	if err := patchSpec(ctx, r.Client, object, fields{"spec.controlPlaneEndpoint.host": host, "spec.controlPlaneEndpoint.port": int64(port)}); err != nil {
		return err
	}
	// What contract v1beta1 asks for, and v1beta2.
	return patchStatus(ctx, r.Client, object, fields{"status.ready": true, "status.initialization.provisioned": true})
}

// givenPort is the port of the endpoint that users, or an earlier run of this program,
// gave a cluster; 0 where there is none.
func givenPort(cluster *clusterv1.Cluster, object *unstructured.Unstructured) (int32, error) {
	var endpoint clusterv1.APIEndpoint
	if err := util.UnstructuredUnmarshalField(object, &endpoint, "spec", "controlPlaneEndpoint"); err != nil || endpoint.Host == "" {
		endpoint = cluster.Spec.ControlPlaneEndpoint
	}
	if endpoint.Host != "" && endpoint.Host != host {
		return 0, fmt.Errorf("%s %s has the endpoint %s: simulated clusters are served on %s", object.GetKind(), client.ObjectKeyFromObject(object), endpoint.Host, host)
	}
	return endpoint.Port, nil
}

// takenPorts are those of all clusters, also of such as are not served yet after a start.
func (r *clusterReconciler) takenPorts(ctx context.Context) (map[int32]bool, error) {
	var clusters clusterv1.ClusterList
	if err := r.List(ctx, &clusters); err != nil {
		return nil, fmt.Errorf("listing the ports of clusters: %w", err)
	}
	taken := map[int32]bool{}
	for _, cluster := range clusters.Items {
		taken[cluster.Spec.ControlPlaneEndpoint.Port] = true
	}
	return taken, nil
}

func (r *clusterReconciler) remove(ctx context.Context, object *unstructured.Unstructured) error {
	if err := r.servers.remove(clusterOf(object)); err != nil {
		return err
	}
	return removeFinalizer(ctx, r.Client, object)
}

func removeFinalizer(ctx context.Context, c client.Client, object *unstructured.Unstructured) error {
	original := object.DeepCopy()
	if !controllerutil.RemoveFinalizer(object, finalizer) {
		return nil
	}
	if err := c.Patch(ctx, object, client.MergeFrom(original)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing the finalizer of %s %s: %w", object.GetKind(), client.ObjectKeyFromObject(object), err)
	}
	return nil
}
