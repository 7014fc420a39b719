package lifecycle

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// compare compares groups with their current state: a group in the topology with the
// objects that its class generates, others with the objects on the management cluster.
func (d detachedGroups) compare(ctx context.Context, with source, first engine.Objects, outside map[string]bool) (differences, error) {
	all := differences{byPart: partChanges{}}
	if d.cluster != nil {
		all.templates = workerTemplates(*d.spec.class)
	}
	for name := range outside {
		part, exists := d.from.start.WorkerNodeGroups[name]
		if !exists || !d.has(name) || d.spec.class.External() {
			continue
		}
		var of differences
		var err error
		if part.Detached && !d.from.topology.hasVersions() {
			of, err = d.compareLive(ctx, with, name, first.Parts[name])
		} else {
			of, err = d.compareClass(ctx, name, part.Version)
		}
		if err != nil {
			return differences{}, err
		}
		all.byPart[name] = withoutContent(of.byPart[name])
		all.restored, all.removed = append(all.restored, of.restored...), append(all.removed, of.removed...)
	}
	return all, nil
}

// compareLive compares a group with the objects on the management cluster.
func (d detachedGroups) compareLive(ctx context.Context, with source, group string, objects []*unstructured.Unstructured) (differences, error) {
	found, err := with.Compare(ctx, objects)
	if err == nil {
		err = d.checkKinds(group, found)
	}
	if err == nil {
		err = d.checkImmutable(found)
	}
	of := engine.Objects{Parts: map[string][]*unstructured.Unstructured{group: objects}}
	return differences{byPart: byPart(of, found, d.from.names), restored: restored(of, found)}, err
}

// checkKinds refuses machines of another kind for a group that is out of the topology.
// Cluster API refuses them for those that are in it.
func (d detachedGroups) checkKinds(group string, differs []changes.Change) error {
	for _, change := range differs {
		if change.Path == "spec.template.spec.infrastructureRef.kind" || change.Path == "spec.template.spec.infrastructureRef.apiGroup" {
			return &management.RefusedError{Check: "immutable", Reason: fmt.Sprintf(
				"ClusterClass %s makes machines of another kind for group %s (%s), and Cluster API cannot replace one kind with another; use a class that makes the same kind, or a new group",
				d.spec.class.Name, group, change)}
		}
	}
	return nil
}

// withoutContent leaves out that a group is marked as made from another content of
// the class, where the changes that replace machines say more.
func withoutContent(found plan.Changes) plan.Changes {
	if slices.ContainsFunc(found.Fields, func(c changes.Change) bool { return c.ReplacesMachines }) {
		found.Fields = slices.DeleteFunc(found.Fields, func(c changes.Change) bool {
			return c.Path == "metadata.annotations."+v1alpha1.ClassContentAnnotation
		})
	}
	return found
}

// compareClass compares the objects that the class generates for a group in the
// topology, at a version, with the ones that it generated before.
func (d detachedGroups) compareClass(ctx context.Context, group string, version v1alpha1.Version) (differences, error) {
	was, err := d.generate(ctx, d.from.topology.class, d.from.topology.cluster, group, version)
	if err != nil {
		return differences{}, err
	}
	is, err := d.generate(ctx, *d.spec.class, d.cluster, group, version)
	if err != nil || len(was[group]) == 0 {
		return differences{}, err
	}
	if was, is, err = withDefaults(ctx, was, is); err != nil {
		return differences{}, err
	}
	parts, err := compareParts(was, is, d.from.names)
	if err == nil {
		err = d.checkImmutable(parts.found)
	}
	return differences{byPart: parts.byPart, removed: parts.removed}, err
}
