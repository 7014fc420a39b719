package validations

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
)

var update = flag.Bool("update", false, "write kubelet_fields.json anew")

// TestKubeletFields compares what is known of a kubelet's configuration with
// its Go type.
func TestKubeletFields(t *testing.T) {
	t.Parallel()
	want, err := json.MarshalIndent(shapeOf(reflect.TypeFor[kubeletv1beta1.KubeletConfiguration]()), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile("kubelet_fields.json", want, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want), string(kubeletFields)); diff != "" {
		t.Errorf("'go test ./pkg/validations -run KubeletFields -update' writes this anew (-want +got):\n%s", diff)
	}
}

// TestShapesHaveKnownTypes finds a type that a new release of Kubernetes brings.
func TestShapesHaveKnownTypes(t *testing.T) {
	t.Parallel()
	var visit func(path string, s *shape)
	visit = func(path string, s *shape) {
		if s == nil {
			return
		}
		if _, known := valueTypes()[s.Type]; !known && s.Type != "" {
			t.Errorf("%s has type %s, which valueTypes does not", path, s.Type)
		}
		visit(path+"[]", s.Items)
		visit(path+".*", s.Values)
		for name, of := range s.Fields {
			visit(path+"."+name, of)
		}
	}
	visit("kubelet", kubeletShape())
	visit("audit policy", shapeOf(reflect.TypeFor[auditv1.Policy]()))
}
