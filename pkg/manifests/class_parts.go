package manifests

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// role is what templates of a class are for: the cluster as a whole, its control plane, or
// a class of workers.
type role struct {
	// suffix of the names of the templates, before the hash.
	suffix string
	// controlPlane is true of that role.
	controlPlane bool
	// workers is the name of the class of workers; empty in other roles.
	workers string
	// ref names the document that describes the machines; nil where there is none.
	ref *v1alpha1.Ref
}

func ofCluster() role { return role{} }

func ofControlPlane() role {
	return role{suffix: "-" + v1alpha1.ControlPlaneName, controlPlane: true}
}

// ofControlPlane is that role with its document.
func (m *classMaker) ofControlPlane() role {
	of := ofControlPlane()
	if m.Documents != nil {
		of.ref = m.Documents.Cluster.Spec.ControlPlaneConfiguration.MachineGroupRef
	}
	return of
}

// workerRoles are the classes of workers: one for each document that describes the machines
// of groups, which has the name of the document if there are several.
func workerRoles(documents *v1alpha1.Config) []role {
	only := role{suffix: "-" + v1alpha1.DefaultWorkerClass, workers: v1alpha1.DefaultWorkerClass}
	if documents == nil {
		return []role{only}
	}
	var roles []role
	for _, group := range documents.Cluster.Spec.WorkerNodeGroupConfigurations {
		ref := group.MachineGroupRef
		if !slices.ContainsFunc(roles, func(r role) bool { return *r.ref == *ref }) {
			// A document may be called as another role is.
			roles = append(roles, role{suffix: "-worker-" + ref.Name, workers: ref.Name, ref: ref})
		}
	}
	if len(roles) == 1 {
		only.ref = roles[0].ref
		return []role{only}
	}
	return roles
}

// parts are the objects that a class has templates of.
type parts struct {
	infrastructure, controlPlane, controlPlaneMachine *unstructured.Unstructured
	controlPlaneCheck                                 clusterv1.MachineHealthCheckSpec
	// workers are those of each class of workers.
	workers []workerParts
}

// workerParts are the objects of a class of workers.
type workerParts struct {
	bootstrap, machine *unstructured.Unstructured
	check              clusterv1.MachineHealthCheckSpec
}

// nameOfCluster is the placeholder for the name of each cluster of a class.
const nameOfCluster = "name-of-the-cluster"

// nothingSaid is a spec with no more than it must have.
const nothingSaid = `apiVersion: %s
kind: Cluster
metadata: {name: ` + nameOfCluster + `}
spec:
  kubernetesVersion: %s
  workerNodeGroupConfigurations: [{name: %s}]
  datacenterRef: {kind: %s, name: class}
  machineHealthCheck: {}
  clusterNetwork:
    pods: {cidrBlocks: [192.168.0.0/16]}
    services: {cidrBlocks: [10.96.0.0/12]}
`

// spec returns the spec that templates are rendered from, at a release.
func (m *classMaker) spec(release versionsbundle.Release) (*v1alpha1.Config, error) {
	known := providers.Set{}
	if m.Documents == nil { // else they are there already
		known[m.Provider.Name] = m.Provider
	}
	text := fmt.Sprintf(nothingSaid, v1alpha1.APIVersion, release.Version, v1alpha1.DefaultWorkerClass, m.Provider.Spec.Datacenter.Kind)
	config := known.Decode("a spec that says nothing", []byte(text))
	if err := config.Problems.OrNil(); err != nil || m.Documents == nil {
		return config, err
	}
	complete := *m.Documents // with the places of what is wrong with the documents
	complete.Cluster = config.Cluster
	spec := &complete.Cluster.Spec
	spec.ControlPlaneConfiguration.MachineGroupRef = m.ofControlPlane().ref
	spec.ControlPlaneConfiguration.Endpoint = m.endpoint
	spec.ControlPlaneConfiguration.SkipLoadBalancerDeployment = m.Documents.Cluster.Spec.ControlPlaneConfiguration.SkipLoadBalancerDeployment
	silent := spec.WorkerNodeGroupConfigurations[0]
	spec.WorkerNodeGroupConfigurations = nil
	for _, role := range m.workers {
		group := silent
		group.Name, group.MachineGroupRef = role.workers, role.ref
		spec.WorkerNodeGroupConfigurations = append(spec.WorkerNodeGroupConfigurations, group)
	}
	return &complete, nil
}

// renderer renders the parts of a cluster without a class, at a release, whose documents
// have these lists of images.
func (m *classMaker) renderer(release versionsbundle.Release, images map[v1alpha1.Ref][]any) (renderer, error) {
	spec, err := m.spec(release)
	if err != nil {
		return renderer{}, err
	}
	spec.Machines = maps.Clone(spec.Machines)
	for ref, list := range images {
		spec.Machines[ref] = m.Provider.WithListedImages(spec.Machines[ref], list)
	}
	versions := v1alpha1.ClusterVersions{ControlPlane: release.Version, WorkerNodeGroups: map[string]v1alpha1.Version{}}
	for _, role := range m.workers {
		versions.WorkerNodeGroups[role.workers] = release.Version
	}
	return newRenderer(Input{Config: spec, Provider: m.Provider, Versions: versions, Set: versionsbundle.Set{release.Version: release}, Namespace: m.Namespace}, config.Templates)
}

// render returns the parts of a cluster without a class, at a release. All releases have the
// same image of a document: the class has a variable for what others have.
func (m *classMaker) render(release versionsbundle.Release) (parts, error) {
	r, err := m.renderer(release, m.standIns())
	if err != nil {
		return parts{}, err
	}
	infrastructure, err := r.infrastructureCluster()
	if err != nil {
		return parts{}, err
	}
	rendered, err := r.objects()
	if err != nil {
		return parts{}, err
	}
	var p parts
	if p.infrastructure, err = infrastructure.Unstructured(); err != nil {
		return parts{}, err
	}
	// Of the objects of a part the machine template is the first.
	if p.controlPlaneMachine, err = rendered.ControlPlane[0].Unstructured(); err != nil {
		return parts{}, err
	}
	if err := errors.Join(one(rendered.ControlPlane, "KubeadmControlPlane", &p.controlPlane), check(rendered.ControlPlane, &p.controlPlaneCheck)); err != nil {
		return parts{}, err
	}
	for _, group := range rendered.Groups {
		var of workerParts
		if of.machine, err = group.Objects[0].Unstructured(); err != nil {
			return parts{}, err
		}
		if err := errors.Join(one(group.Objects, "KubeadmConfigTemplate", &of.bootstrap), check(group.Objects, &of.check)); err != nil {
			return parts{}, err
		}
		p.workers = append(p.workers, of)
	}
	return p, nil
}

// one finds the object of a kind.
func one(objects []templater.Object, kind string, into **unstructured.Unstructured) (err error) {
	i := slices.IndexFunc(objects, func(o templater.Object) bool { return o.Kind.Kind == kind })
	if i < 0 {
		return fmt.Errorf("the templates render no %s", kind)
	}
	*into, err = objects[i].Unstructured()
	return err
}

func check(objects []templater.Object, into *clusterv1.MachineHealthCheckSpec) error {
	var object *unstructured.Unstructured
	if err := one(objects, "MachineHealthCheck", &object); err != nil {
		return err
	}
	data, err := json.Marshal(object.Object["spec"])
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}
