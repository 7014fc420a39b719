package main

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestArchive writes two images that have a layer in common, one with two names.
func TestArchive(t *testing.T) {
	t.Parallel()
	common, own := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{filepath.Join(common, "library"): "1", filepath.Join(own, "program"): "2"} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "images.tar")
	err := writeArchive(path, []containerImage{
		{names: []string{"one:1", "one:2"}, layers: []string{common}},
		{names: []string{"two:1"}, layers: []string{common, own}, entrypoint: []string{"/program"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	files := readArchive(t, path)

	for name, content := range files {
		hash, blob := strings.CutPrefix(name, "blobs/sha256/")
		if sum := sha256.Sum256([]byte(content)); blob && digest(sum[:]) != "sha256:"+hash {
			t.Errorf("the content of %s has another checksum", name)
		}
	}
	var index struct{ Manifests []descriptor }
	decode(t, files["index.json"], &index)
	layers := map[string][]string{}
	for _, d := range index.Manifests {
		var manifest struct{ Layers []descriptor }
		decode(t, files["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")], &manifest)
		name := d.Annotations["io.containerd.image.name"]
		for _, layer := range manifest.Layers {
			layers[name] = append(layers[name], layer.Digest)
		}
	}
	shared, last := layers["one:1"][0], layers["two:1"][len(layers["two:1"])-1]
	want := map[string][]string{"one:1": {shared}, "one:2": {shared}, "two:1": {shared, last}}
	if diff := cmp.Diff(want, layers); diff != "" || shared == last {
		t.Errorf("layers (-want +got):\n%s", diff)
	}
	// Two layers, two configurations, two manifests, the index and the version of the layout.
	if len(files) != 8 {
		t.Errorf("%d files, want 8", len(files))
	}
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

func readArchive(t *testing.T, path string) map[string]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it is only read
	files := map[string]string{}
	for in := tar.NewReader(file); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = string(content)
	}
}
