// Package files writes files whole or not at all.
package files

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// checkReplaceable refuses what a rename would take away and no file replaces: a device, a pipe
// or a socket.
func checkReplaceable(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() || info.Mode().IsRegular() {
		return nil //nolint:nilerr // writing says what is wrong
	}
	return &fs.PathError{Op: "write", Path: path, Err: errNotRegular}
}

var errNotRegular = errors.New("it is not a regular file; name another one")

// WritePrivate writes a file that only its owner may read.
func WritePrivate(path string, data []byte) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temp.Name()))
		}
	}()
	if _, err := temp.Write(data); err != nil {
		return errors.Join(err, temp.Close())
	}
	if err := temp.Close(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}

// Save is WritePrivate for a caller who names the file: what it returns has no path, since
// the file that is written first has a temporary one.
func Save(path string, data []byte) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return errors.New("it is a directory; name a file")
	}
	err := checkReplaceable(path)
	if err == nil {
		err = WritePrivate(path, data)
	}
	var failed *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &failed):
		return failed.Err
	case errors.As(err, &link):
		return link.Err
	default:
		return err
	}
}

// WritePublic writes a file that everybody may read.
func WritePublic(path string, data []byte) error {
	if err := checkReplaceable(path); err != nil {
		return err
	}
	part := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".part")
	err := os.WriteFile(part, data, 0o644)
	if err == nil {
		err = os.Rename(part, path)
	}
	if err == nil {
		return nil
	}
	if left := os.Remove(part); !errors.Is(left, fs.ErrNotExist) {
		err = errors.Join(err, left)
	}
	return err
}

// File is one file of a directory.
type File struct {
	Name string
	Data []byte
}

// WriteManifests writes files that everybody may read to a directory, which it makes. It returns
// the paths of what else kubectl reads there.
func WriteManifests(directory string, manifests []File) (others []string, err error) {
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return nil, err
	}
	for _, file := range manifests {
		if err := WritePublic(filepath.Join(directory, file.Name), file.Data); err != nil {
			return nil, err
		}
	}
	return Manifests(directory, manifests)
}

// Manifests returns the paths of what kubectl reads in a directory, but for these files.
func Manifests(directory string, except []File) ([]string, error) {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, entry := range entries {
		known := slices.ContainsFunc(except, func(file File) bool { return file.Name == entry.Name() })
		if !known && !entry.IsDir() && slices.Contains(ManifestExtensions(), filepath.Ext(entry.Name())) {
			paths = append(paths, filepath.Join(directory, entry.Name()))
		}
	}
	return paths, nil
}

// Edit gives the YAML files of a directory and of those below it, by their paths, to a
// function, and saves those that it returns. Directories that begin with a dot are left out.
// It returns the paths of the files that it saved, sorted.
func Edit(directory string, edit func(map[string][]byte) (map[string][]byte, error)) ([]string, error) {
	texts := map[string][]byte{}
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != directory:
			return fs.SkipDir
		case !entry.Type().IsRegular() || !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(path)):
			return nil
		}
		text, err := os.ReadFile(path)
		texts[path] = text
		return err
	})
	if err != nil {
		return nil, err
	}
	changed, err := edit(texts)
	if err != nil {
		return nil, err
	}
	paths := slices.Sorted(maps.Keys(changed))
	for _, path := range paths {
		if err := WritePublic(path, changed[path]); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// ManifestExtensions are those of the files that kubectl reads in a directory.
func ManifestExtensions() []string { return []string{".json", ".yaml", ".yml"} }
