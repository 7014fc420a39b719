package view_test

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/explain"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

const explained = `{
  "oneOf": [{"$ref": "#/$defs/Cluster"}],
  "$defs": {
    "Cluster": {"title": "Cluster", "type": "object", "description": "Cluster is one cluster. It has machines.", "properties": {"spec": {"$ref": "#/$defs/Spec"}}},
    "Spec": {
      "title": "Spec", "description": "Spec is what you want.",
      "properties": {
        "groups": {"type": "array", "items": {"$ref": "#/$defs/Group"}, "description": "groups of machines that are alike, in a sentence which is longer than a line.\n\nGroup is a type."},
        "mode": {"type": "string", "enum": ["a", "b"], "default": "a", "description": "mode of all."}
      },
      "required": ["groups"]
    },
    "Group": {"title": "Group", "properties": {"count": {"type": "integer", "description": "count of machines."}}}
  }
}`

func TestExplain(t *testing.T) {
	t.Parallel()
	schema, err := explain.Parse([]byte(explained))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		path  string
		depth view.Depth
		want  string
	}{
		{"spec", view.OneLevel, `KIND:     Cluster
VERSION:  clusterctl-x.io/v1alpha1

FIELD: spec <Spec>

DESCRIPTION:
    Spec is what you want.

FIELDS:
  groups <[]Group> -required-
    groups of machines that are alike, in a sentence which is longer than a
    line.
  mode <string>
    mode of all.
    enum: a, b
    default: a
`},
		{"spec.mode", view.OneLevel, `KIND:     Cluster
VERSION:  clusterctl-x.io/v1alpha1

FIELD: spec.mode <string>

DESCRIPTION:
    mode of all.

ENUM: a, b

DEFAULT: a
`},
		{"spec", view.AllLevels, `KIND:     Cluster
VERSION:  clusterctl-x.io/v1alpha1

FIELD: spec <Spec>

DESCRIPTION:
    Spec is what you want.

FIELDS:
  groups <[]Group>
    count <integer>
  mode <string>
`},
		{"", view.OneLevel, `KINDS:
  Cluster
    Cluster is one cluster.
`},
		{"", view.AllLevels, `KINDS:
  Cluster
    spec <Spec>
      groups <[]Group>
        count <integer>
      mode <string>
`},
	} {
		t.Run(test.path+" "+string(test.depth), func(t *testing.T) {
			t.Parallel()
			var got strings.Builder
			if err := explanation(&got, schema, test.path, test.depth); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.String()); diff != "" {
				t.Errorf("explanation (-want +got):\n%s", diff)
			}
		})
	}
}

// explanation writes the kinds where there is no path.
func explanation(w io.Writer, schema *explain.Schema, path string, depth view.Depth) error {
	if path == "" {
		return view.Kinds(w, schema.Kinds(), depth)
	}
	field, err := schema.Find(path)
	if err != nil {
		return err
	}
	return view.Field(w, field, depth)
}
