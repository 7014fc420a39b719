package management

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/observe"
)

// Objects returns the objects that describe a cluster: the Cluster, what it refers to, its
// groups and health checks, and the templates of their machines, each once. What a reference
// names and is not there is left out.
func (c *Client) Objects(ctx context.Context, key client.ObjectKey) ([]*unstructured.Unstructured, error) {
	return c.objects(ctx, key, []string{"MachineDeployment", "MachinePool", "MachineHealthCheck"}, func(object *unstructured.Unstructured) [][]string {
		if object.GetKind() == clusterv1.ClusterKind {
			return [][]string{{"spec", "infrastructureRef"}, controlPlaneRef()}
		}
		return changes.References(object.GetKind())
	})
}

// VersionedObjects are the objects of a cluster that have its versions, as the API server has
// them, and the templates that its machines are made from.
type VersionedObjects struct {
	Cluster, ControlPlane *unstructured.Unstructured
	// ByName are the MachineDeployments, MachinePools and templates of the infrastructure,
	// by Kind/name.
	ByName map[string]*unstructured.Unstructured
}

// VersionedObjects reads the objects of a cluster that have its versions. A cluster without
// a control plane is an error.
func (c *Client) VersionedObjects(ctx context.Context, key client.ObjectKey) (VersionedObjects, error) {
	versioned := VersionedObjects{ByName: map[string]*unstructured.Unstructured{}}
	objects, err := c.objects(ctx, key, []string{"MachineDeployment", "MachinePool"}, func(object *unstructured.Unstructured) [][]string {
		if object.GetKind() == clusterv1.ClusterKind {
			return [][]string{controlPlaneRef()}
		}
		path := changes.MachineTemplate(object)
		if kind, _, refers := changes.Referred(object, path); !refers || !changes.IsTemplate(kind.Kind) {
			return nil
		}
		return [][]string{path}
	})
	if err != nil {
		return versioned, err
	}
	versioned.Cluster = objects[0]
	for _, object := range objects[1:] {
		versioned.ByName[changes.ObjectName(object)] = object
	}
	kind, name, _ := changes.Referred(versioned.Cluster, controlPlaneRef())
	if versioned.ControlPlane = versioned.ByName[kind.Kind+"/"+name]; versioned.ControlPlane == nil {
		return versioned, fmt.Errorf("the control plane %s/%s of cluster %s: %w", kind.Kind, name, key, ErrNotFound)
	}
	return versioned, nil
}

func controlPlaneRef() []string { return []string{"spec", "controlPlaneRef"} }

// objects returns a Cluster, the objects of some kinds that belong to it, and behind them
// those that these refer to at some paths, each once.
func (c *Client) objects(ctx context.Context, key client.ObjectKey, kinds []string, references func(*unstructured.Unstructured) [][]string) ([]*unstructured.Unstructured, error) {
	cluster := &unstructured.Unstructured{}
	cluster.SetGroupVersionKind(clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind))
	if err := c.Get(ctx, key, cluster); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("cluster %s: %w; 'clusterctl-x get clusters -A' lists the ones there are", key, ErrNotFound)
		}
		return nil, c.explain(ctx, fmt.Errorf("reading cluster %s: %w", key, err))
	}
	objects := []*unstructured.Unstructured{cluster}
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(clusterv1.GroupVersion.WithKind(kind + "List"))
		if err := c.List(ctx, list, client.InNamespace(key.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: key.Name}); err != nil {
			return nil, c.explain(ctx, fmt.Errorf("listing every %s of cluster %s: %w", kind, key, err))
		}
		for i := range list.Items {
			objects = append(objects, &list.Items[i])
		}
	}
	known := map[string]bool{}
	for i := 0; i < len(objects); i++ { // what they refer to is added behind them
		for _, path := range references(objects[i]) {
			kind, name, refers := changes.Referred(objects[i], path)
			called := kind.Kind + "/" + name
			if !refers || known[called] {
				continue
			}
			known[called] = true
			referred, err := observe.Referred(ctx, c, key.Namespace, kind, name)
			if client.IgnoreNotFound(err) != nil {
				return nil, c.explain(ctx, fmt.Errorf("reading %s of cluster %s: %w", called, key, err))
			}
			if err == nil {
				objects = append(objects, referred)
			}
		}
	}
	return objects, nil
}
