package lifecycle

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
)

const machineHealthCheck = "MachineHealthCheck"

// Change is a change of an upgrade other than a version or a count.
type Change struct {
	// Object is Kind/name as on the management cluster; empty for a change of no object,
	// or of one that replaces machines.
	Object string
	// Path is the field; empty for a change of the whole object.
	Path string
	// Becomes says what becomes of it, such as "would become 3".
	Becomes string
	// Rolling is true where machines are replaced for it.
	Rolling bool
}

// String says it in a line of a plan.
func (c Change) String() string {
	return strings.Join(slices.DeleteFunc([]string{c.Object, c.Path, c.Becomes}, func(s string) bool { return s == "" }), " ")
}

// planned are changes as a plan has them.
func planned(byPart map[string][]Change) map[string]plan.Changes {
	all := map[string]plan.Changes{}
	for part, found := range byPart {
		var of plan.Changes
		for _, change := range found {
			if change.Rolling {
				of.Rolling = append(of.Rolling, change.String())
			} else {
				of.InPlace = append(of.InPlace, change.String())
			}
		}
		all[part] = of
	}
	return all
}

// byPart groups changes by part. Counts are left out: the plan has them as machines.
// names maps generated names to the names of objects on the management cluster.
func byPart(objects rollout.Objects, found []management.Change, names map[string]string) map[string][]Change {
	part := map[string]string{}
	for name, of := range objects.Parts {
		for _, object := range of {
			part[changes.ObjectName(object)] = name
		}
	}
	sorted := map[string][]Change{}
	for _, change := range found {
		name := part[change.Object]
		sorted[name] = append(sorted[name], changesOf(change, cmp.Or(names[change.Object], change.Object))...)
	}
	return sorted
}

// changesOf are the changes of one object, by the name that it has on the management
// cluster.
func changesOf(change management.Change, called string) []Change {
	var all []Change
	for _, f := range change.Fields {
		switch {
		case f.Path == "spec.replicas":
		case f.Rolling:
			all = append(all, Change{Path: f.Path, Becomes: f.Change, Rolling: true})
		default:
			all = append(all, Change{Object: called, Path: f.Path, Becomes: f.Change})
		}
	}
	kind, _, _ := strings.Cut(change.Object, "/")
	switch {
	case change.Action == management.Created && !changes.IsTemplate(kind):
		all = append(all, Change{Object: called, Becomes: "would be created"})
	case change.Action == management.Restored:
		all = append(all, Change{Object: called, Becomes: "is missing, so that no new machine can be made, and would be created again"})
	}
	return all
}

// checkImmutable refuses a change of what Cluster API never changes, where the spec
// before is not known, in which the change would be seen.
func (r request) checkImmutable(found []management.Change) error {
	if r.from.before != nil {
		return nil
	}
	for _, change := range found {
		kind, name, _ := strings.Cut(change.Object, "/")
		if !strings.HasSuffix(kind, "Cluster") || name != r.resolved.Config.Cluster.Metadata.Name {
			continue
		}
		for _, f := range change.Fields {
			if immutable(f.Path) {
				return &management.RefusedError{Check: "immutable", Reason: fmt.Sprintf("%s: %s, which cannot be changed in an existing cluster; give the file the cluster's value, or create a new cluster", change.Object, f)}
			}
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
func removals(objects []string) []Change {
	all := make([]Change, len(objects))
	for i, object := range objects {
		all[i] = Change{Object: object, Becomes: "would be removed"}
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
func restored(objects rollout.Objects, found []management.Change) []string {
	missing := func(object *unstructured.Unstructured) bool {
		return slices.ContainsFunc(found, func(c management.Change) bool {
			return c.Action == management.Restored && c.Object == changes.ObjectName(object)
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
func compareObjects(before, wanted []*unstructured.Unstructured) ([]management.Change, error) {
	old, fresh := map[string]*unstructured.Unstructured{}, map[string]*unstructured.Unstructured{}
	for _, object := range before {
		old[changes.ObjectName(object)] = object
	}
	for _, object := range wanted {
		fresh[changes.ObjectName(object)] = object
	}
	all := make([]management.Change, len(wanted))
	for i, object := range wanted {
		all[i] = management.Change{Object: changes.ObjectName(object), Action: management.Created}
		was, exists := old[all[i].Object]
		if !exists {
			continue
		}
		fields, err := changes.Between(was, object)
		if err == nil {
			fields, err = changes.FollowTemplates(was, object, fields, fresh, func(called string, instead *unstructured.Unstructured) (*unstructured.Unstructured, error) {
				return old[instead.GetKind()+"/"+called], nil
			})
		}
		if err != nil {
			return nil, err
		}
		all[i].Action, all[i].Fields = management.Unchanged, fields
		if len(fields) > 0 {
			all[i].Action = management.Changed
		}
	}
	return all, nil
}
