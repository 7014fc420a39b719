package view

import (
	"fmt"
	"strings"
)

// Backup is what a backup holds.
type Backup struct {
	Directory string
	// Clusters and Secrets are each namespace/name.
	Clusters, Secrets []string
	Objects           int
	Encrypted         bool
	// Restored is true where all of it was restored before.
	Restored bool
}

// Saved says what was saved in a backup.
func (b Backup) Saved() string {
	how := "not encrypted"
	if b.Encrypted {
		how = "encrypted"
	}
	return fmt.Sprintf("saved in %s: %s", b.Directory, b.contents()) +
		indented(fmt.Sprintf("with private keys and tokens, %s, in these Secrets:\n", how), b.Secrets)
}

// Restoration says what was restored from a backup.
func (b Backup) Restoration() string {
	if b.Restored {
		return fmt.Sprintf("the clusters of %s were restored already; nothing to do\n", b.Directory)
	}
	return fmt.Sprintf("restored from %s: %s", b.Directory, b.contents())
}

func (b Backup) contents() string {
	return indented(fmt.Sprintf("%s, in %s:\n", Counted(len(b.Clusters), "cluster"), Counted(b.Objects, "object")), b.Clusters)
}

// indented is a line with names below it.
func indented(line string, names []string) string {
	var text strings.Builder
	text.WriteString(line)
	for _, name := range names {
		fmt.Fprintf(&text, "  %s\n", name)
	}
	return text.String()
}
