package management

import (
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// ConflictError says which fields others own that an upgrade would change.
type ConflictError struct{ Fields []FieldConflict }

// FieldConflict is a field that another field manager owns.
type FieldConflict struct {
	Object string // Kind/name
	Path   string
	Reason string // names the owner
}

func (f FieldConflict) String() string { return f.Object + " " + f.Path + ": " + f.Reason }

func (e *ConflictError) Error() string {
	text := "other field managers own fields that the upgrade would change; set their values in the file, or take the fields over with --force-conflicts"
	for _, conflict := range e.Fields {
		text += "\n  " + conflict.String()
	}
	return text
}

// conflictOf puts the conflicts of applying objects together; nil without any.
func conflictOf(fields ...[]FieldConflict) error {
	all := slices.Concat(fields...)
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b FieldConflict) int { return strings.Compare(a.String(), b.String()) })
	return &ConflictError{Fields: slices.Compact(all)}
}

// conflicts are the fields of an object that others own with other values, with their
// owners. The annotation that a dry run adds is none of them.
func conflicts(object *unstructured.Unstructured, err error) []FieldConflict {
	var fields []FieldConflict
	for _, cause := range fieldConflicts(err) {
		if aboutGuardrails(cause) {
			continue
		}
		fields = append(fields, FieldConflict{Object: changes.ObjectName(object), Path: strings.TrimPrefix(cause.Field, "."), Reason: cause.Message})
	}
	return fields
}

// fieldConflicts are the causes of an error that are about fields of other owners.
func fieldConflicts(err error) []metav1.StatusCause {
	var status apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(status.Status().Details.Causes), func(cause metav1.StatusCause) bool {
		return cause.Type != metav1.CauseTypeFieldManagerConflict
	})
}
