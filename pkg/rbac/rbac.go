// Package rbac writes the ClusterRoles of users of clusterctl-x in a management cluster:
// the templates in config/rbac, with the kinds of the infrastructure that users have.
package rbac

import (
	"bytes"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cluster-api/util/contract"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
)

// Kinds are those of the objects of infrastructure providers. A kind may stand in several
// lists, and several times.
type Kinds struct {
	// Clusters are infrastructure clusters.
	Clusters []schema.GroupKind
	// MachineTemplates are those that machines are made from.
	MachineTemplates []schema.GroupKind
	// Others are all further kinds that users write.
	Others []schema.GroupKind
	// ControlPlanes are those of other providers than kubeadm's, whose versions users change.
	ControlPlanes []schema.GroupKind
}

// With returns the kinds with further ones.
func (k Kinds) With(others Kinds) Kinds {
	return Kinds{
		Clusters:         slices.Concat(k.Clusters, others.Clusters),
		MachineTemplates: slices.Concat(k.MachineTemplates, others.MachineTemplates),
		Others:           slices.Concat(k.Others, others.Others),
		ControlPlanes:    slices.Concat(k.ControlPlanes, others.ControlPlanes),
	}
}

// machines are the kinds of the machines. Cluster API's contract has them by the names of
// their templates.
func (k Kinds) machines() []schema.GroupKind {
	var kinds []schema.GroupKind
	for _, template := range k.MachineTemplates {
		kinds = append(kinds, schema.GroupKind{Group: template.Group, Kind: strings.TrimSuffix(template.Kind, templateSuffix)})
	}
	return kinds
}

// controlPlaneGroup is the API group of kubeadm's control planes, which all users have.
const controlPlaneGroup = "controlplane.cluster.x-k8s.io"

// templateSuffix is the end of the kinds of templates.
const templateSuffix = "Template"

// TemplateOf is the kind of the templates of a kind, by Cluster API's contract.
func TemplateOf(kind schema.GroupKind) schema.GroupKind {
	return schema.GroupKind{Group: kind.Group, Kind: kind.Kind + templateSuffix}
}

// ResourceOf returns the resource of a kind, as Cluster API finds it: the name of its
// CustomResourceDefinition begins with it.
func ResourceOf(kind schema.GroupKind) string {
	return strings.TrimSuffix(contract.CalculateCRDName(kind.Group, kind.Kind), "."+kind.Group)
}

// Roles returns the ClusterRoles of users who create, plan, upgrade, watch or delete
// clusters of these kinds.
func Roles(kinds Kinds) ([]byte, error) { return render("rbac", kinds) }

// ReadOnlyRoles returns the ClusterRoles of users who change nothing, with the admission
// policy that they need.
func ReadOnlyRoles(kinds Kinds) ([]byte, error) { return render("rbac/read-only", kinds) }

// resources are those of an API group that a rule is about.
type resources struct {
	Group     string
	Resources []string
}

// render returns the files that the templates of a directory render, as one.
func render(directory string, kinds Kinds) ([]byte, error) {
	pattern := directory + "/*.tmpl"
	templates, err := templater.Parse(config.RBAC, pattern)
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(config.RBAC, pattern)
	if err != nil {
		return nil, err
	}
	written := slices.Concat(kinds.Clusters, kinds.MachineTemplates, kinds.Others)
	data := struct {
		Written, Read, ControlPlanes []resources
		// Groups of all that users write, apart from those that the templates name.
		Groups []string
	}{
		Written: byGroup(written), Read: byGroup(slices.Concat(kinds.Clusters, kinds.machines())), ControlPlanes: byGroup(kinds.ControlPlanes),
	}
	for _, of := range byGroup(slices.Concat(written, kinds.ControlPlanes)) {
		if of.Group != controlPlaneGroup {
			data.Groups = append(data.Groups, of.Group)
		}
	}
	var texts [][]byte
	for _, name := range names {
		text, err := templates.Render(path.Base(name), data)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return bytes.Join(texts, []byte("---\n")), nil
}

// byGroup returns the resources of kinds by their groups, both sorted, each once.
func byGroup(kinds []schema.GroupKind) []resources {
	groups := map[string][]string{}
	for _, kind := range kinds {
		groups[kind.Group] = append(groups[kind.Group], ResourceOf(kind))
	}
	var all []resources
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		slices.Sort(groups[group])
		all = append(all, resources{Group: group, Resources: slices.Compact(groups[group])})
	}
	return all
}
