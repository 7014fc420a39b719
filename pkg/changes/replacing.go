package changes

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/controlplanes"
)

// Kinds of groups, whose changes may replace machines.
const (
	machineDeployment = "MachineDeployment"
	machinePool       = "MachinePool"
)

// IsControlPlane reports whether objects of a kind are control planes.
func IsControlPlane(kind string) bool { return controlplanes.Is(kind) }

// replacingPaths are the fields of a kind below which a change replaces machines. All
// else Cluster API carries over to machines that run
// (core/reconcilers/machinedeployment/mdutil and controlplane/kubeadm/pkg of
// sigs.k8s.io/cluster-api v1.14). Of a MachinePool they are what its provider may replace
// machines for.
func replacingPaths(kind string) [][]string {
	switch {
	case kind == machineDeployment, kind == machinePool:
		return [][]string{
			{"spec", "template", "spec", "version"}, {"spec", "template", "spec", "bootstrap"},
			{"spec", "template", "spec", "infrastructureRef"}, {"spec", "template", "spec", "failureDomain"},
		}
	case IsControlPlane(kind):
		return controlplanes.Of(kind).ReplacingPaths()
	default:
		return nil
	}
}

// replacesMachines reports whether machines are replaced for a change of a field.
func replacesMachines(kind string, field []string) bool {
	return slices.ContainsFunc(replacingPaths(kind), func(path []string) bool {
		return len(field) >= len(path) && slices.Equal(field[:len(path)], path)
	})
}

// Hold gives a wanted object the fields of the live one that machines are
// replaced for, so that writing it replaces none.
func Hold(wanted, live *unstructured.Unstructured) error {
	return hold(wanted, live, replacingPaths(wanted.GetKind()))
}

// HoldOwned does the same for what a field manager applies: a field that neither the wanted
// object has nor the manager owns stays as it is anyway.
func HoldOwned(wanted, live *unstructured.Unstructured, manager string) error {
	owned, err := Owned(live, manager)
	if err != nil {
		return err
	}
	return hold(wanted, live, slices.DeleteFunc(replacingPaths(wanted.GetKind()), func(fields []string) bool {
		return !has(wanted, fields) && !has(owned, fields)
	}))
}

func hold(wanted, live *unstructured.Unstructured, paths [][]string) error {
	for _, fields := range paths {
		value, found, err := unstructured.NestedFieldCopy(live.Object, fields...)
		if err != nil {
			return fmt.Errorf("reading %s of %s: %w", strings.Join(fields, "."), ObjectName(live), err)
		}
		if !found {
			unstructured.RemoveNestedField(wanted.Object, fields...)
			continue
		}
		if err := unstructured.SetNestedField(wanted.Object, value, fields...); err != nil {
			return fmt.Errorf("holding %s of %s: %w", strings.Join(fields, "."), ObjectName(wanted), err)
		}
	}
	return nil
}

func has(object *unstructured.Unstructured, path []string) bool {
	_, found, err := unstructured.NestedFieldNoCopy(object.Object, path...)
	return found && err == nil
}

// References are the paths of the names of templates that machines are made
// from, in an object of a kind that has any. An object need not have all of them.
func References(kind string) [][]string {
	switch {
	case kind == machineDeployment:
		return [][]string{{"spec", "template", "spec", "bootstrap", "configRef"}, {"spec", "template", "spec", "infrastructureRef"}}
	case kind == machinePool: // its bootstrap configuration is none that is replaced by another one
		return [][]string{{"spec", "template", "spec", "infrastructureRef"}}
	case IsControlPlane(kind):
		return controlplanes.Of(kind).TemplatePaths()
	default:
		return nil
	}
}

// Referred returns the kind and the name of the object that an object refers to at a path.
// References of the contract v1beta2 have the group, older ones the group and the version.
func Referred(object *unstructured.Unstructured, path []string) (kind schema.GroupKind, name string, found bool) {
	reference, found, err := unstructured.NestedMap(object.Object, path...)
	if err != nil || !found {
		return schema.GroupKind{}, "", false
	}
	text := func(field string) string { value, _ := reference[field].(string); return value }
	group := text("apiGroup")
	if apiVersion := text("apiVersion"); group == "" && strings.Contains(apiVersion, "/") {
		group, _, _ = strings.Cut(apiVersion, "/")
	}
	return schema.GroupKind{Group: group, Kind: text("kind")}, text("name"), text("name") != ""
}

// MachineTemplate returns the path of the reference to the template of the infrastructure
// that machines are made from, in an object that has one; else nil.
func MachineTemplate(of *unstructured.Unstructured) []string {
	if kind := of.GetKind(); IsControlPlane(kind) {
		return controlplanes.Of(kind).TemplatePath(of)
	}
	for _, path := range References(of.GetKind()) {
		if path[len(path)-1] == "infrastructureRef" {
			return path
		}
	}
	return nil
}

// SetVersion gives an object, which may have some fields of a live one only, a version of
// its machines.
func SetVersion(object, live *unstructured.Unstructured, version v1alpha1.Version) error {
	if kind := live.GetKind(); IsControlPlane(kind) {
		return controlplanes.Of(kind).SetVersion(object, live, version)
	}
	return unstructured.SetNestedField(object.Object, version.String(), "spec", "template", "spec", "version")
}

// Templates are the names of the templates that a MachineDeployment among the
// objects refers to, sorted.
func Templates(objects []*unstructured.Unstructured) []string {
	var names []string
	for _, object := range objects {
		if object.GetKind() != machineDeployment {
			continue
		}
		for _, path := range References(machineDeployment) {
			if name, found, err := unstructured.NestedString(object.Object, append(path, "name")...); err == nil && found {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
