package manifests

import (
	"cmp"
	"fmt"

	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
)

// addOns returns the objects that Cluster API applies to the cluster itself: the
// network plugin, aws-iam-authenticator, and the user's add-ons.
func (r renderer) addOns() ([]templater.Object, error) {
	plugin, err := r.networkPlugin()
	if err != nil {
		return nil, err
	}
	authenticator, err := r.iamAuthenticator()
	if err != nil {
		return nil, err
	}
	objects := append(plugin, authenticator...)
	for _, addOn := range r.Config.Cluster.Spec.AddOns {
		resources := make([]addonsv1.ResourceRef, len(addOn.Resources))
		for i, resource := range addOn.Resources {
			resources[i] = addonsv1.ResourceRef{Kind: resource.Kind, Name: resource.Name}
		}
		strategy := cmp.Or(addonsv1.ClusterResourceSetStrategy(addOn.Strategy), addonsv1.ClusterResourceSetStrategyReconcile)
		set, err := r.resourceSet(r.cluster()+"-"+addOn.Name, resources, strategy)
		if err != nil {
			return nil, err
		}
		objects = append(objects, set)
	}
	return objects, nil
}

// ownAddOn has manifests that come with clusterctl-x.
func (r renderer) ownAddOn(name string, manifests map[string]string, strategy addonsv1.ClusterResourceSetStrategy) ([]templater.Object, error) {
	name = r.cluster() + "-" + name
	content, err := r.render("add-on-manifests.yaml.tmpl", struct {
		owner
		Manifests map[string]string
	}{r.owner(name), manifests})
	if err != nil {
		return nil, err
	}
	set, err := r.resourceSet(name, []addonsv1.ResourceRef{{Kind: string(addonsv1.ConfigMapClusterResourceSetResourceKind), Name: name}}, strategy)
	return []templater.Object{content, set}, err
}

func (r renderer) resourceSet(name string, resources []addonsv1.ResourceRef, strategy addonsv1.ClusterResourceSetStrategy) (templater.Object, error) {
	return r.render("resource-set.yaml.tmpl", struct {
		owner
		Resources []addonsv1.ResourceRef
		Strategy  addonsv1.ClusterResourceSetStrategy
	}{r.owner(name), resources, strategy})
}

// addOnFile is a manifest that comes with clusterctl-x.
func addOnFile(name string) (string, error) {
	data, err := config.AddOns.ReadFile("addons/" + name)
	if err != nil {
		return "", fmt.Errorf("reading the manifest of an add-on: %w", err)
	}
	return string(data), nil
}
