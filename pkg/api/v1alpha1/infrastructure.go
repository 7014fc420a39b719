package v1alpha1

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// InfrastructureKind is a kind of document that belongs to an infrastructure provider.
type InfrastructureKind struct {
	// Provider is the name of the provider.
	Provider string
	// Schema returns the schema of the spec.
	Schema func() *strictyaml.Schema
	// Machines is true of a kind that describes machines: a file may have several such
	// documents, which machineGroupRef names. The one of another kind says where
	// machines are made, and datacenterRef names it.
	Machines bool
	// Answers are about fields that the schema does not have.
	Answers []FieldAnswer
}

// FieldAnswer is what is said about a field that a document may have elsewhere and that
// does not act here: an error or a warning.
type FieldAnswer struct {
	// Path below spec, without the indices of lists.
	Path string `json:"path"`
	// Error says what to do about a field that makes another cluster elsewhere. It is reported
	// before other errors, once for all documents.
	Error string `json:"error,omitempty"`
	// Warning says what happens instead.
	Warning string `json:"warning,omitempty"`
}

// rule is the rule for the field.
func (a FieldAnswer) rule() fieldRule {
	if a.Error != "" {
		return otherProvider(a.Error)
	}
	return harmless(a.Warning)
}

// InfrastructureKinds are those of all providers, by their names.
type InfrastructureKinds map[string]InfrastructureKind

// datacenters returns the kinds that datacenterRef may name, sorted.
func (k InfrastructureKinds) datacenters() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(k)), func(name string) bool { return k[name].Machines })
}

// machinesOf returns the kinds of a provider that machineGroupRef may name, sorted.
func (k InfrastructureKinds) machinesOf(provider string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(k)), func(name string) bool { return !k[name].Machines || k[name].Provider != provider })
}

// InfrastructureConfig is a document of an infrastructure provider.
type InfrastructureConfig struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   Meta   `json:"metadata"`
	// Spec has the fields that are set, of the types of unstructured objects.
	Spec map[string]any `json:"spec,omitempty"`
	// Complete has the defaults of the schema too.
	Complete map[string]any `json:"-"`

	document string // in Config
}

// Formats of strings in schemas of infrastructure providers.
const (
	DurationFormat          = "duration"
	KubernetesVersionFormat = "kubernetes-version"
)

// InfrastructureFormats are the formats of strings in schemas of infrastructure providers
// that are read as fields of a cluster spec are.
func InfrastructureFormats() strictyaml.Formats {
	return strictyaml.Formats{
		DurationFormat:          func() strictyaml.Text { return new(Duration) },
		KubernetesVersionFormat: func() strictyaml.Text { return new(KubernetesVersion) },
	}
}

// infrastructureDocument is how a document of an infrastructure provider is read.
type infrastructureDocument struct {
	APIVersion string               `json:"apiVersion"`
	Kind       string               `json:"kind"`
	Metadata   Meta                 `json:"metadata"`
	Spec       strictyaml.Described `json:"spec,omitzero"`
}

// config returns the document with defaults, and what its schema finds wrong with it.
func (d infrastructureDocument) config(document string) (*InfrastructureConfig, field.ErrorList) {
	spec, _ := d.Spec.Value.(map[string]any)
	if spec == nil {
		spec = map[string]any{}
	}
	complete := runtime.DeepCopyJSON(spec)
	d.Spec.Schema.Default(complete)
	errs := d.Spec.Schema.Validate(field.NewPath("spec"), complete)
	return &InfrastructureConfig{APIVersion: d.APIVersion, Kind: d.Kind, Metadata: d.Metadata, Spec: spec, Complete: complete, document: document}, errs
}
