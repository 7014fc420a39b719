//go:build real

package real_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// versions are the releases of Kubernetes that clusters of these tests have.
type versions struct {
	bundles *versionsbundle.Bundles
	flags   []string // that make clusterctl-x use them
}

// publishedVersions are those that clusterctl-x has by itself.
func publishedVersions() (versions, error) {
	bundles, err := versionsbundle.Parse("config/bundles/bundles.yaml", config.Bundles)
	return versions{bundles: bundles}, err
}

// builtVersions are those that hack/realnodes built.
func builtVersions() (versions, error) {
	file, err := filepath.Abs(filepath.Join(builtDir, "bundles.yaml"))
	if err != nil {
		return versions{}, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return versions{}, fmt.Errorf("%w: run these tests by 'make e2e-real', which builds it", err)
	}
	bundles, err := versionsbundle.Parse(file, text)
	return versions{bundles: bundles, flags: []string{"--bundles", file, "--replace-bundles"}}, err
}

// try starts a privileged container of the newest node image.
func (v versions) try(ctx context.Context) error {
	releases := v.bundles.Releases()
	image := releases[len(releases)-1].NodeImages["docker"]
	if _, err := docker(ctx, nil, "run", "--rm", "--privileged", "--network", "none", "--entrypoint", "true", image); err != nil {
		return fmt.Errorf("%w: machines are privileged containers: use an engine that runs as root and may start them", err)
	}
	return nil
}

// release returns the release of an exact version, or the newest one of a minor, that there are
// machines for.
func release(t *testing.T, version string) versionsbundle.Release {
	t.Helper()
	var newest versionsbundle.Release
	for _, r := range suite.versions.bundles.Releases() {
		if slices.Contains([]string{r.Version.String(), r.Version.Minor().String()}, version) && r.NodeImages["docker"] != "" {
			newest = r
		}
	}
	if newest.NodeImages == nil {
		t.Fatalf("there is no node image of Kubernetes %s", version)
	}
	return newest
}
