package files

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSave: the error has no path, since the caller has named the file.
func TestSave(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]string{
		filepath.Join(dir, "pipe"):         "it is not a regular file; name another one",
		dir:                                "it is a directory; name a file",
		filepath.Join(dir, "none", "plan"): "no such file or directory",
		filepath.Join(dir, "plan"):         "<nil>",
	} {
		if got := fmt.Sprint(Save(target, []byte("new"))); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
	if diff := cmp.Diff(map[string]entry{"pipe": {Mode: fs.ModeNamedPipe | 0o600}, "plan": {Mode: 0o600, Text: "new"}}, readDir(t, dir)); diff != "" {
		t.Errorf("directory (-want +got):\n%s", diff)
	}
}

// TestWriteManifests: what was there stays, and is found where kubectl would read it too.
func TestWriteManifests(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	if err := os.MkdirAll(filepath.Join(dir, "below.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "old.json"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	written := []File{{Name: "0.yaml", Data: []byte("a")}, {Name: "1.yaml", Data: []byte("b")}, {Name: "README", Data: nil}}
	others, err := WriteManifests(dir, written)
	if diff := cmp.Diff([]string{filepath.Join(dir, "old.json")}, others); diff != "" || err != nil {
		t.Errorf("other manifests: %v (-want +got):\n%s", err, diff)
	}
	want := map[string]entry{"0.yaml": {Mode: 0o644, Text: "a"}, "1.yaml": {Mode: 0o644, Text: "b"}, "README": {Mode: 0o644}, "below.yaml": {Mode: fs.ModeDir | 0o755}, "old.json": {Mode: 0o644}}
	if diff := cmp.Diff(want, readDir(t, dir)); diff != "" {
		t.Errorf("directory (-want +got):\n%s", diff)
	}
}

// TestWritePublicOrNothing leaves no part of a file behind.
func TestWritePublicOrNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "a.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := WriteManifests(dir, []File{{Name: "a.yaml"}})
	if err == nil || !strings.HasPrefix(err.Error(), "rename ") {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(map[string]entry{"a.yaml": {Mode: fs.ModeDir | 0o755}}, readDir(t, dir)); diff != "" {
		t.Errorf("directory (-want +got):\n%s", diff)
	}
}
