package strictyaml_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

func TestProblemsPrintSorted(t *testing.T) {
	t.Parallel()
	problem := func(file string, line int, path, detail string) strictyaml.Problem {
		return strictyaml.Problem{File: file, Line: line, Err: &field.Error{Type: field.ErrorTypeForbidden, Field: path, Detail: detail}}
	}
	problems := strictyaml.Problems{
		problem("b.yaml", 1, "spec.a", "z"),
		problem("a.yaml", 10, "spec.a", "z"),
		problem("a.yaml", 9, "spec.b", "z"),
		problem("a.yaml", 9, "spec.a", "z"),
		problem("a.yaml", 9, "spec.a", "y"),
		problem("a.yaml", 0, "", "the whole file"),
	}
	const want = `a.yaml: the whole file
a.yaml:9: spec.a: Forbidden: y
a.yaml:9: spec.a: Forbidden: z
a.yaml:9: spec.b: Forbidden: z
a.yaml:10: spec.a: Forbidden: z
b.yaml:1: spec.a: Forbidden: z`
	if diff := cmp.Diff(want, problems.OrNil().Error()); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestNoProblemsAreNoError(t *testing.T) {
	t.Parallel()
	if err := (strictyaml.Problems{}).OrNil(); err != nil {
		t.Errorf("no problems are the error %v", err)
	}
}

func TestWarningString(t *testing.T) {
	t.Parallel()
	got := []string{
		strictyaml.Warning{File: "a.yaml", Line: 3, Path: "spec.a", Text: "ignored"}.String(),
		strictyaml.Warning{File: "a.yaml", Path: "spec.a", Text: "ignored"}.String(),
	}
	if diff := cmp.Diff([]string{"a.yaml:3: spec.a: ignored", "a.yaml: spec.a: ignored"}, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// TestTooManyProblems: nobody reads all of them.
func TestTooManyProblems(t *testing.T) {
	t.Parallel()
	var problems strictyaml.Problems
	for line := range 1001 {
		problems = append(problems, strictyaml.Problem{File: "f.yaml", Line: 1001 - line, Err: field.Required(field.NewPath("a"), "b")})
	}
	lines := strings.Split(problems.OrNil().Error(), "\n")
	got := []string{lines[0], lines[999], lines[1000]}
	want := []string{
		"f.yaml:1: a: Required value: b", "f.yaml:1000: a: Required value: b",
		"f.yaml: there are more than these 1000 mistakes; fix the first ones and run the command again",
	}
	if diff := cmp.Diff(want, got); diff != "" || len(lines) != 1001 {
		t.Errorf("%d lines; the first and last ones (-want +got):\n%s", len(lines), diff)
	}
	if all := problems[:1000].OrNil().Error(); strings.Contains(all, "more than") {
		t.Error("1000 problems are not too many")
	}
}

// TestLeadingProblems come first, and once for each text.
func TestLeadingProblems(t *testing.T) {
	t.Parallel()
	at := func(line int, path, detail string, mark func(*field.Error) *field.Error) strictyaml.Problem {
		return strictyaml.NewProblem("f.yaml", line, mark(field.Forbidden(field.NewPath(path), detail)))
	}
	plain := func(err *field.Error) *field.Error { return err }
	problems := strictyaml.Problems{at(3, "a", "no", plain), at(9, "b", "never", strictyaml.Lead), at(12, "c", "never", strictyaml.Lead), at(14, "a", "no", plain), at(15, "b", "never", strictyaml.Lead), at(16, "d", "at all", strictyaml.Lead)}
	const want = "f.yaml:9: b: Forbidden: never (also on line 12, 15)\nf.yaml:16: d: Forbidden: at all\nf.yaml:3: a: Forbidden: no\nf.yaml:14: a: Forbidden: no"
	if got := problems.OrNil().Error(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
