package lifecycle

import (
	"context"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/clusterclass"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/observe"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// fakeTopology is a management cluster with a cluster from a ClusterClass at rest.
type fakeTopology struct {
	current
	// class that the spec names.
	class *topology.Class
	// objects are those that clusterctl-x wrote.
	objects []*unstructured.Unstructured
	config  *v1alpha1.Config
}

// fakeTopologyOf has a cluster that was made of a spec. Cluster API gave its objects
// names of its own.
func fakeTopologyOf(t *testing.T, s Spec) *fakeTopology {
	t.Helper()
	live := clusterOfSpec(t.Context(), t, s)
	version := v1alpha1.MustParseVersion(live.Spec.Topology.Version)
	cluster := state.Cluster{Name: live.Name, Namespace: live.Namespace, UID: "1", Topology: observe.Topology(live), ControlPlane: managedPart(v1alpha1.ControlPlaneName, "KubeadmControlPlane/prod-x1", version, live.Spec.Topology.ControlPlane.Replicas)}
	for _, group := range live.Spec.Topology.Workers.MachineDeployments {
		cluster.WorkerNodeGroups = append(cluster.WorkerNodeGroups, managedPart(group.Name, "MachineDeployment/prod-"+group.Name+"-x1", version, group.Replicas))
	}
	f := &fakeTopology{current: currentOf(cluster), objects: renderedObjects(t, s), config: s.Config}
	f.current = f.withTopology(currentTopology{cluster: live, class: *s.class})
	f.objects[0] = untyped(t, live)
	return f
}

// plan plans the upgrade of the cluster to a spec.
func (f *fakeTopology) plan(ctx context.Context, s Spec) (Upgrade, error) {
	asked := *f
	asked.class = s.class
	return prepare(ctx, s, f.current, source{comparer: &asked, topology: &asked}, UpgradeOptions{}, Options{})
}

func (f *fakeTopology) Compare(ctx context.Context, objects []*unstructured.Unstructured) ([]changes.Change, error) {
	wanted := slices.Clone(objects)
	for i, object := range wanted {
		if object.GetKind() != "Cluster" {
			continue
		}
		cluster, err := f.TryCluster(ctx, object)
		if err != nil {
			return nil, err
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(cluster)
		if err != nil {
			return nil, err
		}
		wanted[i] = &unstructured.Unstructured{Object: content}
		wanted[i].SetGroupVersionKind(object.GroupVersionKind())
	}
	return compareObjects(f.objects, wanted)
}

func (f *fakeTopology) Unused(ctx context.Context, keep []*unstructured.Unstructured) ([]string, error) {
	return file{config: f.config, objects: engine.Objects{Cluster: f.objects}}.Unused(ctx, keep)
}

func (f *fakeTopology) TryCluster(ctx context.Context, object *unstructured.Unstructured) (*clusterv1.Cluster, error) {
	wanted, err := clusterclass.AsCluster(object)
	if err != nil {
		return nil, err
	}
	live := f.topology.cluster
	wanted.Spec.InfrastructureRef = live.Spec.InfrastructureRef // stays, when the spec is applied
	defaulted, wrong := topology.Default(ctx, f.class.ClusterClass, wanted, live)
	return defaulted, wrong.ToAggregate()
}

func (f *fakeTopology) SameTemplate(_ context.Context, _ string, template *unstructured.Unstructured) (string, error) {
	for _, object := range f.objects {
		if changes.ObjectName(object) == changes.ObjectName(template) {
			return object.GetName(), nil
		}
	}
	return "", nil
}

func (*fakeTopology) Asking(string) func(context.Context, string, string, string) ([]string, []string, error) {
	return nil
}

// compared compares with the objects of a cluster, of which all are needed.
type compared func([]*unstructured.Unstructured) ([]changes.Change, error)

func (c compared) Compare(_ context.Context, objects []*unstructured.Unstructured) ([]changes.Change, error) {
	return c(objects)
}

func (compared) Unused(context.Context, []*unstructured.Unstructured) ([]string, error) {
	return nil, nil
}

// comparedWith compares with the objects of a cluster.
func comparedWith(objects []*unstructured.Unstructured) source {
	return source{comparer: compared(func(wanted []*unstructured.Unstructured) ([]changes.Change, error) {
		return compareObjects(objects, wanted)
	})}
}

// unchanged is a cluster that nothing would change.
func unchanged() source {
	return source{comparer: compared(func([]*unstructured.Unstructured) ([]changes.Change, error) { return nil, nil })}
}

func (*fakeTopology) Differs(context.Context, *unstructured.Unstructured) (bool, error) {
	return false, nil
}

func (compared) Differs(context.Context, *unstructured.Unstructured) (bool, error) {
	return false, nil
}
