package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"
)

// TestSameBytes packs the same programs and documents from two directories, with
// other times and modes: the archives and their checksums are the same.
func TestSameBytes(t *testing.T) {
	program := buildProgram(t)
	pack := func(mode os.FileMode, age time.Duration) map[string]string {
		dir, out := t.TempDir(), t.TempDir()
		for _, name := range []string{"stage/linux-arm64/clusterctl-x", "stage/linux-arm64/embedded/server", "stage/windows-amd64/clusterctl-x.exe"} {
			write(t, filepath.Join(dir, name), program, mode, age)
		}
		write(t, filepath.Join(dir, "docs", "a.md"), []byte("a"), mode, age)
		write(t, filepath.Join(dir, "sample.yaml"), []byte("b"), mode, age)
		err := run(t.Context(), []string{
			"-stage", filepath.Join(dir, "stage"), "-out", out, "-version", "v1.2.3", "-time", "1700000000",
			filepath.Join(dir, "docs") + "=docs", filepath.Join(dir, "sample.yaml") + "=quickstart.yaml",
		})
		if err != nil {
			t.Fatal(err)
		}
		return read(t, out)
	}
	first, second := pack(0o755, 0), pack(0o600, time.Hour)
	if diff := cmp.Diff(keys(first), []string{"SHA256SUMS", "clusterctl-x_v1.2.3_linux_arm64.tar.gz", "clusterctl-x_v1.2.3_windows_amd64.zip"}); diff != "" {
		t.Fatalf("files (-got +want):\n%s", diff)
	}
	for name := range first {
		if first[name] != second[name] {
			t.Errorf("%s is not the same twice", name)
		}
	}
	var sums strings.Builder
	for _, name := range keys(first)[1:] {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256([]byte(first[name])), name)
	}
	if diff := cmp.Diff(sums.String(), first["SHA256SUMS"]); diff != "" {
		t.Errorf("checksums (-want +got):\n%s", diff)
	}

	const linux, windows = "clusterctl-x_v1.2.3_linux_arm64", "clusterctl-x_v1.2.3_windows_amd64"
	const at = "2023-11-14T22:13:20Z"
	std := "std@" + strings.TrimPrefix(runtime.Version(), "go")
	want := []string{
		"-rwxr-xr-x " + at + " " + linux + "/clusterctl-x", "-rw-r--r-- " + at + " " + linux + "/docs/a.md",
		"-rwxr-xr-x " + at + " " + linux + "/embedded/server",
		"-rw-r--r-- " + at + " " + linux + "/licenses/" + std + "/LICENSE", "-rw-r--r-- " + at + " " + linux + "/licenses/" + std + "/PATENTS", "-rw-r--r-- " + at + " " + linux + "/quickstart.yaml",
		"-rw-r--r-- " + at + " " + linux + "/sbom.cdx.json",
	}
	if diff := cmp.Diff(want, listTar(t, first[linux+".tar.gz"])); diff != "" {
		t.Errorf("archive (-want +got):\n%s", diff)
	}
	want = []string{
		"-rwxr-xr-x " + at + " " + windows + "/clusterctl-x.exe", "-rw-r--r-- " + at + " " + windows + "/docs/a.md",
		"-rw-r--r-- " + at + " " + windows + "/licenses/" + std + "/LICENSE", "-rw-r--r-- " + at + " " + windows + "/licenses/" + std + "/PATENTS",
		"-rw-r--r-- " + at + " " + windows + "/quickstart.yaml", "-rw-r--r-- " + at + " " + windows + "/sbom.cdx.json",
	}
	if diff := cmp.Diff(want, listZip(t, first[windows+".zip"])); diff != "" {
		t.Errorf("archive (-want +got):\n%s", diff)
	}
}

func TestBill(t *testing.T) {
	programs := map[string]*debug.BuildInfo{
		"clusterctl-x": {
			GoVersion: "go1.26.8", Main: debug.Module{Path: "example.org/ours", Version: "(devel)"},
			Deps: []*debug.Module{{Path: "k8s.io/api", Version: "v0.36.3"}, {Path: "example.org/a", Version: "v2.0.0+incompatible"}},
		},
		"embedded/server": {
			GoVersion: "go1.26.8", Main: debug.Module{Path: "k8s.io/kubernetes", Version: "v1.36.3"},
			Deps: []*debug.Module{
				{Path: "k8s.io/api", Version: "v0.0.0", Replace: &debug.Module{Path: "k8s.io/api", Version: "v0.36.3"}},
				{Path: "example.org/ours", Version: "v0.0.0", Replace: &debug.Module{Path: "../..", Version: "(devel)"}},
			},
		},
	}
	const a, api, std = "pkg:golang/example.org/a@v2.0.0%2Bincompatible", "pkg:golang/k8s.io/api@v0.36.3", "pkg:golang/std@1.26.8"
	application, library := cyclonedx.ComponentTypeApplication, cyclonedx.ComponentTypeLibrary
	want := cyclonedx.NewBOM()
	want.Metadata = &cyclonedx.Metadata{Component: &cyclonedx.Component{BOMRef: "clusterctl-x@v1.2.3", Type: application, Name: "clusterctl-x", Version: "v1.2.3"}}
	want.Components = &[]cyclonedx.Component{
		{BOMRef: "clusterctl-x", Type: application, Name: "clusterctl-x", Version: "v1.2.3"},
		{BOMRef: "embedded/server", Type: application, Name: "server", Version: "v1.36.3", PackageURL: "pkg:golang/k8s.io/kubernetes@v1.36.3"},
		{BOMRef: a, Type: library, Name: "example.org/a", Version: "v2.0.0+incompatible", PackageURL: a},
		{BOMRef: api, Type: library, Name: "k8s.io/api", Version: "v0.36.3", PackageURL: api},
		{BOMRef: std, Type: library, Name: "std", Version: "1.26.8", PackageURL: std},
	}
	want.Dependencies = &[]cyclonedx.Dependency{
		{Ref: "clusterctl-x@v1.2.3", Dependencies: &[]string{"clusterctl-x", "embedded/server"}},
		{Ref: "clusterctl-x", Dependencies: &[]string{a, api, std}},
		{Ref: "embedded/server", Dependencies: &[]string{api, std}},
	}
	if diff := cmp.Diff(want, billOf("v1.2.3", programs)); diff != "" {
		t.Errorf("bill (-want +got):\n%s", diff)
	}
}

func TestNothingBuilt(t *testing.T) {
	dir := t.TempDir()
	if err := run(t.Context(), []string{"-stage", dir, "-out", dir}); err == nil || err.Error() != "nothing was built below "+dir {
		t.Errorf("got %v", err)
	}
	if err := run(t.Context(), []string{"-stage", filepath.Join(dir, "none"), "-out", dir}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func buildProgram(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "main.go"), []byte("package main\nfunc main() {}\n"), 0o600, 0)
	write(t, filepath.Join(dir, "go.mod"), []byte("module example.org/p\n"), 0o600, 0)
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-C", dir, "-buildvcs=false", "-o", "p", ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return []byte(read(t, dir)["p"])
}

func write(t *testing.T, path string, data []byte, mode os.FileMode, age time.Duration) {
	t.Helper()
	at := time.Now().Add(-age)
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600), os.Chmod(path, mode), os.Chtimes(path, at, at))
	if err != nil {
		t.Fatal(err)
	}
}

// read returns the content of the files of a directory.
func read(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[entry.Name()] = string(data)
	}
	return files
}

func keys(files map[string]string) []string { return slices.Sorted(maps.Keys(files)) }

func listTar(t *testing.T, data string) []string {
	t.Helper()
	compressed, err := gzip.NewReader(strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for reader := tar.NewReader(compressed); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line(header.FileInfo().Mode(), header.ModTime, header.Name))
	}
}

func listZip(t *testing.T, data string) []string {
	t.Helper()
	reader, err := zip.NewReader(bytes.NewReader([]byte(data)), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range reader.File {
		lines = append(lines, line(f.Mode(), f.Modified, f.Name))
	}
	return lines
}

func line(mode os.FileMode, at time.Time, name string) string {
	return fmt.Sprintf("%s %s %s", mode, at.UTC().Format(time.RFC3339), name)
}
