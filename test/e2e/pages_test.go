package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clusterctl-x/clusterctl-x/test/pages"
)

var update = flag.Bool("update", false, "write the outputs in the task pages and the screens in testdata anew")

const (
	readme    = "../../README.md"
	tasks     = "../../docs/tasks"
	firstPage = tasks + "/first-cluster.md"
	// backupPage takes all clusters of its management cluster.
	backupPage = tasks + "/backup.md"
)

// TestFirstPage does what the first task page says, with a management cluster of its own.
func TestFirstPage(t *testing.T) {
	t.Parallel()
	follow(t, firstPage, nil, strings.NewReplacer())
}

// TestPages does what the README and the other task pages say. They share a management cluster, each with
// a default namespace of its own, but for one.
func TestPages(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(tasks, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 2 {
		t.Fatalf("%s has %d pages", tasks, len(files))
	}
	for i, file := range append(files, readme) {
		if file == firstPage {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".md"), func(t *testing.T) {
			t.Parallel()
			if file == backupPage {
				follow(t, file, nil, strings.NewReplacer())
				return
			}
			// As long as "default", so that columns stay where they are.
			namespace := newNamespace(t, shared, fmt.Sprintf("page-%02d", i))
			follow(t, file,
				[]string{"CLUSTERCTL_X_HOME=" + everyone.home, "CLUSTERCTL_X_NAME=" + shared, "CLUSTERCTL_X_NAMESPACE=" + namespace},
				strings.NewReplacer(namespace, "default", `embedded "`+shared+`"`, `embedded "default"`, "clusterctl-x-"+shared, "clusterctl-x-default"))
		})
	}
}

// follow does what a page says, in an empty directory, and compares what the commands
// write after asReader has given it the names that readers have.
func follow(t *testing.T, file string, env []string, asReader *strings.Replacer) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page, err := pages.Parse(string(text))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	path := filepath.Dir(everyone.cli) + string(filepath.ListSeparator) + os.Getenv("PATH")
	env = append(env, "GOGC=300", "PATH="+path, "HOME="+t.TempDir())
	t.Cleanup(func() { stopOwn(t, env) })
	outcomes, err := page.Follow(ctx, t.TempDir(), env)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	outcomes.Replace(asReader)
	differences := page.Differences(outcomes)
	if len(differences) > 0 && *update {
		if err := os.WriteFile(file, []byte(page.Rewrite(outcomes)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, difference := range differences {
		t.Errorf("%s: %s", file, difference)
	}
}

// stopOwn removes the management cluster that a page that failed has left running in its
// own home directory.
func stopOwn(t *testing.T, env []string) {
	t.Helper()
	if slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, "CLUSTERCTL_X_HOME=") }) {
		return
	}
	if r := execute(context.WithoutCancel(t.Context()), nil, env, everyone.cli, "management", "stop", "--remove", "--abandon-clusters"); r.code != 0 {
		t.Error(r.stderr)
	}
}
