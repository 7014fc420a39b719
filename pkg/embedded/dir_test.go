package embedded

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// file is what can be seen of one in a directory.
type file struct {
	Mode fs.FileMode
	Text string
}

func readDir(t *testing.T, dir string) map[string]file {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]file{}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		var data []byte
		if !entry.IsDir() {
			if data, err = os.ReadFile(filepath.Join(dir, entry.Name())); err != nil {
				t.Fatal(err)
			}
		}
		files[entry.Name()] = file{Mode: info.Mode(), Text: string(data)}
	}
	return files
}
