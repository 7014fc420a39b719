package templater_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
)

// quoting has a string at every kind of place where templates put one.
const quoting = `value: {{ quote .S }}
list:
- {{ quote .S }}
-   name: {{ quote .S }}
after: end
`

type quoted struct {
	Value string `json:"value"`
	List  []any  `json:"list"`
	After string `json:"after"`
}

func render(t *testing.T, text string, data any) ([]byte, error) {
	t.Helper()
	templates, err := templater.Parse(fstest.MapFS{"t": {Data: []byte(text)}}, "t")
	if err != nil {
		t.Fatal(err)
	}
	return templates.Render("t", data)
}

// strangeStrings are those that readers of YAML may take for something else.
func strangeStrings() []string {
	return []string{
		"", " ", " leading", "trailing ", "\ttab\t", "two\nlines\n", "\r\n", "\r",
		"a: b", "a:b", ": ", "- a", "# comment", "a # comment", "#", "&anchor", "*alias", "!tag", "%", "@", "`", "|", ">", "?", "[", "]", "{", "}", ",",
		"{{ .S }}", "{{", "}}", "{{/* */}}", "${HOME}", "$(id)",
		"'", `"`, `\`, `\n`, `\u0041`, `"quoted"`, "it's",
		"null", "~", "Null", "true", "yes", "no", "on", "off", "y", "n", "1.30", "1e3", "0x10", "0b1", "017", "1_000", ".inf", "NaN", "2026-01-01", "<<", "=",
		"---", "\n---\n", "...", "\n...\n",
		"\u0085", "a\u0085b", "\u2028", "\u2029", "\ufeff", "\ufeffa", "\u00a0", "\u200b", "\x00", "\x07", "\x1b[31m", "\x7f", "\u0080", "\u009f", "\ufffd", "\ufffe", "\uffff",
		"ä", "日本語", "👩‍👩‍👧", "\U0001fffe", "\U0010ffff", "<script>&",
		strings.Repeat("long ", 1000), "\n leading\n", "line\n\n  line\n", "line\n  \n", "tab\n\tline\n",
	}
}

func FuzzQuote(f *testing.F) {
	for _, s := range strangeStrings() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, err := render(t, quoting, struct{ S string }{s})
		if !utf8.ValidString(s) {
			if err == nil {
				t.Fatalf("%q is no text, and was rendered:\n%s", s, text)
			}
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		want := quoted{Value: s, List: []any{s, map[string]any{"name": s}}, After: "end"}
		var got quoted
		if err := yaml.UnmarshalStrict(text, &got); err != nil {
			t.Fatalf("%q: %v in\n%s", s, err, text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q reads back as something else with the reader of Kubernetes (-want +got):\n%s", s, diff)
		}
		got = quoted{}
		if err := yamlv3.Unmarshal(text, &got); err != nil {
			t.Fatalf("%q: %v in\n%s", s, err, text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q reads back as something else with another reader of YAML (-want +got):\n%s", s, diff)
		}
	})
}

// embedding has a value below a field, in the middle of others.
const embedding = "top:\n  before: 1\n  value:\n    {{- nindent 4 (toYaml .V) }}\n  after: end\n"

// FuzzToYAML: strings survive in values as well, also in names of fields.
func FuzzToYAML(f *testing.F) {
	for _, s := range strangeStrings() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return // no string of a spec: Decode refuses the file
		}
		value := map[string]any{"list": []any{s, map[string]any{"name": s}}, "text": s}
		// Users choose names of labels and annotations only: these have at most
		// 317 characters, and none is YAML's name for merging.
		if len(s) <= 317 && s != "<<" {
			value["map"] = map[string]any{s: s}
		}
		text, err := render(t, embedding, struct{ V any }{value})
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		want := map[string]any{"top": map[string]any{"before": float64(1), "value": value, "after": "end"}}
		var got map[string]any
		if err := yaml.UnmarshalStrict(text, &got); err != nil {
			t.Fatalf("%q: %v in\n%s", s, err, text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q reads back as something else (-want +got):\n%s", s, diff)
		}
	})
}

// Decode refuses such files; an argument of the command line could still bring
// such a string.
func TestQuoteRefusesWhatIsNoString(t *testing.T) {
	t.Parallel()
	type named string
	for _, test := range []struct {
		name  string
		value any
		want  string
	}{
		{"not UTF-8", "a\xff", `"a\xff" is not text in UTF-8`},
		{"half a surrogate pair", "\xed\xa0\x80", `"\xed\xa0\x80" is not text in UTF-8`},
		{"number", 3, "quote takes a string, not int"},
		{"nothing", nil, "quote takes a string, not <nil>"},
		{"list", []string{"a"}, "quote takes a string, not []string"},
		{"pointer", new("a"), "quote takes a string, not *string"},
		{"type of strings, not UTF-8", named("\xff"), `"\xff" is not text in UTF-8`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			text, err := render(t, "{{ quote .V }}", struct{ V any }{test.value})
			want := fmt.Sprintf(`rendering: template: t:1:3: executing "t" at <quote .V>: error calling quote: %s`, test.want)
			if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" || text != nil {
				t.Errorf("rendered %q; error (-want +got):\n%s", text, diff)
			}
		})
	}
}
