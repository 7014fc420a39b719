package main

import (
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLicenses: each module that a program was built from is there once, with its
// version, and so is the module of a program of another project.
func TestLicenses(t *testing.T) {
	const bom, compare, json = "github.com/CycloneDX/cyclonedx-go", "github.com/google/go-cmp", "github.com/ajeddeloh/go-json"
	files, err := licenses(t.Context(), map[string]*debug.BuildInfo{
		"clusterctl-x":    {GoVersion: "go1.26.8", Main: debug.Module{Path: "example.org/ours", Version: "(devel)"}, Deps: []*debug.Module{{Path: compare, Version: "v0.7.0"}, {Path: "example.org/ours/part", Replace: &debug.Module{Path: "../.."}}}},
		"embedded/server": {GoVersion: "go1.26.8", Main: debug.Module{Path: bom, Version: "v0.12.0"}, Deps: []*debug.Module{{Path: compare, Version: "v0.7.0"}}},
		"embedded/copy":   {GoVersion: "go1.26.8", Main: debug.Module{Path: "example.org/ours", Version: "(devel)"}, Deps: []*debug.Module{{Path: json, Version: "v0.0.0-20200220154158-5ae607161559"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, f.name)
	}
	want := []string{
		"licenses/github.com/CycloneDX/cyclonedx-go@v0.12.0/LICENSE", "licenses/github.com/CycloneDX/cyclonedx-go@v0.12.0/NOTICE",
		"licenses/github.com/ajeddeloh/go-json@v0.0.0-20200220154158-5ae607161559/LICENSE", "licenses/github.com/ajeddeloh/go-json@v0.0.0-20200220154158-5ae607161559/PATENTS",
		"licenses/github.com/google/go-cmp@v0.7.0/LICENSE", "licenses/std@1.26.8/LICENSE", "licenses/std@1.26.8/PATENTS",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestLicensesIn: also those of code that a module took over.
func TestLicensesIn(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"LICENSE", "COPYING.txt", "third_party/a/licence.md", "NOTICE-b", "license.go", "licenser", "README.md",
		"testdata/LICENSE", "LICENSES/LICENSE", "vendor/a/LICENSE",
	} {
		write(t, filepath.Join(dir, name), nil, 0o600, 0)
	}
	names := func(search func(dir, name string) ([]file, error)) []string {
		files, err := search(dir, "m@v1")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range files {
			got = append(got, f.name)
		}
		return got
	}
	if diff := cmp.Diff([]string{"m@v1/COPYING.txt", "m@v1/LICENSE", "m@v1/NOTICE-b", "m@v1/third_party/a/licence.md"}, names(licensesBelow)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"m@v1/COPYING.txt", "m@v1/LICENSE", "m@v1/NOTICE-b"}, names(licensesIn)); diff != "" {
		t.Errorf("files of the directory alone (-want +got):\n%s", diff)
	}
	if _, err := licensesBelow(t.TempDir(), "m@v1"); err == nil {
		t.Error("a module without a license is none to be given away")
	}
}
