package management

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
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
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// controlPlaneTo is what is written to move the control plane.
func controlPlaneTo(version string) []string {
	return []string{"apply DevMachineTemplate/c-" + version, "apply KubeadmControlPlane/c " + version}
}

const controlPlane = v1alpha1.ControlPlaneName

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
	*enginetest.World
	t      *testing.T
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
	w := &world{World: enginetest.NewWorld(versions), t: t}
	w.look()
	return w
}

// look brings the run's cache up to date.
func (w *world) look() { w.seen = w.Cluster() }

// desiredAt are the objects of a cluster at versions.
func desiredAt(versions v1alpha1.ClusterVersions) engine.Objects {
	var r enginetest.Rendering
	return engine.Objects{Cluster: r.ClusterObjects(), Parts: r.PartObjects(versions)}
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
			live, exists := w.Objects[name]
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
				w.writes = append(w.writes, verb+enginetest.Describe(object))
			}
			if w.apply != nil {
				if err := w.apply(object); err != nil {
					return err
				}
			}
			applied := w.Applied(object)
			if len(all.DryRun) == 0 {
				applied = w.Apply(object)
			}
			data, err := applied.MarshalJSON()
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
			if _, ok := w.Objects[name]; !ok {
				return missing(name)
			}
			delete(w.Objects, name)
			return nil
		},
		Patch: func(_ context.Context, _ client.WithWatch, o client.Object, patch client.Patch, _ ...client.PatchOption) error {
			data, err := patch.Data(o)
			name := o.GetObjectKind().GroupVersionKind().Kind + "/" + o.GetName()
			w.writes = append(w.writes, fmt.Sprintf("patch %s %s %s", name, patch.Type(), data))
			if _, ok := w.Objects[name]; !ok {
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

// program is one of the plan.
func program(p plan.Plan) engine.Program {
	program := engine.Program{Plan: p, Concurrency: 1}
	for i := range len(p.Steps) + 1 {
		program.Desired = append(program.Desired, desiredAt(p.Versions(i)))
	}
	return program
}

// execution is one of the program.
func (w *world) execution(program engine.Program) *execution {
	return newExecution(w.client(), clusterKey(), Upgrade{Program: program, Show: func(now engine.Status) { w.shown = append(w.shown, now.Step) }})
}

// run is an execution of the plan.
func (w *world) run(p plan.Plan) *execution { return w.execution(program(p)) }

// begins is the run's first look, with what it writes.
func (w *world) begins(x *execution, want ...string) {
	w.t.Helper()
	w.writes = nil
	if err := x.begin(w.t.Context(), w.seen); err != nil {
		w.t.Fatal(err)
	}
	w.wrote("at the beginning", want)
}

// sees lets the run look at the cluster as it is now. It is to be at a step then,
// and to have written this.
func (w *world) sees(x *execution, step int, want ...string) {
	w.t.Helper()
	w.look()
	if w.advances(x, step, want...) {
		w.t.Error("the run is done")
	}
}

// advances lets the run look at the cluster as its cache has it.
func (w *world) advances(x *execution, step int, want ...string) bool {
	w.t.Helper()
	w.writes, w.shown = nil, nil
	v, err := x.advance(w.t.Context(), w.seen)
	if err != nil {
		w.t.Fatal(err)
	}
	w.wrote(fmt.Sprintf("in step %d", step), want)
	if diff := cmp.Diff([]int{step}, w.shown); diff != "" {
		w.t.Errorf("steps that were shown (-want +got):\n%s", diff)
	}
	return v.done
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
