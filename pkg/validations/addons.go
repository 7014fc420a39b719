package validations

import (
	"fmt"
	"slices"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// maxResources that a ClusterResourceSet can hold.
const maxResources = 100

func addOns(cluster string, addOns []v1alpha1.AddOn, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	first := places[string]{}
	for i, addOn := range addOns {
		at := path.Index(i)
		errs = append(errs, addOnName(cluster, addOn.Name, at.Child("name"))...)
		if addOn.Name != "" {
			errs = append(errs, first.again(addOn.Name, addOn.Name, "name already; each add-on needs its own", at.Child("name"), at)...)
		}
		errs = append(errs, addOnResources(addOn.Resources, at.Child("resources"))...)
		errs = append(errs, oneOf(addOn.Strategy, []string{"ApplyOnce", "Reconcile"}, at.Child("strategy"))...)
	}
	return errs
}

func addOnName(cluster, name string, path *field.Path) field.ErrorList {
	const most = utilvalidation.DNS1123LabelMaxLength
	errs := dnsLabel(name, most, path)
	if slices.Contains([]string{"cni", "aws-iam-authenticator"}, name) {
		errs = append(errs, field.Invalid(path, name, "is the name of an add-on that clusterctl-x installs; use another name"))
	}
	if together := len(cluster) + 1 + len(name); len(errs) == 0 && len(cluster) <= maxNameLength && together > most {
		errs = append(errs, field.Invalid(path, name, fmt.Sprintf("the names of cluster and add-on together must have at most %d characters, and have %d; shorten one of them", most-1, together-1)))
	}
	return errs
}

func addOnResources(resources []v1alpha1.AddOnResource, path *field.Path) field.ErrorList {
	switch {
	case len(resources) == 0:
		return field.ErrorList{field.Required(path, "a ConfigMap or Secret with manifests")}
	case len(resources) > maxResources:
		return field.ErrorList{tooMany(path, len(resources), fmt.Sprintf("must have at most %d; make another add-on for the others", maxResources))}
	}
	var errs field.ErrorList
	first := places[v1alpha1.AddOnResource]{}
	for i, resource := range resources {
		at := path.Index(i)
		invalid := append(resourceKind(resource.Kind, at.Child("kind")), objectName(resource.Name, at.Child("name"))...)
		if len(invalid) == 0 {
			invalid = first.again(resource, resource.Kind+"/"+resource.Name, "object already; remove one of the two", at, at)
		}
		errs = append(errs, invalid...)
	}
	return errs
}

func resourceKind(kind string, path *field.Path) field.ErrorList {
	if kind == "" {
		return field.ErrorList{field.Required(path, "ConfigMap or Secret")}
	}
	return oneOf(kind, []string{"ConfigMap", "Secret"}, path)
}
