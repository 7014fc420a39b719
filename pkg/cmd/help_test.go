package cmd

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/terminal"
)

// TestEveryHelpTextIsOfACommand fails on a text that no command shows.
func TestEveryHelpTextIsOfACommand(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("help/text/*")
	if err != nil {
		t.Fatal(err)
	}
	texts := make([]string, len(files))
	for i, file := range files {
		texts[i] = strings.ReplaceAll(strings.TrimSuffix(filepath.Base(file), ".txt"), "_", " ")
	}
	root := rootCommand(cli.New(terminal.Streams{}), "v0")
	var shown []string
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if byCobra := []string{"completion", "help"}; slices.Contains(byCobra, cmd.Name()) {
			return
		}
		if cmd.Long+cmd.Example != "" {
			shown = append(shown, strings.TrimPrefix(cmd.CommandPath(), "clusterctl-x "))
		}
		for _, child := range cmd.Commands() {
			walk(child)
		}
	}
	walk(root)
	slices.Sort(shown)
	slices.Sort(texts)
	if diff := cmp.Diff(texts, shown); diff != "" {
		t.Errorf("commands with a text (-files +commands):\n%s", diff)
	}
}

// TestHelpNamesTheSettings: the text of the root command has all flags that can also be set elsewhere.
func TestHelpNamesTheSettings(t *testing.T) {
	t.Parallel()
	long := strings.Join(strings.Fields(rootCommand(cli.New(terminal.Streams{}), "v0").Long), " ")
	if settings := strings.Join(cli.ConfigurableOfAll(), ", "); !strings.Contains(long, "): "+settings+", and those ") {
		t.Errorf("the text does not name the settings %s:\n%s", settings, long)
	}
}
