package config

import (
	"io/fs"
	"strings"
)

// Joined returns the manifests of a directory as one text. They are as they stand, with
// the comments that say why.
func Joined(files fs.FS, directory string) (string, error) {
	names, err := fs.Glob(files, directory+"/*.yaml")
	if err != nil {
		return "", err
	}
	texts := make([]string, len(names))
	for i, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return "", err
		}
		texts[i] = string(text)
	}
	return strings.Join(texts, "---\n"), nil
}
