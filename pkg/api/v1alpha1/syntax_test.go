package v1alpha1_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const remedy = "; check indentation, quotes and brackets here and above"

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
		"20000 fields":                {head + repeat("abc: 1\n", 20_000), result{1001, `cluster.yaml:1003: abc: Duplicate value: "abc": the field is already on line 3; remove one of them`}},
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
