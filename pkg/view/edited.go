package view

import "strings"

// Edited says which files of a directory were changed.
func Edited(directory string, paths []string) string {
	if len(paths) == 0 {
		return "no file in " + directory + " changes"
	}
	return Counted(len(paths), "file") + " changed: " + strings.Join(paths, ", ")
}
