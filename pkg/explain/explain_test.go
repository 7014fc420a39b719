package explain_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/explain"
)

// small is a schema with each of the forms that a field may have.
const small = `{
  "oneOf": [{"$ref": "#/$defs/Cluster"}, {"$ref": "#/$defs/OIDCConfig"}],
  "$defs": {
    "Cluster": {
      "title": "Cluster", "type": "object", "description": "Cluster is one cluster.",
      "properties": {
        "kind": {"type": "string", "const": "Cluster"},
        "spec": {"$ref": "#/$defs/Spec", "description": "spec of the cluster.\n\nSpec has all."}
      },
      "required": ["spec"]
    },
    "Spec": {
      "title": "Spec",
      "properties": {
        "groups": {"type": "array", "items": {"$ref": "#/$defs/Group"}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "licence": {"deprecated": true, "description": "ignored"},
        "modes": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "default": "a"}
      }
    },
    "Group": {"title": "Group", "properties": {"count": {"type": "integer"}, "name": {"type": "string"}}, "required": ["name"]},
    "OIDCConfig": {"title": "OIDCConfig", "properties": {}}
  }
}`

func parse(t *testing.T, data string) *explain.Schema {
	t.Helper()
	schema, err := explain.Parse([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func known() cmp.Option { return cmpopts.IgnoreUnexported(explain.Field{}) }

func TestKinds(t *testing.T) {
	t.Parallel()
	want := []explain.Field{
		{Kind: "Cluster", Name: "Cluster", Type: "Cluster", Description: "Cluster is one cluster."},
		{Kind: "OIDCConfig", Name: "OIDCConfig", Type: "OIDCConfig"},
	}
	if diff := cmp.Diff(want, parse(t, small).Kinds(), known()); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	spec := explain.Field{Kind: "Cluster", Path: "spec", Name: "spec", Type: "Spec", Description: "spec of the cluster.\n\nSpec has all.", Required: true}
	name := explain.Field{Kind: "Cluster", Path: "spec.groups.name", Name: "name", Type: "string", Required: true}
	for path, want := range map[string]explain.Field{
		"cluster":               {Kind: "Cluster", Name: "Cluster", Type: "Cluster", Description: "Cluster is one cluster."},
		"Cluster.spec":          spec,
		"spec":                  spec,
		"Cluster.kind":          {Kind: "Cluster", Path: "kind", Name: "kind", Type: "string", Choices: []any{"Cluster"}},
		"groups":                {Kind: "Cluster", Path: "spec.groups", Name: "groups", Type: "[]Group"},
		"groups.name":           name,
		"spec.groups[0].name":   name,
		"groups.count":          {Kind: "Cluster", Path: "spec.groups.count", Name: "count", Type: "integer"},
		"labels[example.com/x]": {Kind: "Cluster", Path: "spec.labels", Name: "labels", Type: "map[string]string"},
		"licence":               {Kind: "Cluster", Path: "spec.licence", Name: "licence", Type: "any", Description: "ignored"},
		"modes":                 {Kind: "Cluster", Path: "spec.modes", Name: "modes", Type: "[]string", Choices: []any{"a", "b"}, Default: "a"},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			got, err := parse(t, small).Find(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, known()); diff != "" {
				t.Errorf("field (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFindUnknown(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"clstr":             `"clstr" is no kind, and no field of Cluster or of its spec; did you mean Cluster? there are Cluster, OIDCConfig, kind, spec, groups, labels, modes`,
		"name":              `"name" is no kind, and no field of Cluster or of its spec; did you mean spec.groups.name? there are Cluster, OIDCConfig, kind, spec, groups, labels, modes`,
		"zzz":               `"zzz" is no kind, and no field of Cluster or of its spec; there are Cluster, OIDCConfig, kind, spec, groups, labels, modes`,
		"spec.Groups":       `Cluster.spec has no field "Groups"; did you mean groups? there are groups, labels, modes`,
		"spec.groups.co":    `Cluster.spec.groups has no field "co"; there are count, name`,
		"spec.groups.cou":   `Cluster.spec.groups has no field "cou"; did you mean count? there are count, name`,
		"oidcconfig.issuer": `OIDCConfig has no field "issuer": no fields are known below it; see 'clusterctl-x explain OIDCConfig'`,
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			_, err := parse(t, small).Find(path)
			if err == nil {
				t.Fatal("found")
			}
			if diff := cmp.Diff(want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFieldsLeaveOutIgnoredOnes(t *testing.T) {
	t.Parallel()
	spec, err := parse(t, small).Find("spec")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, field := range spec.Fields() {
		got = append(got, field.String())
	}
	want := []string{"Cluster.spec.groups", "Cluster.spec.labels", "Cluster.spec.modes"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string][]string{
		"":               {"Cluster", "OIDCConfig", "kind", "spec", "groups", "labels", "modes", "cluster", "oidcconfig"},
		"spec.groups.n":  {"spec.groups.count", "spec.groups.name"},
		"cluster.s":      {"cluster.kind", "cluster.spec"},
		"cluster.there.": nil,
	} {
		t.Run(typed, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, parse(t, small).Complete(typed)); diff != "" {
				t.Errorf("candidates (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDefinitionIsCompleteInItself: a reader of a part of the schema has no
// definitions to look its references up in.
func TestDefinitionIsCompleteInItself(t *testing.T) {
	t.Parallel()
	groups, err := parse(t, small).Find("groups")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"type": "array",
		"items": map[string]any{
			"title":      "Group",
			"properties": map[string]any{"count": map[string]any{"type": "integer"}, "name": map[string]any{"type": "string"}},
			"required":   []any{"name"},
		},
	}
	if diff := cmp.Diff(want, groups.Definition()); diff != "" {
		t.Errorf("definition (-want +got):\n%s", diff)
	}
}

func TestParseRefusesWhatIsNoSchema(t *testing.T) {
	t.Parallel()
	if _, err := explain.Parse([]byte("[]")); err == nil {
		t.Error("a list was read as a schema")
	}
}

// TestDocuments finds a path in the schema of its kind, and one without a kind in the
// first.
func TestDocuments(t *testing.T) {
	t.Parallel()
	documents, err := explain.ParseAll([]byte(small), []byte(strings.NewReplacer("OIDCConfig", "Bundles", "Cluster", "Other", "groups", "entries").Replace(small)))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, kind := range documents.Kinds() {
		kinds = append(kinds, kind.Kind)
	}
	if diff := cmp.Diff([]string{"Cluster", "OIDCConfig", "Other", "Bundles"}, kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	for path, want := range map[string]string{
		"spec.groups": "Cluster.spec.groups", "groups[0].name": "Cluster.spec.groups.name", "other.spec.entries": "Other.spec.entries", "BUNDLES": "Bundles",
	} {
		if field, err := documents.Find(path); err != nil || field.String() != want {
			t.Errorf("%s is %s, want %s (%v)", path, field, want, err)
		}
	}
	for path, want := range map[string]string{
		"other.entries": `Other has no field "entries"; did you mean spec.entries? there are kind, spec`,
		"entries":       `"entries" is no kind, and no field of Cluster or of its spec; there are Cluster, OIDCConfig, kind, spec, groups, labels, modes`,
	} {
		if _, err := documents.Find(path); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	for typed, want := range map[string][]string{
		"other.spec.": {"other.spec.entries", "other.spec.labels", "other.spec.modes"},
		"spec.g":      {"spec.groups", "spec.labels", "spec.modes"},
		"":            {"Cluster", "OIDCConfig", "kind", "spec", "groups", "labels", "modes", "cluster", "oidcconfig", "Other", "Bundles", "other", "bundles"},
	} {
		if diff := cmp.Diff(want, documents.Complete(typed)); diff != "" {
			t.Errorf("candidates for %q (-want +got):\n%s", typed, diff)
		}
	}
}

// TestEveryFieldIsFoundByItsPath holds the product's own schemas to what Find and Fields
// promise.
func TestEveryFieldIsFoundByItsPath(t *testing.T) {
	t.Parallel()
	schema, err := explain.ParseAll(config.SpecSchema, config.BundlesSchema)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	var visit func(explain.Field)
	visit = func(field explain.Field) {
		paths = append(paths, field.String())
		found, err := schema.Find(field.String())
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(field, found, known()); diff != "" {
			t.Errorf("%s (-listed +found):\n%s", field, diff)
		}
		if field.Type == "any" || field.Description == "" {
			t.Errorf("%s has type %q and description %q", field, field.Type, field.Description)
		}
		for _, below := range field.Fields() {
			visit(below)
		}
	}
	for _, kind := range schema.Kinds() {
		visit(kind)
	}
	for _, path := range []string{"Cluster.spec.workerNodeGroupConfigurations.taints.effect", "OIDCConfig.spec.requiredClaims.claim", "Bundles.spec.versionsBundles.releases.kubeadm.sha256"} {
		if !slices.Contains(paths, path) {
			t.Errorf("%s was not visited", path)
		}
	}
}
