package v1alpha1

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// attachDatacenter keeps the document that datacenterRef names. It may be left out where
// every field of it is optional; one that nothing refers to is a mistake.
func (d *decoder) attachDatacenter() {
	ref := d.config.Cluster.Spec.DatacenterRef
	for _, kind := range d.infrastructure.datacenters() {
		if document, is := d.values[kind].(*InfrastructureConfig); is {
			d.datacenterReferred(kind, document.Metadata)
		}
	}
	of, known := d.infrastructure[ref.Kind]
	if !known || of.Machines {
		return
	}
	document, given := d.values[ref.Kind].(*InfrastructureConfig)
	if !given {
		var errs field.ErrorList
		empty := infrastructureDocument{APIVersion: APIVersion, Kind: ref.Kind, Metadata: Meta{Name: ref.Name}, Spec: strictyaml.Described{Schema: of.Schema()}}
		if document, errs = empty.config(ref.Kind); len(errs) > 0 && !d.unread && ref.Name != "" {
			d.misses(ClusterKind, missingDocument(field.NewPath("spec", "datacenterRef"), ref))
		}
	}
	d.config.Datacenter = document
}

// missingDocument is the problem of a reference, at a path, to a document that there is not.
func missingDocument(path *field.Path, ref Ref) *field.Error {
	return field.Invalid(path.Child("name"), ref.Name, fmt.Sprintf("the file has no %[1]s of this name; add it ('clusterctl-x explain %[1]s'), or correct the reference", ref.Kind))
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
	if of, known := d.infrastructure[ref.Kind]; !known || of.Machines || ref.Name == "" {
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
