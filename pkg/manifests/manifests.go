// Package manifests turns a cluster spec and the versions of its parts into
// the complete list of objects that describe the cluster to Cluster API.
package manifests

import (
	"fmt"
	"io/fs"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Input is all that the objects depend on.
type Input struct {
	Config *v1alpha1.Config
	// Provider of the machines; the zero value for a user's own class.
	Provider providers.Provider
	// Versions of control plane and groups to render; they need not be the
	// ones that the spec asks for. A group without one is not rendered.
	Versions v1alpha1.ClusterVersions
	// Set has the release of each of these versions.
	Set versionsbundle.Set
	// Namespace of all objects.
	Namespace string
	// Detached are the groups that the topology of a cluster from a ClusterClass is
	// not to have.
	Detached map[string]bool
	// Downloads are the kubeadm programs that nodes may have to fetch.
	Downloads []versionsbundle.Release
	// Renamed are the templates, by the function of this name, that cannot have the names
	// that the documents give them.
	Renamed map[string]bool
}

// Objects are the objects of a cluster by part, each in the order in which they are
// written.
type Objects struct {
	// Cluster has the objects of the cluster as a whole.
	Cluster []templater.Object
	// ControlPlane and Groups have the objects of the parts, the groups in the order of
	// the spec.
	ControlPlane []templater.Object
	Groups       []GroupObjects
}

// GroupObjects are the objects of one worker node group.
type GroupObjects struct {
	Name    string
	Objects []templater.Object
}

// All are the objects of all parts in the order in which they are applied: what
// is referred to comes before what refers to it, except that the Cluster, which
// owns everything, comes first.
func (o Objects) All() []templater.Object { return once(o.every()) }

// every is All with what several parts have in common once for each of them.
func (o Objects) every() []templater.Object {
	all := slices.Concat(o.Cluster, o.ControlPlane)
	for _, group := range o.Groups {
		all = append(all, group.Objects...)
	}
	return all
}

// Render returns the objects. The same input gives the same bytes.
func Render(input Input) (Objects, error) {
	if spec := input.Config.Cluster.Spec; !input.Provider.Known() && spec.ClusterClass == nil {
		return Objects{}, fmt.Errorf("no provider for %s", spec.DatacenterRef.Kind)
	}
	r, err := newRenderer(input, config.Templates)
	if err != nil {
		return Objects{}, err
	}
	return r.objects()
}

type renderer struct {
	Input
	templates *templater.Templates
	checker   *templater.Checker
	// defaults are arguments of programs that the spec need not ask for.
	defaults programs
	// exact is true where nothing is added to what the spec says.
	exact bool
}

func newRenderer(input Input, templates fs.FS) (renderer, error) {
	schemas, err := fs.Sub(config.Schemas, "schemas")
	if err != nil {
		return renderer{}, err
	}
	parsed, err := templater.Parse(templates, "templates/*.tmpl")
	if err == nil && input.Provider.Known() {
		err = parsed.Add(input.Provider.Files, "*.tmpl")
	}
	if err != nil {
		return renderer{}, err
	}
	return renderer{Input: input, templates: parsed, checker: templater.NewChecker(schemas), defaults: hardened()}, nil
}

// owner is the data that every template has.
type owner struct {
	Name      string // of the object
	Cluster   string
	Namespace string
}

func (r renderer) owner(name string) owner {
	return owner{Name: name, Cluster: r.cluster(), Namespace: r.Namespace}
}

func (r renderer) cluster() string { return r.Config.Cluster.Metadata.Name }

func (r renderer) objects() (Objects, error) {
	if r.Config.Cluster.Spec.ClusterClass != nil {
		return r.managedObjects()
	}
	var objects Objects
	var err error
	if objects.Cluster, err = r.clusterObjects(); err != nil {
		return Objects{}, err
	}
	if objects.ControlPlane, err = r.controlPlaneObjects(); err != nil {
		return Objects{}, err
	}
	// Groups depend on nothing but themselves, so they are rendered side by
	// side, each into its own place.
	var groups []v1alpha1.WorkerNodeGroupConfiguration
	for _, group := range r.Config.Cluster.Spec.WorkerNodeGroupConfigurations {
		if _, there := r.Versions.WorkerNodeGroups[group.Name]; there {
			groups = append(groups, group)
		}
	}
	objects.Groups = make([]GroupObjects, len(groups))
	var tasks errgroup.Group
	tasks.SetLimit(runtime.GOMAXPROCS(0))
	for i := range groups {
		tasks.Go(func() (err error) {
			objects.Groups[i].Name = groups[i].Name
			objects.Groups[i].Objects, err = r.groupObjects(groups[i])
			return err
		})
	}
	if err := tasks.Wait(); err != nil {
		return Objects{}, err
	}
	return objects, sameTemplates(objects)
}

// immutable renders a template object whose name ends in a hash of its spec, unless its
// document has a name for it.
func (r renderer) immutable(ownerName, template string, data any) (templater.Object, error) {
	unnamed, err := r.render(template, data)
	if err != nil {
		return templater.Object{}, err
	}
	if unnamed.Name != templater.Unnamed {
		return unnamed, nil
	}
	name, err := templateName(ownerName, unnamed)
	if err != nil {
		return templater.Object{}, err
	}
	return unnamed.Renamed(name), nil
}

func (r renderer) render(template string, data any) (templater.Object, error) {
	text, err := r.templates.Render(template, data)
	if err != nil {
		return templater.Object{}, err
	}
	object, err := r.checker.Decode(text)
	if err != nil {
		return templater.Object{}, fmt.Errorf("%s: %w", template, err)
	}
	return object, nil
}
