package backup

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// TestRestoresOverWhatIsThere: what a controller made of a restored cluster is not found, and gives
// way to what the backup has; what the same restore created is found.
func TestRestoresOverWhatIsThere(t *testing.T) {
	t.Parallel()
	const id, uid = "1", types.UID("here")
	restoredAlready := ownedSecret(uid, "restored")
	restoredAlready.SetAnnotations(map[string]string{v1alpha1.RestoredAnnotation: id})
	for name, test := range map[string]struct {
		there *unstructured.Unstructured
		found bool
		from  string // what its data say once it is created
	}{
		"of the same restore": {restoredAlready, true, "restored"},
		"a controller's":      {ownedSecret(uid, "controller"), false, "backup"},
		"of another cluster":  {ownedSecret("gone", "before"), true, "before"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := restored(id, "")
			cluster.SetUID(uid)
			there := fakeClient(t, interceptor.Funcs{}, cluster, test.there)
			r := restoration{creator{pauser: pauser{Client: there}, id: id, giveUp: func(error) {}}}
			got := aSecret("a")
			err := r.Get(t.Context(), client.ObjectKeyFromObject(got), got)
			if found := !apierrors.IsNotFound(err); found != test.found || found && err != nil {
				t.Errorf("found: %t (%v), want %t", found, err, test.found)
			}
			saved := ownedSecret(uid, "backup")
			if err := r.Create(t.Context(), saved); apierrors.IsAlreadyExists(err) != test.found || err != nil && !test.found {
				t.Errorf("creating it: %v", err)
			}
			if err := there.Get(t.Context(), client.ObjectKeyFromObject(got), got); err != nil {
				t.Fatal(err)
			}
			if from, _, _ := unstructured.NestedString(got.Object, "data", "from"); from != test.from {
				t.Errorf("the Secret is from %q, want %q", from, test.from)
			}
			if !test.found && (saved.GetUID() != got.GetUID() || r.created != 1) {
				t.Errorf("clusterctl knows it by UID %q, and %d were created; want %q and 1", saved.GetUID(), r.created, got.GetUID())
			}
		})
	}
}
