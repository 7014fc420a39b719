package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
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

func exitCode(err error) int {
	var (
		usage     cli.UsageError
		problems  strictyaml.Problems
		refused   *management.RefusedError
		exists    *management.AlreadyExistsError
		denied    validations.Refused
		no        *plan.NoPlanError
		preflight *management.PreflightError
		moved     *rollout.StalePlanError
		locked    *management.LockedError
		conflict  *management.ConflictError
		class     *management.ClassError
		unknown   *lifecycle.UnknownGroupError
		releases  *lifecycle.ReleasesError
		removal   *lifecycle.RemovalError
		declined  cli.DeclinedError
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
	case errors.As(err, &usage), errors.As(err, &problems), errors.As(err, &unknown), errors.As(err, &releases):
		return exitInvalid
	case apierrors.IsConflict(err), errors.As(err, &moved), errors.As(err, &locked), errors.As(err, &conflict):
		return exitConflict
	case errors.As(err, &refused), errors.As(err, &exists), errors.As(err, &class), errors.As(err, &removal), errors.As(err, &declined), errors.Is(err, management.ErrNotFound),
		apierrors.IsInvalid(err), apierrors.IsForbidden(err):
		return exitRefused
	default:
		return exitFailed
	}
}

// message is what a person reads of an error.
func message(err error) string {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var lines []string
		for _, err := range joined.Unwrap() {
			lines = append(lines, message(err))
		}
		return strings.Join(lines, "\n")
	}
	var (
		problems strictyaml.Problems
		denied   validations.Refused
		no       *plan.NoPlanError
		usage    cli.UsageError
		unknown  *lifecycle.UnknownGroupError
	)
	switch {
	case errors.As(err, &problems):
		return problems.Error()
	case errors.As(err, &denied):
		return denied.Error()
	case errors.As(err, &no):
		return "error: " + strings.Join(no.Reasons, "\nerror: ")
	case errors.As(err, &usage):
		err = usage.Err
	}
	if several, ok := err.(interface{ Unwrap() []error }); ok && (usage.Err != nil || errors.As(err, &unknown)) {
		var lines []string
		for _, err := range several.Unwrap() {
			lines = append(lines, "error: "+err.Error())
		}
		return strings.Join(lines, "\n")
	}
	text := "error: " + err.Error()
	var status apierrors.APIStatus
	if apierrors.IsConflict(err) && errors.As(err, &status) && status.Status().Details != nil {
		for _, cause := range status.Status().Details.Causes { // fields, and who owns them
			text += fmt.Sprintf("\n  %s: %s", cause.Field, cause.Message)
		}
	}
	return text
}
