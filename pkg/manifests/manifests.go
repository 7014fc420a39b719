// Package manifests turns a cluster spec and the versions of its parts into
// the complete list of objects that describe the cluster to Cluster API.
package manifests

import (
	"fmt"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers/docker"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers/inmemory"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Provider is what rendering asks of an infrastructure provider, beside its
// templates infrastructure-cluster.yaml.tmpl and machine-template.yaml.tmpl.
type Provider interface {
	// Name is the directory of its templates.
	Name() string
	// Node is how kubeadm runs on its machines.
	Node() providers.Node
	// ControlPlaneMachine and WorkerMachine are data for its machine template.
	ControlPlaneMachine(versionsbundle.Release) any
	WorkerMachine(versionsbundle.Release) any
}

// Input is all that the objects depend on.
type Input struct {
	Config *v1alpha1.Config
	// Versions of control plane and groups to render; they need not be the
	// ones that the spec asks for.
	Versions v1alpha1.ClusterVersions
	// Set has the release of each of these versions.
	Set versionsbundle.Set
	// Namespace of all objects.
	Namespace string
	// Downloads are the kubeadm programs that nodes may have to fetch.
	Downloads []versionsbundle.Release
}

// Render returns the objects in the order in which they are applied: what is
// referred to comes before what refers to it, except that the Cluster, which
// owns everything, comes first. The same input gives the same bytes.
func Render(input Input) ([]templater.Object, error) {
	provider, err := providerOf(input.Config)
	if err != nil {
		return nil, err
	}
	r, err := newRenderer(input, provider, config.Templates)
	if err != nil {
		return nil, err
	}
	return r.objects()
}

func providerOf(config *v1alpha1.Config) (Provider, error) {
	switch {
	case config.InMemory != nil:
		return inmemory.New(config.InMemory), nil
	case config.Docker != nil:
		return docker.New()
	default:
		return nil, fmt.Errorf("no provider for %s", config.Cluster.Spec.DatacenterRef.Kind)
	}
}

type renderer struct {
	Input
	provider  Provider
	templates *templater.Templates
	checker   *templater.Checker
}

func newRenderer(input Input, provider Provider, templates fs.FS) (renderer, error) {
	schemas, err := fs.Sub(config.Schemas, "schemas")
	if err != nil {
		return renderer{}, err
	}
	parsed, err := templater.Parse(templates, "templates/*.tmpl", "templates/"+provider.Name()+"/*.tmpl")
	if err != nil {
		return renderer{}, err
	}
	return renderer{Input: input, provider: provider, templates: parsed, checker: templater.NewChecker(schemas)}, nil
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

func (r renderer) objects() ([]templater.Object, error) {
	objects, err := r.clusterObjects()
	if err != nil {
		return nil, err
	}
	groups := r.Config.Cluster.Spec.WorkerNodeGroupConfigurations
	// Groups depend on nothing but themselves, so they are rendered side by
	// side, each into its own place.
	byGroup := make([][]templater.Object, len(groups))
	var tasks errgroup.Group
	tasks.SetLimit(runtime.GOMAXPROCS(0))
	for i := range groups {
		tasks.Go(func() (err error) {
			byGroup[i], err = r.groupObjects(groups[i])
			return err
		})
	}
	if err := tasks.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(append([][]templater.Object{objects}, byGroup...)...), nil
}

func (r renderer) clusterObjects() ([]templater.Object, error) {
	spec := r.Config.Cluster.Spec
	release, ok := r.Set[r.Versions.ControlPlane]
	if !ok {
		return nil, fmt.Errorf("no release of %s for the control plane", r.Versions.ControlPlane)
	}
	cluster, err := r.render("cluster.yaml.tmpl", struct {
		owner
		ManagementCluster, Pods, Services string
	}{r.owner(r.cluster()), spec.ManagementCluster.Name, spec.ClusterNetwork.Pods.CIDRBlocks[0], spec.ClusterNetwork.Services.CIDRBlocks[0]})
	if err != nil {
		return nil, err
	}
	infrastructure, err := r.render("infrastructure-cluster.yaml.tmpl", r.owner(r.cluster()))
	if err != nil {
		return nil, err
	}
	machine, err := r.machineTemplate(r.cluster()+"-control-plane", r.provider.ControlPlaneMachine(release))
	if err != nil {
		return nil, err
	}
	controlPlane, err := r.render("control-plane.yaml.tmpl", struct {
		owner
		Replicas                                  int
		Version, MachineTemplate, ImageRepository string
		CoreDNS, Etcd                             versionsbundle.Image
		Node                                      providers.Node
	}{
		r.owner(r.cluster()), spec.ControlPlaneConfiguration.Replicas(), release.Version.String(), machine.Name,
		release.Images.KubeAPIServer.Repository(), release.Images.CoreDNS, release.Images.Etcd, r.provider.Node(),
	})
	if err != nil {
		return nil, err
	}
	objects := []templater.Object{cluster, infrastructure}
	if r.provider.Node().FetchKubeadm != "" {
		downloads, err := r.kubeadmDownloads()
		if err != nil {
			return nil, err
		}
		objects = append(objects, downloads)
	}
	return append(objects, machine, controlPlane), nil
}

func (r renderer) groupObjects(group v1alpha1.WorkerNodeGroupConfiguration) ([]templater.Object, error) {
	release, ok := r.Set[r.Versions.WorkerNodeGroups[group.Name]]
	if !ok {
		return nil, fmt.Errorf("no release of %s for group %s", r.Versions.WorkerNodeGroups[group.Name], group.Name)
	}
	name := r.cluster() + "-" + group.Name
	machine, err := r.machineTemplate(name, r.provider.WorkerMachine(release))
	if err != nil {
		return nil, err
	}
	bootstrap, err := r.immutable(name, func(o owner) (string, any) {
		return "bootstrap-template.yaml.tmpl", struct {
			owner
			Node             providers.Node
			KubeadmDownloads string
		}{o, r.provider.Node(), r.kubeadmDownloadsName()}
	})
	if err != nil {
		return nil, err
	}
	deployment, err := r.render("worker-node-group.yaml.tmpl", struct {
		owner
		Group                                       string
		Replicas                                    int
		Version, BootstrapTemplate, MachineTemplate string
		SkippedPreflightChecks                      string
	}{
		r.owner(name), group.Name, group.Replicas(), release.Version.String(), bootstrap.Name, machine.Name,
		r.skippedPreflightChecks(release.Version),
	})
	if err != nil {
		return nil, err
	}
	return []templater.Object{machine, bootstrap, deployment}, nil
}

// skippedPreflightChecks of a group at the given version. Cluster API makes no
// machine whose kubeadm would be of another minor than the control plane; the
// providers make sure that it is not.
func (r renderer) skippedPreflightChecks(version v1alpha1.Version) string {
	if version.Minor() == r.Versions.ControlPlane.Minor() {
		return ""
	}
	return string(clusterv1.MachineSetPreflightCheckKubeadmVersionSkew)
}

func (r renderer) machineTemplate(ownerName string, machine any) (templater.Object, error) {
	return r.immutable(ownerName, func(o owner) (string, any) {
		return "machine-template.yaml.tmpl", struct {
			owner
			Machine any
		}{o, machine}
	})
}

// immutable renders a template object whose name ends in a hash of its spec.
// It is rendered once without a name, to know its spec and to check it, and
// once more with its name.
func (r renderer) immutable(ownerName string, data func(owner) (template string, data any)) (templater.Object, error) {
	unnamed, err := r.render(data(r.owner("unnamed")))
	if err != nil {
		return templater.Object{}, err
	}
	name, err := templateName(ownerName, unnamed)
	if err != nil {
		return templater.Object{}, err
	}
	template, named := data(r.owner(name))
	text, err := r.templates.Render(template, named)
	if err != nil {
		return templater.Object{}, err
	}
	return unnamed.Renamed(name, text)
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

func (r renderer) kubeadmDownloadsName() string { return r.cluster() + "-kubeadm-downloads" }

// kubeadmDownloads lists where nodes get kubeadm from. It is an object of its
// own, which may change without any machine being replaced.
func (r renderer) kubeadmDownloads() (templater.Object, error) {
	var lines strings.Builder
	for _, release := range r.Downloads {
		for _, arch := range slices.Sorted(maps.Keys(release.Kubeadm)) {
			download := release.Kubeadm[arch]
			fmt.Fprintf(&lines, "%s %s %s %s\n", release.Version, arch, download.SHA256, download.URL)
		}
	}
	return r.render("kubeadm-downloads.yaml.tmpl", struct {
		owner
		Downloads string
	}{r.owner(r.kubeadmDownloadsName()), lines.String()})
}
