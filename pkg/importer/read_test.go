package importer_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/importer"
)

// TestParse: documents, lists and what editors leave are read; what is no manifest, or a template
// whose variables have no values, is not.
func TestParse(t *testing.T) {
	t.Parallel()
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\n"
	for name, test := range map[string]struct {
		text  string
		want  []string // names of objects
		error string
	}{
		"documents":             {text: "# one\n---\nkind: A\nmetadata: {name: a}\n---\n\n---\nkind: B\nmetadata: {name: b}\n", want: []string{"a", "b"}},
		"list":                  {text: "kind: List\nitems:\n- {kind: A, metadata: {name: a}}\n- {kind: B, metadata: {name: b}}\n", want: []string{"a", "b"}},
		"JSON":                  {text: `{"kind": "A", "metadata": {"name": "a"}}`, want: []string{"a"}},
		"byte order mark, CRLF": {text: "\ufeffkind: A\r\nmetadata: {name: a}\r\n---\r\nkind: B\r\nmetadata: {name: b}\r\n", want: []string{"a", "b"}},
		"variables of programs": {text: config + "data: {run: 'echo ${HOSTNAME}'}\n", want: []string{"NAME"}},
		"variables of machines": {
			text: "kind: KubeadmConfigTemplate\nmetadata: {name: a}\nspec: {template: {spec: {joinConfiguration: {nodeRegistration: {name: '${COREOS_EC2_HOSTNAME}'}}}}}\n",
			want: []string{"a"},
		},
		"unset": {
			text:  "kind: Cluster\nmetadata: {name: '${CLUSTER_NAME}'}\nspec: {replicas: ${ COUNT }, cidr: '${POD_CIDR:=10.0.0.0/8}'} # ${LATER}\n# ${COMMENTED}\n",
			error: "file: is a template whose variables have no values: CLUSTER_NAME, COUNT, LATER, POD_CIDR; 'clusterctl generate yaml --from FILE' replaces them by variables of the environment, and 'clusterctl generate cluster' does it for a template of a provider",
		},
		"unset in a key": {
			text:  "kind: A\nmetadata: {labels: {'${KEY}': a}}\n",
			error: "file: is a template whose variables have no values: KEY; 'clusterctl generate yaml --from FILE' replaces them by variables of the environment, and 'clusterctl generate cluster' does it for a template of a provider",
		},
		"empty":        {text: "---\n# nothing\n", error: "file: is no manifest of objects: it has no object; correct it"},
		"no object":    {text: "replicas: 1\n", error: `file: is no manifest of objects: document 1: Object 'Kind' is missing in '{"replicas":1}'; correct it`},
		"key twice":    {text: "kind: A\nkind: B\n", error: "file: is no manifest of objects: document 1: error converting YAML to JSON: yaml: unmarshal errors:\n  line 2: key \"kind\" already set in map; correct it"},
		"second wrong": {text: config + "---\n- a\n", error: "file: is no manifest of objects: document 2: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}; correct it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, err := importer.Parse("file", []byte(test.text))
			var got []string
			for _, object := range objects {
				got = append(got, object.GetName())
			}
			message := ""
			if err != nil {
				message = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.error, message); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// TestParseNulls: a field without a value is not there, as the API server has it.
func TestParseNulls(t *testing.T) {
	t.Parallel()
	objects, err := importer.Parse("file", []byte("kind: A\nspec:\n  selector:\n    matchLabels:\n  list: [{a: null, b: 1}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"kind": "A", "spec": map[string]any{"selector": map[string]any{}, "list": []any{map[string]any{"b": int64(1)}}}}
	if diff := cmp.Diff(want, objects[0].Object); diff != "" {
		t.Errorf("object (-want +got):\n%s", diff)
	}
}
