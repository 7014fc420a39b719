package lifecycle

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/controlplanes"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/rbac"
)

// ObjectKinds returns the kinds of the objects of these infrastructure providers, with those
// of their ClusterClasses, and of the control planes of other providers whose versions can be
// changed. Providers whose documents say the kinds have none here.
func ObjectKinds(known providers.Set) rbac.Kinds {
	kinds := rbac.Kinds{ControlPlanes: controlPlaneKinds()}
	for _, provider := range known {
		for _, resource := range provider.Spec.Resources {
			kinds.Others = append(kinds.Others, schema.FromAPIVersionAndKind(resource.APIVersion, resource.Kind).GroupKind())
		}
		of := provider.Spec.Infrastructure
		if of == nil {
			continue
		}
		cluster := schema.FromAPIVersionAndKind(of.APIVersion, of.Cluster).GroupKind()
		kinds.Clusters = append(kinds.Clusters, cluster)
		kinds.Others = append(kinds.Others, rbac.TemplateOf(cluster))
		kinds.MachineTemplates = append(kinds.MachineTemplates, schema.FromAPIVersionAndKind(of.APIVersion, of.MachineTemplate).GroupKind())
	}
	return kinds
}

// controlPlaneKinds are those besides kubeadm's whose versions can be changed.
func controlPlaneKinds() []schema.GroupKind {
	var kinds []schema.GroupKind
	for _, kind := range controlplanes.Known() {
		if kind.Kind != "KubeadmControlPlane" && kind.Refused == "" {
			kinds = append(kinds, schema.GroupKind{Group: kind.Group, Kind: kind.Kind})
		}
	}
	return kinds
}

// ObjectKinds returns the kinds of the objects that a new cluster has besides those of
// Cluster API and the API group of Secrets and ConfigMaps.
func (s Spec) ObjectKinds(namespace string) (rbac.Kinds, error) {
	objects, err := s.Render(namespace)
	if err != nil {
		return rbac.Kinds{}, err
	}
	var kinds rbac.Kinds
	for _, rendered := range objects {
		object, err := rendered.Unstructured()
		if err != nil {
			return rbac.Kinds{}, err
		}
		if kind := rendered.Kind.GroupKind(); !slices.Contains(commonGroups(), kind.Group) {
			kinds.Others = append(kinds.Others, kind)
		}
		if err := addReferred(&kinds, object); err != nil {
			return rbac.Kinds{}, fmt.Errorf("reading the infrastructure of %s %s: %w", rendered.Kind.Kind, rendered.Name, err)
		}
	}
	return kinds, nil
}

// commonGroups are the API groups of the objects that clusters of all infrastructures have.
func commonGroups() []string {
	return []string{corev1.GroupName, clusterv1.GroupVersion.Group, addonsv1.GroupVersion.Group, bootstrapv1.GroupVersion.Group, controlplanev1.GroupVersion.Group}
}

// addReferred adds the kind of the infrastructure that an object refers to.
func addReferred(kinds *rbac.Kinds, object *unstructured.Unstructured) error {
	into := &kinds.MachineTemplates
	var path []string
	switch object.GroupVersionKind().GroupKind() {
	case clusterv1.GroupVersion.WithKind("Cluster").GroupKind():
		into, path = &kinds.Clusters, []string{"spec", "infrastructureRef"}
	case controlplanev1.GroupVersion.WithKind("KubeadmControlPlane").GroupKind():
		path = []string{"spec", "machineTemplate", "spec", "infrastructureRef"}
	case clusterv1.GroupVersion.WithKind("MachineDeployment").GroupKind():
		path = []string{"spec", "template", "spec", "infrastructureRef"}
	default:
		return nil
	}
	reference, found, err := unstructured.NestedStringMap(object.Object, path...)
	if err != nil || !found {
		return err // a Cluster from a ClusterClass has none
	}
	*into = append(*into, schema.GroupKind{Group: reference["apiGroup"], Kind: reference["kind"]})
	return nil
}
