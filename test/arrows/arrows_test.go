// Package arrows_test keeps the shape of the code: which package may import
// which, and what the pure ones may not reach.
package arrows_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/clusterctl-x/clusterctl-x"

// allowed maps each package below pkg, config and the tools to the packages of
// ours that it may import. The commands may import all of these, and of each other what
// sharedByCommands says.
func allowed() map[string][]string {
	return map[string][]string{
		"config":           nil,
		"hack/addons":      {"config", "hack/source"},
		"hack/bundles":     {"hack/source"},
		"hack/components":  {"hack/source"},
		"hack/mutate":      nil,
		"hack/realnodes":   {"config", "hack/source", "pkg/api/v1alpha1", "pkg/versionsbundle"},
		"hack/schema":      {"pkg/api/v1alpha1", "pkg/providers", "pkg/versionsbundle"},
		"hack/source":      nil,
		"pkg/api/v1alpha1": {"pkg/strictyaml"},
		"pkg/backup":       {"pkg/api/v1alpha1", "pkg/files", "pkg/management", "pkg/state", "pkg/usage"},
		"pkg/commandline":  {"pkg/usage"},
		"pkg/components":   {"pkg/management", "pkg/usage"},
		"pkg/connection":   {"pkg/embedded", "pkg/embedded/containerengine", "pkg/management", "pkg/usage"},
		"pkg/embedded":     {"pkg/files"},
		// Apart from pkg/embedded, which knows nothing of what clusters run on.
		"pkg/embedded/containerengine": nil,
		"pkg/files":                    nil,
		"pkg/changes":                  {"pkg/api/v1alpha1", "pkg/controlplanes"},
		"pkg/clusterclass":             {"pkg/api/v1alpha1", "pkg/changes", "pkg/management", "pkg/management/topology", "pkg/manifests", "pkg/state", "pkg/strictyaml", "pkg/validations"},
		"pkg/explain":                  {"pkg/api/v1alpha1", "pkg/strictyaml"},
		"pkg/failure":                  {"pkg/api/v1alpha1", "pkg/engine", "pkg/lifecycle", "pkg/management", "pkg/output", "pkg/plan", "pkg/strictyaml", "pkg/terminal", "pkg/usage", "pkg/validations"},
		"pkg/importer":                 {"pkg/api/v1alpha1", "pkg/changes", "pkg/owners"},
		"pkg/input":                    {"config", "pkg/api/v1alpha1", "pkg/clusterclass", "pkg/components", "pkg/files", "pkg/lifecycle", "pkg/plan", "pkg/providers", "pkg/rbac", "pkg/state", "pkg/strictyaml", "pkg/upgradeplan", "pkg/usage", "pkg/versionsbundle"},
		"pkg/lifecycle": {
			"pkg/api/v1alpha1", "pkg/changes", "pkg/clusterclass", "pkg/controlplanes", "pkg/importer", "pkg/management", "pkg/management/conversion", "pkg/observe", "pkg/management/topology", "pkg/manifests", "pkg/owners", "pkg/plan", "pkg/providers",
			"pkg/rbac", "pkg/engine", "pkg/skew", "pkg/state", "pkg/strictyaml", "pkg/templater", "pkg/validations", "pkg/versionsbundle", "pkg/yamledit",
		},
		"pkg/logs":       {"pkg/output"},
		"pkg/management": {"pkg/api/v1alpha1", "pkg/changes", "pkg/controlplanes", "pkg/observe", "pkg/owners", "pkg/management/topology", "pkg/plan", "pkg/rbac", "pkg/engine", "pkg/skew", "pkg/state", "pkg/versionsbundle"},
		"pkg/observe":    {"pkg/api/v1alpha1", "pkg/controlplanes", "pkg/owners", "pkg/state"},
		// Apart from pkg/management, since it writes nothing and reaches nothing.
		"pkg/management/conversion": nil,
		"pkg/management/topology":   {"pkg/api/v1alpha1", "pkg/changes", "pkg/plan", "pkg/skew", "pkg/upgradepath"},
		"pkg/controlplanes":         {"config", "pkg/api/v1alpha1", "pkg/strictyaml"},
		"pkg/manifests":             {"config", "pkg/api/v1alpha1", "pkg/changes", "pkg/providers", "pkg/templater", "pkg/versionsbundle"},
		"pkg/output":                {"pkg/api/v1alpha1"},
		"pkg/owners":                {"pkg/api/v1alpha1"},
		"pkg/plan":                  {"pkg/api/v1alpha1", "pkg/changes", "pkg/skew", "pkg/state", "pkg/upgradepath"},
		"pkg/providers":             {"config", "pkg/api/v1alpha1", "pkg/state", "pkg/strictyaml", "pkg/templater", "pkg/versionsbundle"},
		"pkg/rbac":                  {"config", "pkg/templater"},
		"pkg/settings":              nil,
		"pkg/skew":                  {"pkg/api/v1alpha1"},
		"pkg/engine":                {"pkg/api/v1alpha1", "pkg/changes", "pkg/plan", "pkg/skew", "pkg/state"},
		// What tests carry out plans against.
		"pkg/engine/enginetest": {"pkg/api/v1alpha1", "pkg/changes", "pkg/plan", "pkg/state"},
		"pkg/selfmanaged":       {"pkg/backup", "pkg/components", "pkg/connection", "pkg/files", "pkg/lifecycle", "pkg/management", "pkg/usage"},
		"pkg/runtimeextension":  {"pkg/api/v1alpha1", "pkg/providers", "pkg/state", "pkg/upgradeplan", "pkg/versionsbundle"},
		"pkg/state":             {"pkg/api/v1alpha1"},
		"pkg/strictyaml":        nil,
		"pkg/templater":         nil,
		"pkg/terminal":          {"pkg/strictyaml", "pkg/view"},
		"pkg/upgradepath":       {"pkg/api/v1alpha1"},
		"pkg/upgradeplan":       {"pkg/api/v1alpha1", "pkg/skew", "pkg/strictyaml", "pkg/upgradepath"},
		"pkg/usage":             nil,
		"pkg/validations":       {"pkg/api/v1alpha1", "pkg/plan", "pkg/providers", "pkg/skew", "pkg/strictyaml", "pkg/versionsbundle"},
		"pkg/versionsbundle":    {"pkg/api/v1alpha1", "pkg/skew", "pkg/strictyaml"},
		"pkg/yamledit":          nil,
		"pkg/view":              {"pkg/api/v1alpha1", "pkg/changes", "pkg/embedded", "pkg/explain", "pkg/plan", "pkg/engine", "pkg/state", "pkg/versionsbundle"},
	}
}

// sharedByCommands are the packages of commands that other commands may import.
func sharedByCommands() []string {
	return []string{"pkg/cmd/cli", "pkg/cmd/internal/collector", "pkg/cmd/plan", "pkg/cmd/watch"}
}

// command reports whether a package belongs to the commands.
func command(p listed) bool { return below(p.name(), []string{"pkg/cmd"}) }

// effectful are the packages below pkg that touch the world. All others take
// values and return values.
func effectful() []string {
	return []string{"pkg/backup", "pkg/components", "pkg/connection", "pkg/embedded", "pkg/embedded/containerengine", "pkg/files", "pkg/input", "pkg/logs", "pkg/management", "pkg/observe", "pkg/runtimeextension", "pkg/selfmanaged", "pkg/settings", "pkg/terminal"}
}

// clients are what only pkg/management and pkg/observe, pkg/backup and pkg/components, which have
// clusterctl's library do it, and the commands, talk to an API server with.
// pkg/management/topology has them by the functions of Cluster API.
func clients() []string { return []string{"k8s.io/client-go", "sigs.k8s.io/controller-runtime"} }

// noClients are those of them that reach nothing: they evaluate a path in a document, or
// hold the log.
func noClients() []string {
	return []string{"k8s.io/client-go/util/jsonpath", "k8s.io/client-go/third_party/forked/golang/template", "sigs.k8s.io/controller-runtime/pkg/log"}
}

// world are the packages that reach something outside of the program's values.
// A package below one of them counts too, unless it is harmless.
func world() []string {
	return []string{"os", "net", "syscall", "log", "crypto/rand", "math/rand", "runtime/debug", "io/ioutil"}
}

func harmless() []string { return []string{"net/netip", "net/url"} }

// forbiddenCalls of pure packages.
func forbiddenCalls() []string {
	return []string{
		"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc", "time.Tick", "time.NewTicker", "time.NewTimer",
		"fmt.Print", "fmt.Printf", "fmt.Println", "fmt.Scan", "fmt.Scanf", "fmt.Scanln",
	}
}

// exceptions to forbiddenCalls: progress is drawn as time goes by.
func exceptions() map[string][]string {
	return map[string][]string{"pkg/view": {"time.NewTicker", "time.Now"}}
}

// listed is what 'go list' knows of a package.
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
	Deps       []string
}

func (l listed) name() string { return strings.TrimPrefix(l.ImportPath, module+"/") }

// list returns the packages that a pattern matches, without tests.
func list(t *testing.T, patterns ...string) []listed {
	t.Helper()
	touchSources(t)
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-json=ImportPath,Dir,GoFiles,Imports,Deps"}, patterns...)...)
	cmd.Dir = filepath.Join("..", "..")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// touchSources opens what 'go list' reads, which is another process: so a
// cached result of these tests does not outlive a change.
func touchSources(t *testing.T) {
	t.Helper()
	if _, err := os.ReadFile("../../go.mod"); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"cmd", "config", "hack", "pkg", "test"} {
		err := filepath.WalkDir(filepath.Join("..", "..", dir), func(file string, _ fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(file) == ".go" {
				_, err = os.ReadFile(file)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// below reports whether a package is one of these, or below one of them.
func below(pkg string, parents []string) bool {
	return slices.ContainsFunc(parents, func(parent string) bool { return pkg == parent || strings.HasPrefix(pkg, parent+"/") })
}

func pure(p listed) bool { return !slices.Contains(effectful(), p.name()) && !command(p) }

func TestImportsOfOurPackages(t *testing.T) {
	t.Parallel()
	rules := allowed()
	for _, p := range list(t, "./pkg/...", "./config/...", "./hack/...") {
		if command(p) {
			continue
		}
		may, known := rules[p.name()]
		if !known {
			t.Errorf("%s is a new package: say in this test what it may import, and in the design why", p.name())
		}
		for _, imported := range p.Imports {
			if name, ours := strings.CutPrefix(imported, module+"/"); ours && !slices.Contains(may, name) {
				t.Errorf("%s imports %s; it may import %v", p.name(), name, may)
			}
		}
	}
}

func TestOnlyManagementTalksToAPIServers(t *testing.T) {
	t.Parallel()
	for _, p := range list(t, "./pkg/...", "./config/...") {
		if below(p.name(), []string{"pkg/backup", "pkg/cmd", "pkg/components", "pkg/management", "pkg/observe"}) {
			continue
		}
		dependencies := p.Deps
		if slices.Contains(p.Imports, module+"/pkg/management") || slices.Contains(p.Imports, module+"/pkg/lifecycle") {
			dependencies = p.Imports // it talks to them by pkg/management, perhaps by pkg/lifecycle, which bring them all
		}
		if p.name() == "pkg/runtimeextension" {
			// The server that it is made with brings them all; it may name none of those
			// that a client is made with.
			dependencies = slices.DeleteFunc(slices.Clone(p.Imports), func(name string) bool {
				return below(name, []string{"sigs.k8s.io/controller-runtime/pkg/healthz", "sigs.k8s.io/controller-runtime/pkg/webhook", "k8s.io/client-go/util/cert"})
			})
		}
		for _, dependency := range dependencies {
			if below(dependency, clients()) && !slices.Contains(noClients(), dependency) {
				t.Errorf("%s depends on %s", p.name(), dependency)
			}
		}
	}
}

func TestPurePackagesReachNothing(t *testing.T) {
	t.Parallel()
	for _, p := range list(t, "./pkg/...", "./config/...") {
		if !pure(p) {
			continue
		}
		for _, imported := range p.Imports {
			if below(imported, world()) && !slices.Contains(harmless(), imported) {
				t.Errorf("%s imports %s, and is to be pure", p.name(), imported)
			}
		}
		got := calls(t, p, forbiddenCalls())
		if diff := cmp.Diff(exceptions()[p.name()], got); diff != "" {
			t.Errorf("calls in %s that a pure package does not have (-allowed +got):\n%s", p.name(), diff)
		}
	}
}

// TestContextBeginsInMain: everything else is given its context.
func TestContextBeginsInMain(t *testing.T) {
	t.Parallel()
	got := map[string][]string{}
	for _, p := range list(t, "./pkg/...", "./cmd/...", "./config/...") {
		if found := calls(t, p, []string{"context.Background", "context.TODO"}); len(found) > 0 {
			got[p.name()] = found
		}
	}
	want := map[string][]string{"cmd/clusterctl-x": {"context.Background"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("contexts that begin (-want +got):\n%s", diff)
	}
}

// calls returns which of the functions, each as package.Name, a package uses, sorted.
func calls(t *testing.T, p listed, functions []string) []string {
	t.Helper()
	used := map[string]bool{}
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		imports := map[string]string{} // name in this file -> last element of the path
		for _, spec := range file.Imports {
			last := path.Base(strings.Trim(spec.Path.Value, `"`))
			if spec.Name != nil {
				imports[spec.Name.Name] = last
			} else {
				imports[last] = last
			}
		}
		ast.Inspect(file, func(node ast.Node) bool {
			selector, ok := node.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := selector.X.(*ast.Ident); ok {
				if function := imports[x.Name] + "." + selector.Sel.Name; slices.Contains(functions, function) {
					used[function] = true
				}
			}
			return true
		})
	}
	return slices.Sorted(maps.Keys(used))
}

// madeOfCommands are the commands that do what others do.
func madeOfCommands() map[string][]string {
	return map[string][]string{"pkg/cmd/apply": {"pkg/cmd/create", "pkg/cmd/upgrade"}}
}

// TestImportsOfCommands: a command imports no other command but the shared ones and those
// that it is made of; the root imports them all.
func TestImportsOfCommands(t *testing.T) {
	t.Parallel()
	for _, p := range list(t, "./cmd/clusterctl-x", "./pkg/cmd/...") {
		for _, imported := range p.Imports {
			name := strings.TrimPrefix(imported, module+"/")
			root := slices.Contains([]string{"cmd/clusterctl-x", "pkg/cmd"}, p.name())
			allowed := slices.Concat(sharedByCommands(), madeOfCommands()[p.name()])
			if !root && below(name, []string{"pkg/cmd"}) && !slices.Contains(allowed, name) {
				t.Errorf("%s imports %s; of commands it may import %v", p.name(), name, allowed)
			}
		}
	}
}

// TestNothingImportsCommands: what commands and tools have is theirs.
func TestNothingImportsCommands(t *testing.T) {
	t.Parallel()
	for _, p := range list(t, "./...") {
		for _, imported := range p.Imports {
			if below(imported, []string{module + "/cmd", module + "/hack", module + "/test"}) && !sameTree(p.ImportPath, imported) {
				t.Errorf("%s imports %s", p.ImportPath, imported)
			}
		}
	}
}

// sameTree reports whether two packages are of the same command, or both of the
// tools or of the tests.
func sameTree(a, b string) bool {
	tree := func(p string) string {
		parts := strings.SplitN(strings.TrimPrefix(p, module+"/"), "/", 3)
		if parts[0] == "hack" || parts[0] == "test" {
			return parts[0]
		}
		return strings.Join(parts[:min(2, len(parts))], "/")
	}
	return tree(a) == tree(b)
}
