package cmd

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
	"github.com/clusterctl-x/clusterctl-x/pkg/terminal"
)

// TestOnlyWritersStart: commands that only read start no management cluster.
func TestOnlyWritersStart(t *testing.T) {
	t.Parallel()
	var starting []string
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if _, starts := cmd.Annotations["clusterctl-x.io/starts"]; starts {
			starting = append(starting, cmd.CommandPath())
		}
		for _, child := range cmd.Commands() {
			visit(child)
		}
	}
	visit(rootCommand(cli.New(terminal.Streams{}), "v0"))
	slices.Sort(starting)
	want := []string{
		"clusterctl-x apply", "clusterctl-x backup management", "clusterctl-x create cluster", "clusterctl-x delete cluster", "clusterctl-x hold cluster",
		"clusterctl-x release cluster", "clusterctl-x restore management", "clusterctl-x rollout restart", "clusterctl-x serve runtime-extension", "clusterctl-x upgrade cluster",
	}
	if diff := cmp.Diff(want, starting); diff != "" {
		t.Errorf("commands that start a management cluster (-want +got):\n%s", diff)
	}
}

// TestReadersWaitForNoStart: while a management cluster starts, a command that reads says so.
func TestReadersWaitForNoStart(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("KUBECONFIG", "")
	t.Setenv("CLUSTERCTL_X_HOME", home)
	instance, err := embedded.Find(home, "other")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(instance.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := instance.WriteProgress(embedded.Progress{}); err != nil {
		t.Fatal(err)
	}
	lock, err := instance.Lock()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := lock.Close(); err != nil {
			t.Error(err)
		}
	}()
	var stderr strings.Builder
	code := Run(t.Context(), "v0", []string{"get", "clusters", "--management", "embedded", "--name", "other"}, terminal.Streams{In: strings.NewReader(""), Out: &strings.Builder{}, Err: &stderr})
	const want = "error: embedded management cluster \"other\" is not ready yet; 'clusterctl-x management start --name other' waits until it is\n"
	if diff := cmp.Diff(want, stderr.String()); diff != "" || code != 3 {
		t.Errorf("exit code %d, want 3; stderr (-want +got):\n%s", code, diff)
	}
}
