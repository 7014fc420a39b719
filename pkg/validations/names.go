package validations

import (
	"fmt"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// maxNameLength of a cluster, and of cluster and group together, leaves room
// for what Cluster API puts behind it: machine names end in a generated
// suffix, names of nodes and label values end at 63 characters.
const (
	maxNameLength  = 40
	maxGroupLength = 48
)

func dnsLabel(name string, maxLength int, path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "a name of lower-case letters, digits and dashes")}
	}
	var errs field.ErrorList
	if len(name) > maxLength {
		errs = append(errs, field.Invalid(path, name, fmt.Sprintf("must have at most %d characters, and has %d; shorten it", maxLength, len(name))))
	}
	// What is longer than a label can be has been told so already.
	if len(name) <= utilvalidation.DNS1123LabelMaxLength && len(utilvalidation.IsDNS1123Label(name)) > 0 {
		errs = append(errs, field.Invalid(path, name, "must consist of lower-case letters, digits and dashes, and begin and end with a letter or digit"))
	}
	return errs
}

// objectName is a name that an object of the management cluster may have.
func objectName(name string, path *field.Path) field.ErrorList {
	switch {
	case name == "":
		return field.ErrorList{field.Required(path, "the name of the object")}
	case len(utilvalidation.IsDNS1123Subdomain(name)) > 0:
		return field.ErrorList{field.Invalid(path, name, "must be the name of an object: at most 253 lower-case letters, digits, dashes and dots that begin and end with a letter or digit")}
	}
	return nil
}

// ownName is the name of an object that others made: one that Cluster API can have in
// labels. A class names its objects itself.
func ownName(name string, class *v1alpha1.ClusterClass, path *field.Path) field.ErrorList {
	switch {
	case name == "":
		return nil
	case class != nil:
		return field.ErrorList{field.Forbidden(path, "with a clusterClass, Cluster API names the objects of the cluster; remove it")}
	case len(name) > utilvalidation.LabelValueMaxLength:
		return field.ErrorList{field.Invalid(path, name, fmt.Sprintf("must have at most %d characters, and has %d; it must be the name that the object has", utilvalidation.LabelValueMaxLength, len(name)))}
	}
	return objectName(name, path)
}

// longestCluster is the length of the longest name of a cluster. One whose objects have names
// of their own leaves no room for others.
func longestCluster(cluster *v1alpha1.Cluster) int {
	if cluster.Spec.ControlPlaneConfiguration.ResourceName != "" {
		return utilvalidation.DNS1123LabelMaxLength
	}
	return maxNameLength
}

func groupName(cluster string, of v1alpha1.WorkerNodeGroupConfiguration, path *field.Path) field.ErrorList {
	group := of.Name
	errs := dnsLabel(group, maxGroupLength, path)
	if group == v1alpha1.ControlPlaneName { // its templates would have the same names
		errs = append(errs, field.Invalid(path, group, "is the name of the control plane; use another one for the group"))
	}
	if together := len(cluster) + 1 + len(group); len(errs) == 0 && of.ResourceName == "" && len(cluster) <= maxNameLength && together > maxGroupLength {
		errs = append(errs, field.Invalid(path, group, fmt.Sprintf("the names of cluster and group together must have at most %d characters, and have %d; shorten one of them", maxGroupLength-1, together-1)))
	}
	return errs
}

// places are where values were met first.
type places[T comparable] map[T]*field.Path

// again is the error about a value that was met before. The remedy follows what
// it says: that there is one already.
func (p places[T]) again(value T, shown, remedy string, path, owner *field.Path) field.ErrorList {
	first, twice := p[value]
	if !twice {
		p[value] = owner
		return nil
	}
	return field.ErrorList{{
		Type: field.ErrorTypeDuplicate, Field: path.String(), BadValue: shown,
		Detail: fmt.Sprintf("%s has this %s", first, remedy),
	}}
}

// keyed is the path of an entry of a map of text, as Decode writes it.
func keyed(path *field.Path, key string) *field.Path { return path.Key(strictyaml.FieldName(key)) }
