// Package owners says who writes an object: a GitOps tool, Helm, a person with kubectl,
// Cluster API's topology controller, or another field manager.
package owners

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Tool is a program that writes objects, under the name that people know it by.
type Tool string

// Tools. Other field managers are the tool of their own name.
const (
	Flux         Tool = "Flux"
	ArgoCD       Tool = "Argo CD"
	RancherFleet Tool = "Rancher Fleet"
	Rancher      Tool = "Rancher"
	Sveltos      Tool = "Sveltos"
	Helm         Tool = "Helm"
	Topology     Tool = "Cluster API's topology controller"
	ClusterctlX  Tool = "clusterctl-x"
	Kubectl      Tool = "kubectl"
	Clusterctl   Tool = "clusterctl"
	// Person is another tool that a person edits objects with.
	Person Tool = "an editor"
)

// Owner is a tool that writes an object.
type Owner struct {
	Tool Tool
	// Kind, Namespace and Name say what makes the tool write the object, for instance a
	// Kustomization; they are empty where the object does not tell.
	Kind, Namespace, Name string
	// Managers are the field managers of the tool that own fields of the object, sorted.
	Managers []string
	// OptOut is the annotation that tells the tool to leave the object alone.
	OptOut string

	row row
}

// Of returns who writes an object, from its labels, annotations and field managers:
// first the tools that put back what others change, last unknown field managers.
func Of(object metav1.Object) []Owner {
	var found []Owner
	rest := managers(object)
	for _, row := range table() {
		owner, is := row.ownerOf(object, rest)
		if !is || row.tool == Helm && len(found) > 0 && len(owner.Managers) == 0 {
			continue // a GitOps tool made the release
		}
		for _, manager := range owner.Managers {
			delete(rest, manager)
		}
		found = append(found, owner)
	}
	var unknown []Owner
	for manager := range rest {
		if !IsController(manager) {
			unknown = append(unknown, Owner{Tool: Tool(manager), Managers: []string{manager}})
		}
	}
	slices.SortFunc(unknown, func(a, b Owner) int { return strings.Compare(string(a.Tool), string(b.Tool)) })
	return append(found, unknown...)
}

// OfManager returns the owner of an object that a field manager belongs to. Where the
// object does not have that field manager, only the tool is known.
func OfManager(object metav1.Object, manager string) Owner {
	for _, owner := range Of(object) {
		if slices.Contains(owner.Managers, manager) {
			return owner
		}
	}
	for _, row := range table() {
		if row.is(manager) {
			return Owner{Tool: row.tool, Kind: row.kind, Managers: []string{manager}, row: row}
		}
	}
	return Owner{Tool: Tool(manager), Managers: []string{manager}}
}

// managers returns the field managers that own fields besides the status.
func managers(object metav1.Object) map[string]bool {
	found := map[string]bool{}
	for _, entry := range object.GetManagedFields() {
		if entry.Subresource == "" && entry.Manager != "" {
			found[entry.Manager] = true
		}
	}
	return found
}

// IsController reports whether a field manager is a controller of Cluster API, Kubernetes or
// a provider, or the autoscaler. Their values are not decisions of people.
func IsController(manager string) bool {
	return manager == "manager" || manager == "cluster-autoscaler" ||
		strings.HasPrefix(manager, "cluster-api-") || strings.HasPrefix(manager, "capi-") ||
		strings.HasPrefix(manager, "clusterctl-x-") || strings.HasSuffix(manager, "controller-manager")
}

// IsMark reports whether a label or annotation is one that a tool puts on the objects that it
// applies. A tool removes a copy of an object with its mark.
func IsMark(name string) bool {
	prefix, _, _ := strings.Cut(name, "/")
	return slices.Contains([]string{
		"kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io", "argocd.argoproj.io", "objectset.rio.cattle.io", "projectsveltos.io", "meta.helm.sh",
	}, prefix) || name == "app.kubernetes.io/managed-by" || name == "app.kubernetes.io/instance"
}

// Reconciles reports whether the tool writes the object again by itself, and was not told
// to leave it alone.
func (o Owner) Reconciles() bool { return o.row.reconciles && o.OptOut == "" }

// Personal reports whether a person wrote with the tool: nothing writes the same again by
// itself.
func (o Owner) Personal() bool { return o.row.personal }

// String names the tool, and what makes it write the object.
func (o Owner) String() string {
	return strings.Join(slices.DeleteFunc([]string{string(o.Tool), o.Reason()}, func(s string) bool { return s == "" }), " ")
}

// Reason names what makes the tool write the object; it is empty where that is not known.
func (o Owner) Reason() string {
	switch {
	case o.Name == "":
		return ""
	case o.Namespace == "":
		return strings.TrimSpace(o.Kind + " " + o.Name)
	default:
		return strings.TrimSpace(o.Kind + " " + o.Namespace + "/" + o.Name)
	}
}

// Effect says what the tool does to a field that another client changed; it is empty
// where it does nothing.
func (o Owner) Effect() string {
	if !o.Reconciles() {
		return ""
	}
	return o.row.effect
}

// Suspend says how to keep the tool from writing the object, with the command where there
// is one.
func (o Owner) Suspend() string {
	if o.row.suspend == "" {
		return ""
	}
	name, namespace := o.Name, o.Namespace
	if name == "" {
		name = "NAME"
	}
	if namespace == "" {
		namespace = "NAMESPACE"
	}
	return strings.NewReplacer("NAMESPACE", namespace, "NAME", name).Replace(o.row.suspend)
}
