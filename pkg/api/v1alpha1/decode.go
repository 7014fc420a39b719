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

	file  string
	lines map[string]map[string]int // kind -> path -> line
}

// Locate gives errors about the document of a kind their place in the file.
func (c *Config) Locate(kind string, errs field.ErrorList) Problems {
	problems := make(Problems, len(errs))
	for i, err := range errs {
		problems[i] = Problem{File: c.file, Line: lineOf(c.lines[kind], err.Field), Err: err}
	}
	return problems
}

// Warn adds warnings about the document of a kind.
func (c *Config) Warn(kind string, warnings []Warning) {
	for _, warning := range warnings {
		warning.File, warning.Line = c.file, lineOf(c.lines[kind], warning.Path)
		c.Warnings = append(c.Warnings, warning)
	}
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
	d := decoder{config: &Config{file: file, lines: map[string]map[string]int{}}}
	documents, problems := splitDocuments(file, data)
	d.problems = problems
	for _, document := range documents {
		d.document(document)
	}
	if d.config.Cluster == nil && len(d.problems) == 0 {
		d.problem(0, field.Required(nil, "no document of kind Cluster: 'clusterctl-x generate clusterconfig NAME --provider inmemory' writes one to begin with"))
	}
	if err := d.problems.OrNil(); err != nil {
		return nil, err
	}
	if err := d.attachDatacenter(); err != nil {
		return nil, err
	}
	setDefaults(d.config.Cluster)
	return d.config, nil
}

type decoder struct {
	config   *Config
	inMemory *InMemoryDatacenterConfig
	docker   *DockerDatacenterConfig
	problems Problems
}

func (d *decoder) problem(line int, err *field.Error) {
	d.problems = append(d.problems, Problem{File: d.config.file, Line: line, Err: err})
}

func (d *decoder) document(node *yaml.Node) {
	apiVersion, kind := scalarField(node, "apiVersion"), scalarField(node, "kind")
	goType, known := documentKinds()[kind]
	switch {
	case kind == "":
		d.problem(node.Line, field.Required(field.NewPath("kind"), "each document needs apiVersion and kind"))
		return
	case !known:
		d.problem(node.Line, field.NotSupported(field.NewPath("kind"), kind, slices.Sorted(maps.Keys(documentKinds()))))
		return
	case apiVersion != APIVersion && apiVersion != APIVersionEKSA:
		d.problem(node.Line, field.NotSupported(field.NewPath("apiVersion"), apiVersion, []string{APIVersion, APIVersionEKSA}))
		return
	case d.config.lines[kind] != nil:
		d.problem(node.Line, field.Duplicate(field.NewPath("kind"), kind+": a file describes one cluster; put other clusters into files of their own"))
		return
	}
	r := newReader(d.config.file, kind)
	value := reflect.New(goType)
	r.into(node, value)
	d.config.lines[kind] = r.lines
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
func (d *decoder) attachDatacenter() error {
	ref := d.config.Cluster.Spec.DatacenterRef
	check := func(kind string, meta Meta) {
		path := field.NewPath("metadata", "name")
		line := lineOf(d.config.lines[kind], path.String())
		if ref.Kind != kind {
			d.problem(line, field.Invalid(path, meta.Name, fmt.Sprintf("no datacenterRef names this %s: the cluster's spec.datacenterRef has kind %q; remove this document or correct the reference", kind, ref.Kind)))
		} else if ref.Name != meta.Name {
			d.problem(line, field.Invalid(path, meta.Name, fmt.Sprintf("spec.datacenterRef of the cluster names %q; use one name for both", ref.Name)))
		}
	}
	if d.inMemory != nil {
		check(InMemoryKind, d.inMemory.Metadata)
	}
	if d.docker != nil {
		check(DockerKind, d.docker.Metadata)
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
	return d.problems.OrNil()
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
