package strictyaml_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

const remedy = "; check indentation, quotes and brackets here and above"

// TestSplitChecksSyntax is about what is no YAML, or no document at first sight.
func TestSplitChecksSyntax(t *testing.T) {
	t.Parallel()
	const empty, notText = "cluster.yaml: the file is empty: is this the right file?", "cluster.yaml: the file is not text in UTF-8: is this the right file?"
	tests := map[string]struct{ text, want string }{
		"empty file":                 {"", empty},
		"comments only":              {"# nothing\n", empty},
		"empty documents only":       {"---\n---\nnull\n", empty},
		"null byte":                  {"kind: Cluster\x00", notText},
		"program":                    {"\x7fELF\x02\x01\x01\x00", notText},
		"UTF-16":                     {"\xff\xfek\x00i\x00", notText},
		"Latin-1":                    {"name: M\xfcnchen\n", notText},
		"control character":          {"a: b\nc: \x01\n", "cluster.yaml:2: not valid YAML: control characters are not allowed" + "; remove them"},
		"tab as indentation":         {"kind: Cluster\nmetadata:\n\tname: x\n", "cluster.yaml:3: not valid YAML: found character that cannot start any token; indent with spaces instead of tabs"},
		"tab after spaces":           {"spec:\n  a:\n  \tb: 1\n", "cluster.yaml:3: not valid YAML: found character that cannot start any token; indent with spaces instead of tabs"},
		"tab in a block of text":     {"a: 1\nb: |\n  x\n\ty\n", "cluster.yaml:4: not valid YAML: found a tab character where an indentation space is expected; indent with spaces instead of tabs"},
		"list as document":           {"- kind: Cluster\n", "cluster.yaml:1: a document must be a mapping with apiVersion and kind: is this the right file?"},
		"text as document":           {"\nhello\n", "cluster.yaml:2: a document must be a mapping with apiVersion and kind: is this the right file?"},
		"mapping within a line":      {"a: b: c\n", "cluster.yaml:1: not valid YAML: mapping values are not allowed in this context" + remedy},
		"too little indentation":     {"kind: Cluster\nspec:\n  a: 1\n b: 2\n", "cluster.yaml:4: not valid YAML: did not find expected key" + remedy},
		"too much indentation":       {"metadata:\n  name: x\n    namespace: y\n", "cluster.yaml:3: not valid YAML: mapping values are not allowed in this context" + remedy},
		"list in the place of a key": {"spec:\n  a: 1\n  - b\n", "cluster.yaml:3: not valid YAML: did not find expected key" + remedy},
		"bracket that is not closed": {"a: 1\nb: [1,\nc: 2\nd: 3\n", "cluster.yaml:3: not valid YAML: did not find expected ',' or ']'" + remedy},
		"bracket that is not opened": {"a: 1\n}\n", "cluster.yaml:2: not valid YAML: did not find expected key" + remedy},
		"quote that is not closed":   {"a: 1\nb: \"x\nc: 2\n", "cluster.yaml:2: not valid YAML: found unexpected end of stream" + remedy},
		"anchor that is not there":   {"a: 1\nb: 2\nc: *missing\nd: 4\n", "cluster.yaml:3: not valid YAML: unknown anchor 'missing' referenced" + "; write the value out, or put & and the name before its first use"},
		"another version of YAML":    {"%YAML 3.0\n---\na: 1\n", "cluster.yaml:1: not valid YAML: found incompatible YAML document" + remedy},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := strictyaml.Split("cluster.yaml", []byte(test.text))
			if diff := cmp.Diff(test.want, problems.Error()); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSplitReturnsWhatStandsBeforeAMistake lets the documents before it be checked too.
func TestSplitReturnsWhatStandsBeforeAMistake(t *testing.T) {
	t.Parallel()
	documents, problems := strictyaml.Split("f.yaml", []byte("kind: A\n---\n# nothing\n---\nkind: B\n---\na: [\n"))
	var got []strictyaml.Header
	for _, document := range documents {
		got = append(got, strictyaml.HeaderOf(document))
	}
	if diff := cmp.Diff([]strictyaml.Header{{Kind: "A", KindLine: 1}, {Kind: "B", KindLine: 5}}, got); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("f.yaml:7: not valid YAML: did not find expected node content"+remedy, problems.Error()); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}
