package main

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// TestComponentImages finds the images of Deployments, and no field of a schema.
func TestComponentImages(t *testing.T) {
	t.Parallel()
	folder := fstest.MapFS{
		"cluster-api/v1.14.0/core-components.yaml": {Data: []byte("  image:\n    description: not one\n        image: registry.k8s.io/a/core:v1.14.0\n")},
		"cluster-api/v1.14.0/metadata.yaml":        {Data: []byte("kind: Metadata\n")},
		"cert-manager/v2/cert-manager.yaml":        {Data: []byte("      - image: \"quay.io/webhook:v2\"\n          image: quay.io/controller:v2\n")},
	}
	images, err := componentImages(folder)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"registry.k8s.io/a/core:v1.14.0": "cluster-api/v1.14.0",
		"quay.io/webhook:v2":             "cert-manager/v2", "quay.io/controller:v2": "cert-manager/v2",
	}
	if diff := cmp.Diff(want, images); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
	if images, err := componentImages(fstest.MapFS{"a/b/c.yaml": {Data: []byte("kind: A\n")}}); err == nil {
		t.Errorf("a folder without images: %v", images)
	}
}

// TestWriteComponentImages writes an archive for each image, with the user that its pods need.
func TestWriteComponentImages(t *testing.T) {
	t.Parallel()
	built, dir := t.TempDir(), t.TempDir()
	programs := map[string]string{}
	for image, name := range map[string]string{"r/core:v1": "core", "r/core:v2": "core", "r/capd-manager:v1": "capd-manager"} {
		programs[image] = filepath.Join(built, name)
		if err := os.WriteFile(programs[image], []byte(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeComponentImages(dir, programs); err != nil {
		t.Fatal(err)
	}
	users := map[string]string{}
	for _, name := range []string{"core-v1", "core-v2", "capd-manager-v1"} {
		users[name] = userOf(t, filepath.Join(dir, "images", name+".tar"))
	}
	if diff := cmp.Diff(map[string]string{"core-v1": "65532", "core-v2": "65532", "capd-manager-v1": ""}, users); diff != "" {
		t.Errorf("users (-want +got):\n%s", diff)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{filepath.Join(dir, "images")}, left); diff != "" {
		t.Errorf("left in the directory (-want +got):\n%s", diff)
	}
}

// userOf returns the user in the configuration of the only image of an archive.
func userOf(t *testing.T, archive string) string {
	t.Helper()
	file, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it is only read
	files := tar.NewReader(file)
	for {
		_, err := files.Next()
		if errors.Is(err, io.EOF) {
			t.Fatalf("%s has no configuration of an image", archive)
		}
		if err != nil {
			t.Fatal(err)
		}
		var content struct{ Config struct{ User string } }
		data, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		var config map[string]any
		if json.Unmarshal(data, &config) != nil || config["rootfs"] == nil {
			continue
		}
		if err := json.Unmarshal(data, &content); err != nil {
			t.Fatal(err)
		}
		return content.Config.User
	}
}
