package cmd

import (
	"context"
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/failure"
	"github.com/clusterctl-x/clusterctl-x/pkg/terminal"
)

var update = flag.Bool("update", false, "write what is compared in the scripts anew")

// scriptDirs are the directories of scripts that TestScripts runs.
func scriptDirs() []string { return []string{"testdata/script"} }

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"clusterctl-x": func() {
			os.Exit(Run(context.Background(), "", os.Args[1:], terminal.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
		},
	})
}

// TestScripts runs command lines in directories of their own, in processes of
// their own, without a management cluster.
func TestScripts(t *testing.T) {
	t.Parallel()
	for _, dir := range scriptDirs() {
		testscript.Run(t, testscript.Params{
			Dir:   dir,
			Setup: setUp,
			Cmds: map[string]func(*testscript.TestScript, bool, []string){
				"exitcode":   command("usage: exitcode N program [argument...]", exitCodeIs),
				"documented": command("usage: documented FILE program [argument...]", documented),
			},
			UpdateScripts:       *update,
			RequireExplicitExec: true,
			RequireUniqueNames:  true,
		})
	}
}

// setUp gives a script a home directory, and copies of files of the repository
// in the directory repo: a process that read the originals would do so behind
// the back of the test cache.
func setUp(env *testscript.Env) error {
	home, repo := filepath.Join(env.WorkDir, "home"), filepath.Join(env.WorkDir, "repo")
	env.Setenv("HOME", home)
	if err := errors.Join(os.Mkdir(home, 0o755), os.Mkdir(repo, 0o755)); err != nil {
		return err
	}
	repository, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return err
	}
	env.Setenv("REPO", repository)
	for name, path := range map[string]string{
		"bundles.yaml":         "pkg/manifests/testdata/bundles.yaml",
		"eks-a.yaml":           "test/testdata/eks-a-modular-upgrades.yaml",
		"inmemory-groups.yaml": "pkg/manifests/testdata/inmemory-groups/cluster.yaml",
		"docker-groups.yaml":   "pkg/manifests/testdata/docker-groups/cluster.yaml",
		"quickstart.yaml":      "config/samples/quickstart.yaml",
	} {
		data, err := os.ReadFile(filepath.Join(repository, path))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(repo, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// command is a command of scripts that takes two arguments or more, and no "!".
func command(usage string, do func(*testscript.TestScript, []string)) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 2 {
			ts.Fatalf("%s", usage)
		}
		do(ts, args)
	}
}

// exitCodeIs is 'exitcode N program argument...': the program must end with N,
// and with nothing on stdout unless N is 0. In what it wrote, the directory of
// the script is called $WORK.
func exitCodeIs(ts *testscript.TestScript, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit := (*exec.ExitError)(nil)
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	stdout, stderr := ts.ReadFile("stdout"), ts.ReadFile("stderr")
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
	if code != failure.Done && stdout != "" {
		ts.Fatalf("stdout of a failure is not empty")
	}
	work := ts.Getenv("WORK")
	_, err = ts.Stdout().Write([]byte(strings.ReplaceAll(stdout, work, "$WORK")))
	ts.Check(err)
	_, err = ts.Stderr().Write([]byte(strings.ReplaceAll(stderr, work, "$WORK")))
	ts.Check(err)
}

// goldenDir has files that a test in Go compares as a whole.
const goldenDir = "testdata/golden"

// TestEveryScriptIsRun fails on a script in a directory that nothing runs.
func TestEveryScriptIsRun(t *testing.T) {
	t.Parallel()
	var notRun []string
	err := filepath.WalkDir("testdata", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		if dir == goldenDir {
			return nil
		}
		if filepath.Ext(path) != ".txtar" || dir != brokenDir && !slices.Contains(scriptDirs(), dir) {
			notRun = append(notRun, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string(nil), notRun); diff != "" {
		t.Errorf("files that no test runs (-want +got):\n%s", diff)
	}
}

// TestHelpOfEveryCommandIsCompared fails on a command whose help no script has.
func TestHelpOfEveryCommandIsCompared(t *testing.T) {
	t.Parallel()
	var scripts strings.Builder
	for _, dir := range scriptDirs() {
		files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			scripts.Write(data)
		}
	}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if line := "\nexec " + cmd.CommandPath() + " --help\ncmp stdout "; !strings.Contains(scripts.String(), line) {
			t.Errorf("no script compares the help of '%s'", cmd.CommandPath())
		}
		if cmd.Short == "" {
			t.Errorf("'%s' has no short description", cmd.CommandPath())
		}
		for _, child := range cmd.Commands() {
			if byCobra := []string{"completion", "help"}; !slices.Contains(byCobra, child.Name()) {
				walk(child)
			}
		}
	}
	walk(rootCommand(cli.New(terminal.Streams{In: strings.NewReader(""), Out: &strings.Builder{}, Err: &strings.Builder{}}), ""))
}
