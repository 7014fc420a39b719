package validations

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	capiversion "sigs.k8s.io/cluster-api/util/version"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// UsedClass is a ClusterClass with the provider of its machines, which is empty
// where that is not known.
type UsedClass struct {
	*clusterv1.ClusterClass
	Provider string
}

// OtherClass checks whether a cluster of one class may become one of another. The
// error is of type Refused.
func OtherClass(config *v1alpha1.Config, before, after UsedClass) error {
	var different []string
	kinds := func(what string, a, b clusterv1.ClusterClassTemplateReference) {
		if a.Kind != b.Kind || a.GroupVersionKind().Group != b.GroupVersionKind().Group {
			different = append(different, fmt.Sprintf("its %s is %s and would become %s", what, kindOrNone(a), kindOrNone(b)))
		}
	}
	kinds("infrastructure", before.Spec.Infrastructure.TemplateRef, after.Spec.Infrastructure.TemplateRef)
	kinds("control plane", before.Spec.ControlPlane.TemplateRef, after.Spec.ControlPlane.TemplateRef)
	kinds("control plane machine", before.Spec.ControlPlane.MachineInfrastructure.TemplateRef, after.Spec.ControlPlane.MachineInfrastructure.TemplateRef)
	for _, was := range before.Spec.Workers.MachineDeployments {
		for _, is := range after.Spec.Workers.MachineDeployments {
			if was.Class == is.Class {
				kinds("worker machine of class "+was.Class, was.Infrastructure.TemplateRef, is.Infrastructure.TemplateRef)
			}
		}
	}
	if len(different) == 0 && before.Provider != "" && after.Provider != "" && before.Provider != after.Provider {
		different = []string{fmt.Sprintf("its machines are of provider %s and would become those of %s", before.Provider, after.Provider)}
	}
	if len(different) == 0 {
		return nil
	}
	err := field.Invalid(field.NewPath("spec", "clusterClass", "name"), after.Name, fmt.Sprintf(
		"cluster %s is made from ClusterClass %s: %s, and Cluster API cannot replace one kind with another; use a class with the same kinds, or create a new cluster",
		config.Cluster.Metadata.Name, before.Name, strings.Join(different, "; ")))
	return Refused{config.Locate(v1alpha1.ClusterKind, field.ErrorList{err})}
}

func kindOrNone(reference clusterv1.ClusterClassTemplateReference) string {
	if reference.Kind == "" {
		return "nothing"
	}
	return "a " + strings.TrimSuffix(reference.Kind, "Template")
}

// Admission returns the API server's errors about the Cluster that is rendered from a
// spec, at the paths of the user's file. The error is of type Refused.
func Admission(config *v1alpha1.Config, causes []metav1.StatusCause) error {
	c := classCheck{config: config}
	var errs field.ErrorList
	for _, cause := range causes {
		if cause.Field == "<nil>" {
			continue // that there are other errors
		}
		at, _, _ := c.place(cause.Field)
		errs = append(errs, ofTopology(*OfCause(cause), at))
	}
	return Refused{config.Locate(v1alpha1.ClusterKind, errs)}
}

// ofTopology returns Cluster API's own error about a topology, at a path of the user's
// file.
func ofTopology(said field.Error, at string) *field.Error {
	said.Field = at
	if at == "spec.kubernetesVersion" {
		said.Detail += "; 'clusterctl-x plan upgrade' says which one the cluster can have"
	} else {
		said.Detail += "; change it, or the ClusterClass"
	}
	return &said
}

// OfCause returns an API server's error about one field.
func OfCause(cause metav1.StatusCause) *field.Error {
	known := field.ErrorType(cause.Type)
	if slices.Contains([]metav1.CauseType{"", metav1.CauseTypeTypeInvalid, metav1.CauseTypeForbidden}, cause.Type) {
		known = field.ErrorTypeForbidden
	}
	detail := withinBody.ReplaceAllString(strings.TrimPrefix(cause.Message, known.String()+": "), ": ")
	return &field.Error{Type: known, Field: cause.Field, BadValue: field.OmitValueType{}, Detail: detail}
}

var withinBody = regexp.MustCompile(`: +\S* ?in body `)

// mayFollow reports whether Cluster API lets a version stand after another in a
// class: builds between which it sees no order may stand in any.
func mayFollow(version, before v1alpha1.Version) bool {
	is, err := semver.ParseTolerant(version.String())
	was, otherErr := semver.ParseTolerant(before.String())
	return err == nil && otherErr == nil && capiversion.Compare(is, was, capiversion.WithBuildTags()) > 0
}

// ClassVersions checks the versions of a ClusterClass. It returns only the first error,
// which others may follow from.
func ClassVersions(texts []string) field.ErrorList {
	versions := make([]v1alpha1.Version, len(texts))
	wrong := func(i int, detail string) field.ErrorList {
		return field.ErrorList{field.Invalid(field.NewPath("spec", "kubernetesVersions").Index(i), texts[i], detail)}
	}
	for i, text := range texts {
		var err error
		// Cluster API takes others, and makes control planes of them that are refused.
		if versions[i], err = v1alpha1.ParseVersion(text); err != nil || !strings.HasPrefix(text, "v") {
			return wrong(i, "must be an exact version such as v1.34.2; write it out")
		}
	}
	for i := 1; i < len(versions); i++ {
		if !mayFollow(versions[i], versions[i-1]) {
			return wrong(i, fmt.Sprintf("must be newer than %s before it; list the versions from the oldest to the newest, each once", versions[i-1]))
		}
	}
	for i := 1; i < len(versions); i++ {
		is, was := versions[i].Minor(), versions[i-1].Minor()
		if is.Major != was.Major || is.Minor > was.Minor+1 {
			return wrong(i, fmt.Sprintf("leaves out a minor after %s, and a control plane moves one minor at a time; add a version of each minor between", versions[i-1]))
		}
	}
	return nil
}

// keyOfGroup is where a Cluster says the class of a group.
var keyOfGroup = regexp.MustCompile(`^spec\.topology\.workers\.machineDeployments\[([^\]]*)\]\.class$`)

// ClassChange returns why a cluster cannot take a changed class. said are the errors of
// Cluster API about the Cluster; their paths here are those of the class.
func ClassChange(cluster *clusterv1.Cluster, after *clusterv1.ClusterClass, said field.ErrorList) field.ErrorList {
	const remedy = "; change the cluster first, or let the class keep accepting its value"
	spec := field.NewPath("spec")
	name := "cluster " + cluster.Namespace + "/" + cluster.Name
	var errs field.ErrorList
	told := map[string]bool{}
	add := func(err *field.Error) {
		if !told[err.Error()] {
			told[err.Error()] = true
			errs = append(errs, err)
		}
	}
	for _, err := range said {
		variable, of := variableOf(err.Field)
		missing := requiredVariable.FindStringSubmatch(err.Detail)
		switch group := keyOfGroup.FindStringSubmatch(err.Field); {
		case variable != "" && !defines(after, variable):
			add(field.Required(spec.Child("variables"), fmt.Sprintf("%s sets the variable %s%s, which the class no longer has%s", name, variable, of, remedy)))
		case variable != "":
			at := spec.Child("variables").Key(variable)
			add(field.Invalid(at, field.OmitValueType{}, fmt.Sprintf("%s sets it%s%s: %s%s", name, of, toValue(err), against(err), remedy)))
		case missing != nil:
			add(field.Invalid(spec.Child("variables").Key(missing[1]), field.OmitValueType{},
				fmt.Sprintf("%s does not set this variable, and the class requires it; give it a default, or do not require it until all clusters set it", name)))
		case group != nil:
			add(field.Required(spec.Child("workers", "machineDeployments"), fmt.Sprintf("group %s of %s has a class of workers that the class no longer has%s", group[1], name, remedy)))
		case err.Field == "spec.topology.version":
			add(field.Required(spec.Child("kubernetesVersions"), fmt.Sprintf("%s is at %s%s", name, cluster.Spec.Topology.Version, remedy)))
		default:
			add(field.Invalid(spec, field.OmitValueType{}, fmt.Sprintf("%s: %s: %s%s", name, err.Field, against(err), remedy)))
		}
	}
	return errs
}

var requiredVariable = regexp.MustCompile(`^required variable "(.*)" must be set$`)

func defines(class *clusterv1.ClusterClass, variable string) bool {
	return slices.ContainsFunc(class.Status.Variables, func(v clusterv1.ClusterClassStatusVariable) bool { return v.Name == variable })
}

// variableOf is the variable that a path of a Cluster is about, and whose it is,
// where it is not the cluster's.
func variableOf(path string) (name, of string) {
	if m := topLevelVariable.FindStringSubmatch(path); m != nil {
		return m[1], ""
	}
	if m := controlPlaneVariable.FindStringSubmatch(path); m != nil {
		return m[1], " for its control plane"
	}
	if m := groupVariable.FindStringSubmatch(path); m != nil {
		return m[2], " for its group " + m[1]
	}
	return "", ""
}

// toValue is the value that an error is about, where it fits into a message.
func toValue(err *field.Error) string {
	text, is := err.BadValue.(string)
	if _, omitted := scalar(text).(field.OmitValueType); !is || omitted {
		return ""
	}
	return " to " + text
}

// against returns Cluster API's objection to a value.
func against(err *field.Error) string {
	if err.Type == field.ErrorTypeNotSupported {
		return "not one of the " + err.Detail
	}
	return shorter(err.Detail)
}
