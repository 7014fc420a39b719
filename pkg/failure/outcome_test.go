package failure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

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
		"nothing":                          {nil, Done},
		"something":                        {errors.New("other"), Failed},
		"a file that cannot be read":       {os.ErrPermission, Failed},
		"the command line":                 {usage.Wrap(errors.New("no such flag")), Invalid},
		"a machine that is not retried":    {&management.StuckError{Cluster: "ns/c"}, Failed},
		"a wrong file":                     {problems, Invalid},
		"a wrong file on the command line": {usage.Wrap(problems), Invalid},
		"a file that a cluster refuses":    {validations.Refused{Problems: problems}, Refused},
		"no plan":                          {&plan.NoPlanError{Reasons: []string{"x"}}, Refused},
		"preflight":                        {&management.PreflightError{Cluster: "ns/c"}, Refused},
		"refused":                          {&management.RefusedError{Check: "x"}, Refused},
		"another cluster":                  {&management.AlreadyExistsError{Cluster: "ns/c"}, Refused},
		"no cluster":                       {management.ErrNotFound, Refused},
		"a webhook":                        {apierrors.NewInvalid(schema.GroupKind{Kind: "Cluster"}, "c", nil), Refused},
		"a privilege":                      {apierrors.NewForbidden(clusters, "c", errors.New("no")), Refused},
		"a conflict of fields":             {apierrors.NewConflict(clusters, "c", errors.New("owned")), Conflict},
		"conflicts of fields":              {&management.ConflictError{Fields: []management.FieldConflict{{Object: "Cluster/c", Path: "spec", Reason: "owned"}}}, Conflict},
		"a plan of another day":            {&engine.StalePlanError{Cluster: "ns/c"}, Conflict},
		"locked":                           {locked, Conflict},
		"the lock was lost":                {lost, Conflict},
		"no time":                          {management.ErrTimeout, Timeout},
		"no answer":                        {context.DeadlineExceeded, Timeout},
		"no time, in a conflict":           {fmt.Errorf("%w: %w", management.ErrTimeout, locked), Timeout},
		"interrupted":                      {context.Canceled, Interrupted},
		"interrupted, and told":            {InterruptedError("x"), Interrupted},
		"interrupted, at a wrong file":     {fmt.Errorf("%w: %w", context.Canceled, problems), Interrupted},
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
