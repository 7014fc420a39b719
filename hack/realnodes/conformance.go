package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// conformanceDir is where test/real finds what conformance built.
const conformanceDir = "conformance"

// conformance builds Kubernetes' end-to-end tests of a release, the program that runs several of
// them at once, and an archive of the images of their pods. The directory kubernetes has the
// programs of the release.
func (b builder) conformance(ctx context.Context, r versionsbundle.Release, kubernetes string) error {
	dir, err := b.step(ctx, "conformance-"+r.Version.String(), "conformance", []string{"programs/pause"}, kubernetes)
	if err != nil {
		return err
	}
	asked, err := exec.CommandContext(ctx, filepath.Join(dir, "bin/e2e.test"), "--list-images").Output()
	if err != nil {
		return fmt.Errorf("listing the images of the tests of %s: %w", r.Version, err)
	}
	images, err := conformanceImages(dir, strings.Fields(string(asked)))
	if err != nil {
		return fmt.Errorf("the tests of %s: %w", r.Version, err)
	}
	if err := writeArchive(filepath.Join(dir, "images.tar"), images); err != nil {
		return err
	}
	link := filepath.Join(b.dir, conformanceDir)
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Symlink(filepath.Base(dir), link)
}

// conformanceImages returns those images that tests ask for and that can be built from the
// parts in a directory, which hack/realnodes/conformance fills.
func conformanceImages(dir string, asked []string) ([]containerImage, error) {
	const registry = "registry.k8s.io/e2e-test-images/"
	debian, busybox := filepath.Join(dir, "debian"), filepath.Join(dir, "busybox")
	var images []containerImage
	for _, image := range []containerImage{
		{names: []string{registry + "agnhost"}, layers: []string{debian, filepath.Join(dir, "agnhost")}, entrypoint: []string{"/agnhost"}, command: []string{"pause"}},
		{names: []string{registry + "busybox"}, layers: []string{busybox}, command: []string{"sh"}},
		{names: []string{registry + "glibc-dns-testing"}, layers: []string{debian}, command: []string{"bash"}},
		{names: []string{registry + "nginx"}, layers: []string{debian}, command: []string{"nginx", "-g", "daemon off;"}},
		{names: []string{registry + "nonewprivs"}, layers: []string{busybox, filepath.Join(dir, "nonewprivs")}, command: []string{"nnp"}},
		{names: []string{"registry.k8s.io/pause"}, layers: []string{filepath.Join(dir, "pause")}, entrypoint: []string{"/pause"}},
	} {
		found := false
		for _, name := range asked {
			if strings.HasPrefix(name, image.names[0]+":") {
				found = true
				versioned := image
				versioned.names = []string{name}
				images = append(images, versioned)
			}
		}
		if !found {
			return nil, fmt.Errorf("none asks for %s: the tests have changed, and so must this list", image.names[0])
		}
	}
	return images, nil
}
