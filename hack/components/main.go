// Command components writes a folder of provider components, in the layout of clusterctl's local
// repositories, without a registry and without GitHub: Cluster API's from the modules of its
// releases, cert-manager's from the chart in its module. 'clusterctl-x management init
// --components' reads it.
//
// The files are those that the releases publish, made in the same way from the same sources. Images
// have the names of the releases, and are not pulled where a machine has them.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/hack/source"
)

// defaultVersions are those of Cluster API: the one that everything here is tested with, and the
// newest patch that the module proxy has of core, API and test.
const defaultVersions = "v1.14.0,v1.14.2"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out := flag.String("out", "bin/components", "write the folder to this `directory`")
	versions := flag.String("versions", defaultVersions, "releases of Cluster API")
	flag.Parse()
	if err := write(ctx, *out, strings.Split(*versions, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "components:", err)
		os.Exit(1)
	}
}

// write makes all files before it writes any.
func write(ctx context.Context, out string, versions []string) error {
	files, err := certManagerFiles(ctx)
	if err != nil {
		return fmt.Errorf("cert-manager %s: %w", certManagerVersion, err)
	}
	for _, version := range versions {
		if err := addProviders(ctx, files, version); err != nil {
			return fmt.Errorf("Cluster API %s: %w", version, err)
		}
	}
	for name, content := range files {
		path := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := source.ReplaceFile(path, content); err != nil {
			return err
		}
	}
	return nil
}

// fileSet has the content of files, by their paths in the folder.
type fileSet map[string][]byte
