package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/manifests"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
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
		return s.bundles.OfClass(s.class.Name, s.class.Versions())
	}
	if exact, is := s.config.Cluster.Spec.KubernetesVersion.Exact(); is {
		return s.bundles.With([]versionsbundle.Release{versionsbundle.VersionOnly(exact)})
	}
	return s.bundles
}

// withClass adds the ClusterClass that the file names, which must be there.
func (a *app) withClass(ctx context.Context, c *connection, s spec, namespace string) (spec, error) {
	if !s.managed() {
		return s, nil
	}
	named := s.config.Cluster.Spec.ClusterClass
	key := s.classKey(namespace)
	class, exists, err := c.Class(ctx, key)
	path := field.NewPath("spec", "clusterClass", "name")
	if refused := (*management.RefusedError)(nil); errors.As(err, &refused) && refused.Check == "class-template-missing" {
		return s, s.refuse(field.Invalid(path, named.Name, refused.Reason))
	}
	if err != nil {
		return s, err
	}
	if !exists {
		remedy, err := a.otherClass(ctx, c, key)
		if err != nil {
			return s, err
		}
		return s, s.refuse(field.Invalid(path, named.Name, fmt.Sprintf("namespace %s of the management cluster has no ClusterClass of this name; %s", key.Namespace, remedy)))
	}
	if reason := management.Unready(class.ClusterClass); reason != "" {
		return s, s.refuse(field.Invalid(path, named.Name, reason))
	}
	s.class = &class
	return s, nil
}

// classKey is the place of the ClusterClass that the file names, for a cluster in
// a namespace.
func (s spec) classKey(namespace string) client.ObjectKey {
	named := s.config.Cluster.Spec.ClusterClass
	return client.ObjectKey{Namespace: cmp.Or(named.Namespace, namespace), Name: named.Name}
}

// otherClass says what to do about a ClusterClass that there is not.
func (a *app) otherClass(ctx context.Context, c *connection, key client.ObjectKey) (string, error) {
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

// refuse locates what the management cluster does not allow of the spec.
func (s spec) refuse(errs ...*field.Error) error {
	return validations.Refused{Problems: s.config.Locate(v1alpha1.ClusterKind, errs)}
}

// byClass is an error of resolving the spec: once its class is known, that is what
// does not allow it.
func (s spec) byClass(err error) error {
	if problems := (strictyaml.Problems)(nil); s.class != nil && errors.As(err, &problems) {
		return validations.Refused{Problems: problems}
	}
	return err
}

// admission tells what the API server says against the Cluster of the spec in
// terms of the spec.
func (s spec) admission(err error) error {
	var status apierrors.APIStatus
	if err == nil || !s.managed() || !apierrors.IsInvalid(err) || !errors.As(err, &status) {
		return err
	}
	details := status.Status().Details
	if details == nil || details.Kind != "Cluster" || len(details.Causes) == 0 {
		return err
	}
	return validations.Admission(s.config, details.Causes)
}

// checkClass checks the spec, and the Cluster that is made of it, against the
// ClusterClass.
func (s spec) checkClass(ctx context.Context, object *unstructured.Unstructured, live *clusterv1.Cluster) error {
	cluster, err := asCluster(object)
	if err == nil {
		_, err = s.complete(ctx, cluster, live)
	}
	return err
}

// complete is the Cluster that is made of the spec with the defaults of its
// variables, checked against the ClusterClass.
func (s spec) complete(ctx context.Context, cluster, live *clusterv1.Cluster) (*clusterv1.Cluster, error) {
	defaulted, said := topology.Default(ctx, s.class.ClusterClass, cluster, live)
	if err := s.checkWith(variablesOf(cluster), said); err != nil {
		return nil, err
	}
	return defaulted, s.checkMakes(ctx, defaulted)
}

// checkTried checks a Cluster that the API server would take.
func (s spec) checkTried(ctx context.Context, cluster *clusterv1.Cluster) error {
	if err := s.checkWith(variablesOf(cluster), nil); err != nil {
		return err
	}
	return s.checkMakes(ctx, cluster)
}

func (s spec) checkWith(variables validations.GivenVariables, said field.ErrorList) error {
	return validations.Class(s.config, s.class.ClusterClass, s.class.Annotations[manifests.ProviderAnnotation], variables, said)
}

// checkMakes looks whether Cluster API can make anything of the Cluster.
func (s spec) checkMakes(ctx context.Context, cluster *clusterv1.Cluster) error {
	if s.class.External() {
		return nil
	}
	_, err := topology.Generate(ctx, *s.class, cluster)
	if unable := (*topology.UnableError)(nil); errors.As(err, &unable) {
		return s.refuse(field.Invalid(field.NewPath("spec", "clusterClass", "name"), s.class.Name,
			fmt.Sprintf("nothing can be made of this cluster: %s; correct the class, or what the spec says to it", unable.Reason)))
	}
	return err
}

// mayBecome refuses a change to a class that makes other kinds of things.
func (s spec) mayBecome(before topology.Class) error {
	used := func(class topology.Class) validations.UsedClass {
		return validations.UsedClass{ClusterClass: class.ClusterClass, Provider: class.Provider(manifests.ProviderAnnotation)}
	}
	return validations.OtherClass(s.config, used(before), used(*s.class))
}

// variablesOf are the names of the variables that a Cluster sets: for itself, and
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
	return s.refuse(err)
}

// notOffline refuses to plan without a management cluster what depends on a
// ClusterClass.
func notOffline(s spec) error {
	if !s.managed() {
		return nil
	}
	return s.wrong(fmt.Sprintf("--from: ClusterClass %s says what versions cluster %s goes through and what its machines are; leave --from out to ask the management cluster, which has the class",
		s.config.Cluster.Spec.ClusterClass.Name, s.config.Cluster.Metadata.Name))
}

// wrong says that a cluster with a ClusterClass is none for a flag.
func (s spec) wrong(detail string) error {
	return s.config.Locate(v1alpha1.ClusterKind, field.ErrorList{field.Forbidden(field.NewPath("spec", "clusterClass"), detail)}).OrNil()
}

// checkManaged refuses to upgrade a part of a cluster from a ClusterClass that Cluster
// API upgrades together with the rest.
func (s scope) checkManaged(of spec) error {
	if s.whole() || !of.managed() {
		return nil
	}
	if s.controlPlaneOnly {
		return of.wrong("--control-plane-only: Cluster API upgrades control plane and worker node groups of a cluster from a ClusterClass in its own order; leave --control-plane-only out; deferUpgrade holds a group back")
	}
	following := slices.DeleteFunc(slices.Clone(s.groups), func(name string) bool { return pins(of.config)[name] })
	if len(following) == 0 {
		return nil
	}
	return of.wrong(fmt.Sprintf("--worker-node-groups: %s has no kubernetesVersion of its own, so Cluster API upgrades it with the rest of the cluster; leave %s out of --worker-node-groups, or give it a kubernetesVersion first", strings.Join(following, ", "), strings.Join(following, ", ")))
}

// checkDetached refuses to upgrade groups alone that are not, or not quite, out of the
// topology of their cluster: taking them out changes the Cluster.
func (s scope) checkDetached(live state.Cluster, native bool) error {
	refused := func(reason string) error {
		return &management.RefusedError{Check: "not-detached", Reason: fmt.Sprintf("--worker-node-groups: %s; run 'upgrade cluster' without --worker-node-groups", reason)}
	}
	switch {
	case live.Topology == nil || len(s.groups) == 0:
		return nil
	case native:
		return refused(fmt.Sprintf("the versions of worker node groups stand in the Cluster %s, which is upgraded as a whole", live.Name))
	case live.Pause != nil:
		return refused(live.Pause.String())
	}
	for _, name := range s.groups {
		if part, exists := live.Group(name); exists && (!part.Detached || live.InTopology(name)) {
			return refused(fmt.Sprintf("worker node group %s is still in the topology of cluster %s, and an upgrade of the whole cluster takes it out", name, live.Name))
		}
	}
	return nil
}
