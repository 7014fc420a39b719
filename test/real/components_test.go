//go:build real

package real_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/wait"
)

// TestComponentImages brings the images of provider components to the machines of a cluster, the
// one that comes later, too: each has all that the folder of components names.
func TestComponentImages(t *testing.T) {
	t.Parallel()
	c := cluster{name: "components", version: "1.35", groups: []group{{name: "md-0"}}}
	c.create(t)
	c.bringComponents(t)
	c.groups[0].count = 2
	cli(t, 0, "upgrade", "cluster", "-f", c.file(t))
	want := map[string][]string{}
	machines := append(c.machines(t, "control-plane"), c.machines(t, "md-0")...)
	for _, machine := range machines {
		want[machine.Name] = componentImages(t)
	}
	eventually(t, func() string {
		got := map[string][]string{}
		for _, machine := range machines {
			got[machine.Name] = imagesOf(t, machine.Name, want[machine.Name])
		}
		return cmp.Diff(want, got)
	})
	c.delete(t)
}

// componentsFolder returns the folder of provider components that hack/realnodes makes, for the
// flag --components.
func componentsFolder(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs(filepath.Join(builtDir, "components", "providers"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(folder); err != nil {
		t.Fatalf("%v: run these tests by 'make e2e-real', which builds it", err)
	}
	return folder
}

// bringComponents gives each machine that the cluster has, or gets before the test ends, the
// images of the components: there is no registry to pull them from.
func (c cluster) bringComponents(t *testing.T) {
	t.Helper()
	archives, err := filepath.Glob(filepath.Join(filepath.Dir(componentsFolder(t)), "images", "*.tar"))
	if err != nil {
		t.Fatal(err)
	}
	c.onEachMachine(t, func(ctx context.Context, machine string) error { return importArchives(ctx, machine, archives) })
}

// onEachMachine does something once on each machine that the cluster has, or gets before the test
// ends. What fails is tried again: the machine may not run yet.
func (c cluster) onEachMachine(t *testing.T, do func(ctx context.Context, machine string) error) {
	t.Helper()
	var running sync.WaitGroup
	running.Go(func() {
		done := map[string]bool{}
		_ = wait.PollUntilContextCancel(t.Context(), time.Second, true, func(ctx context.Context) (bool, error) {
			machines, _ := c.containers(ctx)
			for _, machine := range machines {
				if !done[machine] && machine != c.name+"-lb" {
					done[machine] = do(ctx, machine) == nil
				}
			}
			return false, nil
		})
	})
	t.Cleanup(running.Wait)
}

// importArchives gives a machine the images of archives.
func importArchives(ctx context.Context, machine string, archives []string) error {
	for _, path := range archives {
		archive, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if _, err := docker(ctx, archive, "exec", "--interactive", machine, "ctr", "--namespace", "k8s.io", "images", "import", "-"); err != nil {
			return err
		}
	}
	return nil
}

// imagesOf returns those of some images that a machine has.
func imagesOf(t *testing.T, machine string, images []string) []string {
	t.Helper()
	known, err := docker(t.Context(), nil, "exec", machine, "ctr", "--namespace", "k8s.io", "images", "ls", "--quiet")
	if err != nil {
		t.Fatal(err)
	}
	has := slices.DeleteFunc(strings.Fields(known), func(image string) bool { return !slices.Contains(images, image) })
	slices.Sort(has)
	return has
}

// componentImages returns the images that the folder of components names.
func componentImages(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(componentsFolder(t), "*", "*", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var images []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`(?m)^ *(?:- )?image: "?([^"\s]+)"?$`).FindAllSubmatch(text, -1) {
			images = append(images, string(match[1]))
		}
	}
	slices.Sort(images)
	return slices.Compact(images)
}
