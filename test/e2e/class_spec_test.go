package e2e_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// classText is a ClusterClass of clusterctl-x for simulated machines.
func classText(t *testing.T, namespace string, args ...string) []byte {
	t.Helper()
	return []byte(cli(t, 0, append([]string{"generate", "clusterclass", "--provider", "inmemory", "-n", namespace}, args...)...).stdout)
}

// edited are the documents of a class after edits of the ClusterClass itself.
func edited(t *testing.T, text []byte, edits ...func(class map[string]any)) []byte {
	t.Helper()
	var all bytes.Buffer
	for _, document := range documents(t, text) {
		if document.GetKind() == "ClusterClass" {
			for _, edit := range edits {
				edit(document.Object)
			}
		}
		data, err := yaml.Marshal(document.Object)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString("---\n")
		all.Write(data)
	}
	return all.Bytes()
}

func documents(t *testing.T, text []byte) []unstructured.Unstructured {
	t.Helper()
	var all []unstructured.Unstructured
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		var document unstructured.Unstructured
		switch err := decoder.Decode(&document.Object); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatal(err)
		}
		all = append(all, document)
	}
}

// kubernetesVersions sets the versions of a class; none takes the field away.
func kubernetesVersions(versions ...string) func(map[string]any) {
	return func(class map[string]any) {
		spec := class["spec"].(map[string]any)
		if len(versions) == 0 {
			delete(spec, "kubernetesVersions")
			return
		}
		list := make([]any, len(versions))
		for i, version := range versions {
			list[i] = version
		}
		spec["kubernetesVersions"] = list
	}
}

// applyClass makes a namespace with the ClusterClass of clusterctl-x in it.
func applyClass(t *testing.T, name string, edits ...func(map[string]any)) (namespace string) {
	t.Helper()
	namespace = newNamespace(t, shared, name)
	applyTo(t, namespace, edited(t, classText(t, namespace), edits...))
	return namespace
}

func applyTo(t *testing.T, namespace string, text []byte) {
	t.Helper()
	kubectl(t, shared, text, "apply", "-n", namespace, "-f", "-")
}

// textFile is a file with a text.
func textFile(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// assertGoesOn compares what an upgrade of a managed cluster says at its end:
// the steps, numbered from one on, that Cluster API continues with by itself.
func assertGoesOn(t *testing.T, stderr, begins string, steps ...string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
	last := lines[len(lines)-1]
	want := `^` + begins + `; Cluster API continues with `
	for i, step := range steps {
		want += map[bool]string{true: "", false: ", "}[i == 0] + `step \d+ \(` + regexp.QuoteMeta(step) + `\)`
	}
	if !regexp.MustCompile(want + `: run the same command again to continue$`).MatchString(last) {
		t.Errorf("the last line is\n%s\nwant\n%s", last, want)
	}
}

// assertStderr compares all that a command wrote to stderr, but for the line that
// names the management cluster.
func assertStderr(t *testing.T, r result, want string, without ...string) {
	t.Helper()
	said := strings.TrimPrefix(r.stderr, `management cluster: embedded "e2e", `+server(t)+"\n")
	for _, text := range without {
		said = strings.ReplaceAll(said, text, "")
	}
	if said != want {
		t.Errorf("stderr is\n%s\nwant\n%s", said, want)
	}
}

// assertEndsWith compares the end of what a command said.
func assertEndsWith(t *testing.T, said, want string) {
	t.Helper()
	if !strings.HasSuffix(said, want) {
		t.Errorf("stderr is\n%s\nand is to end with\n%s", said, want)
	}
}
