// Package help has the long help texts of commands: what --help says of a command beyond
// one line, and examples. Each is a file below text, as people read it, with the name of
// its command: that of 'get clusters' is get_clusters.txt.
package help

import "embed"

// Texts has the files below the directory text.
//
//go:embed text/*.txt
var Texts embed.FS
