package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[entry.Name()] = string(data)
	}
	return all
}

// TestSchemasAreUpToDate writes the schemas that clusterctl-x checks rendered
// objects against once more; 'make schemas' brings them up to date.
func TestSchemasAreUpToDate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(files(t, dir), files(t, "../../../../../config/schemas")); diff != "" {
		t.Errorf("config/schemas (-written now +there):\n%s", diff)
	}
}
