package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/manifests"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// managed tells whether the file describes a cluster from a ClusterClass.
func (s spec) managed() bool {
	return s.config.Cluster != nil && s.config.Cluster.Spec.ClusterClass != nil
}

// releases are the versions that the cluster may have. Those of a ClusterClass
// are what its list says; as long as that is not known, every exact version is
// taken for one.
func (s spec) releases() *versionsbundle.Bundles {
	if !s.managed() {
		return s.bundles
	}
	if s.class != nil && len(s.class.Spec.KubernetesVersions) > 0 {
		return versionsbundle.OfClass(s.class.Name, s.class.Versions())
	}
	if exact, is := s.config.Cluster.Spec.KubernetesVersion.Exact(); is {
		return s.bundles.With([]versionsbundle.Release{{Version: exact}})
	}
	return s.bundles
}

// withClass adds the ClusterClass that the file names, which must be there.
func (a *app) withClass(ctx context.Context, c *connection, s spec, namespace string) (spec, error) {
	if !s.managed() {
		return s, nil
	}
	named := s.config.Cluster.Spec.ClusterClass
	key := client.ObjectKey{Namespace: cmp.Or(named.Namespace, namespace), Name: named.Name}
	class, exists, err := c.Class(ctx, key)
	if err != nil {
		return s, err
	}
	if !exists {
		remedy := "apply it, or use 'clusterctl-x generate clusterclass' to make one"
		names, err := c.ClassNames(ctx, key.Namespace)
		if err != nil {
			return s, err
		}
		if len(names) > 0 {
			remedy = "there are " + strings.Join(names, ", ")
		}
		path := field.NewPath("spec", "clusterClass", "name")
		return s, validations.Refused{Problems: s.config.Locate(v1alpha1.ClusterKind, field.ErrorList{
			field.Invalid(path, named.Name, fmt.Sprintf("namespace %s of the management cluster has no ClusterClass of this name; %s", key.Namespace, remedy)),
		})}
	}
	s.class = &class
	return s, nil
}

// checkClass checks the spec, and the Cluster that is made of it, against the
// ClusterClass. It returns the Cluster with the defaults of its variables.
func (s spec) checkClass(ctx context.Context, object *unstructured.Unstructured, live *clusterv1.Cluster) (*clusterv1.Cluster, error) {
	var cluster clusterv1.Cluster
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &cluster); err != nil {
		return nil, fmt.Errorf("reading the rendered Cluster: %w", err)
	}
	applied := &cluster
	if live != nil {
		var err error
		if applied, err = topology.WithOthers(&cluster, live, string(management.FieldOwner)); err != nil {
			return nil, err
		}
	}
	defaulted, said := topology.Default(ctx, s.class.ClusterClass, applied, live)
	provider := s.class.Annotations[manifests.ProviderAnnotation]
	return defaulted, validations.Class(s.config, s.class.ClusterClass, provider, variablesOf(&cluster), said)
}

// variablesOf are the names of the variables that a Cluster sets anywhere.
func variablesOf(cluster *clusterv1.Cluster) []string {
	var names []string
	add := func(variables []clusterv1.ClusterVariable) {
		for _, variable := range variables {
			names = append(names, variable.Name)
		}
	}
	given := cluster.Spec.Topology
	add(given.Variables)
	add(given.ControlPlane.Variables.Overrides)
	for _, group := range given.Workers.MachineDeployments {
		add(group.Variables.Overrides)
	}
	return names
}

// sameMaker refuses a spec that would hand a cluster to a ClusterClass, or take
// it from one.
func (s spec) sameMaker(live state.Cluster) error {
	path := field.NewPath("spec", "clusterClass")
	var err *field.Error
	switch {
	case s.managed() == (live.Topology != nil):
		return nil
	case s.managed():
		err = field.Forbidden(path, "cluster "+live.Name+" was made without a ClusterClass, and Cluster API cannot adopt it: it would make a second control plane beside the one that is there; remove the field, or create a new cluster and move what runs on this one")
	default:
		err = field.Required(path, fmt.Sprintf("cluster %s is made from ClusterClass %s, which owns its parts, and nothing can take them out; add the field", live.Name, live.Topology.Class))
	}
	return validations.Refused{Problems: s.config.Locate(v1alpha1.ClusterKind, field.ErrorList{err})}
}

// notOffline refuses to plan without a management cluster what depends on a
// ClusterClass.
func notOffline(s spec) error {
	if !s.managed() {
		return nil
	}
	return usageError{fmt.Errorf("cluster %s is made from ClusterClass %s, which says what versions it goes through and what its machines are; leave --from out to ask the management cluster, which has the class",
		s.config.Cluster.Metadata.Name, s.config.Cluster.Spec.ClusterClass.Name)}
}

// wholeOnly refuses to upgrade a part of a cluster from a ClusterClass.
func (s scope) wholeOnly(of spec) error {
	if s.whole() || !of.managed() {
		return nil
	}
	return &management.RefusedError{Check: "whole-topology", Reason: fmt.Sprintf(
		"cluster %s is made from a ClusterClass, and Cluster API upgrades all of it in its own order; leave --control-plane-only and --worker-node-groups out, and use deferUpgrade to hold a group back", of.config.Cluster.Metadata.Name)}
}
