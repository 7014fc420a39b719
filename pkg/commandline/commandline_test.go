package commandline_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// tree is a program with the commands 'make tea' and 'make coffee', of which each reads one
// file.
func tree() *cobra.Command {
	root := &cobra.Command{Use: "kitchen", SilenceErrors: true, SilenceUsage: true}
	root.SetOut(&strings.Builder{})
	root.SetFlagErrorFunc(commandline.FlagError)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return commandline.CheckFile(cmd) }
	of := &cobra.Command{Use: "make"}
	for _, drink := range []string{"tea", "coffee"} {
		var file string
		cmd := &cobra.Command{Use: drink, Args: commandline.NoArgs, RunE: func(*cobra.Command, []string) error { return nil }}
		commandline.AddFile(cmd, &file, "recipe")
		cmd.Flags().String("milk", "", "")
		of.AddCommand(cmd)
	}
	root.AddCommand(of)
	commandline.HoldOthers(of)
	commandline.HoldOthers(root)
	commandline.AddHelp(root, func(*cobra.Command, []string) error { return nil })
	return root
}

// TestErrors: what is wrong with a command line is an error about usage, with a remedy.
func TestErrors(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                         "",
		"make tea":                 "",
		"make tea -f a":            "",
		"help make":                "",
		"completion bash":          "",
		"make":                     "'kitchen make' needs one of: coffee, tea; see 'kitchen make --help'",
		"make tee":                 "'kitchen make tee' does not exist; did you mean tea?",
		"make chocolate":           "'kitchen make chocolate' does not exist; there are: coffee, tea",
		"bake":                     "'kitchen bake' does not exist; did you mean make?",
		"scale":                    "'kitchen scale' does not exist: the numbers of machines are in the file of the cluster; change count there, and run 'kitchen apply -f FILE'",
		"make tea hot":             `'kitchen make tea' takes no arguments but got "hot"`,
		"make tea -f a -f b":       `-f names "a" and "b"; 'kitchen make tea' reads one file`,
		"make tea --sugar":         "unknown flag: --sugar; see 'kitchen make tea --help'",
		"make chocolate --sugar":   "'kitchen make chocolate' does not exist; there are: coffee, tea",
		"help make chocolate":      "'kitchen make chocolate' does not exist; there are: coffee, tea",
		"completion":               "'kitchen completion' needs one of: bash, fish, powershell, zsh; see 'kitchen completion --help'",
		"completion bash for-fish": `'kitchen completion bash' takes no arguments but got "for-fish"`,
	} {
		root := tree()
		root.SetArgs(strings.Fields(line))
		got, about := "", usage.Error{}
		if err := root.Execute(); err != nil {
			got = err.Error()
			if !errors.As(err, &about) {
				t.Errorf("%q: not an error about usage: %v", line, err)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", line, diff)
		}
	}
}

func TestReadFlag(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"make tea --sugar -o json": "json",
		"--output=yaml make":       "yaml",
		"make tea --output":        "text",
		"make tea":                 "text",
	} {
		got := "text"
		if commandline.ReadFlag(strings.Fields(line), "output", "o", &got); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}

// TestCompletions: what is offered for one way of completing a value each.
func TestCompletions(t *testing.T) {
	t.Parallel()
	type offer struct {
		Values    []string
		Directive cobra.ShellCompDirective
	}
	const none, more = cobra.ShellCompDirectiveNoFileComp, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	list := func(names ...string) func(*cobra.Command, string) []string {
		return func(*cobra.Command, string) []string { return names }
	}
	milks := func(*cobra.Command) []string { return []string{"oat", "soy"} }
	for name, test := range map[string]struct {
		complete commandline.Complete
		typed    string
		want     offer
	}{
		"one of":            {commandline.OneOf(func(*cobra.Command) ([]string, error) { return []string{"a"}, nil }), "", offer{[]string{"a"}, none}},
		"one of none":       {commandline.OneOf(func(*cobra.Command) ([]string, error) { return nil, errors.New("unread") }), "", offer{nil, cobra.ShellCompDirectiveError}},
		"fixed":             {commandline.Fixed("a", "b"), "", offer{[]string{"a", "b"}, none}},
		"list":              {commandline.CommaSeparated(milks), "", offer{[]string{"oat", "soy"}, more}},
		"end of a list":     {commandline.CommaSeparated(milks), "oat,s", offer{[]string{"oat,soy"}, more}},
		"full list":         {commandline.CommaSeparated(milks), "oat,soy,", offer{nil, more}},
		"begun":             {commandline.Begun(list("name", "json")), "", offer{[]string{"name", "json"}, none}},
		"begun, incomplete": {commandline.Begun(list("jsonpath=")), "jsonp", offer{[]string{"jsonpath="}, more}},
		"files":             {commandline.FilesWith("yaml"), "", offer{[]string{"yaml"}, cobra.ShellCompDirectiveFilterFileExt}},
		"directories":       {commandline.Directories, "", offer{nil, cobra.ShellCompDirectiveFilterDirs}},
	} {
		values, directive := test.complete(&cobra.Command{}, nil, test.typed)
		if diff := cmp.Diff(test.want, offer{values, directive}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestAddCompletions: a command keeps what it offers itself, and offers no files as arguments.
func TestAddCompletions(t *testing.T) {
	t.Parallel()
	root := tree()
	coffee, _, err := root.Find([]string{"make", "coffee"})
	if err != nil {
		t.Fatal(err)
	}
	if err := coffee.RegisterFlagCompletionFunc("milk", commandline.Fixed("cow")); err != nil {
		t.Fatal(err)
	}
	commandline.AddCompletions(root, map[string]commandline.Complete{"milk": commandline.Fixed("oat")})
	got := map[string]string{}
	for _, drink := range []string{"tea", "coffee"} {
		cmd, _, err := root.Find([]string{"make", drink})
		if err != nil {
			t.Fatal(err)
		}
		complete, _ := cmd.GetFlagCompletionFunc("milk")
		values, _ := complete(cmd, nil, "")
		_, directive := cmd.ValidArgsFunction(cmd, nil, "")
		got[drink] = fmt.Sprint(values, directive == cobra.ShellCompDirectiveNoFileComp)
	}
	if diff := cmp.Diff(map[string]string{"tea": "[oat] true", "coffee": "[cow] true"}, got); diff != "" {
		t.Errorf("completions (-want +got):\n%s", diff)
	}
}

func TestFilesOf(t *testing.T) {
	t.Parallel()
	var file string
	one := &cobra.Command{}
	commandline.AddFile(one, &file, "")
	several, without := &cobra.Command{}, &cobra.Command{}
	several.Flags().StringArray(commandline.Filename, nil, "")
	for _, given := range []struct {
		cmd  *cobra.Command
		line string
		want []string
	}{
		{without, "", nil},
		{one, "", []string{}},
		{one, "-f a", []string{"a"}},
		{several, "--filename a --filename - --filename b", []string{"a", "b"}},
	} {
		if err := given.cmd.ParseFlags(strings.Fields(given.line)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(given.want, commandline.FilesOf(given.cmd)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", given.line, diff)
		}
	}
}
