package templates_test

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/drone/envsubst/v2"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// moduleDir returns where the go command has a module, in the version of a go.mod of this
// repository.
func moduleDir(t *testing.T, goMod, module string) string {
	t.Helper()
	for _, args := range [][]string{{"mod", "download", module}, {"list", "-m", "-f", "{{.Dir}}", module}} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = filepath.Join("..", "..", filepath.FromSlash(goMod))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go %s in %s: %v: %s", strings.Join(args, " "), cmd.Dir, err, &stderr)
		}
		if dir := strings.TrimSpace(string(out)); dir != "" {
			return dir
		}
	}
	t.Fatalf("the go command has no directory for %s", module)
	return ""
}

// template is one that makes a cluster: a file, or the directory of a kustomization.
type template struct{ path, text string }

// spaced is a variable as clusterctl had it first, and still reads it.
var spaced = regexp.MustCompile(`\${\s*([A-Za-z0-9_$]+)\s*}`)

var ofCluster = regexp.MustCompile(`(?m)^kind: Cluster$`)

// templatesBelow returns the templates of a module: its files for 'clusterctl generate cluster',
// its examples, and what its kustomizations build. One that builds what a file has is left out.
func templatesBelow(t *testing.T, dir string) []template {
	t.Helper()
	files, built := map[string]string{}, map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if path.Base(name) == "kustomization.yaml" {
			if text := build(filepath.Join(dir, path.Dir(name))); ofCluster.MatchString(text) {
				built[path.Dir(name)+"/"] = text
			}
		}
		isTemplate, err := path.Match("cluster-template*.yaml", path.Base(name))
		if err != nil || !isTemplate && path.Base(path.Dir(name)) != "examples" || strings.Contains(name, "/kustomize_sources/") {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if ofCluster.Match(text) {
			files[name] = string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	known := slices.Collect(maps.Values(files))
	maps.DeleteFunc(built, func(_, text string) bool { return slices.Contains(known, text) })
	maps.Copy(files, built)
	var all []template
	for _, name := range slices.Sorted(maps.Keys(files)) {
		all = append(all, template{path: name, text: files[name]})
	}
	return all
}

// build returns what a kustomization builds. What cannot be built on its own, such as one of
// a provider's manager, is no template.
func build(dir string) string {
	options := krusty.MakeDefaultOptions()
	options.LoadRestrictions = types.LoadRestrictionsNone
	objects, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return ""
	}
	text, err := objects.AsYaml()
	if err != nil {
		return ""
	}
	return string(text)
}

// withDefault is a variable that needs no value.
var withDefault = regexp.MustCompile(`\${\s*([A-Z0-9_]+)\s*:?[-=]`)

// filled returns a template with values for its variables that have none, as clusterctl gives them.
func filled(t *testing.T, text string) string {
	t.Helper()
	optional := map[string]bool{}
	for _, match := range withDefault.FindAllStringSubmatch(text, -1) {
		optional[match[1]] = true
	}
	result, err := envsubst.Eval(spaced.ReplaceAllString(text, "$${$1}"), func(name string) string {
		if optional[name] {
			return ""
		}
		return value(name)
	})
	if err != nil {
		t.Fatalf("replacing the variables: %v", err)
	}
	return ahead.ReplaceAllString(result, "v1.35.4")
}

// ahead is a version of the release that Cluster API tests before it is there; no bundle has it.
var ahead = regexp.MustCompile(`v1\.\d+\.\d+-(alpha|beta|rc)\.\d+`)

// value is that of a variable. The names say what it is for.
func value(name string) string {
	for _, of := range []struct{ part, value string }{
		{"CLUSTER_NAME", "prod"}, {"NAMESPACE", "clusters"}, {"CI_VERSION", "v1.35.4"},
		{"KUBERNETES_VERSION", "v1.35.4"}, {"UPGRADE_FROM", "v1.34.8"}, {"UPGRADE_TO", "v1.35.4"},
		{"COUNT", "3"}, {"MACHINE_POOL_MIN", "1"}, {"MACHINE_POOL_MAX", "3"},
		{"POD_CIDRS", "192.168.0.0/16"}, {"SERVICE_CIDRS", "10.128.0.0/12"}, {"POD_IPV6_CIDRS", "fd01::/48"}, {"SERVICE_IPV6_CIDRS", "fd02::/108"},
		{"SUBNET_CIDR", "10.0.0.0/24"}, {"SERVICE_DOMAIN", "cluster.local"},
	} {
		if strings.Contains(name, of.part) {
			return of.value
		}
	}
	return strings.ToLower(strings.ReplaceAll(name, "_", "-"))
}
