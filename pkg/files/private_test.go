package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// entry is what can be seen of one in a directory.
type entry struct {
	Mode fs.FileMode
	Text string
}

func readDir(t *testing.T, dir string) map[string]entry {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]entry{}
	for _, found := range entries {
		info, err := found.Info()
		if err != nil {
			t.Fatal(err)
		}
		var data []byte
		if info.Mode().IsRegular() {
			if data, err = os.ReadFile(filepath.Join(dir, found.Name())); err != nil {
				t.Fatal(err)
			}
		}
		files[found.Name()] = entry{Mode: info.Mode(), Text: string(data)}
	}
	return files
}

func TestWritePrivate(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		prepare func(path string) error
		want    map[string]entry
		err     error
	}{
		"new": {
			prepare: func(string) error { return nil },
			want:    map[string]entry{"target": {Mode: 0o600, Text: "new"}},
		},
		"in place of another, which all may read": {
			prepare: func(path string) error { return os.WriteFile(path, []byte("what was there before"), 0o644) },
			want:    map[string]entry{"target": {Mode: 0o600, Text: "new"}},
		},
		"in place of one that its owner may not write": {
			prepare: func(path string) error { return os.WriteFile(path, []byte("before"), 0o400) },
			want:    map[string]entry{"target": {Mode: 0o600, Text: "new"}},
		},
		"target is a directory": {
			prepare: func(path string) error { return os.Mkdir(path, 0o700) },
			want:    map[string]entry{"target": {Mode: fs.ModeDir | 0o700}},
			err:     syscall.EEXIST,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "target")
			if err := test.prepare(path); err != nil {
				t.Fatal(err)
			}
			if err := WritePrivate(path, []byte("new")); !errors.Is(err, test.err) {
				t.Errorf("error %v, want %v", err, test.err)
			}
			if diff := cmp.Diff(test.want, readDir(t, dir)); diff != "" {
				t.Errorf("directory (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWritePrivateInNoDirectory(t *testing.T) {
	t.Parallel()
	if err := WritePrivate(filepath.Join(t.TempDir(), "none", "target"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want %v", err, fs.ErrNotExist)
	}
}
