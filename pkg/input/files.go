package input

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/files"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// Files returns the files that -f names, and those in the directories that it names.
func Files(named []string) ([]string, error) {
	if len(named) == 0 {
		return nil, usage.Errorf("-f FILE is required: a file that describes a cluster, or a directory of such files")
	}
	seen := map[string]bool{}
	var all []string
	for _, name := range named {
		found, err := filesOf(name)
		if err != nil {
			return nil, err
		}
		for _, file := range found {
			if seen[filepath.Clean(file)] {
				return nil, usage.Errorf("-f names %s twice", FileName(file))
			}
			seen[filepath.Clean(file)] = true
			all = append(all, file)
		}
	}
	return all, nil
}

// filesOf returns the files that a name of -f stands for, sorted by their names.
func filesOf(name string) ([]string, error) {
	if info, err := os.Stat(name); name == "-" || err != nil || !info.IsDir() {
		return []string{name}, nil //nolint:nilerr // reading it says what is wrong
	}
	found, err := files.Manifests(name, nil)
	if err != nil {
		return nil, usage.Errorf("reading the directory %s: %w", name, err)
	}
	if len(found) == 0 {
		return nil, usage.Errorf("the directory %s has no file that ends in %s; its subdirectories are not read", name, strings.Join(files.ManifestExtensions(), ", "))
	}
	return found, nil
}

// ReadManifests reads the files with manifests that -f names, and those in the directories that it
// names.
func (r *Reader) ReadManifests(named []string) ([]lifecycle.Manifest, error) {
	names, err := Files(named)
	if err != nil {
		return nil, err
	}
	manifests := make([]lifecycle.Manifest, len(names))
	for i, name := range names {
		manifests[i].Name = FileName(name)
		if manifests[i].Data, err = r.ReadFile("manifests", "-f names a file with manifests", name); err != nil {
			return nil, err
		}
	}
	return manifests, nil
}

// FileName is what people call the file of -f.
func FileName(file string) string {
	if file == "-" {
		return "standard input"
	}
	return file
}

// ReadFile reads a file, or standard input; the remedy is about the flag that names it.
func (r *Reader) ReadFile(what, remedy, file string) ([]byte, error) {
	if file == "-" {
		data, err := readStart(r.Stdin)
		if err != nil {
			return nil, usage.Errorf("reading %s: %w", what, err)
		}
		return data, nil
	}
	data, err := readFile(file)
	if err != nil {
		return nil, usage.Errorf("reading %s: %w; %s", what, err, remedy)
	}
	return data, nil
}

func readFile(path string) (data []byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return readStart(file)
}

// readStart reads no more than shows that a file is too large to be read: it
// may be a device, which has no end.
func readStart(r io.Reader) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r, strictyaml.MaxFileSize+1))
}
