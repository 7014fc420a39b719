package topology

import (
	"context"
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/exp/topology/desiredstate"
	"sigs.k8s.io/cluster-api/exp/topology/scope"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// noCache replaces the connections to clusters, which only MachinePools with machines
// need.
type noCache struct{ clustercache.ClusterCache }

// kinds answers for an API server about the contract that kinds keep. Providers
// of the contract before have a few fields in other places; what is generated for
// them is compared with its like only.
type kinds struct{ client.Client }

// allVersions that a kind of a provider may have.
const allVersions = "v1alpha1_v1alpha2_v1alpha3_v1alpha4_v1beta1_v1beta2_v1beta3_v1"

func (kinds) Get(_ context.Context, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	object.SetLabels(map[string]string{clusterv1.GroupVersion.Group + "/" + clusterv1.GroupVersion.Version: allVersions})
	return nil
}

// Parts are the objects of a cluster by the part that they belong to; those of
// the cluster as a whole stand under the empty name.
type Parts map[string][]*unstructured.Unstructured

// Generate returns the objects that Cluster API would make of a new cluster from
// a class: all parts at the version of the topology. Variables must have their
// defaults. Names are as in a cluster without a class, templates named after
// their content, so that two of these can be compared.
func Generate(ctx context.Context, class Class, cluster *clusterv1.Cluster) (Parts, error) {
	blueprint, err := class.blueprint(cluster)
	if err != nil {
		return nil, err
	}
	generator, err := desiredstate.NewGenerator(kinds{}, noCache{}, nil, nil, nil)
	if err != nil {
		return nil, err
	}
	fresh := cluster.DeepCopy()
	// One that is there has a control plane, which would be looked at.
	fresh.Spec.ControlPlaneRef, fresh.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{}, clusterv1.ContractVersionedObjectReference{}
	// MachinePools are not supported here, and not generated.
	fresh.Spec.Topology.Workers.MachinePools, blueprint.Topology.Workers.MachinePools = nil, nil
	s := scope.New(fresh)
	s.Blueprint = blueprint
	s.Current.ControlPlane = &scope.ControlPlaneState{}
	desired, err := generator.Generate(logged(ctx), s)
	if err != nil {
		return nil, newGenerateError(class.Name, cluster.Name, err)
	}
	return parts(cluster.Name, desired)
}

func parts(cluster string, desired *scope.ClusterState) (Parts, error) {
	all := Parts{"": {renamed(desired.InfrastructureCluster, cluster)}}
	objects, err := part(cluster, cluster+"-"+v1alpha1.ControlPlaneName, desired.ControlPlane.Object, desired.ControlPlane.InfrastructureMachineTemplate, nil, desired.ControlPlane.MachineHealthCheck)
	if err != nil {
		return nil, err
	}
	all[v1alpha1.ControlPlaneName] = objects
	for name, group := range desired.MachineDeployments {
		deployment, err := toUnstructured(group.Object)
		if err != nil {
			return nil, err
		}
		deployment.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("MachineDeployment"))
		owner := cluster + "-" + name
		if all[name], err = part(owner, owner, deployment, group.InfrastructureMachineTemplate, group.BootstrapTemplate, group.MachineHealthCheck); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// part are the objects of one part: templates first, as they are referred to.
func part(name, owner string, object, machine, bootstrap *unstructured.Unstructured, check *clusterv1.MachineHealthCheck) ([]*unstructured.Unstructured, error) {
	object = renamed(object, name)
	var objects []*unstructured.Unstructured
	for _, template := range []*unstructured.Unstructured{machine, bootstrap} {
		if template == nil {
			continue
		}
		content, err := json.Marshal(template.Object["spec"])
		if err != nil {
			return nil, err
		}
		template = renamed(template, owner+"-"+changes.ContentHash(content))
		objects = append(objects, template)
		if err := Refer(object, template.GetKind(), template.GetName()); err != nil {
			return nil, err
		}
	}
	objects = append(objects, object)
	if check != nil {
		object, err := toUnstructured(check)
		if err != nil {
			return nil, err
		}
		object.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("MachineHealthCheck"))
		objects = append(objects, renamed(object, owner))
	}
	return objects, nil
}

// Refer puts the name of a template where an object refers to its kind.
func Refer(object *unstructured.Unstructured, kind, name string) error {
	for _, path := range changes.References(object.GetKind()) {
		there, found, err := unstructured.NestedString(object.Object, append(slices.Clone(path), "kind")...)
		if err != nil {
			return err
		}
		if found && there == kind {
			return unstructured.SetNestedField(object.Object, name, append(slices.Clone(path), "name")...)
		}
	}
	return nil
}

func renamed(object *unstructured.Unstructured, name string) *unstructured.Unstructured {
	object = object.DeepCopy()
	object.SetName(name)
	object.SetOwnerReferences(nil)
	// What is of the class's own templates is none of what is made from them.
	for _, field := range []string{"managedFields", "resourceVersion", "uid", "creationTimestamp", "generation"} {
		unstructured.RemoveNestedField(object.Object, "metadata", field)
	}
	// They name what it was made from, and that is compared itself.
	annotations := object.GetAnnotations()
	delete(annotations, clusterv1.TemplateClonedFromNameAnnotation)
	delete(annotations, clusterv1.TemplateClonedFromGroupKindAnnotation)
	object.SetAnnotations(annotations)
	return object
}

func toUnstructured(object any) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	return &unstructured.Unstructured{Object: content}, err
}
