package management

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// ClassError has what is wrong with a ClusterClass or its templates.
type ClassError struct {
	Reasons []ClassReason
}

// ClassReason is one thing that is wrong with an object.
type ClassReason struct {
	Object string // Kind/name
	// Cause has field and rule; the field is empty where the whole object is wrong.
	Cause metav1.StatusCause
	// unexplained is true where the cause has no remedy yet.
	unexplained bool
}

func (e *ClassError) Error() string {
	lines := make([]string, len(e.Reasons))
	for i, reason := range e.Reasons {
		lines[i] = reason.Object + ": " + reason.Cause.Field + ": " + reason.Cause.Message
	}
	return strings.Join(lines, "\n")
}

// undeclared is how the API server names a field that it does not know, when an
// object is applied and when it is patched.
var undeclared = regexp.MustCompile(`\.([^\s:]+): field not declared in schema|unknown field "([^"]+)"`)

// add notes an error that says that an object is not valid.
func (e *ClassError) add(object *unstructured.Unstructured, err error) bool {
	reasons, invalid := reasonsAgainst(object, err)
	for i, reason := range reasons {
		if reason.unexplained {
			reasons[i].Cause.Message += classRemedy(reason.Cause.Field)
		}
	}
	e.Reasons = append(e.Reasons, reasons...)
	return invalid
}

// reasonsAgainst returns the objections of an error to an object; false if the error is
// not about the object's content.
func reasonsAgainst(object *unstructured.Unstructured, err error) ([]ClassReason, bool) {
	name := changes.ObjectName(object)
	forbidden := func(path, message string) []ClassReason {
		return []ClassReason{{name, metav1.StatusCause{Type: metav1.CauseTypeForbidden, Field: path, Message: message}, false}}
	}
	if meta.IsNoMatchError(err) {
		return forbidden("apiVersion", fmt.Sprintf("the management cluster knows no %s of %s; use the version that it has ('kubectl api-resources' lists them)", object.GetKind(), object.GetAPIVersion())), true
	}
	var status apierrors.APIStatus
	if err == nil || !errors.As(err, &status) {
		return nil, false
	}
	if unknown := undeclared.FindAllStringSubmatch(err.Error(), -1); len(unknown) > 0 {
		var reasons []ClassReason
		for _, m := range unknown {
			reasons = append(reasons, forbidden(m[1]+m[2], object.GetKind()+" has no such field; remove it, or correct its name")...)
		}
		return reasons, true
	}
	switch details := status.Status().Details; {
	case !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) && !(apierrors.IsForbidden(err) && details == nil):
		return nil, false // only webhooks forbid without a word of what
	case changes.IsTemplate(object.GetKind()) && aboutWhole(details):
		return forbidden("spec.template", name+" already exists with other content, and templates cannot be changed: give the new one another name, and name it in the class"), true
	case details == nil || len(details.Causes) == 0:
		return forbidden("", status.Status().Message), true
	default:
		return reasonsOfCauses(name, details.Causes), true
	}
}

func reasonsOfCauses(object string, causes []metav1.StatusCause) []ClassReason {
	var reasons []ClassReason
	for _, cause := range causes {
		if cause.Field == "<nil>" {
			continue // that there are other errors
		}
		cause.Field = strings.Replace(cause.Field, "spec.kubernetesVersion[", "spec.kubernetesVersions[", 1)
		cause.Message = brief(cause.Message)
		reasons = append(reasons, ClassReason{object, cause, true})
	}
	return reasons
}

// aboutWhole reports whether a template is refused for all that it makes: the only
// rule about that is that it does not change.
func aboutWhole(details *metav1.StatusDetails) bool {
	return details != nil && slices.ContainsFunc(details.Causes, func(cause metav1.StatusCause) bool { return cause.Field == "spec.template.spec" })
}

var dumped = regexp.MustCompile(`\{"Rule":.*\}: `)

// brief is one line of a message, without the rule that it is about: its place is
// told.
func brief(message string) string {
	first, _, _ := strings.Cut(dumped.ReplaceAllString(message, ""), "\n")
	return first
}

// classRemedy says what to do about a field that cannot be as it is.
func classRemedy(path string) string {
	switch {
	case strings.HasPrefix(path, "spec.kubernetesVersions["):
		return "; list the versions from the oldest to the newest, and leave no minor out ('generate clusterclass' does)"
	case strings.HasPrefix(path, "spec.kubernetesVersions"):
		return "; keep the versions that clusters have, and one of each minor between ('generate clusterclass --keep-used' does)"
	case strings.Contains(path, "templateRef"):
		return "; a class keeps the kinds of its templates: make another class for others"
	case strings.HasPrefix(path, "spec.variables") && strings.Contains(path, ".schema"):
		return "; correct the schema"
	case strings.HasPrefix(path, "spec.variables"):
		return "; change the clusters that use the variable first, or let the class keep accepting their values"
	case strings.HasPrefix(path, "spec.patches"):
		return "; correct the patch"
	case strings.HasPrefix(path, "spec.workers"):
		return "; remove the groups of this class from their clusters first"
	}
	return "; correct it"
}
