package yamledit_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/yamledit"
)

const deployment = `# the workers of web
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata:
  name: workers   # not web-workers
  annotations: {team: web}
spec:
  replicas: 2

  template:
    spec:
      version: "v1.34.2" # with Renovate
      bootstrap:
        configRef:
            kind: KubeadmConfigTemplate
            name: workers-a
      infrastructureRef: {kind: DevMachineTemplate, name: workers-a}
      taints:
      - key: a
        value: old
      - key: b
---
kind: DevMachineTemplate
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
metadata:
  name: workers-a
spec:
  image: one
---
# not of this cluster
kind: ConfigMap
apiVersion: v1
metadata: {name: other}`

func objects(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for _, document := range strings.Split(text, "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			t.Fatal(err)
		}
		all = append(all, object)
	}
	return all
}

// edited replaces text by text.
func edited(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }

// TestObjects: only what differs between two states of the objects is changed, where it
// stands. What both states say differently from the file stays as the file has it.
func TestObjects(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ after, want []string }{
		"nothing":        {nil, nil},
		"a version":      {[]string{"v1.34.2", "v1.35.0"}, []string{`"v1.34.2"`, `"v1.35.0"`}},
		"a number":       {[]string{"replicas: 2", "replicas: 3"}, []string{"replicas: 2", "replicas: 3"}},
		"a field less":   {[]string{"  replicas: 2\n", ""}, []string{"  replicas: 2\n", ""}},
		"a field more":   {[]string{"  replicas: 2\n", "  replicas: 2\n  paused: true\n"}, []string{"      - key: b\n", "      - key: b\n  paused: true\n"}},
		"in braces":      {[]string{"team: web", "team: web, step: one"}, []string{"annotations: {team: web}", "annotations:\n    step: one\n    team: web"}},
		"in a list":      {[]string{"value: old", "value: new"}, []string{"value: old", "value: new"}},
		"a longer list":  {[]string{"      - key: b", "      - key: b\n      - key: c"}, []string{"      - key: b", "      - key: b\n      - key: c"}},
		"a new template": {[]string{"DevMachineTemplate, name: workers-a", "DevMachineTemplate, name: workers-b", "name: workers-a\nspec:\n  image: one", "name: workers-a\nspec:\n  image: one\n---\nkind: DevMachineTemplate\napiVersion: infrastructure.cluster.x-k8s.io/v1beta2\nmetadata:\n  name: workers-b\nspec:\n  image: two"}, []string{"      infrastructureRef: {kind: DevMachineTemplate, name: workers-a}", "      infrastructureRef:\n        kind: DevMachineTemplate\n        name: workers-b", "image: one\n", "image: one\n---\napiVersion: infrastructure.cluster.x-k8s.io/v1beta2\nkind: DevMachineTemplate\nmetadata:\n  name: workers-b\nspec:\n  image: two\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := yamledit.Objects(map[string][]byte{"a.yaml": []byte(deployment), "broken.yaml": []byte("{{ a }}: [")}, objects(t, deployment), objects(t, edited(deployment, c.after...)))
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			if c.want != nil {
				want["a.yaml"] = edited(deployment, c.want...)
			}
			texts := map[string]string{}
			for name, text := range got {
				texts[name] = string(text)
			}
			if diff := cmp.Diff(want, texts); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			again, err := yamledit.Objects(got, objects(t, deployment), objects(t, edited(deployment, c.after...)))
			if err == nil && len(again) > 0 {
				t.Errorf("the files change again: %s", again)
			}
		})
	}
}

// TestOverlays: a patch of an object has only those fields changed that it has; Windows' line
// ends stay.
func TestOverlays(t *testing.T) {
	t.Parallel()
	const patch = "apiVersion: cluster.x-k8s.io/v1beta2\r\nkind: MachineDeployment\r\nmetadata:\r\n  name: workers\r\nspec:\r\n  replicas: 5\r\n"
	got, err := yamledit.Objects(map[string][]byte{"base.yaml": []byte(deployment), "overlay.yaml": []byte(patch)}, objects(t, deployment),
		objects(t, edited(deployment, "replicas: 2", "replicas: 3", "v1.34.2", "v1.35.0")))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{"base.yaml": []byte(edited(deployment, "replicas: 2", "replicas: 3", "v1.34.2", "v1.35.0")), "overlay.yaml": []byte(edited(patch, "5", "3"))}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, from, to, want string
	}{
		"no file has it":    {"a: b", "v1.34.2", "v1.35.0", "MachineDeployment/workers changes, and no file has it; write it with 'clusterctl-x generate manifests --output-dir'"},
		"a variable":        {edited(deployment, `"v1.34.2"`, "${VERSION}"), "v1.34.2", "v1.35.0", "a.yaml: MachineDeployment/workers: line 12: spec.template.spec.version is ${VERSION}: change the value of the variable to v1.35.0"},
		"without a value":   {edited(deployment, `"v1.34.2" #`, "#"), "v1.34.2", "v1.35.0", "a.yaml: MachineDeployment/workers: line 12: spec.template.spec.version cannot be changed as it is written; change it by hand"},
		"nothing to add to": {"a: b", "name: other}", "name: new}", "ConfigMap/new is new, and no file has objects of a cluster to add it to; write it with 'clusterctl-x generate manifests --output-dir'"},
	} {
		_, err := yamledit.Objects(map[string][]byte{"a.yaml": []byte(c.file)}, objects(t, deployment), objects(t, edited(deployment, c.from, c.to)))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: error is %v, want %s", name, err, c.want)
		}
	}
}
