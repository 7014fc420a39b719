package management

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// rendering is what the objects of a stage depend on beside versions, by part.
type rendering struct {
	templates map[string]string // what their names end in
	replicas  map[string]int64  // 1 where it is not said
	labels    map[string]string // a label of the main object
	cluster   string            // a label of the Cluster
}

const besideAnnotation = "beside"

// stageOf are objects as small as they may be, for control plane and groups at
// versions. Like the real ones, a MachineDeployment differs where its group is
// behind the control plane, and its templates do not.
func stageOf(versions v1alpha1.ClusterVersions, r *rendering) rollout.Objects {
	if r == nil {
		r = &rendering{}
	}
	stage := rollout.Objects{Cluster: []*unstructured.Unstructured{made("cluster.x-k8s.io", "Cluster", "c", r.cluster, nil)}, Parts: map[string][]*unstructured.Unstructured{}}
	reference := func(kind, name string) map[string]any { return map[string]any{"kind": kind, "name": name} }
	replicas := func(part string) int64 {
		if count, ok := r.replicas[part]; ok {
			return count
		}
		return 1
	}
	const cp = v1alpha1.ControlPlaneName
	machine := "c-" + versions.ControlPlane.String() + r.templates[cp]
	stage.Parts[cp] = []*unstructured.Unstructured{
		made("infrastructure.cluster.x-k8s.io", "DevMachineTemplate", machine, "", nil),
		made("controlplane.cluster.x-k8s.io", "KubeadmControlPlane", "c", r.labels[cp], map[string]any{
			"replicas": replicas(cp), "version": versions.ControlPlane.String(),
			"machineTemplate": map[string]any{"spec": map[string]any{"infrastructureRef": reference("DevMachineTemplate", machine)}},
		}),
	}
	for group, version := range versions.WorkerNodeGroups {
		name := "c-" + group
		template := name + "-" + version.String() + r.templates[group]
		deployment := made("cluster.x-k8s.io", "MachineDeployment", name, r.labels[group], map[string]any{
			"replicas": replicas(group), "template": map[string]any{"spec": map[string]any{
				"version":           version.String(),
				"bootstrap":         map[string]any{"configRef": reference("KubeadmConfigTemplate", template)},
				"infrastructureRef": reference("DevMachineTemplate", template),
			}},
		})
		deployment.SetLabels(map[string]string{WorkerNodeGroupLabel: group, "label": r.labels[group]})
		if version.Minor() != versions.ControlPlane.Minor() {
			deployment.SetAnnotations(map[string]string{besideAnnotation: versions.ControlPlane.String()})
		}
		stage.Parts[group] = []*unstructured.Unstructured{
			made("infrastructure.cluster.x-k8s.io", "DevMachineTemplate", template, "", nil),
			made("bootstrap.cluster.x-k8s.io", "KubeadmConfigTemplate", template, "", nil),
			deployment,
			made("cluster.x-k8s.io", "MachineHealthCheck", name, "", nil),
		}
	}
	return stage
}

func made(group, kind, name, label string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": group + "/v1beta2", "kind": kind}}
	o.SetNamespace("ns")
	o.SetName(name)
	o.SetLabels(map[string]string{"label": label})
	if spec != nil {
		o.Object["spec"] = spec
	}
	return o
}

// describedObject is an object by kind and name, with what tells its renderings
// apart: version, templates of another name, count, label, annotation.
func describedObject(o *unstructured.Unstructured) string {
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
	if version := o.GetAnnotations()[besideAnnotation]; version != "" {
		text += " beside " + version
	}
	return text
}

func unstructuredOf(t *testing.T, o runtime.ApplyConfiguration) *unstructured.Unstructured {
	t.Helper()
	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var object unstructured.Unstructured
	if err := object.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	return &object
}

// world is a management cluster in which machines are made when a test says so.
// It notes what is asked of it.
type world struct {
	t       *testing.T
	objects map[string]*unstructured.Unstructured
	// rolled are the MachineDeployments and the control plane, by part, as Cluster
	// API has last carried them out.
	rolled map[string]*unstructured.Unstructured
	writes []string
	events []string
	shown  []int
	// apply answers a write instead of the world.
	apply func(object *unstructured.Unstructured) error
	// seen is what the run's cache has.
	seen state.Cluster
}

// newWorld has a cluster at these versions, all of it as wanted.
func newWorld(t *testing.T, versions v1alpha1.ClusterVersions) *world {
	t.Helper()
	w := &world{t: t, objects: map[string]*unstructured.Unstructured{}, rolled: map[string]*unstructured.Unstructured{}}
	stage := stageOf(versions, nil)
	for _, object := range stage.All() {
		object.SetGeneration(1)
		w.objects[changes.ObjectName(object)] = object
	}
	for part := range stage.Parts {
		w.roll(part)
	}
	w.look()
	return w
}

func (w *world) main(part string) *unstructured.Unstructured {
	if part == v1alpha1.ControlPlaneName {
		return w.objects["KubeadmControlPlane/c"]
	}
	return w.objects["MachineDeployment/c-"+part]
}

// roll carries out what is specified for the parts.
func (w *world) roll(parts ...string) {
	for _, part := range parts {
		w.rolled[part] = w.main(part).DeepCopy()
	}
}

// look brings the run's cache up to date.
func (w *world) look() {
	w.seen = state.Cluster{Name: "c", Namespace: "ns", UID: "uid", ControlPlane: w.part(v1alpha1.ControlPlaneName)}
	for _, name := range slices.Sorted(maps.Keys(w.objects)) {
		if group, ok := strings.CutPrefix(name, "MachineDeployment/c-"); ok {
			w.seen.WorkerNodeGroups = append(w.seen.WorkerNodeGroups, w.part(group))
		}
	}
}

func (w *world) part(name string) state.Part {
	object := w.main(name)
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
		part.Machines = append(part.Machines, state.Machine{Version: v, Kubelet: v, Ready: true})
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

func (w *world) client() *Client {
	missing := func(name string) error { return apierrors.NewNotFound(schema.GroupResource{Resource: "objects"}, name) }
	return clientOf(interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
			untyped, ok := into.(*unstructured.Unstructured)
			name := reflect.TypeOf(into).Elem().Name() + "/" + key.Name
			if ok {
				name = untyped.GetKind() + "/" + key.Name
			}
			live, exists := w.objects[name]
			switch {
			case !exists:
				return missing(name)
			case ok:
				live.DeepCopyInto(untyped)
				return nil
			}
			return runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, into)
		},
		Apply: func(_ context.Context, _ client.WithWatch, o runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			all := client.ApplyOptions{}
			all.ApplyOptions(options)
			verb := "apply "
			if all.Force != nil && *all.Force {
				verb = "force "
			}
			object := unstructuredOf(w.t, o)
			if len(all.DryRun) == 0 {
				w.writes = append(w.writes, verb+describedObject(object))
			}
			if w.apply != nil {
				if err := w.apply(object); err != nil {
					return err
				}
			}
			name := changes.ObjectName(object)
			before, exists := w.objects[name]
			switch {
			case !exists:
				object.SetGeneration(1)
			case reflect.DeepEqual(before.Object["spec"], object.Object["spec"]):
				object.SetGeneration(before.GetGeneration())
			default:
				object.SetGeneration(before.GetGeneration() + 1)
			}
			if len(all.DryRun) == 0 {
				w.objects[name] = object
			}
			data, err := object.MarshalJSON()
			if err != nil {
				return err
			}
			return o.(json.Unmarshaler).UnmarshalJSON(data)
		},
		Delete: func(_ context.Context, _ client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			var all client.DeleteOptions
			all.ApplyOptions(options)
			kind := o.GetObjectKind().GroupVersionKind().Kind
			if kind == "" {
				kind = reflect.TypeOf(o).Elem().Name()
			}
			name := kind + "/" + o.GetName()
			w.writes = append(w.writes, fmt.Sprintf("delete %s %s %s", o.GetNamespace(), name, *all.PropagationPolicy))
			if _, ok := w.objects[name]; !ok {
				return missing(name)
			}
			delete(w.objects, name)
			return nil
		},
		Patch: func(_ context.Context, _ client.WithWatch, o client.Object, patch client.Patch, _ ...client.PatchOption) error {
			data, err := patch.Data(o)
			name := o.GetObjectKind().GroupVersionKind().Kind + "/" + o.GetName()
			w.writes = append(w.writes, fmt.Sprintf("patch %s %s %s", name, patch.Type(), data))
			if _, ok := w.objects[name]; !ok {
				return missing(name)
			}
			return err
		},
		Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			event := o.(*corev1.Event)
			w.events = append(w.events, event.Reason+": "+event.Message)
			return nil
		},
	})
}

// run is one of the plan, with stages of the rendering.
func (w *world) run(p plan.Plan, concurrency int, r *rendering) *run {
	upgrade := Upgrade{Plan: p, Concurrency: concurrency, Show: func(now rollout.Status) { w.shown = append(w.shown, now.Step) }}
	for i := range len(p.Steps) + 1 {
		upgrade.Stages = append(upgrade.Stages, stageOf(p.Versions(i), r))
	}
	return newRun(w.client(), clusterKey(), upgrade)
}

// begins is the run's first look, with what it writes.
func (w *world) begins(r *run, want ...string) {
	w.t.Helper()
	w.writes = nil
	if err := r.begin(w.t.Context(), w.seen); err != nil {
		w.t.Fatal(err)
	}
	w.wrote("at the beginning", want)
}

// sees lets the run look at the cluster as it is now. It is to be at a step then,
// and to have written this.
func (w *world) sees(r *run, step int, want ...string) {
	w.t.Helper()
	w.look()
	if w.advances(r, step, want...) {
		w.t.Error("the run is done")
	}
}

// advances lets the run look at the cluster as its cache has it.
func (w *world) advances(r *run, step int, want ...string) bool {
	w.t.Helper()
	w.writes, w.shown = nil, nil
	done, err := r.advance(w.t.Context(), w.seen)
	if err != nil {
		w.t.Fatal(err)
	}
	w.wrote(fmt.Sprintf("in step %d", step), want)
	if diff := cmp.Diff([]int{step}, w.shown); diff != "" {
		w.t.Errorf("steps that were shown (-want +got):\n%s", diff)
	}
	return done
}

// ends is sees for the last time.
func (w *world) ends(r *run) {
	w.t.Helper()
	w.look()
	if !w.advances(r, len(r.Plan.Steps)) {
		w.t.Error("the run is not done")
	}
}

func (w *world) wrote(when string, want []string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.writes); diff != "" {
		w.t.Errorf("writes %s (-want +got):\n%s", when, diff)
	}
}

// both is a client that lists and deletes with another one.
func both(c, other *Client) *Client {
	return &Client{config: c.config, Client: listing{c.Client, other.Client}}
}

type listing struct {
	client.Client
	other client.Client
}

func (l listing) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return l.other.List(ctx, list, options...)
}

func (l listing) Delete(ctx context.Context, o client.Object, options ...client.DeleteOption) error {
	return l.other.Delete(ctx, o, options...)
}
