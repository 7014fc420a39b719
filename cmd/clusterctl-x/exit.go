package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
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

// usageError says that the command line, the environment or a file given on it
// is wrong.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// interruptedError says what goes on after an interrupt. What the interrupt cut
// off, down to the signal itself, is no use to people.
type interruptedError string

func (e interruptedError) Error() string { return "interrupted; " + string(e) }

// Is makes it the error that the exit code depends on.
func (interruptedError) Is(target error) bool { return target == context.Canceled }

func exitCode(err error) int {
	var (
		usage     usageError
		problems  strictyaml.Problems
		refused   *management.RefusedError
		different *management.DifferentError
		denied    validations.Refused
		no        *plan.ImpossibleError
		preflight *management.PreflightError
		moved     *rollout.StalePlanError
		locked    *management.LockedError
		conflict  *management.ConflictError
		class     *management.ClassError
		unknown   *lifecycle.UnknownGroupError
	)
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, management.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return exitTimeout
	case errors.As(err, &denied), errors.As(err, &no), errors.As(err, &preflight):
		return exitRefused
	case errors.As(err, &usage), errors.As(err, &problems), errors.As(err, &unknown):
		return exitInvalid
	case apierrors.IsConflict(err), errors.As(err, &moved), errors.As(err, &locked), errors.As(err, &conflict):
		return exitConflict
	case errors.As(err, &refused), errors.As(err, &different), errors.As(err, &class), errors.Is(err, management.ErrNotFound),
		apierrors.IsInvalid(err), apierrors.IsForbidden(err):
		return exitRefused
	default:
		return exitFailed
	}
}

// message is what a person reads of an error.
func message(err error) string {
	var problems strictyaml.Problems
	if errors.As(err, &problems) {
		return problems.Error()
	}
	var denied validations.Refused
	if errors.As(err, &denied) {
		return denied.Error()
	}
	var no *plan.ImpossibleError
	if errors.As(err, &no) {
		return "error: " + strings.Join(no.Reasons, "\nerror: ")
	}
	var usage usageError
	var unknown *lifecycle.UnknownGroupError
	if errors.As(err, &usage) {
		err = usage.error
	}
	if several, ok := err.(interface{ Unwrap() []error }); ok && (usage.error != nil || errors.As(err, &unknown)) {
		return eachOnALine(several.Unwrap())
	}
	text := "error: " + err.Error()
	var status apierrors.APIStatus
	if apierrors.IsConflict(err) && errors.As(err, &status) && status.Status().Details != nil {
		text += owners(status.Status().Details.Causes)
	}
	return text
}

func eachOnALine(errs []error) string {
	lines := make([]string, len(errs))
	for i, err := range errs {
		lines[i] = "error: " + err.Error()
	}
	return strings.Join(lines, "\n")
}

// owners lists the fields of a conflict with who owns them.
func owners(causes []metav1.StatusCause) string {
	var b strings.Builder
	for _, cause := range causes {
		fmt.Fprintf(&b, "\n  %s: %s", cause.Field, cause.Message)
	}
	return b.String()
}
