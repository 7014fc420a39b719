package management

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// leftovers is a namespace of cluster "a" in which deleting works at once.
type leftovers struct {
	objects []metav1.PartialObjectMetadata
	deleted []string // Kind/name and propagation
	// list is called before each listing of the first kind, which are counted from 1.
	list      func(ctx context.Context, round int) error
	deleteErr error
	rounds    int
}

// leftoverKinds are the kinds that are asked for, in this order.
func leftoverKinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		{Version: "v1", Kind: "ConfigMap"}, {Version: "v1", Kind: "Secret"},
		{Group: "addons.cluster.x-k8s.io", Version: "v1beta2", Kind: "ClusterResourceSet"},
		{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta2", Kind: "DevMachineTemplate"},
	}
}

func leftover(kind, name, label string, change func(*metav1.PartialObjectMetadata)) metav1.PartialObjectMetadata {
	o := metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: kind}, ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", Labels: map[string]string{label: "a"}}}
	change(&o)
	return o
}

func (l *leftovers) client() *Client {
	return clientOf(interceptor.Funcs{
		List: func(ctx context.Context, _ client.WithWatch, into client.ObjectList, options ...client.ListOption) error {
			var o client.ListOptions
			o.ApplyOptions(options)
			list := into.(*metav1.PartialObjectMetadataList)
			kind := strings.TrimSuffix(list.Kind, "List")
			if kind == "ConfigMap" && strings.HasPrefix(o.LabelSelector.String(), v1alpha1.ClusterLabel) {
				l.rounds++
				if l.list != nil {
					if err := l.list(ctx, l.rounds); err != nil {
						return err
					}
				}
			}
			for _, object := range l.objects {
				if object.Kind == kind && o.Namespace == "ns" && o.LabelSelector.Matches(labelsOf(object)) {
					object.TypeMeta = metav1.TypeMeta{} // as an API server leaves it out in lists
					list.Items = append(list.Items, object)
				}
			}
			return nil
		},
		Delete: func(_ context.Context, _ client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			var o client.DeleteOptions
			o.ApplyOptions(options)
			kind := object.GetObjectKind().GroupVersionKind().Kind
			l.deleted = append(l.deleted, kind+"/"+object.GetName()+" "+string(*o.PropagationPolicy))
			l.objects = slices.DeleteFunc(l.objects, func(m metav1.PartialObjectMetadata) bool { return m.Kind == kind && m.Name == object.GetName() })
			return l.deleteErr
		},
	})
}

type labelsOf metav1.PartialObjectMetadata

func (l labelsOf) Has(label string) bool              { _, ok := l.Labels[label]; return ok }
func (l labelsOf) Get(label string) string            { return l.Labels[label] }
func (l labelsOf) Lookup(label string) (string, bool) { v, ok := l.Labels[label]; return v, ok }

func TestRemoveLeftovers(t *testing.T) {
	t.Parallel()
	type result struct {
		Err     string
		Deleted []string
		Rounds  int
		Left    int
	}
	as := func(*metav1.PartialObjectMetadata) {}
	owned := func(m *metav1.PartialObjectMetadata) { m.OwnerReferences = []metav1.OwnerReference{{Name: "a"}} }
	leaving := func(m *metav1.PartialObjectMetadata) {
		m.DeletionTimestamp, m.Finalizers = &metav1.Time{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}, []string{"x", "y"}
	}
	until := func(end context.Context) error { // the API server does not answer
		<-end.Done()
		return end.Err()
	}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "", nil)
	tests := map[string]struct {
		leftovers leftovers
		want      result
	}{
		"nothing": {leftovers{}, result{Rounds: 1}},
		"of others": {
			leftovers{objects: []metav1.PartialObjectMetadata{leftover("Secret", "s", "other", as), leftover("Secret", "b", v1alpha1.ClusterLabel, func(m *metav1.PartialObjectMetadata) { m.Labels[v1alpha1.ClusterLabel] = "b" })}},
			result{Rounds: 1, Left: 2},
		},
		// What a ClusterResourceSet owns may be the user's.
		"each kind in its own way": {
			leftovers{objects: []metav1.PartialObjectMetadata{
				leftover("DevMachineTemplate", "m", v1alpha1.ClusterLabel, as), leftover("ClusterResourceSet", "r", v1alpha1.ClusterLabel, as),
				leftover("Secret", "s", clusterv1.ClusterNameLabel, as), leftover("ConfigMap", "c", v1alpha1.ClusterLabel, as),
			}},
			result{Rounds: 2, Deleted: []string{"ClusterResourceSet/r Orphan", "ConfigMap/c Background", "DevMachineTemplate/m Background", "Secret/s Background"}},
		},
		"with both labels": {
			leftovers{objects: []metav1.PartialObjectMetadata{leftover("Secret", "s", v1alpha1.ClusterLabel, func(m *metav1.PartialObjectMetadata) { m.Labels[clusterv1.ClusterNameLabel] = "a" })}},
			result{Rounds: 2, Deleted: []string{"Secret/s Background"}},
		},
		"what goes by itself": {
			leftovers{objects: []metav1.PartialObjectMetadata{
				leftover("Secret", "owned", v1alpha1.ClusterLabel, owned), leftover("ConfigMap", "leaving", v1alpha1.ClusterLabel, leaving), leftover("Secret", "s", v1alpha1.ClusterLabel, as),
			}},
			result{Err: "timed out: still there: ConfigMap/leaving (finalizers x, y), Secret/owned", Rounds: 3, Left: 2, Deleted: []string{"Secret/s Background"}},
		},
		"no answer at the end": {
			leftovers{
				objects: []metav1.PartialObjectMetadata{leftover("Secret", "owned", v1alpha1.ClusterLabel, owned)},
				list: func(ctx context.Context, round int) error {
					if round < 3 {
						return nil
					}
					return until(ctx)
				},
			},
			result{Err: "timed out: still there: Secret/owned", Rounds: 3, Left: 1},
		},
		"no answer at all": {
			leftovers{list: func(ctx context.Context, _ int) error { return until(ctx) }},
			result{Err: "timed out: what is still there could not be listed", Rounds: 1},
		},
		"may not be listed": {
			leftovers{list: func(context.Context, int) error { return forbidden }},
			result{Err: "listing every ConfigMap of cluster ns/a: configmaps is forbidden: <nil>; give the user of this kubeconfig the privileges of 'clusterctl-x generate rbac', or use another kubeconfig", Rounds: 1},
		},
		"kind that is gone": {
			leftovers{list: func(context.Context, int) error {
				return apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, "")
			}, objects: []metav1.PartialObjectMetadata{leftover("Secret", "s", v1alpha1.ClusterLabel, as)}},
			result{Rounds: 2, Deleted: []string{"Secret/s Background"}},
		},
		"may not be deleted": {
			leftovers{objects: []metav1.PartialObjectMetadata{leftover("ConfigMap", "c", v1alpha1.ClusterLabel, as)}, deleteErr: forbidden},
			result{Err: "deleting ConfigMap/c: configmaps is forbidden: <nil>; give the user of this kubeconfig the privileges of 'clusterctl-x generate rbac', or use another kubeconfig", Rounds: 1, Deleted: []string{"ConfigMap/c Background"}},
		},
		"deleted by somebody else": {
			leftovers{objects: []metav1.PartialObjectMetadata{leftover("ConfigMap", "c", v1alpha1.ClusterLabel, as)}, deleteErr: apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, "c")},
			result{Rounds: 2, Deleted: []string{"ConfigMap/c Background"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const time3Rounds = 2*leftoverPoll + leftoverPoll/2
				ctx, cancel := context.WithTimeout(t.Context(), time3Rounds)
				defer cancel()
				l := test.leftovers
				began := time.Now()
				var got result
				if err := l.client().removeLeftovers(ctx, leftoverKinds(), client.ObjectKey{Namespace: "ns", Name: "a"}); err != nil {
					got.Err = err.Error()
				}
				got.Deleted, got.Rounds, got.Left = l.deleted, l.rounds, len(l.objects)
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("after %s (-want +got):\n%s", time.Since(began), diff)
				}
			})
		})
	}
}
