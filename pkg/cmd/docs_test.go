package cmd

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/clusterctl-x/clusterctl-x/pkg/failure"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
)

const docsDir = "../../docs"

func readDoc(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(docsDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// documented is 'documented FILE program argument...': what the last command
// wrote stands below this command line in a document of docs.
func documented(ts *testscript.TestScript, args []string) {
	data, err := os.ReadFile(filepath.Join(docsDir, args[0]))
	ts.Check(err)
	block := "\n```\n$ " + strings.Join(args[1:], " ") + "\n" + ts.ReadFile("stderr") + ts.ReadFile("stdout") + "```\n"
	if !strings.Contains(string(data), block) {
		ts.Fatalf("docs/%s does not have it:\n%s", args[0], block)
	}
}

// TestEveryExampleIsRun fails on a command line in a document whose output no
// script compares.
func TestEveryExampleIsRun(t *testing.T) {
	t.Parallel()
	var want, got []string
	for _, name := range []string{"errors.md", "skew-policy.md"} {
		for _, line := range regexp.MustCompile(`(?m)^\$ (.*)$`).FindAllStringSubmatch(readDoc(t, name), -1) {
			want = append(want, name+" "+line[1])
		}
	}
	script, err := os.ReadFile("testdata/script/docs.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range regexp.MustCompile(`(?m)^documented (.*)$`).FindAllStringSubmatch(string(script), -1) {
		got = append(got, line[1])
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("examples (-documents +script):\n%s", diff)
	}
}

// docRows are the first cells of the table below a heading of docs/errors.md,
// without the marks of code.
func docRows(t *testing.T, heading string) []string {
	t.Helper()
	_, section, found := strings.Cut("\n"+readDoc(t, "errors.md"), "\n"+heading+"\n")
	if !found {
		t.Fatalf("docs/errors.md has no heading %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var rows []string
	for line := range strings.Lines(section) {
		if cell := regexp.MustCompile("^\\| `?([^`|]+?)`? \\|").FindStringSubmatch(line); cell != nil {
			rows = append(rows, cell[1])
		}
	}
	if len(rows) < 2 {
		t.Fatalf("docs/errors.md has no table below %q", heading)
	}
	return rows[1:] // without the headings of the columns
}

// TestErrorsDocHasEveryExitCode, and no other.
func TestErrorsDocHasEveryExitCode(t *testing.T) {
	t.Parallel()
	var want []string
	for _, code := range []int{failure.Done, failure.Failed, failure.Invalid, failure.Refused, failure.Conflict, failure.Timeout, failure.Interrupted} {
		want = append(want, strconv.Itoa(code))
	}
	if diff := cmp.Diff(want, docRows(t, "# Exit codes and errors")); diff != "" {
		t.Errorf("exit codes (-code +document):\n%s", diff)
	}
}

// TestErrorsDocHasEveryPreflight, in the order in which --skip-preflight names
// them, and no other.
func TestErrorsDocHasEveryPreflight(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(lifecycle.Preflights(), docRows(t, "## Preflights")); diff != "" {
		t.Errorf("preflights (-code +document):\n%s", diff)
	}
}

// TestErrorsDocHasEveryRefusal finds the names of refusals in the sources: each
// stands in the document, and nothing else does.
func TestErrorsDocHasEveryRefusal(t *testing.T) {
	t.Parallel()
	var sources []*ast.File
	for _, pattern := range []string{"../../pkg/*/*.go", "../../pkg/*/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			sources = append(sources, source)
		}
	}
	names := map[string]bool{}
	for _, check := range refusalsIn(sources) {
		name, ok := constants(sources)[check]
		if text, err := strconv.Unquote(check); err == nil {
			name, ok = text, true
		}
		if !ok {
			t.Errorf("the name of a refusal is %s, which is no constant", check)
		}
		names[name] = true
	}
	documented := docRows(t, "## Refusals")
	slices.Sort(documented)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(names)), documented); diff != "" {
		t.Errorf("refusals (-code +document):\n%s", diff)
	}
}

// refusalsIn are the values of the field Check in literals of type
// RefusedError: texts in quotes, or names of constants.
func refusalsIn(sources []*ast.File) []string {
	var checks []string
	for _, source := range sources {
		ast.Inspect(source, func(node ast.Node) bool {
			literal, ok := node.(*ast.CompositeLit)
			if !ok || lastName(literal.Type) != "RefusedError" {
				return true
			}
			for _, element := range literal.Elts {
				if pair, ok := element.(*ast.KeyValueExpr); ok && lastName(pair.Key) == "Check" {
					checks = append(checks, lastName(pair.Value))
				}
			}
			return true
		})
	}
	return checks
}

// constants are those with a text, by their names.
func constants(sources []*ast.File) map[string]string {
	texts := map[string]string{}
	for _, source := range sources {
		ast.Inspect(source, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok || len(spec.Values) != len(spec.Names) {
				return true
			}
			for i, value := range spec.Values {
				if text, err := strconv.Unquote(lastName(value)); err == nil {
					texts[spec.Names[i].Name] = text
				}
			}
			return true
		})
	}
	return texts
}

// lastName is the last name of an identifier or a selector, or a literal as it
// stands in the source.
func lastName(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.BasicLit:
		return e.Value
	default:
		return ""
	}
}
