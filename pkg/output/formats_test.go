package output

import (
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUse: a format is one of the command's, and a template has content and no mistake.
func TestUse(t *testing.T) {
	t.Parallel()
	lists := ListFormats(Name)
	for name, test := range map[string]struct {
		formats             Formats
		remedy, given       string
		want, formatOfError string
	}{
		"a name":                     {lists, "", Wide, "<nil>", Wide},
		"a template":                 {lists, "", "jsonpath={.data}", "<nil>", "jsonpath={.data}"},
		"an empty template":          {lists, "", "jsonpath=", `--output must be one of text, wide, name, json, yaml, jsonpath=TEMPLATE, go-template=TEMPLATE, custom-columns=HEADER:PATH,..., not "jsonpath="`, Text},
		"a template with a mistake":  {lists, "", "custom-columns=x", `--output custom-columns=x: "x" is not HEADER:PATH, such as VERSION:.controlPlane.version`, "custom-columns=x"},
		"of another command":         {Formats{Text, JSON}, "", Wide, `--output must be one of text, json, not "wide"`, Text},
		"of a command with only one": {Formats{YAML}, "--output-dir names a directory", JSON, `--output must be yaml, not "json"; --output-dir names a directory`, Text},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := New(io.Discard)
			p.Format = test.given
			got := fmt.Sprint(p.Use(test.formats, test.remedy))
			if diff := cmp.Diff([]string{test.want, test.formatOfError}, []string{got, p.Format}); diff != "" {
				t.Errorf("error, and the format after it (-want +got):\n%s", diff)
			}
		})
	}
}

// TestComplete offers formats up to where a template begins.
func TestComplete(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string][]string{
		"j":            {"json", "jsonpath="},
		"custom":       {"custom-columns="},
		"jsonpath={.x": nil,
	} {
		if diff := cmp.Diff(want, ListFormats().Complete(typed)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", typed, diff)
		}
	}
}
