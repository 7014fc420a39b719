package management

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
)

const (
	infrastructure = "infrastructure.cluster.x-k8s.io"
	bootstrap      = "bootstrap.cluster.x-k8s.io"
)

// mapped is a client that knows in which version a kind is had, and nothing else.
type mapped struct {
	client.WithWatch
	mapper meta.RESTMapper
}

func (m mapped) RESTMapper() meta.RESTMapper { return m.mapper }

// remains is a namespace in which things may be left over.
type remains struct {
	objects   []*unstructured.Unstructured
	deleted   []string // Kind/name and propagation
	listErr   map[string]error
	deleteErr error
}

func (a *remains) client() *Client {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{{Group: infrastructure, Version: "v1beta2"}, {Group: bootstrap, Version: "v1beta2"}})
	for _, kind := range []schema.GroupKind{{Group: infrastructure, Kind: "DevMachine"}, {Group: bootstrap, Kind: "KubeadmConfig"}, {Group: infrastructure, Kind: "TalosControlPlane"}} {
		mapper.Add(kind.WithVersion("v1beta2"), meta.RESTScopeNamespace)
	}
	list := func(_ context.Context, _ client.WithWatch, into client.ObjectList, options ...client.ListOption) error {
		var o client.ListOptions
		o.ApplyOptions(options)
		kind := strings.TrimSuffix(into.GetObjectKind().GroupVersionKind().Kind, "List")
		switch into.(type) { // these do not say what they are
		case *clusterv1.MachineList:
			kind = "Machine"
		case *clusterv1.MachineDeploymentList:
			kind = "MachineDeployment"
		}
		if err := a.listErr[kind]; err != nil {
			return err
		}
		for _, object := range a.objects {
			if object.GetKind() != kind || object.GetNamespace() != o.Namespace || !o.LabelSelector.Matches(labels.Set(object.GetLabels())) {
				continue
			}
			switch list := into.(type) {
			case *unstructured.UnstructuredList:
				list.Items = append(list.Items, *object.DeepCopy())
			case *metav1.PartialObjectMetadataList:
				list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
					Namespace: object.GetNamespace(), Name: object.GetName(), Labels: object.GetLabels(), Annotations: object.GetAnnotations(), ManagedFields: object.GetManagedFields(),
				}})
			case *clusterv1.MachineDeploymentList:
				list.Items = append(list.Items, clusterv1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Name: object.GetName()}})
			case *clusterv1.MachineList:
				var machine clusterv1.Machine
				if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &machine); err != nil {
					return err
				}
				list.Items = append(list.Items, machine)
			default:
				return fmt.Errorf("no list of %s", reflect.TypeOf(into))
			}
		}
		return nil
	}
	get := func(_ context.Context, _ client.WithWatch, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
		kind := into.GetObjectKind().GroupVersionKind().Kind
		if _, typed := into.(*clusterv1.Cluster); typed { // which does not say what it is
			kind = "Cluster"
		}
		i := slices.IndexFunc(a.objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == kind && o.GetName() == key.Name })
		if i < 0 {
			return apierrors.NewNotFound(schema.GroupResource{Resource: kind}, key.Name)
		}
		if object, is := into.(*unstructured.Unstructured); is {
			object.Object = a.objects[i].DeepCopy().Object
			return nil
		}
		return runtime.DefaultUnstructuredConverter.FromUnstructured(a.objects[i].Object, into)
	}
	remove := func(_ context.Context, _ client.WithWatch, object client.Object, options ...client.DeleteOption) error {
		var o client.DeleteOptions
		o.ApplyOptions(options)
		a.deleted = append(a.deleted, object.GetObjectKind().GroupVersionKind().Kind+"/"+object.GetName()+" "+string(*o.PropagationPolicy))
		return a.deleteErr
	}
	return &Client{Client: interceptor.NewClient(mapped{mapper: mapper}, interceptor.Funcs{Get: get, List: list, Delete: remove}), config: &rest.Config{Host: "https://host"}}
}

// ofCluster is an object of a cluster, for clusterctl-x and for Cluster API.
func ofCluster(group, kind, name, cluster string, spec map[string]any) *unstructured.Unstructured {
	o := enginetest.Object(group, kind, name, "", spec)
	o.SetLabels(map[string]string{v1alpha1.ClusterLabel: cluster, clusterv1.ClusterNameLabel: cluster})
	o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: string(FieldOwner)}})
	return o
}

// deploymentOf refers to the templates of a name, as a MachineSet does.
func deploymentOf(kind, name, template string) *unstructured.Unstructured {
	return ofCluster("cluster.x-k8s.io", kind, name, "c", map[string]any{"template": map[string]any{"spec": map[string]any{
		"bootstrap":         map[string]any{"configRef": map[string]any{"apiGroup": bootstrap, "kind": "KubeadmConfigTemplate", "name": template}},
		"infrastructureRef": map[string]any{"apiGroup": infrastructure, "kind": "DevMachineTemplate", "name": template},
	}}})
}

// machineOf has infrastructure and bootstrap configuration of its name, made
// from templates of a name.
func machineOf(name, template string) []*unstructured.Unstructured {
	machine := ofCluster("cluster.x-k8s.io", "Machine", name, "c", map[string]any{
		"bootstrap":         map[string]any{"configRef": map[string]any{"apiGroup": bootstrap, "kind": "KubeadmConfig", "name": name}},
		"infrastructureRef": map[string]any{"apiGroup": infrastructure, "kind": "DevMachine", "name": name},
	})
	from := func(o *unstructured.Unstructured, kind string) *unstructured.Unstructured {
		o.SetAnnotations(map[string]string{clusterv1.TemplateClonedFromNameAnnotation: template, clusterv1.TemplateClonedFromGroupKindAnnotation: kind})
		return o
	}
	return []*unstructured.Unstructured{
		machine, from(ofCluster(infrastructure, "DevMachine", name, "c", nil), "DevMachineTemplate."+infrastructure),
		from(ofCluster(bootstrap, "KubeadmConfig", name, "c", nil), "KubeadmConfigTemplate."+bootstrap),
	}
}

func TestPrune(t *testing.T) {
	t.Parallel()
	type result struct {
		Deleted []string
		Err     string
	}
	bare := func(kind, name, cluster string) *unstructured.Unstructured {
		return ofCluster("x", kind, name, cluster, nil)
	}
	templates := []*unstructured.Unstructured{bare("DevMachineTemplate", "t", "c"), bare("KubeadmConfigTemplate", "t", "c")}
	rest := []*unstructured.Unstructured{bare("MachineHealthCheck", "t", "c"), bare("ClusterResourceSet", "t", "c"), bare("ConfigMap", "t", "c")}
	keep := []*unstructured.Unstructured{ofCluster(infrastructure, "DevMachineTemplate", "kept", "c", nil), bare("Cluster", "c", "c")}
	controlPlane := ofCluster("controlplane.cluster.x-k8s.io", "KubeadmControlPlane", "c", "c", map[string]any{
		"machineTemplate": map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{"kind": "DevMachineTemplate", "name": "t"}}},
	})
	clusterOf := func(kind string) *unstructured.Unstructured {
		return ofCluster("cluster.x-k8s.io", "Cluster", "c", "c", map[string]any{"controlPlaneRef": map[string]any{"apiGroup": infrastructure, "kind": kind, "name": "c"}})
	}
	talos := ofCluster(infrastructure, "TalosControlPlane", "c", "c", map[string]any{"infrastructureTemplate": map[string]any{"kind": "DevMachineTemplate", "name": "t"}})
	const bothTemplates = "KubeadmConfigTemplate/t Background, DevMachineTemplate/t Background"
	const theRest = "MachineHealthCheck/t Background, ClusterResourceSet/t Orphan, ConfigMap/t Background"
	of := func(texts ...string) result {
		return result{Deleted: strings.Split(strings.Join(texts, ", "), ", ")}
	}
	foreign := deploymentOf("MachineDeployment", "x", "t")
	foreign.SetLabels(map[string]string{clusterv1.ClusterNameLabel: "c"})
	labeled := bare("ConfigMap", "t", "c") // as clusterctl move wants it of a user's
	labeled.SetLabels(map[string]string{clusterv1.ClusterNameLabel: "c"})
	elsewhere := bare("DevMachineTemplate", "t", "c")
	elsewhere.SetNamespace("other")
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "x"}, "t", errors.New("no"))
	tests := map[string]struct {
		remains remains
		keep    []*unstructured.Unstructured
		kinds   func([]*unstructured.Unstructured) []schema.GroupVersionKind
		want    result
	}{
		"nothing":                              {remains{}, keep, prunedKinds, result{}},
		"everything":                           {remains{objects: slices.Concat(templates, rest)}, keep, prunedKinds, of(bothTemplates, theRest)},
		"templates only":                       {remains{objects: slices.Concat(templates, rest)}, keep, prunedTemplates, of(bothTemplates)},
		"what is to be":                        {remains{objects: slices.Concat(templates, rest)}, slices.Concat(keep, rest, templates[:1]), prunedKinds, of("KubeadmConfigTemplate/t Background")},
		"of another cluster":                   {remains{objects: []*unstructured.Unstructured{bare("DevMachineTemplate", "t", "d"), bare("ConfigMap", "t", "d")}}, keep, prunedKinds, result{}},
		"of Cluster API's":                     {remains{objects: []*unstructured.Unstructured{labeled}}, keep, prunedKinds, result{}},
		"in another namespace":                 {remains{objects: []*unstructured.Unstructured{elsewhere}}, keep, prunedKinds, result{}},
		"no template":                          {remains{objects: []*unstructured.Unstructured{bare("MachineDeployment", "t", "c"), bare("Secret", "t", "c"), bare("KubeadmControlPlane", "t", "c")}}, keep, prunedKinds, result{}},
		"a MachineDeployment":                  {remains{objects: append(templates, deploymentOf("MachineDeployment", "md", "t"))}, keep, prunedKinds, result{}},
		"one of others":                        {remains{objects: append(templates, foreign)}, keep, prunedKinds, result{}},
		"a MachineSet":                         {remains{objects: append(templates, deploymentOf("MachineSet", "ms", "t"))}, keep, prunedKinds, result{}},
		"another template":                     {remains{objects: append(templates, deploymentOf("MachineSet", "ms", "u"))}, keep, prunedKinds, of(bothTemplates)},
		"the control plane":                    {remains{objects: append(templates, controlPlane)}, keep, prunedKinds, of("KubeadmConfigTemplate/t Background")},
		"another control plane":                {remains{objects: append(templates, clusterOf("TalosControlPlane"), talos)}, keep, prunedKinds, of("KubeadmConfigTemplate/t Background")},
		"one that is not there any more":       {remains{objects: append(templates, clusterOf("TalosControlPlane"))}, keep, prunedKinds, of(bothTemplates)},
		"a MachinePool":                        {remains{objects: append(templates, deploymentOf("MachinePool", "mp", "t"))}, keep, prunedKinds, of("KubeadmConfigTemplate/t Background")},
		"a machine":                            {remains{objects: append(templates, machineOf("m", "t")...)}, keep, prunedKinds, result{}},
		"a machine of another":                 {remains{objects: append(templates, machineOf("m", "u")...)}, keep, prunedKinds, of(bothTemplates)},
		"a machine that is not there any more": {remains{objects: append(templates, machineOf("m", "t")[1:]...)}, keep, prunedKinds, of(bothTemplates)},
		"gone already":                         {remains{objects: templates, deleteErr: apierrors.NewNotFound(schema.GroupResource{}, "t")}, keep, prunedKinds, of(bothTemplates)},
		"may not be deleted":                   {remains{objects: templates, deleteErr: forbidden}, keep, prunedKinds, result{[]string{"KubeadmConfigTemplate/t Background"}, `deleting KubeadmConfigTemplate/t, which is no longer used: x "t" is forbidden: no`}},
		"may not be listed":                    {remains{objects: templates, listErr: map[string]error{"ConfigMap": forbidden}}, keep, prunedKinds, result{Err: `listing every ConfigMap of cluster ns/c: x "t" is forbidden: no`}},
		"the use is not known":                 {remains{objects: templates, listErr: map[string]error{"MachineSet": forbidden}}, keep, prunedTemplates, result{Err: `listing every MachineSet of cluster ns/c: x "t" is forbidden: no`}},
		"nobody knows the machines": {
			remains{objects: templates, listErr: map[string]error{"Machine": forbidden}}, keep, prunedTemplates, result{Err: `listing the machines of cluster ns/c: x "t" is forbidden: no`},
		},
		"nobody knows of what they were made": {
			remains{objects: append(templates, machineOf("m", "t")...), listErr: map[string]error{"DevMachine": forbidden}}, keep, prunedTemplates, result{Err: `listing every DevMachine of cluster ns/c: x "t" is forbidden: no`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got result
			if err := test.remains.client().prune(t.Context(), clusterKey(), test.keep, test.kinds(test.keep)); err != nil {
				got.Err = err.Error()
			}
			got.Deleted = test.remains.deleted
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("pruned (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPruneLeavesWhatItDidNotWrite: labels may have been copied.
func TestPruneLeavesWhatItDidNotWrite(t *testing.T) {
	t.Parallel()
	var objects []*unstructured.Unstructured
	for name, managers := range map[string][]string{"theirs": {"kubectl"}, "nobodys": nil, "ours-too": {"kubectl", "clusterctl-x"}} {
		object := ofCluster("", "ConfigMap", name, "c", nil)
		var fields []metav1.ManagedFieldsEntry
		for _, manager := range managers {
			fields = append(fields, metav1.ManagedFieldsEntry{Manager: manager})
		}
		object.SetManagedFields(fields)
		objects = append(objects, object)
	}
	a := remains{objects: objects}
	if err := a.client().prune(t.Context(), clusterKey(), nil, prunedKinds(nil)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ConfigMap/ours-too Background"}, a.deleted); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
}

// TestUnused are the objects that a plan names because the spec asks for them no
// longer; what goes with a group or with its machines is not told by itself.
func TestUnused(t *testing.T) {
	t.Parallel()
	objects := []*unstructured.Unstructured{
		ofCluster(bootstrap, "KubeadmConfigTemplate", "t", "c", nil),
		ofCluster("cluster.x-k8s.io", "MachineHealthCheck", "c-md-0", "c", nil), ofCluster("cluster.x-k8s.io", "MachineHealthCheck", "c-md-1", "c", nil),
		ofCluster("cluster.x-k8s.io", "MachineHealthCheck", "c", "c", nil), ofCluster("addons.cluster.x-k8s.io", "ClusterResourceSet", "c-cni", "c", nil),
		ofCluster("", "ConfigMap", "c-cni", "c", nil), ofCluster("", "ConfigMap", "kept", "c", nil),
		ofCluster("", "ConfigMap", recordName("c"), "c", nil),
		deploymentOf("MachineDeployment", "c-md-0", "u"), deploymentOf("MachineDeployment", "c-md-1", "u"),
	}
	a := remains{objects: objects}
	got, err := a.client().Unused(t.Context(), clusterKey(), []*unstructured.Unstructured{objects[6], objects[9]})
	if err != nil {
		t.Fatal(err)
	}
	// md-0 goes, and its health check with it; md-1 stays without its own.
	want := []string{"MachineHealthCheck/c-md-1", "MachineHealthCheck/c", "ClusterResourceSet/c-cni", "ConfigMap/c-cni"}
	if diff := cmp.Diff(want, got); diff != "" || a.deleted != nil {
		t.Errorf("deleted %s; unused (-want +got):\n%s", a.deleted, diff)
	}
}
