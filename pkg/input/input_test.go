package input_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/input"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// write writes files below a directory of their own, and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestFiles: a directory stands for the files in it that kubectl would read, and each file
// is named once.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"b.yaml": "", "a.yml": "", "c.json": "", "README.md": "", "below/d.yaml": "", "none/README.md": ""})
	type result struct {
		Files []string
		Error string
	}
	for name, test := range map[string]struct {
		named []string
		want  result
	}{
		"none":            {nil, result{nil, "-f FILE is required: a file that describes a cluster, or a directory of such files"}},
		"a directory":     {[]string{"$DIR"}, result{[]string{"$DIR/a.yml", "$DIR/b.yaml", "$DIR/c.json"}, "<nil>"}},
		"as they come":    {[]string{"-", "$DIR/README.md", "$DIR/below"}, result{[]string{"-", "$DIR/README.md", "$DIR/below/d.yaml"}, "<nil>"}},
		"what is not":     {[]string{"$DIR/x"}, result{[]string{"$DIR/x"}, "<nil>"}},
		"twice":           {[]string{"$DIR", "$DIR/./b.yaml"}, result{nil, "-f names $DIR/./b.yaml twice"}},
		"twice the input": {[]string{"-", "-"}, result{nil, "-f names standard input twice"}},
		"without files":   {[]string{"$DIR/none"}, result{nil, "the directory $DIR/none has no file that ends in .json, .yaml, .yml; its subdirectories are not read"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			named := make([]string, len(test.named))
			for i, one := range test.named {
				named[i] = strings.ReplaceAll(one, "$DIR", dir)
			}
			files, err := input.Files(named)
			got := result{nil, strings.ReplaceAll(fmt.Sprint(err), dir, "$DIR")}
			for _, file := range files {
				got.Files = append(got.Files, strings.ReplaceAll(file, dir, "$DIR"))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

// endless is a device.
type endless struct{}

func (endless) Read(data []byte) (int, error) { return len(data), nil }

// TestReadFile: no more of a file is read than shows that it is too large.
func TestReadFile(t *testing.T) {
	t.Parallel()
	r := input.Reader{Stdin: endless{}}
	data, err := r.ReadFile("the cluster spec", "name a file", "-")
	if err != nil || len(data) != strictyaml.MaxFileSize+1 {
		t.Errorf("%d bytes, %v; want %d", len(data), err, strictyaml.MaxFileSize+1)
	}
	_, err = r.ReadFile("the cluster spec", "name a file", "/none")
	if got, want := fmt.Sprint(err), "reading the cluster spec: open /none: no such file or directory; name a file"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestReadBundles: those of a file are added to the built-in ones, or take their place.
func TestReadBundles(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"one.yaml": `apiVersion: clusterctl-x.io/v1alpha1
kind: Bundles
metadata:
  name: one
spec:
  versionsBundles:
  - kubeVersion: "1.90"
    releases:
    - version: v1.90.1
      images: {kubeAPIServer: "r.example/a:v1", kubeControllerManager: "r.example/c:v1", kubeScheduler: "r.example/s:v1", kubeProxy: "r.example/p:v1", etcd: "r.example/etcd:3", coreDNS: "r.example/coredns:v1", pause: "r.example/pause:3"}
`})
	versions := func(r input.Reader) string {
		t.Helper()
		bundles, err := r.ReadBundles()
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(bundles.Versions())
	}
	builtIn := versions(input.Reader{})
	for name, test := range map[string]struct {
		replace bool
		want    string
	}{
		"added":    {false, strings.TrimSuffix(builtIn, "]") + " v1.90.1]"},
		"replaced": {true, "[v1.90.1]"},
	} {
		if got := versions(input.Reader{Bundles: filepath.Join(dir, "one.yaml"), ReplaceBundles: test.replace}); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}

// TestNamespace: a file that names another namespace than the user is wrong at that line.
func TestNamespace(t *testing.T) {
	t.Parallel()
	spec := "apiVersion: clusterctl-x.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: prod\n  namespace: team-a\n"
	wrong := []string{`c.yaml:5: metadata.namespace: Invalid value: "team-a": does not match the namespace of the flag, --namespace team-b; leave the flag out, or change the file`}
	for namespace, want := range map[string][]string{"": nil, "team-a": nil, "team-b": wrong} {
		r := input.Reader{Namespace: namespace}
		read, err := r.Spec("c.yaml", []byte(spec))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, problem := range read.Config.Problems {
			if problem.Err.Field == "metadata.namespace" {
				got = append(got, strictyaml.Problems{problem}.Error())
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("namespace %q (-want +got):\n%s", namespace, diff)
		}
	}
}

// TestSpecSchema: without more providers it is the one that is built in.
func TestSpecSchema(t *testing.T) {
	t.Parallel()
	r := input.Reader{}
	schema, err := r.SpecSchema()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(config.SpecSchema), string(schema)); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
	if got, want := errorOf(r.ReadProvider("none")), `--provider must be one of `; !strings.HasPrefix(got, want) {
		t.Errorf("got %s, want %s...", got, want)
	}
}

func errorOf(_ any, err error) string { return fmt.Sprint(err) }

// TestReadPlan: no file, no plan; and a remedy where there is none to read.
func TestReadPlan(t *testing.T) {
	t.Parallel()
	if saved, err := input.ReadPlan(""); saved != nil || err != nil {
		t.Errorf("got %v, %v", saved, err)
	}
	if got, want := errorOf(input.ReadPlan("/none")), "reading the plan: open /none: no such file or directory; "; !strings.HasPrefix(got, want) {
		t.Errorf("got %s, want %s...", got, want)
	}
}
