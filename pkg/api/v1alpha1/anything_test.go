package v1alpha1_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

const kubeletHead = minimal + "  controlPlaneConfiguration:\n    kubeletConfiguration:"

// TestDecodeAnything reads what has no Go type here: the configuration of a
// kubelet. As JSON, which is how it goes on, it must be what stands in the file.
func TestDecodeAnything(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	tests := map[string]struct {
		text string // in one line behind "kubeletConfiguration: "
		want object
	}{
		"nothing":         {"", nil},
		"null":            {"null", nil},
		"no fields":       {"{}", nil},
		"scalars":         {"{a: x, b: 1, c: -1, d: 0, e: true, f: False, g: \"\"}", object{"a": "x", "b": 1, "c": -1, "d": 0, "e": true, "f": false, "g": ""}},
		"in each other":   {"{a: {b: {c: [1, [x, {d: e}], {}, []]}}}", object{"a": object{"b": object{"c": []any{1, []any{"x", object{"d": "e"}}, object{}, []any{}}}}}},
		"fields are null": {"{a: null, b: ~, c: {d: }}", object{"a": nil, "b": nil, "c": object{"d": nil}}},
		"empty below":     {"{a: {}, b: []}", object{"a": object{}, "b": []any{}}},
		"fractions":       {"{a: 0.5, b: -1.25, c: .5, d: 1e-3, e: +0.5}", object{"a": 0.5, "b": -1.25, "c": 0.5, "d": 0.001, "e": 0.5}},
		// JSON does not tell these from whole numbers.
		"fractions of nothing":      {"{a: 1.0, b: -0.0, c: 5., d: 1e3, e: !!float 3}", object{"a": 1, "b": 0, "c": 5, "d": 1000, "e": 3}},
		"largest numbers":           {"{a: 9223372036854775807, b: -9223372036854775808, c: 9007199254740991.0}", object{"a": 9223372036854775807, "b": -9223372036854775808, "c": 9007199254740991}},
		"text like numbers":         {`{a: "1", b: '1.5', c: !!str 010, d: 1.2.3, e: 100Mi, f: 5%, g: 0x, h: 1h, i: 1e999}`, object{"a": "1", "b": "1.5", "c": "010", "d": "1.2.3", "e": "100Mi", "f": "5%", "g": "0x", "h": "1h", "i": "1e999"}},
		"text like other things":    {`{a: "true", b: "null", c: "2026-01-02", d: "~", e: "", f: "<<", g: <<, h: yes, i: =}`, object{"a": "true", "b": "null", "c": "2026-01-02", "d": "~", "e": "", "f": "<<", "g": "<<", "h": "yes", "i": "="}},
		"tags":                      {`{a: !!int "3", b: !!bool "true", c: !!float "0.5"}`, object{"a": 3, "b": true, "c": 0.5}},
		"keys with other meanings":  {`{1: a, true: b, null: c, "": d, memory.available: e, a/b: f, "[0]": g}`, object{"1": "a", "true": "b", "null": "c", "": "d", "memory.available": "e", "a/b": "f", "[0]": "g"}},
		"aliases":                   {"{a: &a {b: [&n 1]}, c: *a, d: *n}", object{"a": object{"b": []any{1}}, "c": object{"b": []any{1}}, "d": 1}},
		"blocks of lines":           {"\n      a: |\n        x\n        y\n", object{"a": "x\ny\n"}},
		"as many levels as allowed": {strings.Repeat("{a: ", 96) + "x" + strings.Repeat("}", 96), nested(96)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := decode(t, kubeletHead+" "+test.text+"\n")
			if diff := cmp.Diff(test.want, got.Cluster.Spec.ControlPlaneConfiguration.KubeletConfiguration); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.text, diff)
			}
			written := string(marshal(t, got))
			if diff := cmp.Diff(got, decode(t, written), equateVersions()); diff != "" {
				t.Errorf("written and read again (-want +got):\n%s\n%s", diff, written)
			}
		})
	}
}

// nested is a mapping with so many levels, the last with text.
func nested(levels int) map[string]any {
	value := map[string]any{"a": "x"}
	for range levels - 1 {
		value = map[string]any{"a": value}
	}
	return value
}

func TestDecodeAnythingReportsProblems(t *testing.T) {
	t.Parallel()
	const (
		place   = "cluster.yaml:17: spec.controlPlaneConfiguration.kubeletConfiguration"
		whole   = "must be a whole number in decimal digits, without quotes"
		small   = "must be a whole number of at most 64 bits; use a smaller one"
		decimal = "must be a number in decimal digits, of no more than 15"
	)
	tests := map[string]struct {
		text string // the lines below kubeletConfiguration
		want []string
	}{
		"list instead of fields":      {"      [a]\n", []string{place + `: Invalid value: "a list": must be a mapping: fields with values`}},
		"text instead of fields":      {"      a\n", []string{place + `: Invalid value: "a": must be a mapping: fields with values`}},
		"date":                        {"      a: 2026-01-02\n", []string{place + `.a: Invalid value: "2026-01-02": must be text; put it in quotes`}},
		"time":                        {"      a: 2026-01-02T03:04:05Z\n", []string{place + `.a: Invalid value: "2026-01-02T03:04:05Z": must be text; put it in quotes`}},
		"tag of binary data":          {"      a: !!binary aGk=\n", []string{place + `.a: Invalid value: "aGk=": must be text; put it in quotes`}},
		"tag of its own":              {"      a: !x b\n", []string{place + `.a: Invalid value: "b": must be text; put it in quotes`}},
		"infinite":                    {"      a: .inf\n", []string{place + `.a: Invalid value: ".inf": ` + decimal}},
		"less than all":               {"      a: -.Inf\n", []string{place + `.a: Invalid value: "-.Inf": ` + decimal}},
		"infinite for Go":             {"      a: !!float inf\n", []string{place + `.a: Invalid value: "inf": ` + decimal}},
		"no number":                   {"      a: .nan\n", []string{place + `.a: Invalid value: ".nan": ` + decimal}},
		"no number for Go":            {"      a: !!float nan\n", []string{place + `.a: Invalid value: "nan": ` + decimal}},
		"fraction with an underscore": {"      a: 1_0.5\n", []string{place + `.a: Invalid value: "1_0.5": ` + decimal}},
		"hexadecimal fraction":        {"      a: !!float 0x1p-2\n", []string{place + `.a: Invalid value: "0x1p-2": ` + decimal}},
		"fraction that is rounded":    {"      a: 9007199254740992.0\n", []string{place + `.a: Invalid value: "9007199254740992.0": ` + decimal}},
		"number above 64 bits":        {"      a: 18446744073709551616\n", []string{place + `.a: Invalid value: "18446744073709551616": ` + decimal}},
		"number above 63 bits":        {"      a: 9223372036854775808\n", []string{place + `.a: Invalid value: "9223372036854775808": ` + small}},
		"number below 63 bits":        {"      a: -9223372036854775809\n", []string{place + `.a: Invalid value: "-9223372036854775809": ` + decimal}},
		"octal":                       {"      a: 010\n", []string{place + `.a: Invalid value: "010": ` + whole}},
		"hexadecimal":                 {"      a: 0x10\n", []string{place + `.a: Invalid value: "0x10": ` + whole}},
		"underscore":                  {"      a: 1_000\n", []string{place + `.a: Invalid value: "1_000": ` + whole}},
		"tag of a number":             {"      a: !!int x\n", []string{place + `.a: Invalid value: "x": ` + whole}},
		"tag of a truth":              {"      a: !!bool maybe\n", []string{place + `.a: Invalid value: "maybe": must be true or false, without quotes`}},
		"item is null":                {"      a: [1, null]\n", []string{place + ".a[1]: Required value: an item of a list must have a value; write one or remove the item"}},
		"characters that cannot be seen": {"      a: \"x\\e\"\n      b: [\"\\u200b\"]\n      c: \"x\\n\"\n      d: |\n        x\u200b\n", []string{
			place + `.a: Invalid value: "x\x1b": must be printable text; remove the character U+001B`,
			"cluster.yaml:18: spec.controlPlaneConfiguration.kubeletConfiguration.b[0]: Invalid value: \"\\u200b\": must be printable text; remove the character U+200B",
			"cluster.yaml:19: spec.controlPlaneConfiguration.kubeletConfiguration.c: Invalid value: \"x\\n\": must be printable text; remove the character U+000A",
			"cluster.yaml:20: spec.controlPlaneConfiguration.kubeletConfiguration.d: Invalid value: must be printable text; remove the character U+200B",
		}},
		"keys that cannot be seen": {"      \"a\\u200b\": 1\n      b: {\"c\\n\": {}}\n", []string{
			place + ".\"a\\u200b\": Invalid value: \"a\\u200b\": must be printable text; remove the character U+200B",
			`cluster.yaml:18: spec.controlPlaneConfiguration.kubeletConfiguration.b."c\n": Invalid value: "c\n": must be printable text; remove the character U+000A`,
		}},
		"keys twice": {"      a: 1\n      b: {c: 1, c: 1}\n      \"a\": 2\n", []string{
			"cluster.yaml:18: spec.controlPlaneConfiguration.kubeletConfiguration.b.c: Duplicate value: \"c\": the field is already on line 18; remove one of them",
			"cluster.yaml:19: spec.controlPlaneConfiguration.kubeletConfiguration.a: Duplicate value: \"a\": the field is already on line 17; remove one of them",
		}},
		"keys that are no text": {"      ? [a]\n      : 1\n      b:\n        ? {c: d}\n        : 1\n", []string{
			place + `: Invalid value: "a list": the name of a field must be text; write one, or remove it`,
			`cluster.yaml:20: spec.controlPlaneConfiguration.kubeletConfiguration.b: Invalid value: "a mapping": the name of a field must be text; write one, or remove it`,
		}},
		"merge": {"      a: {<<: {b: 1}}\n", []string{
			place + `.a."<<": Forbidden: merging fields with << is not supported; write the fields out`,
		}},
		"one level too many": {"      " + strings.Repeat("{a: ", 97) + "x" + strings.Repeat("}", 97) + "\n", []string{
			place + strings.Repeat(".a", 97) + `: Invalid value: "x": has more than 100 levels above it; is it an alias of itself?`,
		}},
		"one list too many": {"      a: " + strings.Repeat("[", 97) + strings.Repeat("]", 97) + "\n", []string{
			place + ".a" + strings.Repeat("[0]", 96) + `: Invalid value: "a list": has more than 100 levels above it; is it an alias of itself?`,
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, problemsOf(t, []byte(kubeletHead+"\n"+test.text))); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDecodeMapsOfText reads labels and arguments, whose keys are no names of fields.
func TestDecodeMapsOfText(t *testing.T) {
	t.Parallel()
	type result struct {
		Labels   map[string]string
		Problems []string
	}
	const place = "cluster.yaml:16: spec.controlPlaneConfiguration.labels"
	failed := func(lines ...string) result { return result{Problems: lines} }
	tests := map[string]struct {
		text string
		want result
	}{
		"nothing":        {"", result{}},
		"null":           {"~", result{}},
		"no labels":      {"{}", result{}},
		"labels":         {`{a: b, example.org/c: "", "1": "2"}`, result{Labels: map[string]string{"a": "b", "example.org/c": "", "1": "2"}}},
		"null as value":  {"{a: null}", result{Labels: map[string]string{"a": ""}}},
		"numbers":        {"{a: 1, b/c: 1.5, d.e: 2}", failed(place+`["d.e"]: Invalid value: "2": must be text; put it in quotes`, place+`[a]: Invalid value: "1": must be text; put it in quotes`, place+`[b/c]: Invalid value: "1.5": must be text; put it in quotes`)},
		"truth":          {"{a: true}", failed(place + `[a]: Invalid value: "true": must be text; put it in quotes`)},
		"key twice":      {"{a: b, a: b}", failed(place + `.a: Duplicate value: "a": the field is already on line 16; remove one of them`)},
		"key unseen":     {"{\"a\\t\": b}", failed(place + `["a\t"]: Invalid value: "a\t": must be printable text; remove the character U+0009`)},
		"value unseen":   {"{a: \"\\t\"}", failed(place + `[a]: Invalid value: "\t": must be printable text; remove the character U+0009`)},
		"list":           {"[a]", failed(place + `: Invalid value: "a list": must be a mapping: fields with values`)},
		"text":           {"a=b", failed(place + `: Invalid value: "a=b": must be a mapping: fields with values`)},
		"mapping inside": {"{a: {}}", failed(place + `[a]: Invalid value: "a mapping": must be text: write one value`)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := devProviders().Decode("cluster.yaml", []byte(minimal+"  controlPlaneConfiguration:\n    labels: "+test.text+"\n"))
			got := result{Labels: config.Cluster.Spec.ControlPlaneConfiguration.Labels}
			if len(config.Problems) > 0 {
				got = result{Problems: strings.Split(config.Problems.Error(), "\n")}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("labels: %s (-want +got):\n%s", test.text, diff)
			}
		})
	}
}

// TestDecodeTaints: no taints are something else than those that kubeadm gives.
func TestDecodeTaints(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		field string
		want  *[]v1alpha1.Taint
	}{
		"absent": {"", nil},
		"null":   {"taints: ~", nil},
		"empty":  {"taints: []", &[]v1alpha1.Taint{}},
		"one":    {"taints: [{key: a, effect: NoSchedule}]", &[]v1alpha1.Taint{{Key: "a", Effect: "NoSchedule"}}},
		"two":    {"taints: [{key: a, value: b, effect: NoExecute}, {}]", &[]v1alpha1.Taint{{Key: "a", Value: "b", Effect: "NoExecute"}, {}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := fmt.Sprintf("%s  controlPlaneConfiguration: {%s}\n  workerNodeGroupConfigurations: [{%s}]\n", minimal, test.field, test.field)
			for _, text := range []string{text, string(marshal(t, decode(t, text)))} {
				spec := decode(t, text).Cluster.Spec
				want := []*[]v1alpha1.Taint{test.want, test.want}
				if diff := cmp.Diff(want, []*[]v1alpha1.Taint{spec.ControlPlaneConfiguration.Taints, spec.WorkerNodeGroupConfigurations[0].Taints}); diff != "" {
					t.Errorf("taints (-want +got):\n%s\n%s", diff, text)
				}
			}
		})
	}
}
