package v1alpha1

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// attachDatacenter keeps the provider document that datacenterRef names. Every
// field of the kinds there are is optional, so that it may be left out; one
// that nothing refers to is a mistake.
func (d *decoder) attachDatacenter() {
	ref := d.config.Cluster.Spec.DatacenterRef
	inMemory, hasInMemory := d.values[InMemoryKind].(*InMemoryDatacenterConfig)
	docker, hasDocker := d.values[DockerKind].(*DockerDatacenterConfig)
	if hasInMemory {
		d.datacenterReferred(InMemoryKind, inMemory.Metadata)
	}
	if hasDocker {
		d.datacenterReferred(DockerKind, docker.Metadata)
	}
	switch ref.Kind {
	case InMemoryKind:
		if !hasInMemory {
			inMemory = &InMemoryDatacenterConfig{APIVersion: APIVersion, Kind: InMemoryKind, Metadata: Meta{Name: ref.Name}}
		}
		d.config.InMemory = inMemory
	case DockerKind:
		if !hasDocker {
			docker = &DockerDatacenterConfig{APIVersion: APIVersion, Kind: DockerKind, Metadata: Meta{Name: ref.Name}}
		}
		d.config.Docker = docker
	}
}

// datacenterReferred checks that the cluster refers to a provider document. A
// reference that is not complete is a problem of its own.
func (d *decoder) datacenterReferred(kind string, meta Meta) {
	ref := d.config.Cluster.Spec.DatacenterRef
	path := field.NewPath("metadata", "name")
	if d.config.Cluster.Spec.ClusterClass != nil && ref == (Ref{}) && !d.clusterUnread("spec.datacenterRef.kind") {
		d.misses(kind, field.Invalid(path, meta.Name, fmt.Sprintf("no datacenterRef names this %s: the cluster has only a clusterClass; remove this document or add the reference", kind)))
		return
	}
	if ref.Kind != InMemoryKind && ref.Kind != DockerKind || ref.Name == "" {
		return
	}
	switch {
	case ref.Kind != kind:
		d.misses(kind, field.Invalid(path, meta.Name, fmt.Sprintf("no datacenterRef names this %s: the cluster's spec.datacenterRef has kind %q; remove this document or correct the reference", kind, ref.Kind)))
	case ref.Name != meta.Name:
		d.misses(kind, field.Invalid(path, meta.Name, fmt.Sprintf("spec.datacenterRef of the cluster names %q; use one name for both", ref.Name)))
	}
	d.sameNamespace(kind, meta)
}

// attachIdentityProviders keeps the documents that identityProviderRefs name,
// which must be there.
func (d *decoder) attachIdentityProviders() {
	oidc, _ := d.values[OIDCKind].(*OIDCConfig)
	awsIAM, _ := d.values[AWSIamKind].(*AWSIamConfig)
	if oidc != nil && d.identityReferred(OIDCKind, oidc.Metadata) {
		d.config.OIDC = oidc
	}
	if awsIAM != nil && d.identityReferred(AWSIamKind, awsIAM.Metadata) {
		d.config.AWSIam = awsIAM
	}
	told := map[string]bool{}
	for i, ref := range d.config.Cluster.Spec.IdentityProviderRefs {
		if _, there := d.values[ref.Kind]; there || told[ref.Kind] || d.unread || ref.Kind != OIDCKind && ref.Kind != AWSIamKind {
			continue
		}
		told[ref.Kind] = true
		path := field.NewPath("spec", "identityProviderRefs").Index(i)
		d.misses(ClusterKind, field.Invalid(path.Child("kind"), ref.Kind, "the file has no document of this kind; add it, or remove the reference"))
	}
}

// identityReferred reports whether the cluster refers to the document of a kind. One
// that it does not refer to does not act.
func (d *decoder) identityReferred(kind string, meta Meta) bool {
	path := field.NewPath("metadata", "name")
	d.sameNamespace(kind, meta)
	for _, ref := range d.config.Cluster.Spec.IdentityProviderRefs {
		if ref.Kind != kind {
			continue
		}
		if ref.Name != meta.Name && ref.Name != "" {
			d.misses(kind, field.Invalid(path, meta.Name, fmt.Sprintf("spec.identityProviderRefs of the cluster names %q; use one name for both", ref.Name)))
		}
		return true
	}
	if d.mayRefer() {
		return true
	}
	unused := strictyaml.Warning{Path: path.String(), Text: fmt.Sprintf("no identityProviderRefs of the cluster names this %s: it has no effect; add the reference, or remove the document", kind)}
	d.config.Warnings = append(d.config.Warnings, d.config.LocateWarnings(kind, []strictyaml.Warning{unused})...)
	return false
}

// mayRefer reports whether the cluster has a reference to an identity provider
// that is wrong or could not be read: it might be to any document.
func (d *decoder) mayRefer() bool {
	unknown := func(ref Ref) bool { return ref.Kind != OIDCKind && ref.Kind != AWSIamKind }
	return d.clusterUnread("spec.identityProviderRefs") || slices.ContainsFunc(d.config.Cluster.Spec.IdentityProviderRefs, unknown)
}

// clusterUnread reports whether a field of the cluster could not be read.
func (d *decoder) clusterUnread(path string) bool {
	return d.config.documents[ClusterKind].Unread(path)
}

func (d *decoder) sameNamespace(kind string, meta Meta) {
	namespace := d.config.Cluster.Metadata.Namespace
	if meta.Namespace != "" && meta.Namespace != namespace && !d.clusterUnread("metadata.namespace") {
		d.misses(kind, field.Invalid(field.NewPath("metadata", "namespace"), meta.Namespace, fmt.Sprintf("the cluster has namespace %q; use one for both, or leave it out here", namespace)))
	}
}

// misses adds a problem of a reference between documents.
func (d *decoder) misses(kind string, err *field.Error) {
	d.problems = append(d.problems, d.config.Locate(kind, field.ErrorList{err})...)
}
