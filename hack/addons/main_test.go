package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseFlags(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args          []string
		want, wantErr string
	}{
		"default":     {want: "config/addons"},
		"given":       {args: []string{"-out", "x"}, want: "x"},
		"an argument": {args: []string{"x"}, wantErr: `unexpected argument "x"`},
		"not a flag":  {args: []string{"-x"}, wantErr: "parse flags: flag provided but not defined: -x"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parseFlags(test.args, &bytes.Buffer{})
			if test.wantErr != "" {
				wantError(t, err, test.wantErr)
			} else if err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestHelpIsNoError(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	if err := run(t.Context(), []string{"-h"}, &stderr); err != nil {
		t.Fatal(err)
	}
	const want = "Usage of addons:\n  -out directory\n    \twrite the add-ons into this directory (default \"config/addons\")\n"
	if diff := cmp.Diff(want, stderr.String()); diff != "" {
		t.Errorf("help (-want +got):\n%s", diff)
	}
}

func TestWriteFilesReplacesAndLeavesNothingElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("old and longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := fileSet{"a.yaml": "a", "b.yaml": "b"}
	if err := writeFiles(dir, want); err != nil {
		t.Fatal(err)
	}
	got := fileSet{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[entry.Name()] = string(content)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestWriteFilesNeedsTheDirectory(t *testing.T) {
	t.Parallel()
	err := writeFiles(filepath.Join(t.TempDir(), "none"), fileSet{"a.yaml": "a"})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want %v", err, os.ErrNotExist)
	}
}
