package observe

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

var update = flag.Bool("update", false, "write the golden files anew")

// maxWaiting is how many characters fit what people read at a glance.
const maxWaiting = 300

// TestWaiting reads clusters as Cluster API v1.14 showed them to kubectl. They
// were recorded from the simulated provider; what it cannot do (evict pods, pull
// images, run kubeadm) was written into the conditions as Cluster API writes it.
// The conditions of the former API are left out where nobody reads them.
func TestWaiting(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/waiting/*/objects.yaml")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases (%v)", err)
	}
	for _, file := range cases {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			cluster := recorded(t, file)
			waiting := cluster.Waiting()
			golden := filepath.Join(dir, "waiting.txt")
			if *update {
				if err := os.WriteFile(golden, []byte(waiting+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), waiting+"\n"); diff != "" {
				t.Errorf("waiting (-want +got):\n%s", diff)
			}
			if strings.ContainsFunc(waiting, unicode.IsControl) || utf8.RuneCountInString(waiting) > maxWaiting {
				t.Errorf("not one line of at most %d characters: %q", maxWaiting, waiting)
			}
			if cluster.Done() != (waiting == "") {
				t.Errorf("done is %t and it waits for %q", cluster.Done(), waiting)
			}
		})
	}
}

// recorded is the state of the one cluster in a file of "kubectl get -o yaml".
func recorded(t *testing.T, file string) state.Cluster {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all unstructured.UnstructuredList
	if err := yaml.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(clusterv1.AddToScheme, addonsv1.AddToScheme, controlplanev1.AddToScheme)
	if err := builder.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	list := func(_ context.Context, _ client.WithWatch, into client.ObjectList, _ ...client.ListOption) error {
		kind, err := apiutil.GVKForObject(into, scheme)
		if err != nil {
			return err
		}
		kind.Kind = strings.TrimSuffix(kind.Kind, "List")
		var found []runtime.Object
		for _, item := range all.Items {
			if item.GroupVersionKind() != kind {
				continue
			}
			object, err := scheme.New(kind)
			if err != nil {
				return err
			}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(item.Object, object, true); err != nil {
				return err
			}
			found = append(found, object)
		}
		return meta.SetList(into, found)
	}
	connection := interceptor.NewClient(nil, interceptor.Funcs{List: list})
	clusters, _, err := Clusters(t.Context(), connection, connection, Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if len(clusters) != 1 {
		t.Fatalf("%d clusters in %s", len(clusters), file)
	}
	return clusters[0]
}
