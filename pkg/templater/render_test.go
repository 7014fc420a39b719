package templater_test

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
)

func TestRender(t *testing.T) {
	t.Parallel()
	data := map[string]any{"Name": "a: b", "Secret": "s", "List": []string{"x", "y"}}
	for _, test := range []struct{ name, text, want, wantErr string }{
		{"text", "a: b\n", "a: b\n", "<nil>"},
		{"quoted", "a: {{ quote .Name }}\n", "a: \"a: b\"\n", "<nil>"},
		{"base64", "a: {{ quote (b64enc .Secret) }}\n", "a: \"cw==\"\n", "<nil>"},
		{"list", "{{- range .List }}\n- {{ quote . }}\n{{- end }}\n", "\n- \"x\"\n- \"y\"\n", "<nil>"},
		{"key that the data has not", "a: {{ quote .Nam }}\n", "", `rendering: template: t:1:12: executing "t" at <.Nam>: map has no entry for key "Nam"`},
		{"failing function", "{{ index .List 5 }}", "", `rendering: template: t:1:3: executing "t" at <index .List 5>: error calling index: index out of range: 5`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := render(t, test.text, data)
			if diff := cmp.Diff([]string{test.want, test.wantErr}, []string{string(got), fmt.Sprint(err)}); diff != "" {
				t.Errorf("rendered text and error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{
		"a/good.tmpl":   {Data: []byte("good\n")},
		"a/other.txt":   {Data: []byte("{{ never parsed")},
		"b/broken.tmpl": {Data: []byte("{{ if }}")},
		"c/calls.tmpl":  {Data: []byte("{{ now }}")},
	}
	for _, test := range []struct {
		name, want string
		patterns   []string
	}{
		{"one", "<nil>", []string{"a/*.tmpl"}},
		{"none", "parsing templates: template: pattern matches no files: `d/*.tmpl`", []string{"a/*.tmpl", "d/*.tmpl"}},
		{"mistake in the language", "parsing templates: template: broken.tmpl:1: missing value for if", []string{"a/*.tmpl", "b/*.tmpl"}},
		{"function that is not allowed", `parsing templates: template: calls.tmpl:1: function "now" not defined`, []string{"c/*.tmpl"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := templater.Parse(fsys, test.patterns...)
			if diff := cmp.Diff(test.want, fmt.Sprint(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRenderOfATemplateThatThereIsNot(t *testing.T) {
	t.Parallel()
	templates, err := templater.Parse(fstest.MapFS{"a/t.tmpl": {Data: []byte("t\n")}}, "a/*.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	text, err := templates.Render("a/t.tmpl", nil)
	if diff := cmp.Diff(`rendering: template: no template "a/t.tmpl" associated with template ""`, fmt.Sprint(err)); diff != "" || text != nil {
		t.Errorf("rendered %q; error (-want +got):\n%s", text, diff)
	}
}
