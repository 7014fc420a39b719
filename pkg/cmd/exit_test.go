package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// TestExitCode: it depends on the type of the error, however it is wrapped. What
// ended a command comes before what it was at.
func TestExitCode(t *testing.T) {
	t.Parallel()
	problems := strictyaml.Problems{{}}
	clusters := schema.GroupResource{Group: "cluster.x-k8s.io", Resource: "clusters"}
	locked := &management.LockedError{HeldLock: management.HeldLock{Cluster: "ns/c", Holder: "another"}}
	lost := &management.LockedError{HeldLock: management.HeldLock{Cluster: "ns/c", Holder: "another"}, Lost: true}
	tests := map[string]struct {
		err  error
		want int
	}{
		"nothing":                          {nil, exitDone},
		"something":                        {errors.New("other"), exitFailed},
		"a file that cannot be read":       {os.ErrPermission, exitFailed},
		"the command line":                 {usage.Wrap(errors.New("no such flag")), exitInvalid},
		"a wrong file":                     {problems, exitInvalid},
		"a wrong file on the command line": {usage.Wrap(problems), exitInvalid},
		"a file that a cluster refuses":    {validations.Refused{Problems: problems}, exitRefused},
		"no plan":                          {&plan.NoPlanError{Reasons: []string{"x"}}, exitRefused},
		"preflight":                        {&management.PreflightError{Cluster: "ns/c"}, exitRefused},
		"refused":                          {&management.RefusedError{Check: "x"}, exitRefused},
		"another cluster":                  {&management.AlreadyExistsError{Cluster: "ns/c"}, exitRefused},
		"no cluster":                       {management.ErrNotFound, exitRefused},
		"a webhook":                        {apierrors.NewInvalid(schema.GroupKind{Kind: "Cluster"}, "c", nil), exitRefused},
		"a privilege":                      {apierrors.NewForbidden(clusters, "c", errors.New("no")), exitRefused},
		"a conflict of fields":             {apierrors.NewConflict(clusters, "c", errors.New("owned")), exitConflict},
		"conflicts of fields":              {&management.ConflictError{Fields: []management.FieldConflict{{Object: "Cluster/c", Path: "spec", Reason: "owned"}}}, exitConflict},
		"a plan of another day":            {&engine.StalePlanError{Cluster: "ns/c"}, exitConflict},
		"locked":                           {locked, exitConflict},
		"the lock was lost":                {lost, exitConflict},
		"no time":                          {management.ErrTimeout, exitTimeout},
		"no answer":                        {context.DeadlineExceeded, exitTimeout},
		"no time, in a conflict":           {fmt.Errorf("%w: %w", management.ErrTimeout, locked), exitTimeout},
		"interrupted":                      {context.Canceled, exitInterrupted},
		"interrupted, and told":            {cli.InterruptedError("x"), exitInterrupted},
		"interrupted, at a wrong file":     {fmt.Errorf("%w: %w", context.Canceled, problems), exitInterrupted},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := exitCode(test.err); got != test.want {
				t.Errorf("exit code %d, want %d", got, test.want)
			}
			if test.err == nil {
				return
			}
			if got := exitCode(fmt.Errorf("doing something: %w", test.err)); got != test.want {
				t.Errorf("wrapped: exit code %d, want %d", got, test.want)
			}
		})
	}
}
