package lifecycle

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/clusterclass"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/manifests"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

var update = flag.Bool("update", false, "write what is compared with files anew")

// managedFile is a cluster from a class of clusterctl-x; MORE and GROUPS are replaced.
const managedFile = `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: prod, namespace: fleet}
spec:
  kubernetesVersion: "1.33"
  clusterClass: {name: inmemory}
  MORE
  workerNodeGroupConfigurations: [GROUPS]
  clusterNetwork: {pods: {cidrBlocks: [192.168.0.0/16]}, services: {cidrBlocks: [10.96.0.0/12]}}
  datacenterRef: {kind: InMemoryDatacenterConfig, name: prod}
`

// managedSpec is a file of a cluster from the class.
func managedSpec(t *testing.T, class topology.Class, bundles *versionsbundle.Bundles, more, groups string) Spec {
	t.Helper()
	text := strings.NewReplacer("MORE", more, "GROUPS", groups).Replace(managedFile)
	s := Spec{data: []byte(text), Config: providers.BuiltIn().Decode("prod.yaml", []byte(text)), providers: providers.BuiltIn(), bundles: bundles, class: &class}
	return s
}

// inMemoryClass is what 'generate clusterclass' writes, as the API server has it.
func inMemoryClass(t *testing.T, bundles *versionsbundle.Bundles) topology.Class {
	t.Helper()
	objects, err := manifests.RenderClass(manifests.Class{Name: "inmemory", Namespace: "fleet", Provider: providers.BuiltIn()["inmemory"], Releases: bundles.Releases()})
	if err != nil {
		t.Fatal(err)
	}
	var class topology.Class
	for _, object := range objects {
		if object.Kind.Kind != "ClusterClass" {
			template, err := object.Unstructured()
			if err != nil {
				t.Fatal(err)
			}
			class.Templates = append(class.Templates, template)
			continue
		}
		var decoded clusterv1.ClusterClass
		if err := json.Unmarshal(object.JSON, &decoded); err != nil {
			t.Fatal(err)
		}
		class.ClusterClass = topology.WithStatus(&decoded)
	}
	return class
}

// renderedObjects are all objects of a spec; the Cluster is the first one.
func renderedObjects(t *testing.T, s Spec) []*unstructured.Unstructured {
	t.Helper()
	resolved, err := s.Validate()
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := s.render(resolved, "default")
	if err != nil {
		t.Fatal(err)
	}
	objects, err := decodeAll(rendered)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func managedPart(name, object string, version v1alpha1.Version, replicas *int32) state.Part {
	machines := 1 // where an autoscaler decides
	if replicas != nil {
		machines = int(*replicas)
	}
	part := state.Part{Name: name, Object: object, Version: version, Replicas: machines, Settled: true}
	for range machines {
		part.Machines = append(part.Machines, state.Machine{Ready: true, Version: version, Kubelet: version})
	}
	return part
}

// clusterOfSpec is the Cluster that is made of a spec, with the defaults of its variables.
func clusterOfSpec(ctx context.Context, t *testing.T, s Spec) *clusterv1.Cluster {
	t.Helper()
	cluster, err := clusterclass.AsCluster(renderedObjects(t, s)[0])
	if err == nil {
		cluster, err = s.use().Complete(ctx, cluster, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	cluster.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{Kind: "DevCluster", Name: "prod-x1"}
	return cluster
}

func untyped(t *testing.T, cluster *clusterv1.Cluster) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(cluster)
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("Cluster"))
	return object
}

// fewBundles are bundles of few releases, which make a small class.
func fewBundles(t *testing.T) *versionsbundle.Bundles {
	t.Helper()
	data, err := os.ReadFile("../manifests/testdata/bundles.yaml")
	if err != nil {
		t.Fatal(err)
	}
	bundles, err := versionsbundle.Parse("bundles", data)
	if err != nil {
		t.Fatal(err)
	}
	return bundles
}

// TestManagedPlanHasEveryField: whatever a file changes of a cluster from a
// ClusterClass stands in the plan, going there and coming back.
func TestManagedPlanHasEveryField(t *testing.T) {
	t.Parallel()
	bundles := fewBundles(t)
	class := inMemoryClass(t, bundles)
	type file struct{ more, groups string }
	plain := file{"", "{name: md-0}"}
	var told strings.Builder
	for _, test := range []struct {
		name  string
		other file
	}{
		{"health checks of all", file{"machineHealthCheck: {}", "{name: md-0}"}},
		{"health check of a group", file{"", "{name: md-0, machineHealthCheck: {maxUnhealthy: 40%}}"}},
		{"health check of the control plane", file{"controlPlaneConfiguration: {machineHealthCheck: {maxUnhealthy: 40%}}", "{name: md-0}"}},
		{"labels", file{"controlPlaneConfiguration: {labels: {example.org/a: b}}", "{name: md-0, labels: {example.org/a: b}}"}},
		{"annotations", file{"controlPlaneConfiguration: {annotations: {example.org/a: b}}", "{name: md-0, annotations: {example.org/a: b}}"}},
		{"taints", file{"", "{name: md-0, taints: [{key: a, value: b, effect: NoSchedule}]}"}},
		{"deletion timeouts", file{"controlPlaneConfiguration: {machineDeletion: {nodeDrainTimeout: 10m}}", "{name: md-0, machineDeletion: {nodeDrainTimeout: 10m}}"}},
		{"rollout strategies", file{"controlPlaneConfiguration: {count: 3, upgradeRolloutStrategy: {rollingUpdate: {maxSurge: 0}}}", "{name: md-0, upgradeRolloutStrategy: {rollingUpdate: {maxSurge: 2, maxUnavailable: 0}}}"}},
		{"rollout strategies that are the default", file{"controlPlaneConfiguration: {upgradeRolloutStrategy: {rollingUpdate: {maxSurge: 1}}}", "{name: md-0, upgradeRolloutStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}}"}},
		{"an empty label", file{"controlPlaneConfiguration: {labels: {node-role.kubernetes.io/web: ''}}", "{name: md-0, labels: {node-role.kubernetes.io/web: ''}}"}},
		{"deferUpgrade", file{"", "{name: md-0, deferUpgrade: true}"}},
		{"counts", file{"controlPlaneConfiguration: {count: 3}", "{name: md-0, count: 2}"}},
		{"autoscaler", file{"", "{name: md-0, autoscalingConfiguration: {minCount: 1, maxCount: 3}}"}},
		{"concurrency", file{"upgradePolicy: {maxConcurrentWorkerGroups: 3}", "{name: md-0}"}},
		{"add-ons", file{"addOns: [{name: a, resources: [{kind: ConfigMap, name: b}]}]", "{name: md-0}"}},
		{"a variable that changes nothing", file{"", "{name: md-0, variables: {files: []}}"}},
	} {
		planned := func(before, after file) []string {
			was := managedSpec(t, class, bundles, before.more, before.groups)
			p, err := fakeTopologyOf(t, was).plan(t.Context(), managedSpec(t, class, bundles, after.more, after.groups))
			if err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
			if p.Plan.Empty() {
				t.Errorf("%s: the plan is empty", test.name)
			}
			return linesOf(p.Plan)
		}
		for _, way := range []struct {
			name  string
			lines []string
		}{{"there", planned(plain, test.other)}, {"back", planned(test.other, plain)}} {
			fmt.Fprintf(&told, "%s, %s:\n  %s\n", test.name, way.name, strings.Join(way.lines, "\n  "))
		}
	}
	const golden = "testdata/golden/managed_changes.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(told.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), told.String()); diff != "" {
		t.Errorf("plans (-want +got):\n%s", diff)
	}
}

// TestTopologyThatFailed: whatever is planned, Cluster API has to be able to do it.
func TestTopologyThatFailed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		topology *state.Topology
		want     []string
	}{
		"no topology, or none yet": {nil, nil},
		"carried over":             {&state.Topology{Settled: true}, nil},
		"on its way":               {&state.Topology{Reason: "md-0 waits"}, nil},
		"failed":                   {&state.Topology{Failed: true, Reason: "the template is gone"}, []string{"Cluster API cannot reconcile the topology until this is fixed: the template is gone"}},
	} {
		if diff := cmp.Diff(test.want, (current{state: state.Cluster{Topology: test.topology}}).notes(Spec{})); diff != "" {
			t.Errorf("%s: notes (-want +got):\n%s", name, diff)
		}
	}
}

// linesOf are the steps of a plan with all of their changes, and its notes.
func linesOf(p plan.Plan) []string {
	var lines []string
	for _, step := range p.Steps {
		lines = append(lines, string(step.Kind)+": "+step.String())
		lines = append(lines, changeLines("", step.Changes)...)
		for _, group := range step.WorkerNodeGroups {
			lines = append(lines, changeLines(group.Name+": ", group.Changes)...)
		}
	}
	return append(lines, p.Notes...)
}

// changeLines are the changes of a part.
func changeLines(part string, c plan.Changes) []string {
	var lines []string
	for _, change := range c.Fields {
		line := part + change.String()
		if change.ReplacesMachines {
			line += ", replaces machines"
		}
		lines = append(lines, line)
	}
	if c.Unknown != nil {
		lines = append(lines, fmt.Sprintf("%sunknown: %v", part, *c.Unknown))
	}
	return lines
}
