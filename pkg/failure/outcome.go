// Package failure says what the error of a command means for people and programs: the exit
// code, a reason of one word, and what is wrong where, with the remedy.
package failure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/terminal"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// The exit codes. They are documented in docs/errors.md and do not change.
const (
	Done        = 0
	Failed      = 1
	Invalid     = 2
	Refused     = 3
	Conflict    = 4
	Timeout     = 5
	Interrupted = 130
)

// outcome is what a type of errors means for programs.
type outcome struct {
	code   int
	reason string // one word; documented in docs/errors.md and does not change
	of     func(error) bool
}

// outcomes are those of all types. The first one of an error counts: what ended a command
// comes before what it was at.
func outcomes() []outcome {
	return []outcome{
		{Interrupted, "Interrupted", is(context.Canceled)},
		{Timeout, "Timeout", is(management.ErrTimeout)},
		{Timeout, "Timeout", is(context.DeadlineExceeded)},
		{Refused, "Refused", as[validations.Refused]},
		{Refused, "NoPlan", as[*plan.NoPlanError]},
		{Refused, "Preflight", as[*management.PreflightError]},
		{Invalid, "InvalidFile", as[strictyaml.Problems]},
		{Invalid, "Usage", as[usage.Error]},
		{Invalid, "Usage", as[*lifecycle.UnknownGroupError]},
		{Invalid, "Usage", as[*lifecycle.ReleasesError]},
		{Invalid, "InvalidFile", as[*lifecycle.ManifestError]},
		{Conflict, "StalePlan", as[*engine.StalePlanError]},
		{Conflict, "Locked", as[*management.LockedError]},
		{Conflict, "FieldConflict", as[*management.ConflictError]},
		{Conflict, "Conflict", apierrors.IsConflict},
		{Refused, "Refused", as[*management.RefusedError]},
		{Refused, "Refused", as[*management.ClassError]},
		{Refused, "Refused", apierrors.IsInvalid},
		{Refused, "Refused", apierrors.IsForbidden},
		{Refused, "NotConfirmed", as[*lifecycle.RemovalError]},
		{Refused, "NotConfirmed", as[terminal.DeclinedError]},
		{Refused, "AlreadyExists", as[*management.AlreadyExistsError]},
		{Refused, "NotFound", is(management.ErrNotFound)},
		{Failed, "Failed", func(error) bool { return true }},
	}
}

func is(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }

func as[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}

// outcomeOf returns the outcome of a command with an error.
func outcomeOf(err error) outcome {
	all := outcomes()
	return all[slices.IndexFunc(all, func(o outcome) bool { return o.of(err) })]
}

// Report returns the exit code of a command that ended with an error, or with none, and what
// it writes to stderr, in the format of -o; which is nothing where there is nothing to say.
func Report(format string, err error) (code int, message string) {
	var exit ExitError
	if errors.As(err, &exit) {
		err = exit.Err
	}
	code = cmp.Or(exit.Code, exitCode(err))
	if err == nil {
		return code, ""
	}
	return code, text(format, code, err)
}

// exitCode returns the exit code that follows from the type of an error.
func exitCode(err error) int {
	if err == nil {
		return Done
	}
	return outcomeOf(err).code
}

// separate returns the errors that errors.Join put together, or the only one.
func separate(err error) []error {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, one := range several.Unwrap() {
			all = append(all, separate(one)...)
		}
		if err.Error() == errors.Join(several.Unwrap()...).Error() { // and no sentence about several
			return all
		}
	}
	if about := (usage.Error{}); errors.As(err, &about) {
		return separate(about.Err)
	}
	return []error{err}
}

// message returns what a person reads of an error.
func message(err error) string {
	var lines []string
	for _, one := range separate(err) {
		lines = append(lines, messageOf(one))
	}
	return strings.Join(lines, "\n")
}

func messageOf(err error) string {
	var (
		problems strictyaml.Problems
		denied   validations.Refused
		no       *plan.NoPlanError
	)
	switch {
	case errors.As(err, &problems):
		return problems.Error()
	case errors.As(err, &denied):
		return denied.Error()
	case errors.As(err, &no):
		return "error: " + strings.Join(no.Reasons, "\nerror: ")
	}
	text := "error: " + err.Error()
	for _, cause := range conflictCauses(err) { // fields, and who owns them
		text += fmt.Sprintf("\n  %s: %s", cause.Field, cause.Message)
	}
	return text
}

// conflictCauses returns the causes that an API server gives for a conflict.
func conflictCauses(err error) []metav1.StatusCause {
	var status apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	return status.Status().Details.Causes
}
