package management

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Class returns a ClusterClass with its templates, and false where there is none.
func (c *Client) Class(ctx context.Context, key client.ObjectKey) (topology.Class, bool, error) {
	var class clusterv1.ClusterClass
	err := c.Get(ctx, key, &class)
	if apierrors.IsNotFound(err) {
		return topology.Class{}, false, nil
	}
	if err != nil {
		return topology.Class{}, false, c.explain(ctx, fmt.Errorf("reading ClusterClass %s: %w", key, err))
	}
	templates, err := c.Templates(ctx, &class, nil)
	// Cluster API may not have seen the latest change of it yet.
	return topology.Class{ClusterClass: topology.WithStatus(&class), Templates: templates}, true, err
}

// LiveCluster returns the Cluster object itself.
func (c *Client) LiveCluster(ctx context.Context, key client.ObjectKey) (*clusterv1.Cluster, error) {
	var cluster clusterv1.Cluster
	if err := c.Get(ctx, key, &cluster); err != nil {
		return nil, c.explain(ctx, fmt.Errorf("reading cluster %s: %w", key, err))
	}
	return &cluster, nil
}

// ClassNames are those of the ClusterClasses of a namespace, sorted.
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

// ClustersOf returns the clusters of a ClusterClass in all namespaces, sorted by
// namespace and name.
func (c *Client) ClustersOf(ctx context.Context, class client.ObjectKey) ([]state.Cluster, error) {
	all, err := c.Clusters(ctx, metav1.NamespaceAll)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(cluster state.Cluster) bool {
		return cluster.Topology == nil || cluster.Topology.Class != class.String()
	}), nil
}

// TryClass lets the API server check a ClusterClass and its templates, as if they
// were applied, and writes nothing. It returns the class with what the API server
// would make of it. What it says against them is an *ClassError.
func (c *Client) TryClass(ctx context.Context, class *unstructured.Unstructured, templates []*unstructured.Unstructured) (*clusterv1.ClusterClass, error) {
	refused := &ClassError{Class: client.ObjectKeyFromObject(class).String()}
	tried := class.DeepCopy()
	for _, object := range append(slices.Clone(templates), class) {
		into := object.DeepCopy()
		if object == class {
			into = tried
		}
		err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(into), FieldOwner, client.ForceOwnership, client.DryRunAll)
		err = namespaceMissing(err, class.GetNamespace())
		if told := c.immutable(ctx, object, err); told != "" {
			refused.Reasons = append(refused.Reasons, told)
		} else if !refused.add(object, err) && err != nil {
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

// immutable says that a template is there already with another content; Cluster
// API's own words for it have all of both.
func (c *Client) immutable(ctx context.Context, object *unstructured.Unstructured, err error) string {
	if !apierrors.IsInvalid(err) || !changes.IsTemplate(object.GetKind()) {
		return ""
	}
	if _, err := c.live(ctx, object); err != nil {
		return ""
	}
	return changes.ObjectName(object) + " is there already with other content, and templates cannot be changed: give the new one another name, and name it in the class"
}

// ClassError has what is wrong with a ClusterClass, or with what it would make of
// its clusters.
type ClassError struct {
	Class   string
	Reasons []string
}

func (e *ClassError) Error() string {
	return "ClusterClass " + e.Class + " cannot be applied:\n  " + strings.Join(e.Reasons, "\n  ")
}

// add notes an error that says that an object is not valid.
func (e *ClassError) add(object *unstructured.Unstructured, err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	if details == nil || len(details.Causes) == 0 {
		e.Reasons = append(e.Reasons, changes.ObjectName(object)+": "+status.Status().Message)
		return true
	}
	for _, cause := range details.Causes {
		e.Reasons = append(e.Reasons, fmt.Sprintf("%s: %s: %s%s", changes.ObjectName(object), cause.Field, cause.Message, classRemedy(object, cause.Field)))
	}
	return true
}

// classRemedy says what to do about a field that cannot be as it is.
func classRemedy(object *unstructured.Unstructured, path string) string {
	switch {
	case strings.HasPrefix(path, "spec.kubernetesVersions"):
		return "; keep the versions that clusters have, one for each minor between ('generate clusterclass --keep-used' does)"
	case strings.HasSuffix(path, "templateRef"):
		return "; a class keeps the kinds of its templates: make another class for others"
	case strings.HasPrefix(path, "spec.variables"):
		return "; change the clusters that use the variable first, or let the class go on taking what they have"
	case strings.HasPrefix(path, "spec.workers"):
		return "; remove the groups of this class from their clusters first"
	}
	return ""
}

// Templates returns those that a class names: the given ones as they are, and
// the others from the management cluster.
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
				return &RefusedError{Check: "class-template-missing", Reason: (&topology.MissingError{Class: class.Name, Template: reference.Kind + "/" + reference.Name}).Error()}
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
