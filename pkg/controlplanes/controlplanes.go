// Package controlplanes knows how control planes of each kind say their version, what
// their machines are made from, and what they cannot do, by the contract of Cluster API and
// config/control-planes.yaml. It is pure.
package controlplanes

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// defaultGroup is the API group of most kinds.
const defaultGroup = "controlplane.cluster.x-k8s.io"

// suffix is how the kinds of control planes end.
const suffix = "ControlPlane"

// Kind describes the control planes of one kind. Paths of fields are written with dots.
type Kind struct {
	// Kind as the objects have it.
	Kind string `json:"kind"`
	// Group is the API group of the objects; by default it is that of most kinds.
	Group string `json:"group,omitempty"`
	// Source says where the rest is known from.
	Source string `json:"source"`
	// Versions are the fields that may have the version. The first one that an object has
	// counts; without any that is the first one. By default it is spec.version.
	Versions []string `json:"versions,omitempty"`
	// StatusVersions are the fields that may have the version that runs, beside
	// status.versions. The first one that an object has counts. By default it is
	// status.version.
	StatusVersions []string `json:"statusVersions,omitempty"`
	// Templates are the fields that may have the reference to the infrastructure template
	// of the machines. The first one that an object has counts. By default they are those of
	// the contract.
	Templates []string `json:"templates,omitempty"`
	// WithoutMachines is true where Cluster API has no machines of the control plane.
	WithoutMachines bool `json:"withoutMachines,omitempty"`
	// Replacing are fields, besides version and template, whose changes replace machines.
	Replacing []string `json:"replacing,omitempty"`
	// Minors is true where the version is a minor, as v1.31.
	Minors bool `json:"minors,omitempty"`
	// InPlace says for which objects machines get another version without being replaced.
	InPlace *Choice `json:"inPlace,omitempty"`
	// MaxWorkerVersionSkew is how many minors a node may be older than the control plane,
	// where that is less than Kubernetes allows.
	MaxWorkerVersionSkew int `json:"maxWorkerVersionSkew,omitempty"`
	// Refused says why the version cannot be changed by the contract, and what to do
	// instead; empty where it can.
	Refused string `json:"refused,omitempty"`
}

// Choice is a field that has some values.
type Choice struct {
	// Field of the object.
	Field string `json:"field"`
	// Values of the field that are meant.
	Values []string `json:"values"`
	// Default is the value of an object that does not have the field.
	Default string `json:"default,omitempty"`
}

// document is config/control-planes.yaml.
type document struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Spec       struct {
		Kinds []Kind `json:"kinds"`
	} `json:"spec"`
}

// known reads the kinds once.
var known = sync.OnceValue(func() map[string]Kind { //nolint:gochecknoglobals // read once
	kinds, err := read("config/control-planes.yaml", config.ControlPlanes)
	if err != nil {
		panic(err)
	}
	return kinds
})

// read reads a list of kinds.
func read(file string, data []byte) (map[string]Kind, error) {
	var list document
	if _, err := strictyaml.Decode(file, data, "ControlPlaneKinds", v1alpha1.APIVersion, &list); err != nil {
		return nil, err
	}
	kinds := map[string]Kind{}
	var errs []error
	for _, kind := range list.Spec.Kinds {
		if _, twice := kinds[kind.Kind]; twice {
			errs = append(errs, fmt.Errorf("%s: kind %s is there twice; remove one of them", file, kind.Kind))
		}
		kind.Group = cmp.Or(kind.Group, defaultGroup)
		kinds[kind.Kind] = kind
		errs = append(errs, kind.check(file))
	}
	return kinds, errors.Join(errs...)
}

func (k Kind) check(file string) error {
	switch {
	case !strings.HasSuffix(k.Kind, suffix):
		return fmt.Errorf("%s: kind %q does not end in %s", file, k.Kind, suffix)
	case k.Source == "":
		return fmt.Errorf("%s: kind %s has no source; say where it is known from", file, k.Kind)
	case k.InPlace != nil && (k.InPlace.Field == "" || len(k.InPlace.Values) == 0):
		return fmt.Errorf("%s: kind %s has inPlace without field or values; give it both", file, k.Kind)
	case k.WithoutMachines && len(k.Templates) > 0:
		return fmt.Errorf("%s: kind %s has no machines and templates; remove one of them", file, k.Kind)
	}
	return nil
}

// Is reports whether objects of a kind are control planes.
func Is(kind string) bool { return strings.HasSuffix(kind, suffix) }

// Known returns the kinds of which something is known, sorted by their names.
func Known() []Kind {
	return slices.SortedFunc(maps.Values(known()), func(a, b Kind) int { return cmp.Compare(a.Kind, b.Kind) })
}

// Of returns what is known of the control planes of a kind. A kind that nothing is known of
// has the fields of the contract, and no group.
func Of(kind string) Kind {
	k := known()[kind]
	k.Kind = kind
	if len(k.Versions) == 0 {
		k.Versions = []string{"spec.version"}
	}
	if len(k.StatusVersions) == 0 {
		k.StatusVersions = []string{"status.version"}
	}
	if len(k.Templates) == 0 && !k.WithoutMachines {
		// v1beta2, v1beta1
		k.Templates = []string{"spec.machineTemplate.spec.infrastructureRef", "spec.machineTemplate.infrastructureRef"}
	}
	return k
}

// TemplatePaths returns the fields that may have the reference to the infrastructure
// template of the machines.
func (k Kind) TemplatePaths() [][]string { return split(k.Templates) }

// TemplatePath returns the field in which an object refers to the infrastructure template
// of its machines; nil where it refers to none.
func (k Kind) TemplatePath(object *unstructured.Unstructured) []string {
	return first(object, k.TemplatePaths())
}

// VersionPath returns the field in which an object has its version.
func (k Kind) VersionPath(object *unstructured.Unstructured) []string {
	paths := split(k.Versions)
	if path := first(object, paths); path != nil {
		return path
	}
	return paths[0]
}

// ReplacingPaths returns the fields, by their elements, below which a change replaces
// machines.
func (k Kind) ReplacingPaths() [][]string {
	if k.WithoutMachines {
		return nil
	}
	return split(slices.Concat(k.Versions, k.Replacing, k.Templates))
}

// ReplacesMachines reports whether the machines of an object are replaced for another
// version.
func (k Kind) ReplacesMachines(object *unstructured.Unstructured) bool {
	if k.WithoutMachines {
		return false
	}
	if k.InPlace == nil {
		return true
	}
	value, _, err := unstructured.NestedString(object.Object, strings.Split(k.InPlace.Field, ".")...)
	return err != nil || !slices.Contains(k.InPlace.Values, cmp.Or(value, k.InPlace.Default))
}

// Refusal says why the version of an object cannot be changed by the contract, and what to
// do instead; it is empty where it can.
func (k Kind) Refusal(object *unstructured.Unstructured) string {
	name := object.GetKind() + "/" + object.GetName()
	path := k.VersionPath(object)
	value, _, err := unstructured.NestedString(object.Object, path...)
	switch field := strings.Join(path, "."); {
	case k.Refused != "":
		return fmt.Sprintf("%s cannot be upgraded by its version: %s", name, k.Refused)
	case err != nil || value == "":
		return fmt.Sprintf("%s has no %s, so that its provider chooses the version; give it the version that it runs first", name, field)
	case k.Version(object).IsZero():
		return fmt.Sprintf("%s of %s is %q, which is no version of Kubernetes; write a version such as %s", field, name, value, k.As(v1alpha1.MustParseVersion("v1.34.2")))
	}
	return ""
}

// first returns the first of the paths that an object has; nil where it has none.
func first(object *unstructured.Unstructured, paths [][]string) []string {
	i := slices.IndexFunc(paths, func(path []string) bool {
		value, found, err := unstructured.NestedFieldNoCopy(object.Object, path...)
		return err == nil && found && value != nil && value != ""
	})
	if i < 0 {
		return nil
	}
	return paths[i]
}

func split(fields []string) [][]string {
	var paths [][]string
	for _, field := range fields {
		paths = append(paths, strings.Split(field, "."))
	}
	return paths
}
