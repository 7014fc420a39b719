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

// AddTo gives the commands below a root their texts. Not every command has one.
func AddTo(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if text, err := texts.ReadFile("text/" + fileOf(cmd)); err == nil {
			long, example, _ := strings.Cut(string(text), examples)
			cmd.Long, cmd.Example = strings.TrimSpace(long), strings.TrimSuffix(example, "\n")
		}
		AddTo(cmd)
	}
}

// fileOf returns the name of the file with the text of a command.
func fileOf(cmd *cobra.Command) string {
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	return strings.ReplaceAll(path, " ", "_") + ".txt"
}
