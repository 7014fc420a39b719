package main

import (
	"io"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestStep builds a directory once, and again when the script or an argument changes; of what
// failed nothing is left under the name of a result.
func TestStep(t *testing.T) {
	t.Parallel()
	b := builder{dir: t.TempDir(), scripts: t.TempDir(), log: log.New(io.Discard, "", 0)}
	script := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(b.scripts, "build"), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	built := filepath.Join(t.TempDir(), "built")
	count := "echo x >>" + built + "; echo $1 >$2/result\n"
	step := func(argument string) string {
		t.Helper()
		dir, err := b.step(t.Context(), "thing", "build", nil, argument)
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	script(count)
	first := step("one")
	if again := step("one"); again != first {
		t.Errorf("the same step is in %s and %s", first, again)
	}
	second := step("two")
	script(count + "# changed\n")
	third := step("two")
	script("exit 3\n")
	if dir, err := b.step(t.Context(), "thing", "build", nil, "two"); err == nil {
		t.Errorf("a script that fails made %s", dir)
	}

	times, err := os.ReadFile(built)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("x\nx\nx\n", string(times)); diff != "" {
		t.Errorf("the script ran (-want +got):\n%s", diff)
	}
	results, err := filepath.Glob(filepath.Join(b.dir, "thing-*", "result"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{filepath.Join(third, "result")}, results); diff != "" || first == second || second == third {
		t.Errorf("results of %s, %s, %s (-want +got):\n%s", first, second, third, diff)
	}
}
