// Package help has the long help texts of commands: what --help says of a command beyond
// one line, and examples. Each is a file below text, as people read it, with the name of
// its command: that of 'get clusters' is get_clusters.txt.
package help

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed text/*.txt
var texts embed.FS

// examples begins the part of a text that cobra shows below the usage line.
const examples = "Examples:\n"

// AddTo gives a command and those below it their texts. Not every command has one.
func AddTo(cmd *cobra.Command) {
	if text, err := texts.ReadFile("text/" + fileOf(cmd)); err == nil {
		long, example, _ := strings.Cut(string(text), examples)
		cmd.Long, cmd.Example = strings.TrimSpace(long), strings.TrimSuffix(example, "\n")
	}
	for _, child := range cmd.Commands() {
		AddTo(child)
	}
}

// fileOf returns the name of the file with the text of a command. That of the root has its name.
func fileOf(cmd *cobra.Command) string {
	path := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	return strings.ReplaceAll(path, " ", "_") + ".txt"
}
