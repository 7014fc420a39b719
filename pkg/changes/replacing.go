package changes

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Kinds whose changes may replace machines.
const (
	machineDeployment = "MachineDeployment"
	controlPlane      = "KubeadmControlPlane"
)

// replacingPaths are the fields, by kind, below which a change replaces machines. All
// else Cluster API carries over to machines that run
// (core/reconcilers/machinedeployment/mdutil and controlplane/kubeadm/pkg of
// sigs.k8s.io/cluster-api v1.14).
func replacingPaths() map[string][][]string {
	return map[string][][]string{
		machineDeployment: {
			{"spec", "template", "spec", "version"}, {"spec", "template", "spec", "bootstrap"},
			{"spec", "template", "spec", "infrastructureRef"}, {"spec", "template", "spec", "failureDomain"},
		},
		controlPlane: {{"spec", "version"}, {"spec", "kubeadmConfigSpec"}, {"spec", "machineTemplate", "spec", "infrastructureRef"}},
	}
}

// replacesMachines reports whether machines are replaced for a change of a field.
func replacesMachines(kind string, field []string) bool {
	return slices.ContainsFunc(replacingPaths()[kind], func(path []string) bool {
		return len(field) >= len(path) && slices.Equal(field[:len(path)], path)
	})
}

// Hold gives a wanted object the fields of the live one that machines are
// replaced for, so that writing it replaces none.
func Hold(wanted, live *unstructured.Unstructured) error {
	for _, fields := range replacingPaths()[wanted.GetKind()] {
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

// References are the paths of the names of templates that machines are made
// from, in an object of a kind that has any.
func References(kind string) [][]string {
	switch kind {
	case machineDeployment:
		return [][]string{{"spec", "template", "spec", "bootstrap", "configRef"}, {"spec", "template", "spec", "infrastructureRef"}}
	case controlPlane:
		return [][]string{{"spec", "machineTemplate", "spec", "infrastructureRef"}}
	default:
		return nil
	}
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
