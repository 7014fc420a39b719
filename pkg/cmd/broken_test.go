package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/clusterctl-x/clusterctl-x/pkg/failure"
	"github.com/clusterctl-x/clusterctl-x/pkg/output"
	"github.com/clusterctl-x/clusterctl-x/pkg/terminal"
)

// brokenDir holds archives of broken specs, one for each theme. Behind each
// spec NAME.yaml stands NAME.want, which is all that a command says of it.
const brokenDir = "testdata/broken"

// leastBroken is how many broken specs there must be.
const leastBroken = 100

// maxBrokenTime is the processor time that a command may take to refuse any file.
const maxBrokenTime = 2 * time.Second

// maxRefusedMemory is what a command may allocate to refuse a file that is too
// large, and maxTaken what it may take of one without end.
const (
	maxRefusedMemory = 16 << 20
	maxTaken         = 2 << 20
)

// TestBrokenSpecs gives each broken spec to each command that reads one.
func TestBrokenSpecs(t *testing.T) {
	archives := brokenArchives(t)
	cases := len(generatedSpecs())
	for _, archive := range archives {
		cases += len(archive.Files) / 2
	}
	if cases < leastBroken {
		t.Errorf("%d broken specs, want %d or more", cases, leastBroken)
	}
	kubeconfig := enterBroken(t)
	for path, archive := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { runArchive(t, path, archive, kubeconfig) })
	}
}

// brokenArchives are the archives by their absolute paths.
func brokenArchives(t *testing.T) map[string]*txtar.Archive {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(brokenDir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	archives := map[string]*txtar.Archive{}
	for _, path := range paths {
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		if archives[path], err = txtar.ParseFile(path); err != nil {
			t.Fatal(err)
		}
		if len(archives[path].Files)%2 != 0 {
			t.Fatalf("%s: each spec needs its .want", path)
		}
	}
	return archives
}

// enterBroken makes an empty directory the working directory, and returns the
// path of a kubeconfig of a server that must not be asked anything.
func enterBroken(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the management cluster was asked: %s %s", r.Method, r.URL)
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	kubeconfig, bundles := filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "bundles.yaml")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: %s}}]
users: [{name: a, user: {}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
current-context: a
`, server.URL)
	if err := errors.Join(
		os.WriteFile(kubeconfig, []byte(text), 0o600),
		os.WriteFile(bundles, []byte(brokenBundles()), 0o600),
		os.Mkdir(filepath.Join(dir, "home"), 0o700),
		os.Mkdir(filepath.Join(dir, "work"), 0o700),
	); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", filepath.Join(dir, "home"))
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"} {
		t.Setenv(name, filepath.Join(dir, "home", name))
	}
	t.Setenv("CLUSTERCTL_X_BUNDLES", bundles)
	t.Setenv("CLUSTERCTL_X_REPLACE_BUNDLES", "true")
	t.Setenv("KUBECONFIG", "")
	t.Chdir(filepath.Join(dir, "work"))
	return kubeconfig
}

// brokenBundles are the versions that the archives know. Those of 1.34 have a
// download of kubeadm, and the others none.
func brokenBundles() string {
	text := "apiVersion: clusterctl-x.io/v1alpha1\nkind: Bundles\nmetadata: {name: test}\nspec:\n  versionsBundles:\n"
	for _, minor := range [][]string{{"1.31", "9"}, {"1.32", "7"}, {"1.33", "3"}, {"1.34", "0", "1", "2"}, {"1.35", "0"}} {
		text += fmt.Sprintf("  - kubeVersion: %q\n    releases:\n", minor[0])
		for _, patch := range minor[1:] {
			text += fmt.Sprintf("    - version: v%s.%s\n      images: {", minor[0], patch)
			for _, image := range []string{"kubeAPIServer", "kubeControllerManager", "kubeScheduler", "kubeProxy", "etcd", "coreDNS", "pause"} {
				text += image + ": \"example.com/image:v1\", "
			}
			text += "}\n"
			if minor[0] == "1.34" {
				text += fmt.Sprintf("      kubeadm: {amd64: {url: \"https://example.com/kubeadm\", sha256: %q}}\n", strings.Repeat("0", 64))
			}
		}
	}
	return text
}

// runArchive runs each command with each spec of an archive.
func runArchive(t *testing.T, path string, archive *txtar.Archive, kubeconfig string) {
	t.Helper()
	names := map[string]bool{}
	for pair := range slices.Chunk(archive.Files, 2) {
		spec, want := pair[0], &pair[1]
		name, isSpec := strings.CutSuffix(spec.Name, ".yaml")
		if !isSpec || want.Name != name+".want" || names[name] {
			t.Fatalf("%s and %s are no spec and its .want, or are there already", spec.Name, want.Name)
		}
		names[name] = true
		t.Run(name, func(t *testing.T) {
			if !bytes.HasPrefix(spec.Data, []byte("# ")) {
				t.Error("the first line does not say what is wrong")
			}
			write(t, spec.Name, string(spec.Data))
			defer remove(t, spec.Name)
			if *update {
				_, _, stderr := runBroken(t, noInput(), "validate", "-f", spec.Name)
				want.Data = []byte(stderr)
			}
			for _, args := range [][]string{
				{"validate", "-f", spec.Name},
				{"validate", "-f", spec.Name, "-o", "json"},
				{"generate", "manifests", "-f", spec.Name, "--output-dir", "out"},
				{"create", "cluster", "-f", spec.Name, "--kubeconfig", kubeconfig},
				{"create", "cluster", "-f", spec.Name, "--kubeconfig", kubeconfig, "-o", "json", "--dry-run", "server"},
			} {
				checkBroken(t, string(want.Data), noInput(), args...)
			}
			checkLines(t, string(want.Data))
		})
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// secrets are what specs have where passwords and keys may be.
func secrets() []string { return []string{"hunter2", "aHVudGVyMg"} }

// checkLines fails on what is told twice, and on secrets.
func checkLines(t *testing.T, stderr string) {
	t.Helper()
	for _, secret := range secrets() {
		if strings.Contains(stderr, secret) {
			t.Errorf("the secret %s is told:\n%s", secret, stderr)
		}
	}
	seen := map[string]bool{}
	for line := range strings.Lines(stderr) {
		if seen[line] {
			t.Errorf("told twice: %s", line)
		}
		seen[line] = true
	}
}

// checkBroken runs a command that must end with 2, have said just this, and
// have left everything as it was.
func checkBroken(t *testing.T, want string, stdin io.Reader, args ...string) {
	t.Helper()
	before := filesBelow(t, "..")
	began := processorTime(t)
	code, stdout, stderr := runBroken(t, stdin, args...)
	took := processorTime(t) - began
	line := strings.Join(args, " ")
	if slices.Contains(args, output.JSON) {
		stderr = fromJSON(t, stderr)
	}
	if diff := cmp.Diff(want, stderr); diff != "" {
		t.Errorf("%s: stderr (-want +got):\n%s", line, diff)
	}
	if code != failure.Invalid {
		t.Errorf("%s: exit code %d, want %d", line, code, failure.Invalid)
	}
	if stdout != "" {
		t.Errorf("%s: stdout is not empty: %.1000s", line, stdout)
	}
	if took > maxBrokenTime {
		t.Errorf("%s: took %s, more than %s", line, took, maxBrokenTime)
	}
	if diff := cmp.Diff(before, filesBelow(t, "..")); diff != "" {
		t.Errorf("%s: files (-before +after):\n%s", line, diff)
	}
}

// fromJSON puts the last line of stderr, which is the document of the error, into the words
// that people read without -o json.
func fromJSON(t *testing.T, stderr string) string {
	t.Helper()
	lines := slices.Collect(strings.Lines(stderr))
	var document failure.Document
	decoder := json.NewDecoder(strings.NewReader(lines[len(lines)-1]))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&document); err != nil {
		t.Errorf("the last line of stderr: %v: %s", err, stderr)
		return stderr
	}
	text := strings.Join(lines[:len(lines)-1], "")
	for _, one := range document.Problems {
		place := "error"
		if one.File != "" {
			place = one.File
		}
		if one.Line != 0 {
			place += fmt.Sprintf(":%d", one.Line)
		}
		if one.Path != "" {
			place += ": " + one.Path
		}
		text += place + ": " + one.Problem
		if one.Remedy != "" {
			text += "; " + one.Remedy
		}
		text += "\n"
	}
	return text
}

func runBroken(t *testing.T, stdin io.Reader, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err strings.Builder
	code = Run(t.Context(), "", args, terminal.Streams{In: stdin, Out: &out, Err: &err})
	return code, out.String(), err.String()
}

// filesBelow are all files below a directory, with mode, size and time of the
// last change.
func filesBelow(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		files = append(files, fmt.Sprint(path, " ", info.Mode(), " ", info.Size(), " ", info.ModTime()))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// processorTime of this process is what a busy machine does not lengthen.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func noInput() io.Reader { return strings.NewReader("") }

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, name string) {
	t.Helper()
	if err := os.RemoveAll(name); err != nil {
		t.Fatal(err)
	}
}

// specFile is a file of TestBrokenFiles, made by a function below.
const specFile = "cluster.yaml"
