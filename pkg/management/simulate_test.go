package management

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// simulation is an API server on which runs take a simulated cluster to its target, and
// that kills the first of them after one of its writes.
type simulation struct {
	*world
	of *enginetest.Simulation
	// written counts the writes of all runs; at kill the run ends.
	written, kill int
	// runs counts how often it was planned; first is what was planned first.
	runs  int
	first plan.Plan
	stop  context.CancelFunc
}

func newSimulation(t *testing.T, of *enginetest.Simulation) *simulation {
	t.Helper()
	s := &simulation{world: newWorld(t, enginetest.Versions("v1.31.1")), of: of}
	s.world.World = of.World
	if of.Topology != nil {
		s.apply = s.takesTopology
	}
	return s
}

// takesTopology is Cluster API's webhook, which does not take a version at first.
func (s *simulation) takesTopology(object *unstructured.Unstructured) error {
	version := func(o *unstructured.Unstructured) string {
		text, _, _ := unstructured.NestedString(o.Object, "spec", "topology", "version")
		return text
	}
	if object.GetKind() != "Cluster" || version(object) == version(s.Objects["Cluster/c"]) || s.of.Topology.Takes(s.of) {
		return nil
	}
	err := apierrors.NewInvalid(clusterv1.GroupVersion.WithKind("Cluster").GroupKind(), "c", nil)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Field: "spec.topology.version"}}
	return err
}

// client is that of the world whose patches change objects.
func (s *simulation) client() *Client {
	of := s.world.client().Client.(client.WithWatch)
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{{Group: infrastructure, Version: "v1beta2"}, {Group: bootstrap, Version: "v1beta2"}})
	for _, kind := range []schema.GroupKind{{Group: infrastructure, Kind: "DevMachineTemplate"}, {Group: bootstrap, Kind: "KubeadmConfigTemplate"}} {
		mapper.Add(kind.WithVersion("v1beta2"), meta.RESTScopeNamespace)
	}
	return &Client{Client: interceptor.NewClient(mapped{of, mapper}, interceptor.Funcs{
		Get: func(ctx context.Context, _ client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
			err := of.Get(ctx, key, into, options...)
			into.SetResourceVersion("1")
			return err
		},
		Apply: func(ctx context.Context, _ client.WithWatch, o runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			return s.wrote(of.Apply(ctx, o, options...))
		},
		Delete: func(ctx context.Context, _ client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			return s.wrote(of.Delete(ctx, o, options...))
		},
		Patch: func(_ context.Context, _ client.WithWatch, o client.Object, patch client.Patch, _ ...client.PatchOption) error {
			return s.wrote(s.patch(o, patch))
		},
	})}
}

// wrote notes a write, after which the skew policy is to hold.
func (s *simulation) wrote(err error) error {
	s.t.Helper()
	if err != nil {
		return err
	}
	if err := s.of.Skewed(); err != nil {
		s.t.Errorf("kill %d, after write %d: %v", s.kill, s.written, err)
	}
	if s.written++; s.written == s.kill {
		s.stop()
	}
	return nil
}

// patch merges a patch into an object. Whose the group of a MachineDeployment is says its
// label.
func (s *simulation) patch(o client.Object, patch client.Patch) error {
	name := o.GetObjectKind().GroupVersionKind().Kind + "/" + o.GetName()
	live, there := s.Objects[name]
	if !there {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "objects"}, name)
	}
	before, err := json.Marshal(live)
	if err != nil {
		return err
	}
	data, err := patch.Data(o)
	if err != nil {
		return err
	}
	after, err := jsonpatch.MergePatch(before, data)
	if err != nil {
		return err
	}
	var merged unstructured.Unstructured
	if err := merged.UnmarshalJSON(after); err != nil {
		return err
	}
	s.Apply(&merged)
	if group, is := strings.CutPrefix(name, "MachineDeployment/c-"); is {
		_, s.of.Topology.Owned[group] = merged.GetLabels()[clusterv1.ClusterTopologyOwnedLabel]
	}
	return nil
}

// carryOut plans and carries out runs until one comes to its end.
func (s *simulation) carryOut() {
	s.t.Helper()
	for done := false; !done; {
		p, desired, err := s.of.Plan()
		if err != nil {
			s.t.Fatalf("kill %d, run %d: %v", s.kill, s.runs, err)
		}
		if s.runs++; s.runs == 1 {
			s.first = p
		}
		program := engine.Program{Plan: p, Concurrency: 2, Topology: s.of.Topology != nil}
		for _, stage := range desired {
			program.Desired = append(program.Desired, engine.Objects{Cluster: stage.Cluster, Parts: stage.Parts})
		}
		done = s.run(program)
	}
}

// run carries out a program, and reports whether it came to its end.
func (s *simulation) run(program engine.Program) bool {
	s.t.Helper()
	ctx, stop := context.WithCancel(s.t.Context())
	defer stop()
	s.stop = stop
	x := newExecution(s.client(), clusterKey(), Upgrade{
		Program: program, Show: func(engine.Status) {}, Warn: func(text string) { s.t.Errorf("kill %d: warning: %s", s.kill, text) },
	})
	err := x.begin(ctx, s.of.Cluster())
	for looks := 0; err == nil && ctx.Err() == nil; looks++ {
		if looks == 200 {
			s.t.Fatalf("kill %d, run %d is stuck at %+v", s.kill, s.runs, s.of.Cluster())
		}
		if err := s.of.Tick(); err != nil {
			s.t.Errorf("kill %d: %v", s.kill, err)
		}
		var v verdict
		if v, err = x.advance(ctx, s.of.Cluster()); v.done && err == nil {
			return true
		}
	}
	if ctx.Err() == nil {
		s.t.Fatalf("kill %d, run %d: %v", s.kill, s.runs, err)
	}
	return false
}

// planned counts, by part, how often a plan replaces the machines.
func planned(p plan.Plan) map[string]int {
	replaced := map[string]int{}
	for _, step := range p.Steps {
		if step.Kind != plan.ControlPlane && step.Kind != plan.Workers && step.Kind != plan.Template {
			continue
		}
		if len(step.WorkerNodeGroups) == 0 {
			replaced[v1alpha1.ControlPlaneName]++
		}
		for _, group := range step.WorkerNodeGroups {
			replaced[group.Name]++
		}
	}
	return replaced
}

// TestKilledAfterEveryWrite: wherever a run ends, the next one goes on from there. The
// cluster arrives, and no machine is replaced more often than the plan says.
func TestKilledAfterEveryWrite(t *testing.T) {
	t.Parallel()
	from := enginetest.Versions("v1.31.1", "a", "v1.31.1", "b", "v1.31.1")
	group, pinned, target := enginetest.TargetGroup, enginetest.PinnedGroup, enginetest.Target
	direct := func(target plan.Target, templates ...string) func() *enginetest.Simulation {
		return func() *enginetest.Simulation {
			of := enginetest.NewSimulation(from, target)
			for _, part := range templates {
				of.Rendering.Templates[part] = "-new"
			}
			return of
		}
	}
	topology := func(target plan.Target, detached ...string) func() *enginetest.Simulation {
		return func() *enginetest.Simulation {
			return enginetest.NewTopologySimulation(from, target, detached, 2, 1)
		}
	}
	for name, begin := range map[string]func() *enginetest.Simulation{
		"minors":                                     direct(target("v1.34.1", group("a", "v1.34.1"), group("b", "v1.34.1"))),
		"a pinned group":                             direct(target("v1.34.1", group("a", "v1.34.1"), pinned("b", "v1.31.1"))),
		"new and removed groups":                     direct(target("v1.33.1", group("a", "v1.33.1"), group("new", "v1.33.1"))),
		"templates and versions":                     direct(target("v1.33.1", group("a", "v1.33.1"), pinned("b", "v1.31.1")), v1alpha1.ControlPlaneName, "a", "b"),
		"with a class, minors":                       topology(target("v1.34.1", group("a", "v1.34.1"), group("b", "v1.34.1"))),
		"with a class, a group is pinned":            topology(target("v1.33.1", group("a", "v1.33.1"), pinned("b", "v1.31.1"))),
		"with a class, a pin is raised":              topology(target("v1.33.1", group("a", "v1.33.1"), pinned("b", "v1.33.1")), "b"),
		"with a class, a group is returned":          topology(target("v1.33.1", group("a", "v1.33.1"), group("b", "v1.33.1")), "b"),
		"with a class, one is pinned, one is raised": topology(target("v1.32.1", pinned("a", "v1.31.1"), pinned("b", "v1.32.1")), "b"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := newSimulation(t, begin())
			whole.carryOut()
			if whole.written == 0 {
				t.Fatal("there are no writes")
			}
			want := planned(whole.first)
			for kill := range whole.written + 1 { // 0 is none
				s := newSimulation(t, begin())
				s.kill = kill
				s.carryOut()
				if err := s.of.Arrived(); err != nil {
					t.Errorf("kill %d: %v", kill, err)
				}
				if diff := cmp.Diff(want, s.of.Replaced); diff != "" {
					t.Errorf("kill %d: how often machines are replaced (-planned +done):\n%s", kill, diff)
				}
				if runs := min(kill, 1) + 1; s.runs != runs {
					t.Errorf("kill %d: %d runs, want %d", kill, s.runs, runs)
				}
			}
		})
	}
}
