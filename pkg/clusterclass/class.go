// Package clusterclass checks a ClusterClass, and a cluster spec against the
// ClusterClass that it names. It writes nothing.
package clusterclass

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/manifests"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// Key returns the place of the ClusterClass that a spec names, for a cluster in
// a namespace.
func Key(config *v1alpha1.Config, namespace string) types.NamespacedName {
	named := config.Cluster.Spec.ClusterClass
	return types.NamespacedName{Namespace: cmp.Or(named.Namespace, namespace), Name: named.Name}
}

// Find returns the ClusterClass that a spec names, for a cluster in a namespace. It is
// an error if there is none, or if Cluster API cannot use it.
func Find(ctx context.Context, c *management.Client, config *v1alpha1.Config, namespace string) (topology.Class, error) {
	key := Key(config, namespace)
	class, exists, err := c.Class(ctx, key)
	path := field.NewPath("spec", "clusterClass", "name")
	if refused := (*management.RefusedError)(nil); errors.As(err, &refused) && refused.Check == "class-template-missing" {
		return class, Refuse(config, field.Invalid(path, key.Name, refused.Reason))
	}
	if err != nil {
		return class, err
	}
	if !exists {
		remedy, err := otherClass(ctx, c, key)
		if err != nil {
			return class, err
		}
		return class, Refuse(config, field.Invalid(path, key.Name, fmt.Sprintf("namespace %s of the management cluster has no ClusterClass of this name; %s", key.Namespace, remedy)))
	}
	if reason := management.Unready(class.ClusterClass); reason != "" {
		return class, Refuse(config, field.Invalid(path, key.Name, reason))
	}
	return class, nil
}

// otherClass says what to do about a ClusterClass that does not exist.
func otherClass(ctx context.Context, c *management.Client, key types.NamespacedName) (string, error) {
	names, err := c.ClassNames(ctx, key.Namespace)
	if err != nil {
		return "", err
	}
	elsewhere, err := c.ClassNamespaces(ctx, key.Name)
	switch {
	case err != nil:
		return "", err
	case len(elsewhere) > 0:
		return fmt.Sprintf("there is one in %s: name it with spec.clusterClass.namespace", strings.Join(elsewhere, ", ")), nil
	case strictyaml.Similar(key.Name, names) != "":
		return "did you mean " + strictyaml.Similar(key.Name, names) + "?", nil
	case len(names) > 0:
		return "use one of " + strings.Join(names, ", "), nil
	}
	return "apply it, or use 'clusterctl-x generate clusterclass' to make one", nil
}

// Refuse locates in the spec what the management cluster does not allow of it.
func Refuse(config *v1alpha1.Config, errs ...*field.Error) error {
	return validations.Refused{Problems: config.Locate(v1alpha1.ClusterKind, errs)}
}

// CheckTopologyMode refuses a spec that would hand a live cluster to a ClusterClass, or
// take it from one.
func CheckTopologyMode(config *v1alpha1.Config, live state.Cluster) error {
	path := field.NewPath("spec", "clusterClass")
	named := config.Cluster.Spec.ClusterClass != nil
	switch {
	case named == (live.Topology != nil):
		return nil
	case named:
		return Refuse(config, field.Forbidden(path, "cluster "+live.Name+" was made without a ClusterClass, and Cluster API cannot adopt it: it would make a second control plane next to the existing one; remove the field, or create a new cluster and move the workloads of this one"))
	default:
		return Refuse(config, field.Required(path, fmt.Sprintf("cluster %s is made from ClusterClass %s, and a cluster cannot leave its class; add the field", live.Name, live.Topology.Class)))
	}
}

// CheckPins refuses groups with a version of their own where the class cannot be asked
// for their objects.
func CheckPins(class topology.Class) error {
	if !class.External() {
		return nil
	}
	return &management.RefusedError{Check: "external-patches", Reason: "ClusterClass " + class.Name +
		" has patches from runtime extensions, which only Cluster API calls, so the objects of a group with its own kubernetesVersion cannot be computed; remove the version, and set deferUpgrade on the group to keep it at its version for now"}
}

// Admission says what the API server has against the Cluster, or the objects of the
// infrastructure, of a spec in terms of the spec. Other errors are returned as they are.
func Admission(config *v1alpha1.Config, err error) error {
	var status apierrors.APIStatus
	if err == nil || config.Cluster == nil || !apierrors.IsInvalid(err) || !errors.As(err, &status) {
		return err
	}
	details := status.Status().Details
	if details == nil || len(details.Causes) == 0 {
		return err
	}
	if refused := validations.InfrastructureAdmission(config, details); refused != nil {
		return refused
	}
	if config.Cluster.Spec.ClusterClass == nil || details.Kind != "Cluster" {
		return err
	}
	return validations.Admission(config, details.Causes)
}

// Use is the use of a ClusterClass by the spec of a cluster.
type Use struct {
	Config *v1alpha1.Config
	// Provider is the name of the one that the spec names; empty where it names none.
	Provider string
	Class    topology.Class
}

// Check checks the spec, and the Cluster that is rendered from it, against the class.
// live is the Cluster as it is; nil for a new one.
func (u Use) Check(ctx context.Context, object *unstructured.Unstructured, live *clusterv1.Cluster) error {
	cluster, err := AsCluster(object)
	if err == nil {
		_, err = u.Complete(ctx, cluster, live)
	}
	return err
}

// Complete returns the Cluster that is rendered from the spec with the defaults of its
// variables, checked against the class.
func (u Use) Complete(ctx context.Context, cluster, live *clusterv1.Cluster) (*clusterv1.Cluster, error) {
	defaulted, said := topology.Default(ctx, u.Class.ClusterClass, cluster, live)
	if err := u.checkVariables(cluster, said); err != nil {
		return nil, err
	}
	return defaulted, u.checkGenerates(ctx, defaulted)
}

// CheckAccepted checks a Cluster that the API server has accepted in a dry run.
func (u Use) CheckAccepted(ctx context.Context, cluster *clusterv1.Cluster) error {
	if err := u.checkVariables(cluster, nil); err != nil {
		return err
	}
	return u.checkGenerates(ctx, cluster)
}

// checkVariables checks the variables of a Cluster; said are the errors of their schemas.
func (u Use) checkVariables(cluster *clusterv1.Cluster, said field.ErrorList) error {
	return validations.Class(u.Config, u.Provider, u.Class.ClusterClass, u.Class.Annotations[manifests.ProviderAnnotation], variablesOf(cluster), said)
}

// checkGenerates checks that Cluster API can make anything of the Cluster.
func (u Use) checkGenerates(ctx context.Context, cluster *clusterv1.Cluster) error {
	if u.Class.External() {
		return nil
	}
	_, err := topology.Generate(ctx, u.Class, cluster)
	if unable := (*topology.GenerateError)(nil); errors.As(err, &unable) {
		return Refuse(u.Config, field.Invalid(field.NewPath("spec", "clusterClass", "name"), u.Class.Name,
			fmt.Sprintf("Cluster API cannot generate this cluster: %s; correct the class, or the values that the spec gives it", unable.Reason)))
	}
	return err
}

// CheckRebase refuses a change from another class that makes other kinds of things.
func (u Use) CheckRebase(before topology.Class) error {
	used := func(class topology.Class) validations.UsedClass {
		return validations.UsedClass{ClusterClass: class.ClusterClass, Provider: class.Provider(manifests.ProviderAnnotation)}
	}
	return validations.OtherClass(u.Config, used(before), used(u.Class))
}

// variablesOf returns the names of the variables that a Cluster sets: for itself, and
// for parts of it.
func variablesOf(cluster *clusterv1.Cluster) (own validations.GivenVariables) {
	add := func(variables []clusterv1.ClusterVariable) {
		for _, variable := range variables {
			own.Anywhere = append(own.Anywhere, variable.Name)
		}
	}
	given := cluster.Spec.Topology
	for _, variable := range given.Variables {
		own.Cluster = append(own.Cluster, variable.Name)
	}
	add(given.Variables)
	add(given.ControlPlane.Variables.Overrides)
	for _, group := range given.Workers.MachineDeployments {
		add(group.Variables.Overrides)
	}
	return own
}

// AsCluster decodes a rendered Cluster.
func AsCluster(object *unstructured.Unstructured) (*clusterv1.Cluster, error) {
	var cluster clusterv1.Cluster
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &cluster); err != nil {
		return nil, fmt.Errorf("reading the rendered Cluster: %w", err)
	}
	return &cluster, nil
}
