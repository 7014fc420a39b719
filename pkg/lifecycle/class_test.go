package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/observe"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// TestOtherClassOfPinnedGroup: a cluster becomes one of another class while a group is
// out of the topology. The group gets what the new class makes of it, in one rollout
// with its version where that changes too.
func TestOtherClassOfPinnedGroup(t *testing.T) {
	t.Parallel()
	bundles := fewBundles(t)
	const pinned = "{name: md-0}, {name: md-1, kubernetesVersion: v1.32.7}"
	class := inMemoryClass(t, bundles)
	const (
		inPlace = "InPlace: changes of the control plane in place"
		named   = "Cluster/prod spec.topology.classRef.name: inmemory -> second"
	)
	echo := func(group string) string {
		return group + `: MachineDeployment/prod-` + group + `-x1 KubeadmConfigTemplate spec.template.spec.preKubeadmCommands: ["echo second"] (added), replaces machines`
	}
	bootstrap := func(group string) string {
		return group + ": MachineDeployment/prod-" + group + "-x1 spec.template.spec.bootstrap.configRef.kind: KubeadmConfigTemplate -> OtherKubeadmConfigTemplate, replaces machines"
	}
	note := func(version, newest string) string {
		return "md-1 is pinned at " + version + ": the control plane cannot go beyond " + newest + ", and changes of the class reach the group only through 'upgrade cluster'"
	}
	commands := func(template *unstructured.Unstructured) {
		if template.GetKind() == "KubeadmConfigTemplate" {
			setField(t, template, []any{"echo second"}, "spec", "template", "spec", "preKubeadmCommands")
		}
	}
	kind := func(of string) func(*unstructured.Unstructured) {
		return func(template *unstructured.Unstructured) {
			if template.GetKind() == of {
				template.SetKind("Other" + of)
			}
		}
	}
	for name, test := range map[string]struct {
		class   topology.Class
		version string
		groups  string
		want    []string
		refused string
	}{
		"the same content": {otherClass(class, nil), "1.33", pinned, []string{inPlace, named, note("v1.32.7", "1.35")}, ""},
		"other content": {otherClass(class, commands), "1.33", pinned, []string{
			"Template: new machines for md-1 at v1.32.7", echo("md-1"), inPlace, named,
			"Template: new machines for md-0 at v1.33.3", echo("md-0"), note("v1.32.7", "1.35"),
		}, ""},
		"with the version": {otherClass(class, commands), "1.34", pinned, []string{
			"Template: new machines for md-1 at v1.32.7", echo("md-1"), inPlace, named,
			"ControlPlane: the control plane from v1.33.3 to v1.34.2",
			"Workers: md-0 from v1.33.3 to v1.34.2", echo("md-0"), note("v1.32.7", "1.35"),
		}, ""},
		"with both versions": {otherClass(class, commands), "1.34", strings.Replace(pinned, "v1.32.7", "v1.33.3", 1), []string{
			inPlace, named, "ControlPlane: the control plane from v1.33.3 to v1.34.2",
			"Workers: md-0 from v1.33.3 to v1.34.2", echo("md-0"),
			"Workers: md-1 from v1.32.7 to v1.33.3", echo("md-1"), note("v1.33.3", "1.36"),
		}, ""},
		"with the pin taken away": {otherClass(class, commands), "1.34", "{name: md-0}, {name: md-1}", []string{
			inPlace, named, "ControlPlane: the control plane from v1.33.3 to v1.34.2",
			"Workers: md-0 from v1.33.3 to v1.34.2", echo("md-0"),
			"Workers: md-1 from v1.32.7 to v1.34.2", echo("md-1"), "Return: group md-1 is returned at v1.34.2",
		}, ""},
		"another kind of bootstrap template": {otherClass(class, kind("KubeadmConfigTemplate")), "1.33", pinned, []string{
			"Template: new machines for md-1 at v1.32.7", bootstrap("md-1"), inPlace, named,
			"Template: new machines for md-0 at v1.33.3", bootstrap("md-0"), note("v1.32.7", "1.35"),
		}, ""},
		"another kind of machine": {
			otherClass(class, kind("DevMachineTemplate")), "1.33", pinned, nil,
			"ClusterClass second makes machines of another kind for group md-1 (MachineDeployment/prod-md-1-x1 spec.template.spec.infrastructureRef.kind: DevMachineTemplate -> OtherDevMachineTemplate), and Cluster API cannot replace one kind with another; use a class that makes the same kind, or a new group",
		},
		"no such class of workers": {
			withoutWorkers(otherClass(class, nil)), "1.33", pinned, nil,
			`prod.yaml:8: spec.workerNodeGroupConfigurations[0].class: Invalid value: "default-worker": ClusterClass second has no such class of workers; it has another
prod.yaml:8: spec.workerNodeGroupConfigurations[1].class: Invalid value: "default-worker": ClusterClass second has no such class of workers; it has another`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after := managedSpec(t, test.class, bundles, "", test.groups)
			text := strings.NewReplacer("name: inmemory}", "name: "+test.class.Name+"}", `"1.33"`, `"`+test.version+`"`).Replace(string(after.data))
			after.data, after.Config = []byte(text), providers.BuiltIn().Decode("prod.yaml", []byte(text))
			p, err := pinnedOf(t, managedSpec(t, class, bundles, "", pinned), "md-1").plan(t.Context(), after)
			if test.refused != "" {
				if diff := cmp.Diff(test.refused, fmt.Sprint(err)); diff != "" {
					t.Errorf("error (-want +got):\n%s", diff)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, linesOf(p.Plan)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

func setField(t *testing.T, object *unstructured.Unstructured, value any, path ...string) {
	t.Helper()
	if err := unstructured.SetNestedField(object.Object, value, path...); err != nil {
		t.Fatal(err)
	}
}

// otherClass is a class with other templates of its workers.
func otherClass(class topology.Class, change func(template *unstructured.Unstructured)) topology.Class {
	other := topology.Class{ClusterClass: class.DeepCopy()}
	other.Name = "second"
	for _, template := range class.Templates {
		template = template.DeepCopy()
		for i, workers := range other.Spec.Workers.MachineDeployments {
			for _, reference := range []*clusterv1.ClusterClassTemplateReference{&workers.Bootstrap.TemplateRef, &workers.Infrastructure.TemplateRef} {
				if change != nil && template.GetName() == reference.Name {
					change(template)
					reference.Kind = template.GetKind()
				}
			}
			other.Spec.Workers.MachineDeployments[i] = workers
		}
		other.Templates = append(other.Templates, template)
	}
	return other
}

func withoutWorkers(class topology.Class) topology.Class {
	class.Spec.Workers.MachineDeployments[0].Class = "another"
	return class
}

// pinnedOf has a cluster that was made of a spec, with a group out of its topology.
func pinnedOf(t *testing.T, s Spec, group string) *fakeTopology {
	t.Helper()
	f := fakeTopologyOf(t, s)
	now := *f.topology
	workers := &now.cluster.Spec.Topology.Workers
	workers.MachineDeployments = slices.DeleteFunc(workers.MachineDeployments, func(d clusterv1.MachineDeploymentTopology) bool { return d.Name == group })
	cluster := f.state
	cluster.Topology = observe.Topology(now.cluster)
	resolved, err := s.Validate()
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range cluster.WorkerNodeGroups {
		if part.Name == group {
			one := int32(1)
			part = managedPart(group, part.Object, resolved.Versions.WorkerNodeGroups[group], &one)
			part.Detached = true
			cluster.WorkerNodeGroups[i] = part
		}
	}
	f.current = currentOf(cluster).withTopology(now)
	f.objects = []*unstructured.Unstructured{untyped(t, now.cluster)}
	server := *f
	server.class = s.class
	rendered, err := prepare(t.Context(), s, f.current, source{comparer: unchanged().comparer, topology: &server}, UpgradeOptions{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	f.objects = append(f.objects, rendered.States[0].Parts[group]...)
	return f
}

// TestClassOfOtherBootstrapTemplates: a class may get templates of another kind for the
// bootstrap of its workers. The machines of these are replaced.
func TestClassOfOtherBootstrapTemplates(t *testing.T) {
	t.Parallel()
	bundles := fewBundles(t)
	before := inMemoryClass(t, bundles)
	after := otherClass(before, func(template *unstructured.Unstructured) {
		if template.GetKind() == "KubeadmConfigTemplate" {
			template.SetKind("OtherConfigTemplate")
		}
	})
	f := fakeTopologyOf(t, managedSpec(t, before, bundles, "", "{name: md-0}, {name: md-1}"))
	got, _, err := classChanges(t.Context(), before, after, f.state, f.topology.cluster, f.topology.cluster)
	if err != nil {
		t.Fatal(err)
	}
	of := func(group string) plan.Changes {
		return plan.Changes{Fields: []changes.Change{{
			Object: "MachineDeployment/prod-" + group + "-x1", Path: "spec.template.spec.bootstrap.configRef.kind", Action: changes.Changed,
			Old: `"KubeadmConfigTemplate"`, New: `"OtherConfigTemplate"`, ReplacesMachines: true,
		}}}
	}
	if diff := cmp.Diff(map[string]plan.Changes{"": {}, v1alpha1.ControlPlaneName: {}, "md-0": of("md-0"), "md-1": of("md-1")}, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}
