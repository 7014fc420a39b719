// Package enginetest has plans, objects and a simulated management cluster for tests
// of what carries out plans. Production code does not import it.
package enginetest

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// Versions are those of a cluster, the groups as name and version in turn.
func Versions(controlPlane string, groups ...string) v1alpha1.ClusterVersions {
	versions := v1alpha1.ClusterVersions{ControlPlane: v1alpha1.MustParseVersion(controlPlane), WorkerNodeGroups: map[string]v1alpha1.Version{}}
	for i := 0; i < len(groups); i += 2 {
		versions.WorkerNodeGroups[groups[i]] = v1alpha1.MustParseVersion(groups[i+1])
	}
	return versions
}

// Plan has these steps.
func Plan(from, to v1alpha1.ClusterVersions, steps ...plan.Step) plan.Plan {
	return plan.Plan{From: from, To: to, Steps: steps}
}

// Step is one about groups, or the control plane where there are none.
func Step(kind plan.Kind, from, to string, groups ...string) plan.Step {
	step := plan.Step{Kind: kind}
	parse := func(text string) (v v1alpha1.Version) {
		if text != "" {
			v = v1alpha1.MustParseVersion(text)
		}
		return v
	}
	if len(groups) == 0 {
		step.From, step.To = parse(from), parse(to)
	}
	for _, name := range groups {
		step.WorkerNodeGroups = append(step.WorkerNodeGroups, plan.Group{Name: name, From: parse(from), To: parse(to)})
	}
	return step
}

// UnderWay is a step that goes on already.
func UnderWay(step plan.Step) plan.Step { step.UnderWay = true; return step }

// Concurrent is a step that no later one waits for.
func Concurrent(step plan.Step) plan.Step { step.Concurrent = true; return step }

// Detached is a step about groups that their topology does not have.
func Detached(step plan.Step) plan.Step { step.Detached = true; return step }

// Rendering is what the objects of a cluster depend on beside versions, by part.
type Rendering struct {
	Templates map[string]string // what their names end in
	Replicas  map[string]int64  // 1 where it is not said
	Labels    map[string]string // a label of the main object
	Cluster   string            // a label of the Cluster
}

// BehindAnnotation is on a MachineDeployment whose group is behind the control plane.
const BehindAnnotation = "behind"

// ClusterObjects are those of the cluster as a whole.
func (r Rendering) ClusterObjects() []*unstructured.Unstructured {
	return []*unstructured.Unstructured{Object("cluster.x-k8s.io", "Cluster", "c", r.Cluster, nil)}
}

// PartObjects are objects as small as they may be, for control plane and groups at
// versions. Like the real ones, a MachineDeployment differs where its group is behind
// the control plane, and its templates do not.
func (r Rendering) PartObjects(versions v1alpha1.ClusterVersions) map[string][]*unstructured.Unstructured {
	parts := map[string][]*unstructured.Unstructured{v1alpha1.ControlPlaneName: r.controlPlane(versions.ControlPlane)}
	for group, version := range versions.WorkerNodeGroups {
		parts[group] = r.group(group, version, versions.ControlPlane)
	}
	return parts
}

func (r Rendering) controlPlane(version v1alpha1.Version) []*unstructured.Unstructured {
	const part = v1alpha1.ControlPlaneName
	machine := "c-" + version.String() + r.Templates[part]
	return []*unstructured.Unstructured{
		Object("infrastructure.cluster.x-k8s.io", "DevMachineTemplate", machine, "", nil),
		Object("controlplane.cluster.x-k8s.io", "KubeadmControlPlane", "c", r.Labels[part], map[string]any{
			"replicas": r.replicas(part), "version": version.String(),
			"machineTemplate": map[string]any{"spec": map[string]any{"infrastructureRef": reference("infrastructure.cluster.x-k8s.io", "DevMachineTemplate", machine)}},
		}),
	}
}

func (r Rendering) group(group string, version, controlPlane v1alpha1.Version) []*unstructured.Unstructured {
	name := "c-" + group
	template := name + "-" + version.String() + r.Templates[group]
	deployment := Object("cluster.x-k8s.io", "MachineDeployment", name, r.Labels[group], map[string]any{
		"replicas": r.replicas(group), "template": map[string]any{"spec": map[string]any{
			"version":           version.String(),
			"bootstrap":         map[string]any{"configRef": reference("bootstrap.cluster.x-k8s.io", "KubeadmConfigTemplate", template)},
			"infrastructureRef": reference("infrastructure.cluster.x-k8s.io", "DevMachineTemplate", template),
		}},
	})
	deployment.SetLabels(map[string]string{v1alpha1.WorkerNodeGroupLabel: group, "label": r.Labels[group]})
	if version.Minor() != controlPlane.Minor() {
		deployment.SetAnnotations(map[string]string{BehindAnnotation: controlPlane.String()})
	}
	return []*unstructured.Unstructured{
		Object("infrastructure.cluster.x-k8s.io", "DevMachineTemplate", template, "", nil),
		Object("bootstrap.cluster.x-k8s.io", "KubeadmConfigTemplate", template, "", nil),
		deployment,
		Object("cluster.x-k8s.io", "MachineHealthCheck", name, "", nil),
	}
}

func (r Rendering) replicas(part string) int64 {
	if count, ok := r.Replicas[part]; ok {
		return count
	}
	return 1
}

func reference(group, kind, name string) map[string]any {
	return map[string]any{"apiGroup": group, "kind": kind, "name": name}
}

// Object is one of namespace ns.
func Object(group, kind, name, label string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": group + "/v1beta2", "kind": kind}}
	o.SetNamespace("ns")
	o.SetName(name)
	o.SetLabels(map[string]string{"label": label})
	if spec != nil {
		o.Object["spec"] = spec
	}
	return o
}

// Describe is an object by kind and name, with what distinguishes its renderings:
// version, templates of another name, count, label, annotation.
func Describe(o *unstructured.Unstructured) string {
	text := changes.ObjectName(o)
	path := []string{"spec"}
	switch o.GetKind() {
	case "MachineDeployment":
		path = []string{"spec", "template", "spec"}
	case "KubeadmControlPlane":
	default:
		if label := o.GetLabels()["label"]; label != "" {
			text += " label=" + label
		}
		return text
	}
	version, _, _ := unstructured.NestedString(o.Object, append(path, "version")...)
	text += " " + version
	if template, _, _ := unstructured.NestedString(o.Object, "spec", "template", "spec", "infrastructureRef", "name"); template != "" && template != o.GetName()+"-"+version {
		text += " of " + strings.TrimPrefix(template, o.GetName()+"-")
	}
	if count, _, _ := unstructured.NestedInt64(o.Object, "spec", "replicas"); count != 1 {
		text += fmt.Sprintf(" x%d", count)
	}
	if label := o.GetLabels()["label"]; label != "" {
		text += " label=" + label
	}
	if version := o.GetAnnotations()[BehindAnnotation]; version != "" {
		text += " behind " + version
	}
	return text
}
