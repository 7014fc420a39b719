package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// licenses are the files about licenses of all modules that the programs were built
// from, below licenses/MODULE@VERSION in the archive.
func licenses(ctx context.Context, programs map[string]*debug.BuildInfo) ([]file, error) {
	root, err := goCommand(ctx, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	versions, standard := map[string]bool{}, map[string]bool{}
	for _, info := range programs {
		for _, m := range thirdParty(info) {
			if m.Path == "std" {
				standard["std@"+m.Version] = true
			} else {
				versions[m.Path+"@"+m.Version] = true
			}
		}
	}
	dirs, err := moduleDirs(ctx, versions)
	if err != nil {
		return nil, err
	}
	for name := range versions {
		if module, _, _ := strings.Cut(name, "@"); slices.Contains(copiesOfGo(), module) {
			standard[name] = true
		}
	}
	var all []file
	find := func(search func(dir, name string) ([]file, error), dir, name string) error {
		files, err := search(dir, path.Join("licenses", name))
		if err != nil {
			return fmt.Errorf("looking for the license of %s: %w", name, err)
		}
		all = append(all, files...)
		return nil
	}
	for name := range standard {
		delete(dirs, name)
		if err := find(licensesIn, strings.TrimSpace(string(root)), name); err != nil {
			return nil, err
		}
	}
	for name, dir := range dirs {
		if err := find(licensesBelow, dir, name); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	return all, nil
}

// copiesOfGo are the modules without a file about their license that are copies of
// packages of Go, as their sources say. Its license is theirs.
func copiesOfGo() []string { return []string{"github.com/ajeddeloh/go-json"} }

// thirdParty are the modules of a program, and the one that it is of where that is of
// another project.
func thirdParty(info *debug.BuildInfo) []debug.Module {
	var all []debug.Module
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		all = append(all, info.Main)
	}
	for _, component := range modulesOf(info) {
		all = append(all, debug.Module{Path: component.Name, Version: component.Version})
	}
	return all
}

// moduleDirs are the directories of modules in the module cache, which has all that
// something was built from.
func moduleDirs(ctx context.Context, modules map[string]bool) (map[string]string, error) {
	dirs := map[string]string{}
	if len(modules) == 0 {
		return dirs, nil
	}
	args := []string{"mod", "download", "-json"}
	for name := range modules {
		args = append(args, name)
	}
	out, err := goCommand(ctx, args...)
	if err != nil {
		return nil, err
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct{ Path, Version, Dir string }
		if err := decoder.Decode(&m); errors.Is(err, io.EOF) {
			return dirs, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading what 'go mod download' says: %w", err)
		}
		dirs[m.Path+"@"+m.Version] = m.Dir
	}
}

func goCommand(ctx context.Context, args ...string) ([]byte, error) {
	out, err := exec.CommandContext(ctx, "go", args...).Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		err = fmt.Errorf("%w: %s", err, failed.Stderr)
	}
	if err != nil {
		return nil, fmt.Errorf("running go %s: %w", args[0], err)
	}
	return out, nil
}

// licenseName is how files about licenses are called.
var licenseName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([._-].*)?$`)

// licensesBelow are the files about licenses in a directory and below it. Code that a
// module took over from another one has a license of its own.
func licensesBelow(dir, name string) ([]file, error) {
	return findLicenses(dir, name, func(folder string) bool {
		// LICENSES of Kubernetes are of the modules that are listed themselves.
		return slices.Contains([]string{"testdata", "vendor", "LICENSES"}, folder)
	})
}

// licensesIn are the files about licenses in a directory, without those below it.
func licensesIn(dir, name string) ([]file, error) {
	return findLicenses(dir, name, func(string) bool { return true })
}

func findLicenses(dir, name string, skip func(folder string) bool) ([]file, error) {
	var files []file
	err := filepath.WalkDir(dir, func(p string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if p != dir && skip(entry.Name()) {
				return fs.SkipDir
			}
			return nil
		case !entry.Type().IsRegular() || !licenseName.MatchString(entry.Name()) || filepath.Ext(p) == ".go":
			return nil
		}
		relative, err := filepath.Rel(dir, p)
		files = append(files, file{name: path.Join(name, filepath.ToSlash(relative)), path: p})
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no file in %s is named like one; look what its sources say, and whether it may be given away", dir)
	}
	return files, err
}
