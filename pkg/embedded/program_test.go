package embedded

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// install copies the test binary to path.
func install(t *testing.T, path string) string {
	t.Helper()
	from, err := os.Open(self())
	if err != nil {
		t.Fatal(err)
	}
	defer closeFile(t, from)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func script(t *testing.T, path string, mode os.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFindProgram runs a copy of this program, as clusterctl-x, which looks
// for the supervisor. It is not parallel: a file that is being written to in
// a process that another test starts cannot be run.
func TestFindProgram(t *testing.T) {
	dir := t.TempDir()
	alone := install(t, filepath.Join(dir, "alone", "clusterctl-x"))
	both := install(t, filepath.Join(dir, "both", "clusterctl-x"))
	beside := script(t, filepath.Join(dir, "both", "embedded", Exec), 0o700)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(both, link); err != nil {
		t.Fatal(err)
	}
	inPath := script(t, filepath.Join(dir, "path", Exec), 0o700)
	named := script(t, filepath.Join(dir, "named"), 0o700)
	noProgram := script(t, filepath.Join(dir, "no-program"), 0o600)
	const missing = "the program clusterctl-x-embedded is missing: "

	tests := map[string]struct {
		self, variable, path string
		want                 string
	}{
		"CLUSTERCTL_X_EMBEDDED": {self: both, variable: named, path: filepath.Dir(inPath), want: named + "|<nil>"},
		"CLUSTERCTL_X_EMBEDDED that does not exist": {
			self: both, variable: dir + "/none", path: filepath.Dir(inPath),
			want: "|" + missing + "CLUSTERCTL_X_EMBEDDED names " + dir + `/none: exec: "` + dir + `/none": stat ` + dir + "/none: no such file or directory",
		},
		"CLUSTERCTL_X_EMBEDDED that is no program": {
			self: both, variable: noProgram, path: filepath.Dir(inPath),
			want: "|" + missing + "CLUSTERCTL_X_EMBEDDED names " + noProgram + `: exec: "` + noProgram + `": permission denied`,
		},
		"beside the program":             {self: both, path: filepath.Dir(inPath), want: beside + "|<nil>"},
		"beside the program of the link": {self: link, path: filepath.Dir(inPath), want: beside + "|<nil>"},
		"PATH":                           {self: alone, path: filepath.Dir(inPath), want: inPath + "|<nil>"},
		"nowhere": {
			self: alone, path: dir,
			want: "|" + missing + "it is in the directory embedded next to clusterctl-x where a release archive was unpacked or 'make build' has run; use clusterctl-x from there, or set CLUSTERCTL_X_EMBEDDED to the program; or use a management cluster of your own with --management kubeconfig",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), test.self)
			cmd.Env = []string{roleVariable + "=" + roleFindProgram, "CLUSTERCTL_X_EMBEDDED=" + test.variable, "PATH=" + test.path}
			got, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("program|error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStartWithoutProgram(t *testing.T) {
	i := newInstance(t, becomesReady)
	t.Setenv("CLUSTERCTL_X_EMBEDDED", filepath.Join(t.TempDir(), "none"))
	if err := i.Start(t.Context()); !errors.Is(err, ErrNoProgram) {
		t.Errorf("error %v, want %v", err, ErrNoProgram)
	}
}
