package backup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// fakeClient is an API server with objects.
func fakeClient(t *testing.T, funcs interceptor.Funcs, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := clusterv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(funcs).Build()
}

func aClass() *clusterv1.ClusterClass {
	return &clusterv1.ClusterClass{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"}}
}

// pausesOf are the mark and the pause of the Cluster and the ClusterClass.
func pausesOf(t *testing.T, c client.Client) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, kind := range []string{clusterv1.ClusterKind, clusterv1.ClusterClassKind} {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(clusterv1.GroupVersion.WithKind(kind))
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, object); err != nil {
			t.Fatal(err)
		}
		found[kind] = fmt.Sprintf("paused %t, mark %q", isPaused(object), object.GetAnnotations()[v1alpha1.PauseAnnotation])
	}
	return found
}

// pauseAsClusterctl writes what clusterctl writes to pause, and resumeAsClusterctl to resume.
func pauseAsClusterctl(ctx context.Context, c client.Client) error {
	return patchAsClusterctl(ctx, c, "true", map[string]string{clusterv1.PausedAnnotation: ""})
}

func resumeAsClusterctl(ctx context.Context, c client.Client) error {
	return patchAsClusterctl(ctx, c, "null", nil)
}

func patchAsClusterctl(ctx context.Context, c client.Client, field string, annotation map[string]string) error {
	if err := c.Patch(ctx, aCluster("a"), client.RawPatch(types.MergePatchType, []byte(`{"spec":{"paused":`+field+`}}`))); err != nil {
		return err
	}
	class := &clusterv1.ClusterClass{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "a"}, class); err != nil {
		return err
	}
	before := class.DeepCopy()
	delete(class.Annotations, clusterv1.PausedAnnotation)
	if class.Annotations == nil {
		class.Annotations = map[string]string{}
	}
	maps.Copy(class.Annotations, annotation)
	return c.Patch(ctx, class, client.MergeFrom(before))
}

func TestPausesAreMarked(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := fakeClient(t, interceptor.Funcs{}, aCluster("a"), aClass())
	marked := map[string]string{"Cluster": `paused true, mark "why"`, "ClusterClass": `paused true, mark "why"`}
	free := map[string]string{"Cluster": `paused false, mark ""`, "ClusterClass": `paused false, mark ""`}
	p := &pauser{Client: c, mark: "why", paused: map[string]*unstructured.Unstructured{}}
	for _, step := range []struct {
		what string
		do   func() error
		want map[string]string
	}{
		{"pause", func() error { return pauseAsClusterctl(ctx, p) }, marked},
		{"again, since the answer was lost", func() error { return pauseAsClusterctl(ctx, p) }, marked},
		{"resume", func() error { return resumeAsClusterctl(ctx, p) }, free},
		{"again", func() error { return resumeAsClusterctl(ctx, p) }, free},
		{"nothing to lift", func() error { return p.liftAll(ctx) }, free},
		{"pause, and fail then", func() error { return pauseAsClusterctl(ctx, p) }, marked},
		{"lift", func() error { return p.liftAll(ctx) }, free},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		if diff := cmp.Diff(step.want, pausesOf(t, c)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.what, diff)
		}
	}
}

// TestLiftedWhateverEndsIt: a pause whose answer was lost is lifted, also under a context that
// has ended; and what is gone needs no lift.
func TestLiftedWhateverEndsIt(t *testing.T) {
	t.Parallel()
	lost := errors.New("lost")
	lose := true
	c := fakeClient(t, interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
		err := c.Patch(ctx, object, patch, options...)
		if lose {
			err = lost
		}
		return err
	}}, aCluster("a"), aClass())
	p := &pauser{Client: c, mark: "why", paused: map[string]*unstructured.Unstructured{"gone": aCluster("gone")}}
	if err := pauseAsClusterctl(t.Context(), p); !errors.Is(err, lost) {
		t.Fatalf("the pause: %v", err)
	}
	lose = false
	ended, end := context.WithCancel(t.Context())
	end()
	if err := p.liftAll(ended); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(map[string]string{"Cluster": `paused false, mark ""`, "ClusterClass": `paused false, mark ""`}, pausesOf(t, c)); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
}

func TestWithoutInventory(t *testing.T) {
	t.Parallel()
	none := &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "Provider"}}
	c := withoutInventory{fakeClient(t, interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return none }})}
	if err := c.List(t.Context(), &clusterctlv1.ProviderList{}); err != nil {
		t.Errorf("no list of providers: %v", err)
	}
	if err := c.List(t.Context(), &clusterv1.ClusterList{}); !errors.Is(err, none) {
		t.Errorf("another list: %v", err)
	}
}

// TestRefusedForGood: a restore ends at once where an object is refused, and not where it
// could succeed later.
func TestRefusedForGood(t *testing.T) {
	t.Parallel()
	kind := schema.GroupKind{Kind: "Cluster"}
	for name, test := range map[string]struct {
		err   error
		gives bool
	}{
		"invalid":   {apierrors.NewInvalid(kind, "a", nil), true},
		"forbidden": {apierrors.NewForbidden(schema.GroupResource{}, "a", nil), true},
		"busy":      {apierrors.NewTooManyRequests("later", 1), false},
	} {
		ctx, giveUp := context.WithCancelCause(t.Context())
		c := &creator{giveUp: giveUp, pauser: pauser{Client: fakeClient(t, interceptor.Funcs{Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return test.err }})}}
		if err := c.Create(ctx, aCluster("a")); !errors.Is(err, test.err) {
			t.Errorf("%s: %v", name, err)
		}
		if gave := context.Cause(ctx) != nil; gave != test.gives {
			t.Errorf("%s: gave up: %t, want %t (%v)", name, gave, test.gives, context.Cause(ctx))
		}
		if c.created != 0 {
			t.Errorf("%s: %d objects counted", name, c.created)
		}
	}
}
