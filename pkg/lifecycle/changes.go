package lifecycle

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

const machineHealthCheck = "MachineHealthCheck"

// partChanges are changes by part; those of the cluster as a whole have the empty name.
type partChanges map[string]plan.Changes

// add adds changes of a part.
func (p partChanges) add(part string, found ...changes.Change) {
	of := p[part]
	of.Fields = append(of.Fields, found...)
	p[part] = of
}

// byPart groups changes by part. Counts are left out: the plan has them as machines. New
// templates are left out too: their fields are among the changes of the objects that refer
// to them. names maps generated names to the names of objects on the management cluster.
func byPart(objects engine.Objects, found []changes.Change, names map[string]string) partChanges {
	part := map[string]string{}
	for name, of := range objects.Parts {
		for _, object := range of {
			part[changes.ObjectName(object)] = name
		}
	}
	sorted := partChanges{}
	for _, change := range found {
		if change.Path == "spec.replicas" || change.Creates() && changes.IsTemplate(change.Kind()) {
			continue
		}
		name := part[change.Object]
		change.Object = cmp.Or(names[change.Object], change.Object)
		sorted.add(name, change)
	}
	return sorted
}

// checkImmutable refuses a change of what Cluster API never changes, where the spec
// before is not known, in which the change would be seen.
func (r request) checkImmutable(found []changes.Change) error {
	if r.from.before != nil {
		return nil
	}
	for _, change := range found {
		_, name, _ := strings.Cut(change.Object, "/")
		if strings.HasSuffix(change.Kind(), "Cluster") && name == r.resolved.Config.Cluster.Metadata.Name && immutable(change.Path) {
			return &management.RefusedError{Check: "immutable", Reason: fmt.Sprintf("%s, which cannot be changed in an existing cluster; give the file the cluster's value, or create a new cluster", change)}
		}
	}
	return nil
}

// immutable reports whether Cluster API never changes a field of a Cluster, or of its
// infrastructure.
func immutable(path string) bool {
	return slices.ContainsFunc([]string{"spec.clusterNetwork", "spec.controlPlaneRef", "spec.infrastructureRef", "spec.backend"}, func(never string) bool {
		return path == never || strings.HasPrefix(path, never+".")
	})
}

// removals are the changes by which objects, as Kind/name, go away.
func removals(objects []string) []changes.Change {
	all := make([]changes.Change, len(objects))
	for i, object := range objects {
		all[i] = changes.Change{Object: object, Action: changes.Removed}
	}
	return all
}

// unremediated says which machines nothing replaces any more when they fail.
func (d differences) unremediated() []string {
	checks := slices.DeleteFunc(slices.Clone(d.removed), func(object string) bool {
		kind, _, _ := strings.Cut(object, "/")
		return kind != machineHealthCheck
	})
	if len(checks) == 0 {
		return nil
	}
	slices.Sort(checks)
	return []string{fmt.Sprintf("%s would be removed, because the file has no machineHealthCheck there: machines that fail are no longer replaced; set machineHealthCheck in the file to keep it",
		strings.Join(checks, ", "))}
}

// restored are the parts with a template that is missing, sorted.
func restored(objects engine.Objects, found []changes.Change) []string {
	missing := func(object *unstructured.Unstructured) bool {
		return slices.ContainsFunc(found, func(c changes.Change) bool {
			return c.Action == changes.Restored && c.Object == changes.ObjectName(object)
		})
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(objects.Parts)) {
		if slices.ContainsFunc(objects.Parts[name], missing) {
			parts = append(parts, name)
		}
	}
	return parts
}

// compareObjects is management.Client.Compare with rendered objects in the place of
// live ones.
func compareObjects(before, wanted []*unstructured.Unstructured) ([]changes.Change, error) {
	old, fresh := map[string]*unstructured.Unstructured{}, map[string]*unstructured.Unstructured{}
	for _, object := range before {
		old[changes.ObjectName(object)] = object
	}
	for _, object := range wanted {
		fresh[changes.ObjectName(object)] = object
	}
	var all []changes.Change
	for _, object := range wanted {
		was, exists := old[changes.ObjectName(object)]
		if !exists {
			all = append(all, changes.Change{Object: changes.ObjectName(object), Action: changes.Added})
			continue
		}
		found, err := changes.Between(was, object)
		if err == nil {
			found, err = changes.FollowTemplates(was, object, found, fresh, func(called string, instead *unstructured.Unstructured) (*unstructured.Unstructured, error) {
				return old[instead.GetKind()+"/"+called], nil
			})
		}
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}
