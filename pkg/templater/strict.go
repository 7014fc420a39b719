package templater

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Object is a rendered object that was checked.
type Object struct {
	Kind schema.GroupVersionKind
	Name string
	YAML []byte // the text of the template, one document
	JSON []byte // the same with sorted keys
}

// Unstructured decodes the object.
func (o Object) Unstructured() (*unstructured.Unstructured, error) {
	var u unstructured.Unstructured
	if err := u.UnmarshalJSON(o.JSON); err != nil {
		return nil, fmt.Errorf("decoding %s %s: %w", o.Kind.Kind, o.Name, err)
	}
	return &u, nil
}

// Join returns objects as one text, a document for each.
func Join(objects []Object) []byte {
	texts := make([][]byte, len(objects))
	for i, object := range objects {
		texts[i] = object.YAML
	}
	return bytes.Join(texts, []byte("---\n"))
}

// Unnamed is the name to render an object with whose name follows from its
// content. No text of a spec has this character: it cannot be seen.
const Unnamed = "\ue000"

// Renamed gives a name to an object that was rendered as Unnamed. The name must
// be one of an object.
func (o Object) Renamed(name string) Object {
	o.Name = name
	o.YAML = bytes.Replace(o.YAML, []byte(Unnamed), []byte(name), 1)
	o.JSON = bytes.Replace(o.JSON, []byte(Unnamed), []byte(name), 1)
	return o
}

// Checker decodes rendered text strictly. It may be used by several goroutines.
type Checker struct {
	schemas    fs.FS
	mu         sync.Mutex
	validators map[schema.GroupVersionKind]*validate.SchemaValidator
	checked    sync.Map // text -> Object: equal groups have equal templates
}

// NewChecker returns a Checker that reads the schemas of kinds which have no Go
// types here from files called group_version_Kind.json.
func NewChecker(schemas fs.FS) *Checker {
	return &Checker{schemas: schemas, validators: map[schema.GroupVersionKind]*validate.SchemaValidator{}}
}

// Decode reads one rendered document. A field that its kind does not have, in
// any case or spelling, a field that stands twice, or a value of the wrong type
// is an error.
func (c *Checker) Decode(text []byte) (Object, error) {
	if known, ok := c.checked.Load(string(text)); ok {
		return known.(Object), nil
	}
	if bytes.Contains(text, []byte("\n---")) {
		// The decoder would read the first one and leave out the rest.
		return Object{}, errors.New("decoding what was rendered: a template must render one document")
	}
	data, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return Object{}, fmt.Errorf("decoding what was rendered: %w", err)
	}
	var meta metav1.PartialObjectMetadata
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &meta); err != nil {
		return Object{}, fmt.Errorf("decoding what was rendered: %w", err)
	}
	if meta.Kind == "" || meta.APIVersion == "" {
		return Object{}, errors.New("decoding what was rendered: an object must have apiVersion and kind")
	}
	object := Object{Kind: meta.GroupVersionKind(), Name: meta.Name, YAML: text, JSON: data}
	if err := c.check(object); err != nil {
		return Object{}, fmt.Errorf("%s %s: %w", object.Kind.Kind, object.Name, err)
	}
	c.checked.Store(string(text), object)
	return object, nil
}

func (c *Checker) check(object Object) error {
	into := goType(object.Kind)
	if into == nil {
		return c.checkSchema(object)
	}
	strict, err := kjson.UnmarshalStrict(object.JSON, into)
	return errors.Join(append(strict, err)...)
}

// goType is a new value of the Go type of a kind, or nil.
func goType(kind schema.GroupVersionKind) any {
	switch kind {
	case clusterv1.GroupVersion.WithKind("Cluster"):
		return &clusterv1.Cluster{}
	case clusterv1.GroupVersion.WithKind("MachineDeployment"):
		return &clusterv1.MachineDeployment{}
	case clusterv1.GroupVersion.WithKind("MachineHealthCheck"):
		return &clusterv1.MachineHealthCheck{}
	case addonsv1.GroupVersion.WithKind("ClusterResourceSet"):
		return &addonsv1.ClusterResourceSet{}
	case corev1.SchemeGroupVersion.WithKind("ConfigMap"):
		return &corev1.ConfigMap{}
	case controlplanev1.GroupVersion.WithKind("KubeadmControlPlane"):
		return &controlplanev1.KubeadmControlPlane{}
	case bootstrapv1.GroupVersion.WithKind("KubeadmConfigTemplate"):
		return &bootstrapv1.KubeadmConfigTemplate{}
	case corev1.SchemeGroupVersion.WithKind("Secret"):
		return &corev1.Secret{}
	default:
		return nil
	}
}

// checkSchema checks an object against the schema of its CRD, in which every field that is
// not named is unknown. Of a kind whose schema is not here, the metadata are checked.
func (c *Checker) checkSchema(object Object) error {
	validator, err := c.validator(object.Kind)
	if err != nil {
		return err
	}
	u, err := object.Unstructured()
	if err != nil {
		return err
	}
	strict, err := checkMetadata(u.Object["metadata"])
	err = errors.Join(append(strict, err)...)
	if validator == nil {
		return err
	}
	return errors.Join(err, validator.Validate(u.Object).AsError())
}

// typedGroups are the API groups whose kinds have Go types here, or must have a schema.
func typedGroups() []string {
	return []string{clusterv1.GroupVersion.Group, addonsv1.GroupVersion.Group, bootstrapv1.GroupVersion.Group, controlplanev1.GroupVersion.Group}
}

// checkMetadata checks what no schema describes, since every kind has the same.
func checkMetadata(metadata any) (strict []error, err error) {
	data, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return nil, err
	}
	var typed struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	return kjson.UnmarshalStrict(data, &typed)
}

// validator returns nil for a kind whose schema is not here.
func (c *Checker) validator(kind schema.GroupVersionKind) (*validate.SchemaValidator, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.validators[kind]; ok {
		return v, nil
	}
	data, err := fs.ReadFile(c.schemas, fmt.Sprintf("%s_%s_%s.json", kind.Group, kind.Version, kind.Kind))
	if errors.Is(err, fs.ErrNotExist) && !slices.Contains(typedGroups(), kind.Group) {
		return nil, nil //nolint:nilnil // only the management cluster has the schema
	}
	if err != nil {
		return nil, fmt.Errorf("no schema to check %s with: %w", kind, err)
	}
	var s spec.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", kind, err)
	}
	forbidUnknown(&s)
	s.Properties["metadata"] = spec.Schema{}
	v := validate.NewSchemaValidator(&s, nil, "", strfmt.Default)
	c.validators[kind] = v
	return v, nil
}

// forbidUnknown makes every field that the schema does not name an error.
func forbidUnknown(s *spec.Schema) {
	if s.Type.Contains("object") && s.AdditionalProperties == nil {
		s.AdditionalProperties = &spec.SchemaOrBool{Allows: false}
	}
	for name, property := range s.Properties {
		forbidUnknown(&property)
		s.Properties[name] = property
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		forbidUnknown(s.AdditionalProperties.Schema)
	}
	if s.Items != nil && s.Items.Schema != nil {
		forbidUnknown(s.Items.Schema)
	}
}
