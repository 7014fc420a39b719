package management

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/contract"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// checkMissingKind names refusals for what the management cluster has not installed, or in
// another version.
const checkMissingKind = "infrastructure-provider"

// contracts are those of Cluster API with infrastructure providers that Cluster API 1.14 has
// (internal/contract/version.go of sigs.k8s.io/cluster-api).
func contracts() []string { return []string{"v1beta2", "v1beta1"} }

// CheckKinds refuses objects of kinds that the management cluster does not have, or that
// Cluster API cannot use as the infrastructure of a cluster there. All of them are in the
// error.
func (c *Client) CheckKinds(ctx context.Context, objects []*unstructured.Unstructured) error {
	infrastructure := infrastructureKinds(objects)
	var reasons []string
	var missing []schema.GroupKind
	seen := map[schema.GroupVersionKind]bool{}
	for _, object := range objects {
		kind := object.GroupVersionKind()
		if seen[kind] {
			continue
		}
		seen[kind] = true
		_, err := c.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
		switch {
		case meta.IsNoMatchError(err):
			if served := c.served(kind.GroupKind()); len(served) == 0 {
				missing = append(missing, kind.GroupKind())
			} else {
				reasons = append(reasons, c.otherVersion(kind, served))
			}
			continue
		case err != nil:
			return c.explain(ctx, fmt.Errorf("looking for the kind of %s: %w", changes.ObjectName(object), err))
		case !infrastructure[kind.GroupKind()]:
			continue
		}
		reason, err := withoutContract(ctx, c.Client, kind)
		if err != nil {
			return c.explain(ctx, err)
		}
		if reason != "" {
			reasons = append(reasons, reason)
		}
	}
	if len(missing) > 0 {
		reasons = append([]string{c.notThere(missing)}, reasons...)
	}
	if len(reasons) == 0 {
		return nil
	}
	return &RefusedError{Check: checkMissingKind, Reason: strings.Join(reasons, "\n")}
}

// infrastructureKinds are those of the objects that others name as their infrastructure.
func infrastructureKinds(objects []*unstructured.Unstructured) map[schema.GroupKind]bool {
	kinds := map[schema.GroupKind]bool{}
	for _, object := range objects {
		paths := slices.Clone(changes.References(object.GetKind()))
		if object.GetKind() == clusterv1.ClusterKind {
			paths = append(paths, []string{"spec", "infrastructureRef"})
		}
		for _, path := range paths {
			if kind, _, found := changes.Referred(object, path); found && path[len(path)-1] != "configRef" {
				kinds[kind] = true
			}
		}
	}
	return kinds
}

// served are the versions in which the management cluster has a kind.
func (c *Client) served(kind schema.GroupKind) []string {
	mappings, err := c.RESTMapper().RESTMappings(kind)
	if err != nil { // a mapper that fails now would have failed before
		return nil
	}
	var versions []string
	for _, mapping := range mappings {
		versions = append(versions, mapping.GroupVersionKind.Version)
	}
	slices.Sort(versions)
	return versions
}

// notThere says that the management cluster lacks kinds, and what to do about it.
func (c *Client) notThere(kinds []schema.GroupKind) string {
	var names []string
	for _, kind := range kinds {
		names = append(names, fmt.Sprintf("%s (%s)", kind.Kind, kind.Group))
	}
	return fmt.Sprintf("the management cluster %s has no %s: install what has it, for an infrastructure provider with 'clusterctl-x management init --with infrastructure-NAME'", c.config.Host, strings.Join(names, ", no "))
}

// otherVersion says that the management cluster has a kind in these versions only.
func (c *Client) otherVersion(kind schema.GroupVersionKind, served []string) string {
	return fmt.Sprintf("the management cluster %s has %s (%s) as %s, and not as %s: install a release of its provider that has it with 'clusterctl upgrade apply', or give a folder for the one that is there with --providers", c.config.Host, kind.Kind, kind.Group, strings.Join(served, ", "), kind.Version)
}

// missingKind is the reason for an error about one kind.
func (c *Client) missingKind(err *meta.NoKindMatchError) string {
	served := c.served(err.GroupKind)
	if len(served) == 0 || len(err.SearchedVersions) == 0 {
		return c.notThere([]schema.GroupKind{err.GroupKind})
	}
	return c.otherVersion(err.GroupKind.WithVersion(err.SearchedVersions[0]), served)
}

// withoutContract returns why Cluster API cannot use a kind as infrastructure: its
// definition says by labels which versions of the kind keep which contract. It is empty where
// it can, or where the definition may not be read.
func withoutContract(ctx context.Context, live client.Reader, kind schema.GroupVersionKind) (string, error) {
	definition := &metav1.PartialObjectMetadata{}
	definition.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	name := contract.CalculateCRDName(kind.Group, kind.Kind)
	switch err := live.Get(ctx, client.ObjectKey{Name: name}, definition); {
	case apierrors.IsForbidden(err):
		return "", nil // conditions of the cluster say it too, later
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("%s is of no CustomResourceDefinition %s, by whose labels Cluster API finds the versions of the kind: give the definition that name", kind.Kind, name), nil
	case err != nil:
		return "", fmt.Errorf("reading CustomResourceDefinition %s: %w", name, err)
	}
	for _, version := range contracts() {
		if _, keeps := definition.Labels[clusterv1.GroupVersion.Group+"/"+version]; keeps {
			return "", nil
		}
	}
	return fmt.Sprintf("CustomResourceDefinition %s has no label %s/%s, by which Cluster API finds versions that it can use: install a release of the provider for Cluster API 1.14", name, clusterv1.GroupVersion.Group, strings.Join(contracts(), " or "+clusterv1.GroupVersion.Group+"/")), nil
}
