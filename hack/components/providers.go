package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/clusterctl-x/clusterctl-x/hack/source"
)

const clusterAPI = "sigs.k8s.io/cluster-api"

// provider is what a release of Cluster API publishes of one of its providers.
type provider struct {
	label  string // directory, as clusterctl calls the provider
	file   string // name of the components, as clusterctl asks for it
	module string
	config string // directory in the module
	image  string // without the tag, which is the version
}

func providers() []provider {
	const registry, staging = "registry.k8s.io/cluster-api/", "gcr.io/k8s-staging-cluster-api/"
	return []provider{
		{"cluster-api", "core-components.yaml", clusterAPI, "core/config", registry + "cluster-api-controller"},
		{"bootstrap-kubeadm", "bootstrap-components.yaml", clusterAPI, "bootstrap/kubeadm/config", registry + "kubeadm-bootstrap-controller"},
		{"control-plane-kubeadm", "control-plane-components.yaml", clusterAPI, "controlplane/kubeadm/config", registry + "kubeadm-control-plane-controller"},
		{"infrastructure-docker", "infrastructure-components-development.yaml", clusterAPI + "/test", "infrastructure/docker/config", staging + "capd-manager"},
	}
}

// addProviders adds the files of all providers of a release.
func addProviders(ctx context.Context, files fileSet, version string) error {
	metadata, err := source.ReadModuleFile(ctx, clusterAPI+"@"+version, "metadata.yaml")
	if err != nil {
		return err
	}
	for _, p := range providers() {
		dir, err := source.ModuleDir(ctx, p.module+"@"+version)
		if err != nil {
			return err
		}
		components, err := p.components(os.DirFS(filepath.Join(dir, filepath.FromSlash(p.config))), version)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", p.config, p.module, err)
		}
		at := path.Join(p.label, version)
		files[path.Join(at, p.file)], files[path.Join(at, "metadata.yaml")] = components, metadata
	}
	return nil
}

// components makes the objects of a provider as its release does: with an image of the release in
// place of the last build, which is pulled where it is missing only.
func (p provider) components(config fs.FS, version string) ([]byte, error) {
	files := filesys.MakeFsInMemory()
	if err := copyTree(files, config); err != nil {
		return nil, err
	}
	for _, line := range []struct{ file, old, changed string }{
		{"default/manager_image_patch.yaml", `image: .*`, "image: " + p.image + ":" + version},
		{"default/manager_pull_policy.yaml", `imagePullPolicy: .*`, "imagePullPolicy: IfNotPresent"},
	} {
		if err := replaceOnce(files, line.file, line.old, line.changed); err != nil {
			return nil, err
		}
	}
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, "default")
	if err != nil {
		return nil, err
	}
	return objects.AsYaml()
}

func copyTree(to filesys.FileSystem, from fs.FS) error {
	return fs.WalkDir(from, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		return to.WriteFile(name, content)
	})
}

// replaceOnce insists on one match: a form that is not expected must not go by unchanged.
func replaceOnce(files filesys.FileSystem, file, old, changed string) error {
	content, err := files.ReadFile(file)
	if err != nil {
		return err
	}
	pattern := regexp.MustCompile(old)
	if found := pattern.FindAllIndex(content, -1); len(found) != 1 {
		return fmt.Errorf("%s has %q %d times, and not once", file, old, len(found))
	}
	return files.WriteFile(file, pattern.ReplaceAllLiteral(content, []byte(changed)))
}
