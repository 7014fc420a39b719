package templater_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
)

// machineDeployment is of a kind that has a Go type.
const machineDeployment = `apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata:
  name: "md-0"
  labels:
    a: "b"
spec:
  clusterName: "c"
  replicas: 3
  template:
    spec:
      clusterName: "c"
      version: "v1.34.2"
      bootstrap: {}
`

// devCluster and devMachineTemplate are of kinds that are checked by a schema.
const (
	devCluster = `apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DevCluster
metadata:
  name: "c"
spec:
  backend:
    inMemory: {}
  controlPlaneEndpoint:
    host: "h"
    port: 6443
`
	devMachineTemplate = `apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DevMachineTemplate
metadata:
  name: "m"
  labels:
    a: "b"
spec:
  template:
    metadata:
      labels:
        anything: "b"
    spec:
      backend:
        docker:
          customImage: "image"
          extraMounts:
          - hostPath: /a
`
)

func checker() *templater.Checker { return templater.NewChecker(os.DirFS("../../config/schemas")) }

func TestDecode(t *testing.T) {
	t.Parallel()
	infrastructure := schema.GroupVersion{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta2"}
	for _, test := range []struct {
		name, text string
		want       templater.Object
	}{
		{"kind with a Go type", machineDeployment, templater.Object{
			Kind: schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "MachineDeployment"}, Name: "md-0", YAML: []byte(machineDeployment),
			JSON: []byte(`{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"MachineDeployment","metadata":{"labels":{"a":"b"},"name":"md-0"},"spec":{"clusterName":"c","replicas":3,"template":{"spec":{"bootstrap":{},"clusterName":"c","version":"v1.34.2"}}}}`),
		}},
		{"kind with a schema", devCluster, templater.Object{
			Kind: infrastructure.WithKind("DevCluster"), Name: "c", YAML: []byte(devCluster),
			JSON: []byte(`{"apiVersion":"infrastructure.cluster.x-k8s.io/v1beta2","kind":"DevCluster","metadata":{"name":"c"},"spec":{"backend":{"inMemory":{}},"controlPlaneEndpoint":{"host":"h","port":6443}}}`),
		}},
		{"kind with a schema that has lists and maps", devMachineTemplate, templater.Object{
			Kind: infrastructure.WithKind("DevMachineTemplate"), Name: "m", YAML: []byte(devMachineTemplate),
			JSON: []byte(`{"apiVersion":"infrastructure.cluster.x-k8s.io/v1beta2","kind":"DevMachineTemplate","metadata":{"labels":{"a":"b"},"name":"m"},"spec":{"template":{"metadata":{"labels":{"anything":"b"}},"spec":{"backend":{"docker":{"customImage":"image","extraMounts":[{"hostPath":"/a"}]}}}}}}`),
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := checker()
			for range 2 { // the second one comes from memory
				got, err := c.Decode([]byte(test.text))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("decoded (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestDecodeIsStrict(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text  string
		old, change string // one replacement in text
		want        string
	}{
		{"misspelt field", machineDeployment, "replicas:", "replica:", `MachineDeployment md-0: unknown field "spec.replica"`},
		{"wrong case", machineDeployment, "replicas:", "Replicas:", `MachineDeployment md-0: unknown field "spec.Replicas"`},
		{"wrong case of kind", machineDeployment, "kind:", "Kind:", "decoding what was rendered: an object must have apiVersion and kind"},
		{"wrong case of a nested field", machineDeployment, "      version:", "      Version:", `MachineDeployment md-0: unknown field "spec.template.spec.Version"`},
		{"misspelt top-level field", machineDeployment, "spec:\n  cl", "specs:\n  cl", `MachineDeployment md-0: unknown field "specs"`},
		{"misspelt field of metadata", machineDeployment, "labels:", "lables:", `MachineDeployment md-0: unknown field "metadata.lables"`},
		{"duplicate key", machineDeployment, "  replicas: 3\n", "  replicas: 3\n  replicas: 3\n", "decoding what was rendered: yaml: unmarshal errors:\n  line 10: key \"replicas\" already set in map"},
		{"text for a number", machineDeployment, "replicas: 3", `replicas: "3"`, "MachineDeployment md-0: json: cannot unmarshal string into Go struct field MachineDeploymentSpec.spec.replicas of type int32"},
		{"number for text", machineDeployment, `"v1.34.2"`, "1.34", "MachineDeployment md-0: json: cannot unmarshal number into Go struct field MachineSpec.spec.template.spec.version of type string"},
		{"list for an object", machineDeployment, "bootstrap: {}", "bootstrap: []", "MachineDeployment md-0: json: cannot unmarshal array into Go struct field MachineSpec.spec.template.spec.bootstrap of type v1beta2.Bootstrap"},
		{"label that is a boolean to YAML", machineDeployment, `a: "b"`, "a: yes", "decoding what was rendered: json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string"},
		{"several mistakes", machineDeployment, "  replicas: 3\n", "  Replicas: 3\n  paws: true\n", "MachineDeployment md-0: unknown field \"spec.Replicas\"\nunknown field \"spec.paws\""},

		{"schema: misspelt field", devMachineTemplate, "customImage:", "customImages:", "DevMachineTemplate m: validation failure list:\nspec.template.spec.backend.docker.customImages in body is a forbidden property"},
		{"schema: wrong case", devMachineTemplate, "customImage:", "CustomImage:", "DevMachineTemplate m: validation failure list:\nspec.template.spec.backend.docker.CustomImage in body is a forbidden property"},
		{"schema: wrong case of kind", devMachineTemplate, "kind:", "Kind:", "decoding what was rendered: an object must have apiVersion and kind"},
		{"schema: misspelt field in a list", devMachineTemplate, "hostPath:", "hostpath:", "DevMachineTemplate m: validation failure list:\nspec.template.spec.backend.docker.extraMounts[0].hostpath in body is a forbidden property"},
		{"schema: misspelt top-level field", devMachineTemplate, "spec:\n  template:\n", "specs:\n  template:\n", "DevMachineTemplate m: validation failure list:\n.specs in body is a forbidden property"},
		{"schema: field of an object that has none", devCluster, "inMemory: {}", "inMemory: {image: x}", "DevCluster c: validation failure list:\nspec.backend.inMemory.image in body is a forbidden property"},
		{"schema: misspelt field of metadata", devMachineTemplate, "  labels:\n    a:", "  lables:\n    a:", `DevMachineTemplate m: unknown field "metadata.lables"`},
		{"schema: wrong case in metadata", devMachineTemplate, "  labels:\n    a:", "  Labels:\n    a:", `DevMachineTemplate m: unknown field "metadata.Labels"`},
		{"schema: label that is a boolean to YAML", devMachineTemplate, `    a: "b"`, "    a: yes", "decoding what was rendered: json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string"},
		{"schema: label of a template that is a number", devMachineTemplate, `anything: "b"`, "anything: 1", "DevMachineTemplate m: validation failure list:\nspec.template.metadata.labels.anything in body must be of type string: \"integer\""},
		{"schema: duplicate key", devMachineTemplate, "hostPath: /a\n", "hostPath: /a\n            hostPath: /a\n", "decoding what was rendered: yaml: unmarshal errors:\n  line 18: key \"hostPath\" already set in map"},
		{"schema: text for a number", devCluster, "port: 6443", `port: "6443"`, "DevCluster c: validation failure list:\nspec.controlPlaneEndpoint.port in body must be of type integer: \"string\""},
		{"schema: number for text", devMachineTemplate, `"image"`, "1", "DevMachineTemplate m: validation failure list:\nspec.template.spec.backend.docker.customImage in body must be of type string: \"integer\""},
		{"schema: list for an object", devCluster, "inMemory: {}", "inMemory: []", "DevCluster c: validation failure list:\nspec.backend.inMemory in body must be of type object: \"array\""},
		{"schema: required field missing", devCluster, "  backend:\n    inMemory: {}\n", "", "DevCluster c: validation failure list:\nspec.backend in body is required"},

		{"kind that nothing is known of", machineDeployment, "MachineDeployment", "MachinePool", "MachinePool md-0: no schema to check cluster.x-k8s.io/v1beta2, Kind=MachinePool with: open cluster.x-k8s.io_v1beta2_MachinePool.json: no such file or directory"},
		{"old version of a kind", machineDeployment, "v1beta2", "v1beta1", "MachineDeployment md-0: no schema to check cluster.x-k8s.io/v1beta1, Kind=MachineDeployment with: open cluster.x-k8s.io_v1beta1_MachineDeployment.json: no such file or directory"},
		{"two documents", machineDeployment, "", "---\n" + devCluster, "decoding what was rendered: a template must render one document"},
		{"tab", machineDeployment, "  name:", "\tname:", "decoding what was rendered: yaml: line 4: found character that cannot start any token"},
		{"name that is no text", machineDeployment, `name: "md-0"`, "name: 5", "decoding what was rendered: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			text := test.text + test.change
			if test.old != "" {
				text = strings.Replace(test.text, test.old, test.change, 1)
			}
			if text == test.text {
				t.Fatal("nothing is changed")
			}
			got, err := checker().Decode([]byte(text))
			if diff := cmp.Diff(test.want, fmt.Sprint(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s\nof\n%s", diff, text)
			}
			if diff := cmp.Diff(templater.Object{}, got); diff != "" {
				t.Errorf("object beside the error:\n%s", diff)
			}
		})
	}
}

func TestDecodeRefusesWhatIsNoObject(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", "decoding what was rendered: an object must have apiVersion and kind"},
		{"comment", "# nothing\n", "decoding what was rendered: an object must have apiVersion and kind"},
		{"list", "- a\n", "decoding what was rendered: json: cannot unmarshal array into Go value of type v1.PartialObjectMetadata"},
		{"text", "hello\n", "decoding what was rendered: json: cannot unmarshal string into Go value of type v1.PartialObjectMetadata"},
		{"no kind", "a: b\n", "decoding what was rendered: an object must have apiVersion and kind"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := checker().Decode([]byte(test.text))
			if diff := cmp.Diff(test.want, fmt.Sprint(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRenamed(t *testing.T) {
	t.Parallel()
	named := func(name string) templater.Object {
		object, err := checker().Decode([]byte(`apiVersion: v1
kind: ConfigMap
metadata:
  name: "` + name + `"
  namespace: "n"
data:
  name: "d"
`))
		if err != nil {
			t.Fatal(err)
		}
		return object
	}
	if diff := cmp.Diff(named("other"), named(templater.Unnamed).Renamed("other")); diff != "" {
		t.Errorf("renamed (-as if decoded +got):\n%s", diff)
	}
}

func TestUnstructured(t *testing.T) {
	t.Parallel()
	object, err := checker().Decode([]byte(devCluster))
	if err != nil {
		t.Fatal(err)
	}
	got, err := object.Unstructured()
	if err != nil {
		t.Fatal(err)
	}
	want := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
		"kind":       "DevCluster",
		"metadata":   map[string]any{"name": "c"},
		"spec": map[string]any{
			"backend":              map[string]any{"inMemory": map[string]any{}},
			"controlPlaneEndpoint": map[string]any{"host": "h", "port": int64(6443)},
		},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unstructured (-want +got):\n%s", diff)
	}
}
