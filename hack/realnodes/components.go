package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	// componentsDir is where test/real finds what components built: the folder 'providers', and
	// 'images' with an archive of each image that it names.
	componentsDir = "components"
	// certManager is the directory of the folder that is no provider of Cluster API.
	certManager = "cert-manager"
	// nobody is the user of upstream's images. Pods of cert-manager do not name one, and may not
	// run as root.
	nobody = "65532"
)

// components builds the folder of provider components and all images that it names.
func (b builder) components(ctx context.Context) error {
	folder, err := b.step(ctx, "providers", "providers", []string{"../components", "../source"})
	if err != nil {
		return err
	}
	images, err := componentImages(os.DirFS(folder))
	if err != nil {
		return err
	}
	programs, err := b.componentPrograms(ctx, images)
	if err != nil {
		return err
	}
	args := append([]string{folder}, slices.Sorted(maps.Values(programs))...)
	hash, err := b.hash([]string{"components.go", "archive.go"}, args)
	if err != nil {
		return err
	}
	dir, err := b.once(componentsDir, hash, func(dir string) error {
		if err := os.CopyFS(filepath.Join(dir, "providers"), os.DirFS(folder)); err != nil {
			return err
		}
		return writeComponentImages(dir, programs)
	})
	if err != nil {
		return err
	}
	link := filepath.Join(b.dir, componentsDir)
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Symlink(filepath.Base(dir), link)
}

// componentImages returns the images that a folder of components names, each with its directory
// there, such as cluster-api/v1.14.0.
func componentImages(folder fs.FS) (map[string]string, error) {
	files, err := fs.Glob(folder, "*/*/*.yaml")
	if err != nil {
		return nil, err
	}
	images := map[string]string{}
	for _, file := range files {
		text, err := fs.ReadFile(folder, file)
		if err != nil {
			return nil, err
		}
		for _, match := range regexp.MustCompile(`(?m)^ *(?:- )?image: "?([^"\s]+)"?$`).FindAllSubmatch(text, -1) {
			images[string(match[1])] = path.Dir(file)
		}
	}
	if len(images) == 0 {
		return nil, errors.New("the folder of components names no image; mend the search for them")
	}
	return images, nil
}

// componentPrograms builds the programs of images and returns where each is.
func (b builder) componentPrograms(ctx context.Context, images map[string]string) (map[string]string, error) {
	programs := map[string]string{}
	for _, image := range slices.Sorted(maps.Keys(images)) {
		label, version := path.Split(images[image])
		name, _, _ := strings.Cut(path.Base(image), ":")
		var dir string
		var err error
		if path.Clean(label) == certManager {
			dir, err = b.step(ctx, certManager, "certmanager/build", []string{"certmanager"})
		} else {
			dir, err = b.step(ctx, "managers-"+version, "managers", nil, version)
			dir = filepath.Join(dir, "bin")
		}
		if err != nil {
			return nil, err
		}
		programs[image] = filepath.Join(dir, name)
	}
	return programs, nil
}

// writeComponentImages writes an archive of each image, whose program is /manager.
func writeComponentImages(dir string, programs map[string]string) error {
	images, layers := filepath.Join(dir, "images"), filepath.Join(dir, "layers")
	if err := os.MkdirAll(images, 0o755); err != nil {
		return err
	}
	for image, program := range programs {
		name := strings.ReplaceAll(path.Base(image), ":", "-")
		layer := filepath.Join(layers, name)
		if err := os.MkdirAll(layer, 0o755); err != nil {
			return err
		}
		if err := os.Link(program, filepath.Join(layer, "manager")); err != nil {
			return fmt.Errorf("image %s: %w", image, err)
		}
		i := containerImage{names: []string{image}, layers: []string{layer}, entrypoint: []string{"/manager"}}
		// Provider docker uses the socket of the engine.
		if !strings.HasPrefix(name, "capd-manager") {
			i.user = nobody
		}
		if err := writeArchive(filepath.Join(images, name+".tar"), []containerImage{i}); err != nil {
			return err
		}
	}
	return os.RemoveAll(layers)
}
