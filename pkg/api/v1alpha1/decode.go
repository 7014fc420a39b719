package v1alpha1

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Config is a cluster spec: one Cluster and at most one provider document.
type Config struct {
	Cluster  *Cluster
	InMemory *InMemoryDatacenterConfig // set where datacenterRef names this kind
	Docker   *DockerDatacenterConfig   // set where datacenterRef names this kind
	// Warnings are about fields that are read and not acted on.
	Warnings []Warning

	documents map[string]Document // by kind
}

// Locate gives errors about the document of a kind their place in the file.
func (c *Config) Locate(kind string, errs field.ErrorList) Problems {
	return c.documents[kind].Locate(errs)
}

// LocateWarnings gives warnings about the document of a kind their place in the file.
func (c *Config) LocateWarnings(kind string, warnings []Warning) []Warning {
	document := c.documents[kind]
	located := make([]Warning, len(warnings))
	for i, warning := range warnings {
		warning.File, warning.Line = document.file, document.line(warning.Path)
		located[i] = warning
	}
	return located
}

// documentKinds are the kinds that a file may hold, with their Go types.
func documentKinds() map[string]reflect.Type {
	return map[string]reflect.Type{
		ClusterKind:  reflect.TypeFor[Cluster](),
		InMemoryKind: reflect.TypeFor[InMemoryDatacenterConfig](),
		DockerKind:   reflect.TypeFor[DockerDatacenterConfig](),
	}
}

// Decode reads a cluster spec strictly: every unknown, misspelt or doubled
// field, every value of the wrong type and every document too many is a
// problem, and all of them are reported in one error of type Problems.
// Defaults are applied. The name of the file is used in messages only.
func Decode(file string, data []byte) (*Config, error) {
	d := decoder{config: &Config{documents: map[string]Document{}}, file: file}
	documents, problems := splitDocuments(file, data)
	d.problems, d.unread = problems, len(problems) > 0
	for _, document := range documents {
		d.document(document)
	}
	switch {
	case d.config.Cluster != nil:
		d.attachDatacenter()
	case !d.unread:
		d.problems = append(d.problems, newProblem(file, 0, field.Required(nil, "no document of kind Cluster: 'clusterctl-x generate clusterconfig NAME --provider inmemory' writes one to begin with")))
	}
	if err := d.problems.OrNil(); err != nil {
		return nil, err
	}
	setDefaults(d.config.Cluster)
	return d.config, nil
}

type decoder struct {
	config   *Config
	file     string
	inMemory *InMemoryDatacenterConfig
	docker   *DockerDatacenterConfig
	problems Problems
	// unread is true where something in the file could not be read, or is of no
	// known kind: it might be what is missing.
	unread bool
}

func (d *decoder) document(node *yaml.Node) {
	kind, problems := header(d.file, node, slices.Sorted(maps.Keys(documentKinds())), []string{APIVersion, APIVersionEKSA})
	if len(problems) > 0 {
		d.problems, d.unread = append(d.problems, problems...), true
		return
	}
	if first, twice := d.config.documents[kind]; twice {
		detail := fmt.Sprintf("the document in line %d is of this kind already; a file describes one cluster: put others into files of their own", first.line(""))
		d.problems = append(d.problems, newProblem(d.file, node.Line, &field.Error{Type: field.ErrorTypeDuplicate, Field: "kind", BadValue: kind, Detail: detail}))
		return
	}
	r := newReader(d.file, kind)
	value := reflect.New(documentKinds()[kind])
	r.into(node, value)
	d.config.documents[kind] = r.document
	d.problems = append(d.problems, r.problems...)
	d.config.Warnings = append(d.config.Warnings, r.warnings...)
	switch document := value.Interface().(type) {
	case *Cluster:
		d.config.Cluster = document
	case *InMemoryDatacenterConfig:
		d.inMemory = document
	case *DockerDatacenterConfig:
		d.docker = document
	}
}

// attachDatacenter keeps the provider document that datacenterRef names. Every
// field of the kinds there are is optional, so that it may be left out; one
// that nothing refers to is a mistake.
func (d *decoder) attachDatacenter() {
	ref := d.config.Cluster.Spec.DatacenterRef
	if d.inMemory != nil {
		d.referred(InMemoryKind, d.inMemory.Metadata)
	}
	if d.docker != nil {
		d.referred(DockerKind, d.docker.Metadata)
	}
	switch ref.Kind {
	case InMemoryKind:
		d.config.InMemory = d.inMemory
		if d.inMemory == nil {
			d.config.InMemory = &InMemoryDatacenterConfig{APIVersion: APIVersion, Kind: InMemoryKind, Metadata: Meta{Name: ref.Name}}
		}
	case DockerKind:
		d.config.Docker = d.docker
		if d.docker == nil {
			d.config.Docker = &DockerDatacenterConfig{APIVersion: APIVersion, Kind: DockerKind, Metadata: Meta{Name: ref.Name}}
		}
	}
}

// referred checks that the cluster refers to a provider document. A name that
// could not be read is a problem of its own, as is a reference that is not
// complete.
func (d *decoder) referred(kind string, meta Meta) {
	cluster := d.config.Cluster
	ref := cluster.Spec.DatacenterRef
	if ref.Kind == "" || ref.Name == "" || meta.Name == "" && len(d.problems) > 0 {
		return
	}
	path := field.NewPath("metadata")
	var errs field.ErrorList
	switch {
	case ref.Kind != kind:
		errs = append(errs, field.Invalid(path.Child("name"), meta.Name, fmt.Sprintf("no datacenterRef names this %s: the cluster's spec.datacenterRef has kind %q; remove this document or correct the reference", kind, ref.Kind)))
	case ref.Name != meta.Name:
		errs = append(errs, field.Invalid(path.Child("name"), meta.Name, fmt.Sprintf("spec.datacenterRef of the cluster names %q; use one name for both", ref.Name)))
	}
	if meta.Namespace != "" && meta.Namespace != cluster.Metadata.Namespace {
		errs = append(errs, field.Invalid(path.Child("namespace"), meta.Namespace, fmt.Sprintf("the cluster has namespace %q; use one for both, or leave it out here", cluster.Metadata.Namespace)))
	}
	d.problems = append(d.problems, d.config.Locate(kind, errs)...)
}

func setDefaults(c *Cluster) {
	if c.Spec.ControlPlaneConfiguration.Count == nil {
		c.Spec.ControlPlaneConfiguration.Count = new(defaultReplicas)
	}
	groups := c.Spec.WorkerNodeGroupConfigurations
	if len(groups) == 1 && groups[0].Name == "" {
		groups[0].Name = defaultGroup
	}
	for i := range groups {
		if groups[i].Count == nil {
			groups[i].Count = new(defaultReplicas)
		}
	}
}
