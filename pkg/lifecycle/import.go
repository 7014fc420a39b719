package lifecycle

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/importer"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/conversion"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Manifest is a file with objects.
type Manifest struct {
	// Name of the file, for messages.
	Name string
	Data []byte
}

// ManifestError says why a file of manifests cannot be read.
type ManifestError struct{ Err error }

// Error is a complete sentence.
func (e *ManifestError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ManifestError) Unwrap() error { return e.Err }

// Import returns the spec of a live cluster that others made.
func (s *Service) Import(ctx context.Context, key types.NamespacedName) (importer.Imported, error) {
	objects, err := s.client.Objects(ctx, key)
	if err != nil {
		return importer.Imported{}, err
	}
	imported, _, err := importer.Clusters(objects, importedKinds(s.options.Providers), true)
	if err != nil {
		return importer.Imported{}, notImported(err)
	}
	return imported[0], checkImported(imported[0], s.options.Providers, s.options.Bundles)
}

// ImportManifests returns the specs of the clusters that manifests describe, and notes about the
// objects that belong to none of them.
func ImportManifests(ctx context.Context, files []Manifest, known providers.Set, bundles *versionsbundle.Bundles) ([]importer.Imported, []string, error) {
	var objects []*unstructured.Unstructured
	var wrong []error
	for _, file := range files {
		of, err := importer.Parse(file.Name, file.Data)
		if err != nil {
			wrong = append(wrong, &ManifestError{err})
		}
		objects = append(objects, of...)
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, nil, err
	}
	objects, err := conversion.Current(ctx, objects)
	if err != nil {
		return nil, nil, &ManifestError{err}
	}
	imported, notes, err := importer.Clusters(objects, importedKinds(known), false)
	if err != nil {
		return nil, nil, notImported(err)
	}
	if len(imported) == 0 {
		return nil, nil, &ManifestError{errors.New("the files have no Cluster of Cluster API: name those that have it")}
	}
	for _, of := range imported {
		wrong = append(wrong, checkImported(of, known, bundles))
	}
	return imported, notes, errors.Join(wrong...)
}

// importedKinds are the kinds of the documents of the provider that fits any infrastructure.
func importedKinds(known providers.Set) importer.Kinds {
	for _, name := range known.Names() {
		if spec := known[name].Spec; spec.Objects {
			return importer.Kinds{Datacenter: spec.Datacenter.Kind, Machine: spec.Machine.Kind, ImageFields: known.ImageFields}
		}
	}
	return importer.Kinds{}
}

func notImported(err error) error {
	if refused := (*importer.RefusedError)(nil); errors.As(err, &refused) {
		return &management.RefusedError{Check: "not-importable", Reason: refused.Error()}
	}
	return err
}

// checkImported refuses a spec that the rules of specs refuse, since it would be of no use.
func checkImported(imported importer.Imported, known providers.Set, bundles *versionsbundle.Bundles) error {
	spec := ReadSpec("the spec of cluster "+imported.Name, imported.YAML, known, bundles)
	if _, err := spec.CheckUpgrade(UpgradeOptions{}); err != nil {
		return &management.RefusedError{Check: "not-importable", Reason: fmt.Sprintf("cluster %s is one that no spec can describe: %v", imported.Name, err)}
	}
	return nil
}
