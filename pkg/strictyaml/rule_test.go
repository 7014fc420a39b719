package strictyaml_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// TestReadAsksTheRule decides about the fields that the type does not have, and about
// no others. A field that is null says nothing, unless it is unknown.
func TestReadAsksTheRule(t *testing.T) {
	t.Parallel()
	type spec struct {
		Count int `json:"count"`
	}
	type document struct {
		Kind string `json:"kind"`
		Spec spec   `json:"spec"`
	}
	rule := func(at *field.Path, _ *yaml.Node) (strictyaml.Verdict, string) {
		switch at.String() {
		case "spec.warned":
			return strictyaml.Warn, "is ignored"
		case "spec.ignored":
			return strictyaml.Ignore, "is not shown"
		case "spec.forbidden", "kind", "spec.count":
			return strictyaml.Forbid, "remove it"
		case "spec.aside":
			return strictyaml.SetAside, "is of others"
		}
		return strictyaml.Unknown, ""
	}
	type result struct {
		Value                        document
		Problems, Warnings, SetAside []string
		Unread                       []string
	}
	read := func(text string, options strictyaml.Options) result {
		documents, problems := strictyaml.Split("f.yaml", []byte(text))
		if err := problems.OrNil(); err != nil {
			t.Fatal(err)
		}
		var got result
		found := strictyaml.Read("f.yaml", documents[0], &got.Value, options)
		got.Problems, got.SetAside = lines(found.Problems), lines(found.SetAside)
		for _, warning := range found.Warnings {
			got.Warnings = append(got.Warnings, warning.String())
		}
		for _, path := range []string{"kind", "spec", "spec.count", "spec.warned", "spec.forbidden", "spec.aside"} {
			if found.Document.Unread(path) {
				got.Unread = append(got.Unread, path)
			}
		}
		return got
	}
	for name, test := range map[string]struct {
		text    string
		options strictyaml.Options
		want    result
	}{
		"each verdict": {
			"kind: A\nspec:\n  count: 1\n  warned: x\n  ignored: x\n  forbidden: x\n  aside: x\n  cuont: 2\n", strictyaml.Options{Rule: rule},
			result{
				Value: document{Kind: "A", Spec: spec{Count: 1}},
				Problems: []string{
					"f.yaml:6: spec.forbidden: Forbidden: remove it",
					"f.yaml:8: spec.cuont: Forbidden: unknown field; did you mean count?",
				},
				Warnings: []string{"f.yaml:4: spec.warned: is ignored"},
				SetAside: []string{"f.yaml:7: spec.aside: Forbidden: is of others"},
				Unread:   []string{"spec.forbidden", "spec.aside"},
			},
		},
		"null": {
			"spec: {warned: , ignored: , forbidden: , aside: , unknown: }\n", strictyaml.Options{Rule: rule},
			result{Problems: []string{"f.yaml:1: spec.unknown: Forbidden: unknown field; there are count"}},
		},
		"no rule": {
			"spec: {warned: x}\n", strictyaml.Options{},
			result{Problems: []string{"f.yaml:1: spec.warned: Forbidden: unknown field; there are count"}, Unread: []string{"spec.warned"}},
		},
		"a field that belongs elsewhere": {
			"count: 1\n", strictyaml.Options{},
			result{Problems: []string{"f.yaml:1: count: Forbidden: unknown field here; did you mean spec.count?"}, Unread: []string{"spec.count"}},
		},
		"another case": {
			"Kind: A\nspec: {COUNT: 1}\n", strictyaml.Options{FoldCase: "others fold it"},
			result{
				Value:    document{Kind: "A", Spec: spec{Count: 1}},
				Warnings: []string{"f.yaml:1: kind: is written Kind here; write kind: others fold it", "f.yaml:2: spec.count: is written COUNT here; write count: others fold it"},
			},
		},
		"another case, not folded": {
			"Kind: A\n", strictyaml.Options{},
			result{Problems: []string{"f.yaml:1: Kind: Forbidden: unknown field; did you mean kind?"}, Unread: []string{"kind"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, read(test.text, test.options)); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
		})
	}
}

func lines(problems strictyaml.Problems) []string {
	var all []string
	for _, problem := range problems {
		all = append(all, problem.String())
	}
	return all
}

// TestConfidentialValuesAreNotShown: a problem may be copied into a ticket.
func TestConfidentialValuesAreNotShown(t *testing.T) {
	t.Parallel()
	var value struct {
		Any map[string]any `json:"any"`
	}
	documents, _ := strictyaml.Split("f.yaml", []byte("any:\n  key: |\n    hunter2\u200b\n"))
	got := lines(strictyaml.Read("f.yaml", documents[0], &value, strictyaml.Options{}).Problems)
	want := []string{"f.yaml:2: any.key: Invalid value: must be printable text; remove the character U+200B"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}
