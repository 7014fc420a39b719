package backup

import (
	"context"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// present is what there is of a backup in the management cluster that it is restored into.
type present struct {
	// resumed is true once a Cluster of the backup is no longer paused: then all objects were
	// created, and one that is missing was deleted since.
	resumed bool
	// lifted are the names of the Clusters and ClusterClasses without a mark.
	lifted map[string]bool
	// owned are the objects that were created and not given back to their field managers.
	owned []owned
	// count is how many objects of the backup are there, and left the number of Clusters and
	// ClusterClasses that still have a mark.
	count, left int
}

// owned is an object that was created, and the field managers that it had.
type owned struct {
	live     *unstructured.Unstructured
	managers []metav1.ManagedFieldsEntry
}

// finished reports whether nothing is to be done.
func (p present) finished() bool { return p.resumed && p.left == 0 && len(p.owned) == 0 }

// checkTarget reads what there is, and refuses, all at once, what does not let the backup be
// restored. It writes nothing.
func (s *Service) checkTarget(ctx context.Context, backup Saved) (present, error) {
	found := &refusals{}
	for _, kind := range backup.Kinds {
		wanted := kind.groupVersionKind()
		_, err := s.management.RESTMapper().RESTMapping(wanted.GroupKind(), wanted.Version)
		switch {
		case meta.IsNoMatchError(err):
			found.add(&management.RefusedError{Check: checkKinds, Reason: fmt.Sprintf("the management cluster has no kind %s of %s; install the provider that has it, in a release that serves this version", kind.Kind, kind.APIVersion)})
		case err != nil:
			return present{}, err
		}
	}
	if len(*found) > 0 { // the rest could not be looked at
		return present{}, found.err()
	}
	there, err := s.look(ctx, backup, found)
	if err != nil {
		return there, err
	}
	if err := s.checkKinds(ctx, "", backup.labelledKinds(), []string{"get", "create", "patch"}, found); err != nil {
		return there, err
	}
	return there, found.err()
}

// labelledKinds are the kinds that a CustomResourceDefinition defines.
func (b Saved) labelledKinds() []schema.GroupKind {
	var kinds []schema.GroupKind
	for _, kind := range b.Kinds {
		if wanted := kind.groupVersionKind(); wanted.Group != "" {
			kinds = append(kinds, wanted.GroupKind())
		}
	}
	return kinds
}

// look compares the objects of a backup with those that are there.
func (s *Service) look(ctx context.Context, backup Saved, found *refusals) (present, error) {
	there := present{lifted: map[string]bool{}}
	var mu sync.Mutex
	var clusters, others []string
	err := inParallel(ctx, backup.objects, func(ctx context.Context, _ int, object *unstructured.Unstructured) error {
		live := &unstructured.Unstructured{}
		live.SetGroupVersionKind(object.GroupVersionKind())
		err := s.objects.Get(ctx, client.ObjectKeyFromObject(object), live)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		ours := live.GetAnnotations()[v1alpha1.RestoredAnnotation] == backup.ID
		made := false
		if !ours {
			if made, err = madeOf(ctx, s.objects, live, backup.ID); err != nil {
				return err
			}
		}
		mu.Lock()
		defer mu.Unlock()
		switch global := object.GetNamespace() == ""; {
		case isCluster(object) && !ours:
			clusters = append(clusters, client.ObjectKeyFromObject(live).String())
		case !ours && !made && !global:
			others = append(others, nameOf(live))
		}
		there.count++
		if ours {
			there.add(object, live)
		}
		return nil
	})
	if err != nil {
		return there, err
	}
	slices.Sort(clusters)
	slices.Sort(others)
	switch {
	case len(clusters) > 0:
		found.add(&management.RefusedError{Check: checkExists, Reason: fmt.Sprintf("the management cluster has clusters of these names already, which were not restored from this backup: %s; restore into another management cluster, or delete them", some(clusters))})
	case len(others) > 0 && !there.resumed:
		found.add(&management.RefusedError{Check: checkExists, Reason: fmt.Sprintf("the management cluster has objects of these names already, which were not restored from this backup: %s; restore into another management cluster, or delete them", some(others))})
	}
	return there, nil
}

// add notes how far an object is that was restored from the backup.
func (p *present) add(object, live *unstructured.Unstructured) {
	if ownedByRestore(live) {
		p.owned = append(p.owned, owned{live, object.GetManagedFields()})
	}
	if !pauses(live) {
		return
	}
	marked := pauseOf(live) == state.PauseForRestore
	if marked {
		p.left++
	} else {
		p.lifted[nameOf(live)] = true
	}
	if isCluster(live) && !(marked && isPaused(live)) {
		p.resumed = true
	}
}
