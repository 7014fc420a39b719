package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/terminal"
)

// TestEveryCommandInADocumentExists: the README and the documents name only commands and
// flags that there are, in blocks and in running text.
func TestEveryCommandInADocumentExists(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, file := range documents(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range commandLines(string(text)) {
			checked++
			if err := checkCommandLine(line); err != nil {
				t.Errorf("%s: %s: %v", file, line, err)
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d command lines were found", checked)
	}
}

// documents are the files that people read.
func documents(t *testing.T) []string {
	t.Helper()
	files := []string{"../../README.md", "../../CONTRIBUTING.md"}
	for _, pattern := range []string{docsDir + "/*.md", docsDir + "/*/*.md"} {
		more, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	return files
}

// TestCommandLines finds those of a document, and nothing else.
func TestCommandLines(t *testing.T) {
	t.Parallel()
	const document = "Run `clusterctl-x get clusters -A` or `upgrade cluster\n--plan FILE`, not `kubectl get -A`, `upgrade` or `cluster.yaml`.\n\n" +
		"```console\n$ clusterctl-x plan upgrade -f a.yaml --out \"p | q.json\" | cat && clusterctl-x version; echo $?\n" +
		"error: 'clusterctl-x is not run'\n$ x=$(./clusterctl-x get versions > x)\n```\n"
	want := []string{
		"clusterctl-x get clusters -A", "clusterctl-x upgrade cluster --plan FILE",
		`clusterctl-x plan upgrade -f a.yaml --out "p | q.json"`, "clusterctl-x version", "clusterctl-x get versions",
	}
	if diff := cmp.Diff(want, commandLines(document)); diff != "" {
		t.Errorf("command lines (-want +got):\n%s", diff)
	}
	for line, want := range map[string]string{
		"clusterctl-x get clusters -A":                  "<nil>",
		"clusterctl-x hold cluster x --reason 'a --no'": "<nil>",
		"clusterctl-x get clusters --timeout DURATION":  "<nil>",
		"clusterctl-x describe cluster/prod -n team":    "<nil>",
		"clusterctl-x describe machine/prod":            `unknown command "machine/prod"`,
		"clusterctl-x get cluster prod --all":           "unknown flag: --all",
		"clusterctl-x list":                             `unknown command "list"`,
		"clusterctl-x get machines":                     `unknown command "machines"`,
	} {
		if got := fmt.Sprint(checkCommandLine(line)); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// commandLines are those of clusterctl-x in a document: the code in running text that names
// the program, or a verb of it with a flag, and the commands in blocks.
func commandLines(document string) []string {
	var lines []string
	inBlock, text := false, ""
	for line := range strings.Lines(document) {
		switch {
		case strings.HasPrefix(line, "```"):
			inBlock = !inBlock
		case !inBlock:
			text += line
		default:
			line, prompted := strings.CutPrefix(strings.TrimSpace(line), "$ ")
			if prompted || regexp.MustCompile(`^(\./|bin/)?clusterctl-x `).MatchString(line) {
				lines = append(lines, programsIn(line)...)
			}
		}
	}
	var inText []string
	for _, code := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(text, -1) {
		line := strings.Join(strings.Fields(code[1]), " ")
		if isVerb(strings.Fields(code[1] + " ")[0]) && strings.Contains(line, " -") {
			line = "clusterctl-x " + line
		}
		inText = append(inText, programsIn(line)...)
	}
	return append(inText, lines...)
}

// programsIn are the runs of clusterctl-x in a line for a shell.
func programsIn(line string) []string {
	var runs []string
	const word = `(?:[^\s|&;<>()"'#]|"[^"]*"|'[^']*')+`
	for _, run := range regexp.MustCompile(`(?:^|[|&;(] *)(?:\./|bin/)?(clusterctl-x(?: +`+word+`)+)`).FindAllStringSubmatch(line, -1) {
		runs = append(runs, run[1])
	}
	return runs
}

func isVerb(name string) bool {
	for _, command := range rootCommand(cli.New(terminal.Streams{}), "").Commands() {
		if command.Name() == name {
			return true
		}
	}
	return false
}

// checkCommandLine says which command or flag there is none of.
func checkCommandLine(line string) error {
	var args []string
	for _, word := range regexp.MustCompile(`(?:[^\s"']|"[^"]*"|'[^']*')+`).FindAllString(line, -1)[1:] {
		args = append(args, strings.NewReplacer(`"`, "", "'", "").Replace(word))
	}
	if slices.Contains(args, "help") || args[0] == "completion" {
		return nil // cobra's own
	}
	root := rootCommand(cli.New(terminal.Streams{}), "")
	command, rest, err := root.Find(commandline.SplitTypes(root, args))
	if err != nil {
		return fmt.Errorf("unknown command %q", args[0])
	}
	var missing *pflag.NotExistError
	if err := command.ParseFlags(rest); errors.As(err, &missing) {
		return missing
	}
	if command.HasSubCommands() && command.Flags().NArg() > 0 {
		return fmt.Errorf("unknown command %q", command.Flags().Arg(0))
	}
	return nil
}
