package randomspec

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

const (
	// mostDraws is how often a value is drawn until it keeps the rules of its schema.
	mostDraws = 1000
	// special are characters that mean something to YAML, shells, templates or people.
	special = `abc XYZ 019 "'` + "`" + `{{}}$()|&;<>#%@!*?[]:,=\/~^+-_.`
	lower   = "abcdefghijklmnopqrstuvwxyz"
)

// draw draws the values of one spec.
type draw struct {
	*rand.Rand
	// rules are the schemas that have been made of parts of schemas.
	rules map[string]*strictyaml.Schema
}

// value returns a value that a schema allows, of the types of unstructured objects. path
// names the schema.
func (d *draw) value(schema apiextensionsv1.JSONSchemaProps, path string) (any, error) {
	if !hasRules(schema) {
		return d.valueOnce(schema, path)
	}
	rules, err := d.schema(schema, path)
	if err != nil {
		return nil, err
	}
	var broken error
	for range mostDraws {
		value, err := d.valueOnce(schema, path)
		if err != nil {
			return nil, err
		}
		fields, is := value.(map[string]any)
		if !is {
			return nil, fmt.Errorf("%s: no value is drawn by rules that are not about an object", path)
		}
		complete := map[string]any{partField: runtime.DeepCopyJSON(fields)}
		rules.Default(complete)
		if broken = rules.Validate(field.NewPath(path), complete).ToAggregate(); broken == nil {
			return value, nil
		}
	}
	return nil, fmt.Errorf("%s: none of %d values keeps the rules: %w", path, mostDraws, broken)
}

// hasRules reports whether an object may have the fields that its schema names and be wrong.
func hasRules(schema apiextensionsv1.JSONSchemaProps) bool {
	return len(schema.XValidations) > 0 || schema.MinProperties != nil || len(schema.OneOf) > 0 || len(schema.AnyOf) > 0 || len(schema.AllOf) > 0 || schema.Not != nil
}

// partField of an object has the part that a schema is about: not all schemas of parts can be
// those of documents.
const partField = "part"

// schema returns the schema of an object with a part.
func (d *draw) schema(of apiextensionsv1.JSONSchemaProps, path string) (*strictyaml.Schema, error) {
	if known, is := d.rules[path]; is {
		return known, nil
	}
	made, err := strictyaml.NewSchema(apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{partField: of}}, v1alpha1.InfrastructureFormats())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d.rules[path] = made
	return made, nil
}

func (d *draw) valueOnce(schema apiextensionsv1.JSONSchemaProps, path string) (any, error) {
	switch {
	case len(schema.Enum) > 0:
		var value any
		err := json.Unmarshal(pick(d, schema.Enum...).Raw, &value)
		return value, err
	case schema.XIntOrString:
		return pick[any](d, int64(d.IntN(100)), fmt.Sprintf("%d%%", d.IntN(100))), nil
	case schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil:
		return d.mapping(schema, path)
	case len(schema.Properties) > 0:
		return d.fields(schema, path)
	case schema.XPreserveUnknownFields != nil && *schema.XPreserveUnknownFields:
		return d.open(path), nil
	}
	switch schema.Type {
	case "object":
		return map[string]any{}, nil
	case "array":
		return d.list(schema, path)
	case "string":
		return d.text(schema, path)
	case "boolean":
		return d.chance(), nil
	case "integer":
		return d.integer(schema), nil
	case "number":
		return float64(d.integer(schema)) + pick(d, 0, 0.5), nil
	}
	return nil, fmt.Errorf("%s: no value is drawn for type %q", path, schema.Type)
}

// fields are those of an object: what must be there, and the others as often as not.
func (d *draw) fields(schema apiextensionsv1.JSONSchemaProps, path string) (any, error) {
	values := map[string]any{}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if d.chance() || slices.Contains(schema.Required, name) {
			value, err := d.value(schema.Properties[name], path+"."+name)
			values[name], errs = value, append(errs, err)
		}
	}
	return values, errors.Join(errs...)
}

// mapping has arbitrary keys: schemas cannot say which ones there may be.
func (d *draw) mapping(schema apiextensionsv1.JSONSchemaProps, path string) (any, error) {
	values := map[string]any{}
	var errs []error
	for range 1 + d.IntN(2) {
		value, err := d.value(*schema.AdditionalProperties.Schema, path+".*")
		key := d.of(lower, 6, 8)
		if hasRules(schema) { // which may be about the names
			key = pick(d, "", "/") + key
		}
		values[key], errs = value, append(errs, err)
	}
	return values, errors.Join(errs...)
}

func (d *draw) list(schema apiextensionsv1.JSONSchemaProps, path string) (any, error) {
	least, most := int(or(schema.MinItems, 0)), int(or(schema.MaxItems, 1<<20))
	wanted := least + d.IntN(min(2, most-least)+1)
	values, keys := []any{}, map[string]bool{}
	for range mostDraws {
		if len(values) == wanted {
			return values, nil
		}
		value, err := d.value(*schema.Items.Schema, path)
		if err != nil {
			return nil, err
		}
		key, err := keyOf(value, schema)
		if err != nil {
			return nil, err
		}
		if key == "" || !keys[key] {
			values, keys[key] = append(values, value), true
		}
	}
	return nil, fmt.Errorf("%s: none of %d values is another one", path, mostDraws)
}

// keyOf returns what no two elements of a list may have in common; nothing where they may be
// the same.
func keyOf(value any, schema apiextensionsv1.JSONSchemaProps) (string, error) {
	var key any
	switch listType := or(schema.XListType, ""); {
	case listType == "set" || schema.UniqueItems:
		key = value
	case listType == "map":
		var of []any
		for _, name := range schema.XListMapKeys {
			of = append(of, value.(map[string]any)[name])
		}
		key = of
	default:
		return "", nil
	}
	text, err := json.Marshal(key)
	return string(text), err
}

// text returns a string that a schema allows.
func (d *draw) text(schema apiextensionsv1.JSONSchemaProps, path string) (string, error) {
	least, most := int(or(schema.MinLength, 0)), int(or(schema.MaxLength, 1<<20))
	switch {
	case schema.Format != "":
		return d.formatted(schema.Format, path)
	case schema.Pattern == "" && d.chance():
		return d.of(special, max(least, min(6, most)), min(most, max(least, 40))), nil
	case schema.Pattern == "":
		return d.of(lower, max(least, min(6, most)), min(most, max(least, 12))), nil
	}
	for range mostDraws {
		text, err := d.matching(schema.Pattern)
		if err != nil || least <= len(text) && len(text) <= most {
			return text, err
		}
	}
	return "", fmt.Errorf("%s: no text of %d to %d characters matches %s", path, least, most, schema.Pattern)
}

// formatted returns a string in a format.
func (d *draw) formatted(format, path string) (string, error) {
	makers := map[string]func() string{
		v1alpha1.DurationFormat:          func() string { return fmt.Sprintf("%dm%ds", 1+d.IntN(50), 1+d.IntN(50)) },
		v1alpha1.KubernetesVersionFormat: func() string { return pick(d, minor(d.IntN(20)), fmt.Sprintf("v%s.%d", minor(d.IntN(20)), d.IntN(9))) },
		"cidr":                           func() string { return fmt.Sprintf("10.%d.%d.0/24", d.IntN(256), d.IntN(256)) },
		"ipv4":                           func() string { return fmt.Sprintf("10.%d.%d.%d", d.IntN(256), d.IntN(256), d.IntN(256)) },
		"ipv6":                           func() string { return fmt.Sprintf("fd00::%x:%x", 1+d.IntN(1<<16-1), 1+d.IntN(1<<16-1)) },
		"hostname":                       func() string { return d.of(lower, 6, 12) + ".example.org" },
		"uri":                            func() string { return "https://" + d.of(lower, 6, 12) + ".example.org/" + d.of(lower, 1, 6) },
		"uuid": func() string {
			return fmt.Sprintf("%08x-0000-4000-8000-%012x", d.Uint32(), d.Uint64N(1<<48))
		},
	}
	if maker, known := makers[format]; known {
		return maker(), nil
	}
	return "", fmt.Errorf("%s: no text is made in format %s; add it to the makers in test/randomspec", path, format)
}

// minor is one of those that a version of Kubernetes may have.
func minor(i int) string { return fmt.Sprintf("1.%d", 26+i) }

func (d *draw) integer(schema apiextensionsv1.JSONSchemaProps) int64 {
	least := int64(or(schema.Minimum, min(0, or(schema.Maximum, 0))))
	most := int64(or(schema.Maximum, float64(least+1<<16-1)))
	return least + d.Int64N(most-least+1)
}

// open returns an object whose fields the schema does not name. That of Cluster API's kubeadm
// configuration, which clusterctl-x reads, has fields of it.
func (d *draw) open(path string) any {
	if strings.HasSuffix(path, ".kubeadmConfigSpec") {
		return d.kubeadm()
	}
	for field, fragment := range fragments() {
		if strings.HasSuffix(path, field) {
			return fragment
		}
	}
	return d.anything(2)
}

// fragments are what fields may have that are merged into specs of Cluster API's types.
func fragments() map[string]map[string]any {
	return map[string]map[string]any{
		".controlPlane.spec":      {"remediation": map[string]any{"maxRetry": int64(5)}},
		".machineDeployment.spec": {"deletion": map[string]any{"order": "Newest"}},
		"spec.cluster.spec":       {"availabilityGates": []any{map[string]any{"conditionType": "Tested"}}},
	}
}

func (d *draw) anything(depth int) map[string]any {
	values := map[string]any{}
	for range 1 + d.IntN(3) {
		var value any = d.of(special, 6, 20)
		switch d.IntN(6) {
		case 0:
			value = d.chance()
		case 1:
			value = int64(d.IntN(1 << 20))
		case 2:
			value = []any{d.of(lower, 6, 8), d.of(special, 6, 8)}
		case 3:
			if depth > 0 {
				value = d.anything(depth - 1)
			}
		}
		values[d.of(lower, 6, 8)] = value
	}
	return values
}

// kubeadm returns fields that contradict nothing.
func (d *draw) kubeadm() map[string]any {
	spec := map[string]any{}
	some := func(field string, value any) {
		if d.chance() {
			spec[field] = value
		}
	}
	node := func() map[string]any {
		return map[string]any{"nodeRegistration": map[string]any{
			"name": d.of(special, 6, 20), "kubeletExtraArgs": []any{map[string]any{"name": d.of(lower, 6, 8), "value": d.of(special, 6, 20)}},
		}}
	}
	some("clusterConfiguration", map[string]any{"certificatesDir": "/" + d.of(lower, 6, 8), "featureGates": map[string]any{d.of(lower, 6, 8): d.chance()}})
	some("initConfiguration", node())
	some("joinConfiguration", node())
	some("files", []any{map[string]any{"path": "/" + d.of(lower, 6, 8), "content": d.of(special, 6, 40)}})
	some("preKubeadmCommands", []any{d.of(special, 6, 40)})
	some("users", []any{map[string]any{"name": d.of(lower, 6, 8), "sshAuthorizedKeys": []any{d.of(special, 6, 40)}}})
	return spec
}

func (d *draw) chance() bool { return d.IntN(2) == 0 }

// of returns a text of the characters, of so many.
func (d *draw) of(alphabet string, least, most int) string {
	text := make([]byte, least+d.IntN(most-least+1))
	for i := range text {
		text[i] = alphabet[d.IntN(len(alphabet))]
	}
	return string(text)
}

func pick[T any](d *draw, values ...T) T { return values[d.IntN(len(values))] }

// or returns what a pointer points to, or a value where it is nil.
func or[T any](pointer *T, value T) T {
	if pointer == nil {
		return value
	}
	return *pointer
}
