package commandline

import (
	"io/fs"
	"path"
	"strings"

	"github.com/spf13/cobra"
)

// examples begins the part of a help text that cobra shows below the usage line.
const examples = "Examples:\n"

// AddHelpTexts gives a command and those below it their long help texts, which are files of a
// directory with their names: that of 'get clusters' is get_clusters.txt, and that of the root has
// its own name. Not every command has one.
func AddHelpTexts(cmd *cobra.Command, texts fs.FS, dir string) {
	name := strings.ReplaceAll(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" "), " ", "_") + ".txt"
	if text, err := fs.ReadFile(texts, path.Join(dir, name)); err == nil {
		long, example, _ := strings.Cut(string(text), examples)
		cmd.Long, cmd.Example = strings.TrimSpace(long), strings.TrimSuffix(example, "\n")
	}
	for _, child := range cmd.Commands() {
		AddHelpTexts(child, texts, dir)
	}
}
