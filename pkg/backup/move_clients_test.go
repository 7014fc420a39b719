package backup

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// ownedSecret is a Secret that a Cluster owns.
func ownedSecret(owner types.UID, value string) *unstructured.Unstructured {
	object := aSecret("a")
	object.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Cluster", Name: "a", UID: owner}})
	object.Object["data"] = map[string]any{"from": value}
	return object
}

// TestArrivesOverWhatIsThere: what controllers made of a cluster while it arrived gives way to what
// is moved; what others made does not.
func TestArrivesOverWhatIsThere(t *testing.T) {
	t.Parallel()
	const id, uid = "1", types.UID("here")
	const exists = "Secret default/a exists already in the management cluster that the cluster is moved into; delete it there, or rename it"
	moved := ownedSecret(uid, "moved")
	moved.SetAnnotations(map[string]string{v1alpha1.RestoredAnnotation: id})
	arrivedAlready := ownedSecret(uid, "arrived")
	arrivedAlready.SetAnnotations(map[string]string{v1alpha1.RestoredAnnotation: id})
	for name, test := range map[string]struct {
		there *unstructured.Unstructured
		from  string // what its data say afterwards
		err   string
	}{
		"of the same move":                       {arrivedAlready, "arrived", "<nil>"},
		"a controller's":                         {ownedSecret(uid, "controller"), "moved", "<nil>"},
		"without an owner":                       {aSecret("a"), "", exists},
		"of a cluster of this name that is gone": {ownedSecret("gone", "before"), "before", exists},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := restored(id, "")
			cluster.SetUID(uid)
			there := fakeClient(t, interceptor.Funcs{}, cluster, test.there)
			ctx, giveUp := context.WithCancelCause(t.Context())
			defer giveUp(nil)
			a := arrival{creator: creator{pauser: pauser{Client: there}, id: id, giveUp: giveUp}}
			err := a.Create(ctx, moved.DeepCopy())
			if apierrors.IsAlreadyExists(err) { // as clusterctl does then
				err = a.Update(ctx, moved.DeepCopy())
			}
			if diff := cmp.Diff(test.err, fmt.Sprint(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if (err == nil) != (ctx.Err() == nil) || !errors.Is(context.Cause(ctx), err) {
				t.Errorf("the move ends with %v, want %v", context.Cause(ctx), err)
			}
			got := aSecret("a")
			if err := there.Get(t.Context(), client.ObjectKeyFromObject(got), got); err != nil {
				t.Fatal(err)
			}
			if from, _, _ := unstructured.NestedString(got.Object, "data", "from"); from != test.from {
				t.Errorf("the Secret is from %q, want %q", from, test.from)
			}
		})
	}
}

// TestMadeOfWhatIsRestored: what a controller made of a cluster whose restore was stopped is no
// object of others.
func TestMadeOfWhatIsRestored(t *testing.T) {
	t.Parallel()
	backup := Saved{Contents: Contents{ID: "1"}, objects: []*unstructured.Unstructured{aCluster("a"), aSecret("a")}}
	for name, test := range map[string]struct {
		owner types.UID
		want  refusals
	}{
		"of the restored cluster": {"here", nil},
		"of another one":          {"gone", refusals{{Check: checkExists, Reason: "the management cluster has objects of these names already, which were not restored from this backup: Secret default/a; restore into another management cluster, or delete them"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := pausedOne(restored("1", restoreMark))
			cluster.SetUID("here")
			s := &Service{objects: fakeClient(t, interceptor.Funcs{}, cluster, ownedSecret(test.owner, "controller"))}
			found := refusals(nil)
			if _, err := s.look(t.Context(), backup, &found); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, found); diff != "" {
				t.Errorf("refusals (-want +got):\n%s", diff)
			}
		})
	}
}
