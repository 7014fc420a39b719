package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// Exit codes. They are documented in docs/errors.md and do not change.
const (
	exitDone        = 0
	exitFailed      = 1
	exitInvalid     = 2
	exitRefused     = 3
	exitConflict    = 4
	exitTimeout     = 5
	exitInterrupted = 130
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
		{exitInterrupted, "Interrupted", is(context.Canceled)},
		{exitTimeout, "Timeout", is(management.ErrTimeout)},
		{exitTimeout, "Timeout", is(context.DeadlineExceeded)},
		{exitRefused, "Refused", as[validations.Refused]},
		{exitRefused, "NoPlan", as[*plan.NoPlanError]},
		{exitRefused, "Preflight", as[*management.PreflightError]},
		{exitInvalid, "InvalidFile", as[strictyaml.Problems]},
		{exitInvalid, "Usage", as[usage.Error]},
		{exitInvalid, "Usage", as[*lifecycle.UnknownGroupError]},
		{exitInvalid, "Usage", as[*lifecycle.ReleasesError]},
		{exitConflict, "StalePlan", as[*engine.StalePlanError]},
		{exitConflict, "Locked", as[*management.LockedError]},
		{exitConflict, "FieldConflict", as[*management.ConflictError]},
		{exitConflict, "Conflict", apierrors.IsConflict},
		{exitRefused, "Refused", as[*management.RefusedError]},
		{exitRefused, "Refused", as[*management.ClassError]},
		{exitRefused, "Refused", apierrors.IsInvalid},
		{exitRefused, "Refused", apierrors.IsForbidden},
		{exitRefused, "NotConfirmed", as[*lifecycle.RemovalError]},
		{exitRefused, "NotConfirmed", as[cli.DeclinedError]},
		{exitRefused, "AlreadyExists", as[*management.AlreadyExistsError]},
		{exitRefused, "NotFound", is(management.ErrNotFound)},
		{exitFailed, "Failed", func(error) bool { return true }},
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

func exitCode(err error) int {
	if err == nil {
		return exitDone
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
