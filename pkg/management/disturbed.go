package management

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/owners"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// written is what a run wrote of an object last.
type written struct {
	object *unstructured.Unstructured
	// generation is the one that the object had then, or the last one that was compared with
	// what was written.
	generation int64
}

// undisturbed checks that nobody changed what the run wrote of the Cluster and its parts. The
// generation of an object says that something was changed since; only then it is compared.
// So a tool that puts fields back is noticed with the next change that is seen, and the run
// does not wait for machines that nobody makes.
func (x *execution) undisturbed(ctx context.Context, cluster state.Cluster) error {
	seen := map[string]int64{"Cluster/" + cluster.Name: cluster.Generation}
	for _, part := range cluster.Parts() {
		seen[part.Object] = part.Generation
	}
	for name, generation := range seen {
		wrote, exists := x.wrote[name]
		if !exists || generation <= wrote.generation {
			continue
		}
		err := x.unchanged(ctx, []*unstructured.Unstructured{wrote.object})
		if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
			err = nil // a webhook does not take it now, which says nothing about others
		}
		if err != nil {
			return err
		}
		x.wrote[name] = written{wrote.object, generation}
	}
	return nil
}

// named adds to an error about objects that others changed who that was.
func (x *execution) named(ctx context.Context, err error) error {
	stale := (*engine.StalePlanError)(nil)
	if !errors.As(err, &stale) {
		return err
	}
	for _, name := range stale.Changed {
		object := x.desired(name)
		if object == nil {
			continue
		}
		if live, unread := x.c.live(ctx, object); unread == nil {
			stale.Reasons = append(stale.Reasons, changedBy(live, "")...)
		}
	}
	stale.Changed = nil
	return err
}

// whoChanged says who changed a field of one of some objects.
func (x *execution) whoChanged(ctx context.Context, objects []*unstructured.Unstructured, change changes.Change) []string {
	i := slices.IndexFunc(objects, func(object *unstructured.Unstructured) bool { return changes.ObjectName(object) == change.Object })
	if i < 0 {
		return nil
	}
	live, err := x.c.live(ctx, objects[i])
	if err != nil {
		return nil
	}
	return changedBy(live, change.Path)
}

// desired returns an object of the upgrade by its kind and name; nil for one that it does
// not have.
func (x *execution) desired(name string) *unstructured.Unstructured {
	for _, stage := range x.Desired {
		for _, object := range stage.All() {
			if changes.ObjectName(object) == name {
				return object
			}
		}
	}
	return nil
}

// changedBy says who changed a field of an object, or the object as a whole if no path is
// given, and what to do about it. It says nothing where that is not known.
func changedBy(live *unstructured.Unstructured, path string) []string {
	managers, err := owners.ManagersOf(live, "."+path, string(FieldOwner))
	if last := owners.LastManager(live, string(FieldOwner)); (err != nil || len(managers) == 0) && last != "" {
		managers = []string{last}
	}
	if len(managers) == 0 {
		return nil
	}
	owner := ownerOf(live, managers)
	who := fmt.Sprintf("%s was changed by %q", changes.ObjectName(live), strings.Join(managers, `", "`))
	switch {
	case !owner.Reconciles():
		return []string{who}
	case owner.Suspend() == "":
		return []string{fmt.Sprintf("%s: %s writes it, and %s; %s", who, owner, owner.Effect(), inGit)}
	default:
		return []string{fmt.Sprintf("%s: %s writes it, and %s; %s, or stop it first by %s", who, owner, owner.Effect(), inGit, owner.Suspend())}
	}
}

// inGit is what to do where a tool writes objects from Git.
const inGit = "change it in Git, with the files of 'clusterctl-x generate manifests --step'"
