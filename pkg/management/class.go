package management

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Class returns a ClusterClass with its templates, and false if there is none.
func (c *Client) Class(ctx context.Context, key client.ObjectKey) (topology.Class, bool, error) {
	class, exists, err := c.ClassAlone(ctx, key)
	if err != nil || !exists {
		return class, exists, err
	}
	class.Templates, err = c.Templates(ctx, class.ClusterClass, nil)
	if missing := (*topology.MissingError)(nil); errors.As(err, &missing) {
		err = &RefusedError{Check: "class-template-missing", Reason: missing.Error()}
	}
	return class, true, err
}

// ClassAlone returns a ClusterClass without its templates, and false where there
// is none.
func (c *Client) ClassAlone(ctx context.Context, key client.ObjectKey) (topology.Class, bool, error) {
	var class clusterv1.ClusterClass
	err := c.Get(ctx, key, &class)
	if apierrors.IsNotFound(err) {
		return topology.Class{}, false, nil
	}
	if err != nil {
		return topology.Class{}, false, c.explain(ctx, fmt.Errorf("reading ClusterClass %s: %w", key, err))
	}
	// Cluster API may not have seen the latest change of it yet.
	return topology.Class{ClusterClass: topology.WithStatus(&class)}, true, nil
}

// LiveCluster returns the Cluster object itself.
func (c *Client) LiveCluster(ctx context.Context, key client.ObjectKey) (*clusterv1.Cluster, error) {
	var cluster clusterv1.Cluster
	if err := c.Get(ctx, key, &cluster); err != nil {
		return nil, c.explain(ctx, fmt.Errorf("reading cluster %s: %w", key, err))
	}
	return &cluster, nil
}

// TryCluster returns what the API server would make of a Cluster that is applied:
// with what others own of it, and the defaults of its variables. It writes
// nothing.
func (c *Client) TryCluster(ctx context.Context, object *unstructured.Unstructured) (*clusterv1.Cluster, error) {
	tried := object.DeepCopy()
	if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(tried), FieldOwner, client.ForceOwnership, client.DryRunAll); err != nil {
		return nil, c.explain(ctx, fmt.Errorf("trying to apply %s: %w", changes.ObjectName(object), err))
	}
	var cluster clusterv1.Cluster
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(tried.Object, &cluster); err != nil {
		return nil, fmt.Errorf("reading what the API server makes of the Cluster: %w", err)
	}
	return &cluster, nil
}

// ClassNames returns the names of the ClusterClasses of a namespace, sorted.
func (c *Client) ClassNames(ctx context.Context, namespace string) ([]string, error) {
	var classes clusterv1.ClusterClassList
	if err := c.List(ctx, &classes, client.InNamespace(namespace)); err != nil {
		return nil, c.explain(ctx, fmt.Errorf("listing ClusterClasses: %w", err))
	}
	names := make([]string, len(classes.Items))
	for i, class := range classes.Items {
		names[i] = class.Name
	}
	slices.Sort(names)
	return names, nil
}

// ClassNamespaces returns the namespaces with a ClusterClass of a name, sorted; none if
// the user may not read all of them.
func (c *Client) ClassNamespaces(ctx context.Context, name string) ([]string, error) {
	var classes clusterv1.ClusterClassList
	err := c.List(ctx, &classes, client.InNamespace(metav1.NamespaceAll))
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, c.explain(ctx, fmt.Errorf("listing ClusterClasses: %w", err))
	}
	var namespaces []string
	for _, class := range classes.Items {
		if class.Name == name {
			namespaces = append(namespaces, class.Namespace)
		}
	}
	slices.Sort(namespaces)
	return namespaces, nil
}

// Unready says why Cluster API makes no clusters from a ClusterClass as it is now;
// empty where it does, or will once it has read the class.
func Unready(class *clusterv1.ClusterClass) string {
	if class.Status.ObservedGeneration == class.Generation {
		return ""
	}
	if annotations.HasPaused(class) {
		return "Cluster API has not read this ClusterClass, which is paused: remove its annotation " + clusterv1.PausedAnnotation
	}
	for _, condition := range class.Status.Conditions {
		if condition.Type == clusterv1.ClusterClassVariablesReadyCondition && condition.Status == metav1.ConditionFalse && condition.ObservedGeneration == class.Generation {
			return fmt.Sprintf("Cluster API cannot read the variables of this ClusterClass (%s); correct the class", condition.Message)
		}
	}
	return ""
}

// ClustersOf returns the clusters of a ClusterClass in all namespaces, sorted by
// namespace and name.
func (c *Client) ClustersOf(ctx context.Context, class client.ObjectKey) ([]state.Cluster, error) {
	all, err := c.Clusters(ctx, Filter{})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(cluster state.Cluster) bool {
		return cluster.Topology == nil || cluster.Topology.Class != class.String()
	}), nil
}

// TryClass lets the API server check a ClusterClass and its templates, as if they
// were applied, and writes nothing. It returns the class with what the API server
// would make of it. What it says against them is a *ClassError.
func (c *Client) TryClass(ctx context.Context, class *unstructured.Unstructured, templates []*unstructured.Unstructured) (*clusterv1.ClusterClass, error) {
	refused := &ClassError{}
	tried := class.DeepCopy()
	for _, object := range append(slices.Clone(templates), class) {
		into := object.DeepCopy()
		if object == class {
			into = tried
		}
		err := namespaceMissing(c.tryWhole(ctx, into), class.GetNamespace())
		if !refused.add(object, err) && err != nil {
			return nil, c.explain(ctx, fmt.Errorf("trying to apply %s: %w", changes.ObjectName(object), err))
		}
	}
	if len(refused.Reasons) > 0 {
		return nil, refused
	}
	var typed clusterv1.ClusterClass
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(tried.Object, &typed); err != nil {
		return nil, fmt.Errorf("reading what the API server makes of the ClusterClass: %w", err)
	}
	return &typed, nil
}

// tryWhole lets the API server check an object as a file has it, without the other
// fields of the live one. Applying server-side would keep list entries that others own,
// so that their removal would not be seen.
func (c *Client) tryWhole(ctx context.Context, object *unstructured.Unstructured) error {
	_, err := c.live(ctx, object)
	if apierrors.IsNotFound(err) {
		return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), FieldOwner, client.ForceOwnership, client.DryRunAll)
	}
	if err != nil {
		return err
	}
	patch, err := json.Marshal([]map[string]any{{"op": "replace", "path": "/spec", "value": object.Object["spec"]}})
	if err != nil {
		return err
	}
	return c.Patch(ctx, object, client.RawPatch(types.JSONPatchType, patch), FieldOwner, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))
}

// Templates returns those that a class names: the given ones as they are, and
// the others from the management cluster. One that is nowhere is a
// *topology.MissingError.
func (c *Client) Templates(ctx context.Context, class *clusterv1.ClusterClass, given []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	templates := append([]*unstructured.Unstructured(nil), given...)
	known := func(reference clusterv1.ClusterClassTemplateReference) bool {
		for _, template := range given {
			if template.GetKind() == reference.Kind && template.GetName() == reference.Name {
				return true
			}
		}
		return false
	}
	references := topology.References(class)
	found := make([]*unstructured.Unstructured, len(references))
	var tasks errgroup.Group
	tasks.SetLimit(maxRequests)
	for i, reference := range references {
		if known(reference) {
			continue
		}
		tasks.Go(func() error {
			template := &unstructured.Unstructured{}
			template.SetAPIVersion(reference.APIVersion)
			template.SetKind(reference.Kind)
			err := c.Get(ctx, client.ObjectKey{Namespace: class.Namespace, Name: reference.Name}, template)
			if apierrors.IsNotFound(err) {
				return &topology.MissingError{Class: class.Name, Template: reference.Kind + "/" + reference.Name}
			}
			if err != nil {
				return fmt.Errorf("reading %s %s of ClusterClass %s: %w", reference.Kind, reference.Name, class.Name, err)
			}
			found[i] = template
			return nil
		})
	}
	if err := tasks.Wait(); err != nil {
		return nil, c.explain(ctx, err)
	}
	for _, template := range found {
		if template != nil {
			templates = append(templates, template)
		}
	}
	return templates, nil
}
