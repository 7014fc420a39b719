package failure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/output"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/terminal"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// failed is an error, and the document about it after apiVersion and kind.
type failed struct {
	err  error
	want string
}

// failures has every type of errors.
func failures() map[string]failed {
	version := field.NewPath("spec", "kubernetesVersion")
	problems := strictyaml.Problems{
		strictyaml.NewProblem("c.yaml", 5, field.Invalid(version, "1.30", "the control plane runs v1.31.9; cannot be downgraded; use v1.31.9 or newer")),
		strictyaml.NewProblem("c.yaml", 7, field.Required(field.NewPath("spec", "a"), "")),
		strictyaml.NewProblem("c.yaml", 0, field.Invalid(nil, nil, "the file is empty; 'clusterctl-x generate clusterconfig' writes one")),
	}
	const inFile = `[` +
		`{"file":"c.yaml","line":5,"path":"spec.kubernetesVersion","problem":"Invalid value: \"1.30\": the control plane runs v1.31.9; cannot be downgraded","remedy":"use v1.31.9 or newer"},` +
		`{"file":"c.yaml","line":7,"path":"spec.a","problem":"Required value"},` +
		`{"file":"c.yaml","problem":"the file is empty","remedy":"'clusterctl-x generate clusterconfig' writes one"}]`
	clusters := schema.GroupResource{Group: "cluster.x-k8s.io", Resource: "clusters"}
	owned := apierrors.NewApplyConflict([]metav1.StatusCause{{Field: ".spec.paused", Message: `conflict with "kubectl"`}}, "Apply failed with 1 conflict")
	held := management.HeldLock{Holder: "process 7 on host a", Cluster: "ns/c", Until: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)}
	return map[string]failed{
		"something":                     {errors.New("no space left"), `"code":1,"reason":"Failed","problems":[{"problem":"no space left"}]`},
		"something, in several lines":   {errors.New("exit status 1:\n; panic"), `"code":1,"reason":"Failed","problems":[{"problem":"exit status 1:\n; panic"}]`},
		"the command line":              {usage.Errorf("-f FILE is required; see '%s --help'", "x"), `"code":2,"reason":"Usage","problems":[{"problem":"-f FILE is required","remedy":"see 'x --help'"}]`},
		"several flags":                 {usage.Wrap(errors.Join(errors.New("a <1>; remove it"), errors.New("b & c"))), `"code":2,"reason":"Usage","problems":[{"problem":"a <1>","remedy":"remove it"},{"problem":"b & c"}]`},
		"an unknown group":              {errors.Join(&lifecycle.UnknownGroupError{Group: "x", In: "the file", Known: []string{"md-0"}}), `"code":2,"reason":"Usage","problems":[{"problem":"--worker-node-groups: the file has no group \"x\"","remedy":"it has md-0"}]`},
		"releases that make no class":   {&lifecycle.ReleasesError{Err: errors.New("too many; use fewer")}, `"code":2,"reason":"Usage","problems":[{"problem":"too many","remedy":"use fewer"}]`},
		"a wrong file":                  {problems, `"code":2,"reason":"InvalidFile","problems":` + inFile},
		"a manifest":                    {&lifecycle.ManifestError{Err: errors.New("no object")}, `"code":2,"reason":"InvalidFile","problems":[{"problem":"no object"}]`},
		"a wrong file of a flag":        {usage.Wrap(fmt.Errorf("reading: %w", problems)), `"code":2,"reason":"InvalidFile","problems":` + inFile},
		"a file that a cluster refuses": {validations.Refused{Problems: problems}, `"code":3,"reason":"Refused","problems":` + inFile},
		"two files":                     {errors.Join(validations.Refused{Problems: problems[1:2]}, management.ErrNotFound), `"code":3,"reason":"Refused","problems":[{"file":"c.yaml","line":7,"path":"spec.a","problem":"Required value"},{"problem":"not found"}]`},
		"no plan":                       {fmt.Errorf("planning: %w", &plan.NoPlanError{Reasons: []string{"a; b", "c"}}), `"code":3,"reason":"NoPlan","problems":[{"problem":"a","remedy":"b"},{"problem":"c"}]`},
		"preflights": {
			&management.PreflightError{Cluster: "ns/c", Findings: []plan.Finding{{Check: "paused", Reason: "Cluster/c is paused: set spec.paused to false"}, {Check: "health", Reason: "md-0: 0 of 1; fix it first"}}},
			`"code":3,"reason":"Preflight","problems":[{"problem":"cluster ns/c cannot be upgraded in its current state","remedy":"--skip-preflight NAME skips a check"},` +
				`{"check":"paused","problem":"Cluster/c is paused: set spec.paused to false"},{"check":"health","problem":"md-0: 0 of 1","remedy":"fix it first"}]`,
		},
		"refused": {
			&management.RefusedError{Check: "references-missing", Reason: "Secret ns/a does not exist; create it\nSecret ns/b does not exist; create it"},
			`"code":3,"reason":"Refused","problems":[{"check":"references-missing","problem":"Secret ns/a does not exist","remedy":"create it"},{"check":"references-missing","problem":"Secret ns/b does not exist","remedy":"create it"}]`,
		},
		"a class": {
			&management.ClassError{Reasons: []management.ClassReason{{Object: "ClusterClass/a", Cause: metav1.StatusCause{Field: "spec.x", Message: "no such field; remove it"}}}},
			`"code":3,"reason":"Refused","problems":[{"object":"ClusterClass/a","path":"spec.x","problem":"no such field","remedy":"remove it"}]`,
		},
		"a webhook":   {apierrors.NewInvalid(schema.GroupKind{Kind: "Cluster"}, "c", nil), `"code":3,"reason":"Refused","problems":[{"problem":"Cluster \"c\" is invalid"}]`},
		"a privilege": {apierrors.NewForbidden(clusters, "c", errors.New("no")), `"code":3,"reason":"Refused","problems":[{"problem":"clusters.cluster.x-k8s.io \"c\" is forbidden: no"}]`},
		"another cluster": {
			&management.AlreadyExistsError{Cluster: "ns/c", Changes: []changes.Change{
				{Object: "Cluster/c", Path: "spec.topology.version", Action: changes.Changed, Old: changes.Text("v1.33.13"), New: changes.Text("v1.34.4")},
				{Object: "MachineDeployment/c-md-1", Action: changes.Added},
			}},
			`"code":3,"reason":"AlreadyExists","problems":[{"problem":"cluster ns/c exists and does not match the file","remedy":"'create' does not change existing clusters: 'upgrade cluster' does, and 'plan upgrade' shows what"},` +
				`{"object":"Cluster/c","path":"spec.topology.version","problem":"v1.33.13 -> v1.34.4"},{"object":"MachineDeployment/c-md-1","problem":"created"}]`,
		},
		"no cluster": {fmt.Errorf("cluster ns/c: %w; create it", management.ErrNotFound), `"code":3,"reason":"NotFound","problems":[{"problem":"cluster ns/c: not found","remedy":"create it"}]`},
		"a plan of another day": {
			&engine.StalePlanError{Cluster: "ns/c", Reasons: []string{"md-0 is at v1.35.4", "Machine/x is too old; delete it"}, Saved: true},
			`"code":4,"reason":"StalePlan","problems":[{"problem":"cluster ns/c has changed since the plan was made","remedy":"look at the new one with 'plan upgrade', or run the same command again without --plan"},` +
				`{"problem":"md-0 is at v1.35.4"},{"problem":"Machine/x is too old","remedy":"delete it"}]`,
		},
		"locked": {
			&management.LockedError{HeldLock: held},
			`"code":4,"reason":"Locked","problems":[{"problem":"process 7 on host a works on cluster ns/c, at least until 15:04:05","remedy":"wait until it is done, or take over its lock with --take-over"}]`,
		},
		"the lock was lost": {
			&management.LockedError{HeldLock: held, Lost: true},
			`"code":4,"reason":"Locked","problems":[{"problem":"process 7 on host a works on cluster ns/c now, so this run wrote nothing more, and what it started continues"}]`,
		},
		"conflicts of fields": {
			&management.ConflictError{Fields: []management.FieldConflict{{Object: "Cluster/c", Path: "spec.paused", Reason: `conflict with "kubectl"`}}},
			`"code":4,"reason":"FieldConflict","problems":[{"problem":"other field managers own fields that the upgrade would change","remedy":"set their values in the file, or take the fields over with --force-conflicts"},` +
				`{"object":"Cluster/c","path":"spec.paused","problem":"conflict with \"kubectl\""}]`,
		},
		"a conflict": {owned, `"code":4,"reason":"Conflict","problems":[{"problem":"Apply failed with 1 conflict"},{"path":"spec.paused","problem":"conflict with \"kubectl\""}]`},
		"no time":    {fmt.Errorf("%w after 1m; run the same command again", management.ErrTimeout), `"code":5,"reason":"Timeout","problems":[{"problem":"timed out after 1m","remedy":"run the same command again"}]`},
		"no time, in a conflict": {
			fmt.Errorf("%w: %w", management.ErrTimeout, &management.LockedError{HeldLock: held}),
			`"code":5,"reason":"Timeout","problems":[{"problem":"timed out: process 7 on host a works on cluster ns/c, at least until 15:04:05","remedy":"wait until it is done, or take over its lock with --take-over"}]`,
		},
		"a group that would be removed": {
			&lifecycle.RemovalError{Cluster: types.NamespacedName{Namespace: "ns", Name: "c"}, Groups: []plan.Group{{Name: "md-1", MachinesRemoved: 3}}},
			`"code":3,"reason":"NotConfirmed","problems":[{"problem":"the upgrade of cluster ns/c removes worker node group md-1 (machines: 3)","remedy":"confirm it with --yes"}]`,
		},
		"no answer of a person": {terminal.DeclinedError("the upgrade"), `"code":3,"reason":"NotConfirmed","problems":[{"problem":"the upgrade was not confirmed","remedy":"nothing was changed"}]`},
		"no answer":             {context.DeadlineExceeded, `"code":5,"reason":"Timeout","problems":[{"problem":"context deadline exceeded"}]`},
		"interrupted":           {InterruptedError("Cluster API continues"), `"code":130,"reason":"Interrupted","problems":[{"problem":"interrupted","remedy":"Cluster API continues"}]`},
	}
}

// TestFailureDocument compares the whole document of each type of errors.
func TestFailureDocument(t *testing.T) {
	t.Parallel()
	for name, test := range failures() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := `{"apiVersion":"clusterctl-x.io/v1alpha1","kind":"Error",` + test.want + `}`
			if diff := cmp.Diff(want, text(output.JSON, exitCode(test.err), test.err)); diff != "" {
				t.Errorf("document (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEveryOutcomeHasADocument: the table above has an error for each row of outcomes.
func TestEveryOutcomeHasADocument(t *testing.T) {
	t.Parallel()
	all := outcomes()
	without := map[int]string{}
	for i, o := range all {
		without[i] = o.reason
	}
	for _, test := range failures() {
		delete(without, slices.IndexFunc(all, func(o outcome) bool { return o.of(test.err) }))
	}
	if diff := cmp.Diff(map[int]string{}, without); diff != "" {
		t.Errorf("outcomes that no error has (-want +got):\n%s", diff)
	}
}

// TestFailureText: the formats of -o, and text where -o is wrong itself.
func TestFailureText(t *testing.T) {
	t.Parallel()
	err := usage.Errorf("-f FILE is required; see --help")
	for format, want := range map[string]string{
		output.Text: "error: -f FILE is required; see --help",
		"xml":       "error: -f FILE is required; see --help",
		output.JSON: `{"apiVersion":"clusterctl-x.io/v1alpha1","kind":"Error","code":2,"reason":"Usage","problems":[{"problem":"-f FILE is required","remedy":"see --help"}]}`,
		output.YAML: "apiVersion: clusterctl-x.io/v1alpha1\ncode: 2\nkind: Error\nproblems:\n- problem: -f FILE is required\n  remedy: see --help\nreason: Usage",
	} {
		if diff := cmp.Diff(want, text(format, exitCode(err), err)); diff != "" {
			t.Errorf("-o %s (-want +got):\n%s", format, diff)
		}
	}
}

// TestMessage: errors that were joined are printed one by one, and a sentence about several is
// one.
func TestMessage(t *testing.T) {
	t.Parallel()
	problems := strictyaml.Problems{{File: "c.yaml", Err: field.Required(field.NewPath("a"), "")}}
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"joined":                {errors.Join(errors.New("a"), errors.Join(errors.New("b"), usage.Wrap(errors.Join(errors.New("c"), problems)))), "error: a\nerror: b\nerror: c\nc.yaml: a: Required value"},
		"sentence":              {fmt.Errorf("%w while %w", errors.New("a"), errors.New("b")), "error: a while b"},
		"sentence about joined": {fmt.Errorf("doing: %w", errors.Join(errors.New("a"), errors.New("b"))), "error: doing: a\nb"},
		"no plan":               {fmt.Errorf("planning: %w", &plan.NoPlanError{Reasons: []string{"a", "b"}}), "error: a\nerror: b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, message(test.err)); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReasonsAreDocumented: docs/errors.md lists each reason with its exit code.
func TestReasonsAreDocumented(t *testing.T) {
	t.Parallel()
	want := map[string]string{}
	for _, o := range outcomes() {
		want[o.reason] = fmt.Sprint(o.code)
	}
	page, err := os.ReadFile("../../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Errors as JSON\n")
	section, _, _ = strings.Cut(section, "\n## ")
	got := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Za-z]+)` \\| (\\d+) \\|").FindAllStringSubmatch(section, -1) {
		got[row[1]] = row[2]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reasons and codes (-code +docs/errors.md):\n%s", diff)
	}
}
