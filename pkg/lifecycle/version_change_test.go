package lifecycle

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// liveObject is an object of a cluster as others made it.
func liveObject(kind, name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": kind, "metadata": map[string]any{"name": name, "namespace": "ns"}, "spec": spec,
	}}
}

// existing is a cluster that others made, with two groups.
func existing(version string) current {
	reference := func(name string) map[string]any {
		return map[string]any{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "AMachineTemplate", "name": name}
	}
	objects := map[string]*unstructured.Unstructured{
		"AMachineTemplate/shared": liveObject("AMachineTemplate", "shared", map[string]any{
			"template": map[string]any{"spec": map[string]any{"image": "of-" + version, "size": int64(3)}},
		}),
	}
	v := v1alpha1.MustParseVersion(version)
	cluster := state.Cluster{Name: "prod", Namespace: "ns", UID: "1", Unmanaged: true, ControlPlane: state.Part{Name: "control-plane", Object: "KubeadmControlPlane/kcp", Version: v, Replicas: 1}}
	for _, name := range []string{"pool", "prod-md-1"} {
		object := liveObject("MachineDeployment", name, map[string]any{"replicas": int64(2), "template": map[string]any{"spec": map[string]any{"version": version, "infrastructureRef": reference("shared")}}})
		objects["MachineDeployment/"+name] = object
	}
	cluster.WorkerNodeGroups = []state.Part{
		{Name: "pool", Object: "MachineDeployment/pool", Unmanaged: true, Version: v, Replicas: 2},
		{Name: "md-1", Object: "MachineDeployment/prod-md-1", Unmanaged: true, Version: v, Replicas: 2},
	}
	from := currentOf(cluster.Claim(cluster.Unclaimed()))
	from.live = management.VersionedObjects{
		ControlPlane: liveObject("KubeadmControlPlane", "kcp", map[string]any{"version": version, "machineTemplate": map[string]any{"spec": map[string]any{"infrastructureRef": reference("shared")}}}),
		ByName:       objects,
	}
	return from
}

func serviceOf(t *testing.T) *Service {
	return New(nil, Options{Bundles: fewBundles(t), Providers: providers.BuiltIn()})
}

// versionPlan plans a change of versions, and returns the objects of each step by what they
// have.
func versionPlan(t *testing.T, from current, change VersionChange) (plan.Plan, [][]map[string]any, error) {
	t.Helper()
	spec, err := serviceOf(t).specOf(change, from)
	if err != nil {
		return plan.Plan{}, nil, err
	}
	u, err := prepare(t.Context(), spec, from, source{}, UpgradeOptions{}, Options{})
	var states [][]map[string]any
	for _, at := range u.States {
		var objects []map[string]any
		for _, object := range at.All() {
			objects = append(objects, object.Object)
		}
		states = append(states, objects)
	}
	return u.Plan, states, err
}

// TestVersionChangeWritesVersionsAlone: what is written of a cluster that others made is its
// versions, the template where images change it, and what a step needs.
func TestVersionChangeWritesVersionsAlone(t *testing.T) {
	t.Parallel()
	version := func(text string) v1alpha1.KubernetesVersion {
		v, err := v1alpha1.ParseKubernetesVersion(text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	p, states, err := versionPlan(t, existing("v1.31.9"), VersionChange{
		KubernetesVersion: version("1.33"), WorkerNodeGroups: map[string]v1alpha1.KubernetesVersion{"pool": version("1.32")},
		Images: []plan.VersionImage{{KubernetesVersion: version("1.33"), Parts: []string{"control-plane"}, Spec: map[string]any{"image": "new"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	for _, step := range p.Steps {
		steps = append(steps, step.String())
	}
	if diff := cmp.Diff([]string{
		"the control plane from v1.31.9 to " + p.Steps[0].To.String(), "the control plane from " + p.Steps[0].To.String() + " to " + p.To.ControlPlane.String(),
		"pool from v1.31.9 to " + p.To.WorkerNodeGroups["pool"].String() + ", md-1 from v1.31.9 to " + p.To.ControlPlane.String(),
	}, steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	type fields = map[string]any
	metadata := func(name string, more fields) fields {
		m := fields{"name": name, "namespace": "ns"}
		for key, value := range more {
			m[key] = value
		}
		return m
	}
	template := states[len(states)-1][0]
	name, _, _ := unstructured.NestedString(template, "metadata", "name")
	const api = "cluster.x-k8s.io/v1beta2"
	group := func(name, version string, annotations fields) fields {
		return fields{"apiVersion": api, "kind": "MachineDeployment", "metadata": metadata(name, annotations), "spec": fields{"template": fields{"spec": fields{"version": version}}}}
	}
	want := []fields{
		{
			"apiVersion": api, "kind": "AMachineTemplate",
			"metadata": metadata(name, fields{"labels": fields{"cluster.x-k8s.io/cluster-name": "prod", "clusterctl-x.io/cluster": "prod"}}),
			"spec":     fields{"template": fields{"spec": fields{"image": "new", "size": int64(3)}}},
		},
		{
			"apiVersion": api, "kind": "KubeadmControlPlane", "metadata": metadata("kcp", nil),
			"spec": fields{"version": p.To.ControlPlane.String(), "machineTemplate": fields{"spec": fields{"infrastructureRef": fields{
				"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "AMachineTemplate", "name": name,
			}}}},
		},
		group("prod-md-1", p.To.ControlPlane.String(), nil),
		group("pool", p.To.WorkerNodeGroups["pool"].String(), fields{"annotations": fields{"machineset.cluster.x-k8s.io/skip-preflight-checks": "KubeadmVersionSkew"}}),
	}
	if diff := cmp.Diff(want, states[len(states)-1], cmpopts.SortSlices(func(a, b fields) bool { return nameOf(a) < nameOf(b) })); diff != "" {
		t.Errorf("objects of the last step (-want +got):\n%s", diff)
	}
}

func nameOf(object map[string]any) string {
	name, _, _ := unstructured.NestedString(object, "metadata", "name")
	return name
}

// TestVersionChangeRefused: errors name the flags that a user gave.
func TestVersionChangeRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		version, group, want string
	}{
		"unknown version":       {"1.99", "", "--kubernetes-version: 1.99: no versions bundle has this version; "},
		"downgrade":             {"1.30", "", "--kubernetes-version: 1.30: the control plane runs v1.31.9 and cannot be downgraded; use v1.31.9 or newer"},
		"downgrade of a group":  {"1.32", "1.30", "--worker-node-group pool: 1.30: group pool runs v1.31.9 and cannot be downgraded; use v1.31.9 or newer"},
		"group ahead":           {"1.32", "1.33", "--worker-node-group pool: 1.33: group pool must not be newer than the control plane"},
		"group too far behind":  {"1.35", "1.31", "or change --kubernetes-version"},
		"group that is unknown": {"1.32", "other=1.32", "--worker-node-group: the cluster has no worker node group other; it has md-1, pool"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := VersionChange{WorkerNodeGroups: map[string]v1alpha1.KubernetesVersion{}}
			var err error
			if change.KubernetesVersion, err = v1alpha1.ParseKubernetesVersion(test.version); err != nil {
				t.Fatal(err)
			}
			if test.group != "" {
				group, version, named := strings.Cut(test.group, "=")
				if !named {
					group, version = "pool", test.group
				}
				if change.WorkerNodeGroups[group], err = v1alpha1.ParseKubernetesVersion(version); err != nil {
					t.Fatal(err)
				}
			}
			_, _, err = versionPlan(t, existing("v1.31.9"), change)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want %q", err, test.want)
			}
		})
	}
}
