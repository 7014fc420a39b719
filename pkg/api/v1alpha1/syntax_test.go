package v1alpha1_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const remedy = "; check indentation, quotes and brackets here and above"

// TestDecodeChecksSyntax is about what is no YAML, or no spec at first sight.
func TestDecodeChecksSyntax(t *testing.T) {
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
		"anchor that is not there":   {"a: 1\nb: 2\nc: *missing\nd: 4\n", "cluster.yaml:3: not valid YAML: unknown anchor 'missing' referenced" + "; write the value out, or put & and the name before it where it stands first"},
		"another version of YAML":    {"%YAML 3.0\n---\na: 1\n", "cluster.yaml:1: not valid YAML: found incompatible YAML document" + remedy},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff([]string{test.want}, problemsOf(t, []byte(test.text))); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDecodeBoundsItsWork gives Decode what makes readers of YAML hang, run out
// of memory or overflow their stack. It must come to an end, with problems.
func TestDecodeBoundsItsWork(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: clusterctl-x.io/v1alpha1\nkind: Cluster\n"
	const tooDeep = "not valid YAML: exceeded max depth of 10000" + remedy
	const unknown = "Forbidden: unknown field; there are apiVersion, kind, metadata, spec"
	const tabs = "not valid YAML: found a tab character that violates indentation; indent with spaces instead of tabs"
	repeat := strings.Repeat
	bomb := head + "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, repeat(fmt.Sprintf("*a%d, ", i), 10))
	}
	type result struct {
		Problems int
		Last     string
	}
	tests := map[string]struct {
		text string
		want result
	}{
		"too large file":                {repeat("#", 1<<20+1), result{1, "cluster.yaml: the file has more than 1048576 bytes, which none of its kind needs: is this the right file?"}},
		"100000 opening brackets":       {head + "a: " + repeat("[", 100_000), result{1, "cluster.yaml:3: " + tooDeep}},
		"100000 opening braces":         {head + "a: " + repeat("{", 100_000), result{1, "cluster.yaml:3: " + tooDeep}},
		"100000 mappings in each other": {head + "a: " + repeat("{a: ", 100_000), result{1, "cluster.yaml:3: " + tooDeep}},
		"100000 lists in each other":    {head + "a:\n" + repeat("- ", 100_000), result{1, "cluster.yaml:4: " + tooDeep}},
		"100000 keys in each other":     {head + "a:\n" + repeat("? ", 100_000), result{1, "cluster.yaml:4: " + tooDeep}},
		"9000 lists in each other":      {head + "a: " + repeat("[", 9000) + repeat("]", 9000), result{1, "cluster.yaml:3: a: " + unknown}},
		"alias of itself":               {head + "a: &a [*a]\n", result{1, "cluster.yaml:3: a: " + unknown}},
		"alias of itself as a field":    {head + "metadata: &a {name: x, namespace: *a}\n", result{1, `cluster.yaml:3: metadata.namespace: Invalid value: "a mapping": must be text: write one value`}},
		"alias of itself as a list":     {head + "spec: {workerNodeGroupConfigurations: &a [*a]}\n", result{1, `cluster.yaml:3: spec.workerNodeGroupConfigurations[0]: Invalid value: "a list": must be a mapping: fields with values`}},
		"alias of itself as a spec":     {head + "spec: &a\n  clusterNetwork: *a\n", result{1, "cluster.yaml:4: spec.clusterNetwork.clusterNetwork: Forbidden: unknown field here; did you mean spec.clusterNetwork?"}},
		"alias of itself in what has no type": {
			head + "spec:\n  controlPlaneConfiguration:\n    kubeletConfiguration: &a {b: *a}\n",
			result{1, "cluster.yaml:5: spec.controlPlaneConfiguration.kubeletConfiguration" + repeat(".b", 97) + `: Invalid value: "a mapping": has more than 100 levels above it; is it an alias of itself?`},
		},
		"alias of itself as a kind":      {"apiVersion: clusterctl-x.io/v1alpha1\nkind: &a [*a]\n", result{1, "cluster.yaml:1: kind: Required value: each document needs one of AWSIamConfig, Cluster, DockerDatacenterConfig, InMemoryDatacenterConfig, OIDCConfig"}},
		"aliases that expand ten to ten": {bomb, result{10, "cluster.yaml:12: a9: " + unknown}},
		"more values than are read": {
			head + "metadata: {name: &n x}\nspec: {workerNodeGroupConfigurations: [&g {name: *n, count: 1, kubernetesVersion: 1.34}, " + repeat("*g, ", 25_000) + "]}\n",
			result{1, "cluster.yaml:4: the document has more than 100000 values, each use of an alias counted: is this the right file?"},
		},
		"20000 fields":                {head + repeat("abc: 1\n", 20_000), result{1001, `cluster.yaml:1003: abc: Duplicate value: "abc": the field stands in line 3 already; remove one of them`}},
		"name of 100000 characters":   {head + "? " + repeat("x", 100_000) + "\n: 1\n", result{1, "cluster.yaml:3: " + repeat("x", 100_000) + ": " + unknown}},
		"mistake after 20000 lines":   {head + "a:\n" + repeat("- b\n", 20_000) + "\tc\n", result{1, "cluster.yaml:20004: " + tabs}},
		"mistake after many comments": {head + "a:\n" + repeat("- #\n", 20_000) + "\tc\n", result{1, "cluster.yaml:20004: not valid YAML: found character that cannot start any token; indent with spaces instead of tabs"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			problems := problemsOf(t, []byte(test.text))
			got := result{len(problems), problems[len(problems)-1]}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeReadsTheLargestFile(t *testing.T) {
	t.Parallel()
	data := append([]byte(minimal), bytes.Repeat([]byte("#"), 1<<20-len(minimal))...)
	if problems := problemsOf(t, data); problems != nil {
		t.Errorf("%d bytes: %s", len(data), problems)
	}
}
