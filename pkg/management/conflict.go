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
type ConflictError struct {
	Fields []string // each with its object and its owner
}

func (e *ConflictError) Error() string {
	return "other field managers own fields that the upgrade would change; set their values in the file, or take the fields over with --force-conflicts\n  " + strings.Join(e.Fields, "\n  ")
}

// conflictOf puts the conflicts of applying objects together; nil without any.
func conflictOf(fields ...[]string) error {
	all := slices.Concat(fields...)
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	return &ConflictError{Fields: slices.Compact(all)}
}

// conflicts are the fields of an object that others own with other values, with their
// owners. The annotation that a dry run adds is none of them.
func conflicts(object *unstructured.Unstructured, err error) []string {
	var fields []string
	for _, cause := range fieldConflicts(err) {
		if aboutGuardrails(cause) {
			continue
		}
		fields = append(fields, changes.ObjectName(object)+" "+strings.TrimPrefix(cause.Field, ".")+": "+cause.Message)
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
