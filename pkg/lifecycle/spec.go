package lifecycle

import (
	"cmp"
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/clusterclass"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/manifests"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Spec is the decoded file that describes a cluster, with the bundles that resolve its
// versions.
type Spec struct {
	// Name of the file, for messages.
	Name string
	// Config is the part of the file that could be read. What could not be read is
	// among its Problems, and is reported together with the findings of the rules.
	Config *v1alpha1.Config

	data      []byte
	providers providers.Set
	bundles   *versionsbundle.Bundles
	// class is the ClusterClass that the file names; nil as long as no management
	// cluster was asked for it.
	class *topology.Class
	// change is what the spec was made from; nil for the spec of a file.
	change *VersionChange
}

// ReadSpec decodes the content of a file, which people know by its name.
func ReadSpec(name string, data []byte, known providers.Set, bundles *versionsbundle.Bundles) Spec {
	return Spec{Name: name, data: data, Config: known.Decode(name, data), providers: known, bundles: bundles}
}

// ManagesItselfBy returns the infrastructure provider, as clusterctl names it, that is installed
// into the cluster so that it manages itself; empty where it is not to, or cannot.
func (s Spec) ManagesItselfBy() string {
	if s.Config.Cluster == nil || !s.Config.Cluster.SelfManaged() {
		return ""
	}
	if of := s.providers.Of(s.Config.Cluster).Spec.SelfManaged; of != nil {
		return of.Component
	}
	return ""
}

// CheckName says why a cluster cannot have a name.
func CheckName(name string) error {
	for _, problem := range validations.Spec(&v1alpha1.Cluster{Metadata: v1alpha1.Meta{Name: name}}, nil) {
		if problem.Field == "metadata.name" {
			return errors.New(problem.Detail)
		}
	}
	return nil
}

// GroupNames returns the names of the worker node groups, as far as they could be read.
func (s Spec) GroupNames() []string {
	if s.Config.Cluster == nil {
		return nil
	}
	var names []string
	for _, group := range s.Config.Cluster.Spec.WorkerNodeGroupConfigurations {
		names = append(names, group.Name)
	}
	return names
}

// Validate checks everything that can be known of a new cluster without a management
// cluster, and resolves its versions. With an error there are the warnings only.
func (s Spec) Validate() (validations.Resolved, error) {
	return s.resolve(v1alpha1.ClusterVersions{})
}

// Render renders the objects of a new cluster; namespace is where they are unless the
// spec names another one.
func (s Spec) Render(namespace string) ([]templater.Object, error) {
	resolved, err := s.Validate()
	if err != nil {
		return nil, err
	}
	return s.render(resolved, namespace)
}

// Manifests renders the objects to apply. A cluster from a ClusterClass with a group
// that has its own version is an error: its objects depend on the class on the
// management cluster.
func (s Spec) Manifests(namespace string) ([]templater.Object, error) {
	if s.managed() && len(pins(s.Config)) > 0 {
		return nil, s.wrong("a group has a kubernetesVersion of its own, so its objects depend on the ClusterClass on the management cluster; use 'create cluster' and 'upgrade cluster' with this file")
	}
	return s.Render(namespace)
}

// claims are the MachineDeployments, as Kind/name, that the groups of the file may have
// though others made them. A ClusterClass has its MachineDeployments under other names, but
// for pinned groups.
func (s Spec) claims() map[string]string {
	objects := map[string]string{}
	for _, group := range s.Config.Cluster.Spec.WorkerNodeGroupConfigurations {
		if !s.managed() || group.Pinned() {
			objects[group.Name] = "MachineDeployment/" + group.ObjectName(s.Config.Cluster.Metadata.Name)
		}
	}
	return objects
}

// claimsOf are the claims of the spec on a cluster. The spec of a VersionChange is about all
// groups that there are.
func (s Spec) claimsOf(cluster state.Cluster) map[string]string {
	if s.change != nil {
		return cluster.Unclaimed()
	}
	return s.claims()
}

// managed reports whether the file describes a cluster from a ClusterClass.
func (s Spec) managed() bool {
	return s.Config.Cluster != nil && s.Config.Cluster.Spec.ClusterClass != nil
}

// releases returns the versions that the cluster may have. Those of a ClusterClass are
// in its list; until that is known, every exact version is allowed.
func (s Spec) releases() *versionsbundle.Bundles {
	if !s.managed() {
		return s.bundles
	}
	if s.class != nil && len(s.class.Spec.KubernetesVersions) > 0 {
		return s.bundles.OfClass(s.class.Name, s.class.Versions())
	}
	if exact, is := s.Config.Cluster.Spec.KubernetesVersion.Exact(); is {
		return s.bundles.With([]versionsbundle.Release{versionsbundle.VersionOnly(exact)})
	}
	return s.bundles
}

// resolve checks the spec and resolves its versions on a cluster that has some already.
func (s Spec) resolve(running v1alpha1.ClusterVersions) (validations.Resolved, error) {
	if s.change != nil {
		return s.resolveChange(running)
	}
	resolved, err := validations.Create(s.Config, s.providers, s.releases(), running)
	if err == nil && (s.managed() || len(s.Config.Machines) > 0) {
		_, err = s.render(resolved, "") // says which variables or settings are given twice
	}
	return resolved, s.byClass(err)
}

// render makes the objects of the cluster, in the given namespace unless the spec
// names one.
func (s Spec) render(resolved validations.Resolved, namespace string) ([]templater.Object, error) {
	objects, err := manifests.Render(manifests.Input{
		Config:    resolved.Config,
		Provider:  resolved.Provider,
		Versions:  resolved.Versions,
		Set:       resolved.Set,
		Namespace: cmp.Or(resolved.Config.Cluster.Metadata.Namespace, namespace),
		Downloads: s.bundles.Releases(),
	})
	return objects.All(), err
}

// withClass adds the ClusterClass that the file names, which must be there.
func (s Spec) withClass(ctx context.Context, c *management.Client, namespace string) (Spec, error) {
	if !s.managed() {
		return s, nil
	}
	class, err := clusterclass.Find(ctx, c, s.Config, namespace)
	if err != nil {
		return s, err
	}
	s.class = &class
	return s, nil
}

// use is the use of the class that was added.
func (s Spec) use() clusterclass.Use {
	return clusterclass.Use{Config: s.Config, Provider: s.providers.Of(s.Config.Cluster).Name, Class: *s.class}
}

// byClass returns an error of resolving the spec, attributed to the class once that is
// known.
func (s Spec) byClass(err error) error {
	if problems := (strictyaml.Problems)(nil); s.class != nil && errors.As(err, &problems) {
		return validations.Refused{Problems: problems}
	}
	return err
}

// wrong says what cannot be done with a cluster from a ClusterClass.
func (s Spec) wrong(detail string) error {
	return s.Config.Locate(v1alpha1.ClusterKind, field.ErrorList{field.Forbidden(field.NewPath("spec", "clusterClass"), detail)}).OrNil()
}
