// Command realnodes builds the images of machines that the tests in test/real run on, without
// a registry: from modules of the Go module proxy and packages of Debian. The engine of
// DOCKER_HOST gets the images, and bundles.yaml, in the directory of -dir, names them. It also
// builds Kubernetes' conformance tests, and a folder of provider components with their images, which 'components' there names.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/hack/source"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// kind is the module whose files make a container start as a node.
const kind = "sigs.k8s.io/kind@v0.32.0"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var o options
	flag.StringVar(&o.dir, "dir", "bin/real", "the directory that keeps what was built")
	flag.StringVar(&o.scripts, "scripts", "hack/realnodes", "the directory of this command")
	flag.BoolVar(&o.nodes, "nodes", true, "make node images")
	flag.BoolVar(&o.conformance, "conformance", true, "build the conformance tests of the last minor")
	minors := flag.String("minors", "1.34,1.35,1.36", "the minors of Kubernetes to build the newest patch of")
	flag.Parse()
	o.minors = strings.Split(*minors, ",")
	if err := o.build(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "realnodes:", err)
		os.Exit(1)
	}
}

// options are the flags of the command.
type options struct {
	dir, scripts       string
	minors             []string
	nodes, conformance bool
}

func (o options) build(ctx context.Context) error {
	bundles, err := newest(o.minors)
	if err != nil {
		return err
	}
	b, err := newBuilder(o.dir, o.scripts)
	if err != nil {
		return err
	}
	if o.nodes {
		if err := b.nodeImages(ctx, bundles); err != nil {
			return err
		}
	}
	if err := b.components(ctx); err != nil {
		return err
	}
	if !o.conformance {
		return nil
	}
	releases := bundles.Releases()
	last := releases[len(releases)-1]
	programs, err := b.kubernetes(ctx, last)
	if err != nil {
		return err
	}
	return b.conformance(ctx, last, programs)
}

// nodeImages makes the node images of all releases, and writes bundles that name them.
func (b builder) nodeImages(ctx context.Context, bundles *versionsbundle.Bundles) error {
	shared, err := b.shared(ctx)
	if err != nil {
		return err
	}
	releases := bundles.Releases()
	programs := map[v1alpha1.Version]string{}
	for _, r := range releases {
		if programs[r.Version], err = b.kubernetes(ctx, r); err != nil {
			return err
		}
	}
	n := nodes{builder: b, shared: shared, releases: releases, programs: programs}
	for _, bundle := range bundles.Spec.VersionsBundles {
		for i, r := range bundle.Releases {
			image, err := n.build(ctx, r)
			if err != nil {
				return err
			}
			bundle.Releases[i].NodeImages = map[string]string{"docker": image}
			if bundle.Releases[i].Kubeadm, err = n.kubeadm(r); err != nil {
				return err
			}
		}
	}
	text, err := bundles.Text()
	if err != nil {
		return err
	}
	return source.ReplaceFile(filepath.Join(b.dir, "bundles.yaml"), []byte(text))
}

// newest returns the built-in bundles with the newest release of each of the minors, and
// nothing that other registries have.
func newest(minors []string) (*versionsbundle.Bundles, error) {
	all, err := versionsbundle.Parse("config/bundles/bundles.yaml", config.Bundles)
	if err != nil {
		return nil, err
	}
	chosen := &versionsbundle.Bundles{APIVersion: all.APIVersion, Kind: all.Kind, Metadata: versionsbundle.Meta{Name: "real"}}
	for _, minor := range minors {
		found := false
		for _, bundle := range all.Spec.VersionsBundles {
			if bundle.KubeVersion.String() != minor {
				continue
			}
			found = true
			last := bundle.Releases[len(bundle.Releases)-1]
			last.NodeImages, last.Kubeadm = nil, nil
			bundle.Releases = []versionsbundle.Release{last}
			chosen.Spec.VersionsBundles = append(chosen.Spec.VersionsBundles, bundle)
		}
		if !found {
			return nil, fmt.Errorf("the built-in bundles have no Kubernetes %s; give others to -minors", minor)
		}
	}
	return chosen, nil
}
