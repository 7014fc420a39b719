package enginetest

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// World is a management cluster in which machines are made when a test says so.
type World struct {
	// Objects by Kind/name.
	Objects map[string]*unstructured.Unstructured
	// rolled are the MachineDeployments and the control plane, by part, as Cluster API
	// has last carried them out.
	rolled map[string]*unstructured.Unstructured
}

// NewWorld has cluster ns/c at these versions, all of it as wanted.
func NewWorld(versions v1alpha1.ClusterVersions) *World {
	w := &World{Objects: map[string]*unstructured.Unstructured{}, rolled: map[string]*unstructured.Unstructured{}}
	for _, object := range (Rendering{}).ClusterObjects() {
		w.Apply(object)
	}
	for part, objects := range (Rendering{}).PartObjects(versions) {
		for _, object := range objects {
			w.Apply(object)
		}
		w.Roll(part)
	}
	return w
}

// Applied is what applying an object would make of it.
func (w *World) Applied(object *unstructured.Unstructured) *unstructured.Unstructured {
	applied := object.DeepCopy()
	before, exists := w.Objects[changes.ObjectName(object)]
	switch {
	case !exists:
		applied.SetGeneration(1)
	case reflect.DeepEqual(before.Object["spec"], applied.Object["spec"]):
		applied.SetGeneration(before.GetGeneration())
	default:
		applied.SetGeneration(before.GetGeneration() + 1)
	}
	return applied
}

// Apply writes an object, and returns it as it is then.
func (w *World) Apply(object *unstructured.Unstructured) *unstructured.Unstructured {
	applied := w.Applied(object)
	w.Objects[changes.ObjectName(applied)] = applied
	return applied
}

// Main is the object of a part that has its version.
func (w *World) Main(part string) *unstructured.Unstructured {
	if part == v1alpha1.ControlPlaneName {
		return w.Objects["KubeadmControlPlane/c"]
	}
	return w.Objects["MachineDeployment/c-"+part]
}

// Roll carries out what is specified for the parts.
func (w *World) Roll(parts ...string) {
	for _, part := range parts {
		w.rolled[part] = w.Main(part).DeepCopy()
	}
}

// Cluster is the cluster as it is seen now.
func (w *World) Cluster() state.Cluster {
	seen := state.Cluster{Name: "c", Namespace: "ns", UID: "uid", ControlPlane: w.part(v1alpha1.ControlPlaneName)}
	for _, name := range slices.Sorted(maps.Keys(w.Objects)) {
		if group, ok := strings.CutPrefix(name, "MachineDeployment/c-"); ok {
			seen.WorkerNodeGroups = append(seen.WorkerNodeGroups, w.part(group))
		}
	}
	return seen
}

func (w *World) part(name string) state.Part {
	object := w.Main(name)
	part := state.Part{Name: name, Object: changes.ObjectName(object), Generation: object.GetGeneration(), Version: specVersion(object)}
	count, _, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
	part.Replicas = int(count)
	rolled, ok := w.rolled[name]
	if !ok {
		return part
	}
	part.Settled = rolled.GetGeneration() == part.Generation
	count, _, _ = unstructured.NestedInt64(rolled.Object, "spec", "replicas")
	v := specVersion(rolled)
	for range count {
		part.Machines = append(part.Machines, state.Machine{Version: v, Kubelet: v, Ready: true, Outdated: TemplateOf(rolled) != TemplateOf(object)})
	}
	return part
}

func specVersion(o *unstructured.Unstructured) v1alpha1.Version {
	for _, path := range [][]string{{"spec", "version"}, {"spec", "template", "spec", "version"}} {
		if text, ok, _ := unstructured.NestedString(o.Object, path...); ok {
			return v1alpha1.MustParseVersion(text)
		}
	}
	return v1alpha1.Version{}
}

// TemplateOf is the name of the template that the machines of an object are made from.
func TemplateOf(o *unstructured.Unstructured) string {
	for _, path := range [][]string{{"spec", "machineTemplate", "spec", "infrastructureRef", "name"}, {"spec", "template", "spec", "infrastructureRef", "name"}} {
		if name, ok, _ := unstructured.NestedString(o.Object, path...); ok {
			return name
		}
	}
	return ""
}
