package backup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Restored says what was restored.
type Restored struct {
	Contents
	// Created is how many objects were created. The rest was there from an earlier run.
	Created int `json:"created"`
	// Nothing is true where all of it was restored before, and nothing was left to do.
	Nothing bool `json:"nothing,omitempty"`
}

// Restore restores the clusters of a backup. They are locked, and paused until all their
// objects are there. Stopped anywhere, it is completed by the next call.
func (s *Service) Restore(ctx context.Context, backup Saved) (Restored, error) {
	done := Restored{Contents: backup.Contents}
	there, err := s.checkTarget(ctx, backup)
	if err != nil {
		return done, s.management.Explain(ctx, err)
	}
	if there.finished() {
		done.Nothing = true
		return done, nil
	}
	if err := s.ensureNamespaces(ctx, backup); err != nil {
		return done, s.management.Explain(ctx, err)
	}
	ctx, release, err := s.lock(ctx, backup.keys(), true)
	if err != nil {
		return done, err
	}
	defer release()
	// Another run may have begun before this one had the locks.
	if there, err = s.checkTarget(ctx, backup); err != nil {
		return done, s.management.Explain(ctx, err)
	}
	done.Created, err = s.complete(ctx, backup, there)
	return done, s.management.Explain(ctx, err)
}

// complete creates what is missing, and lifts the pauses.
func (s *Service) complete(ctx context.Context, backup Saved, there present) (created int, err error) {
	for _, object := range there.owned {
		if err := giveBack(ctx, s.objects, object.live, object.managers); err != nil {
			return 0, err
		}
	}
	if !there.resumed {
		if created, err = s.create(ctx, backup, there); err != nil {
			return created, err
		}
	}
	for _, object := range backup.objects {
		if pauses(object) && !there.lifted[nameOf(object)] {
			if err := lift(ctx, s.objects, object); err != nil {
				return created, err
			}
		}
	}
	return created, nil
}

// create creates the objects that are missing, and has clusterctl resume the clusters once
// all of them are there.
func (s *Service) create(ctx context.Context, backup Saved, there present) (created int, err error) {
	directory, remove, err := backup.unpacked()
	if err != nil {
		return 0, fmt.Errorf("unpacking the backup: %w", err)
	}
	defer func() { err = errors.Join(err, remove()) }()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	writer := &restoration{creator{pauser: pauser{Client: s.objects}, id: backup.ID, giveUp: giveUp}}
	target := mover(writer)
	err = target.ObjectMover().FromDirectory(ctx, target, directory)
	switch {
	case err != nil && context.Cause(ctx) != nil:
		return writer.created, context.Cause(ctx)
	case err != nil:
		return writer.created, err
	case writer.created+there.count < len(backup.objects):
		return writer.created, fmt.Errorf("clusterctl restored %d of %d objects; the others belong to no cluster that it knows", writer.created+there.count, len(backup.objects))
	}
	return writer.created, nil
}

// ensureNamespaces makes the namespaces of the clusters, for their locks.
func (s *Service) ensureNamespaces(ctx context.Context, backup Saved) error {
	var names []string
	for _, key := range backup.keys() {
		names = append(names, key.Namespace)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if err := s.ensureNamespace(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// ensureNamespace makes a namespace unless it exists.
func (s *Service) ensureNamespace(ctx context.Context, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	err := s.objects.Get(ctx, client.ObjectKeyFromObject(namespace), namespace)
	if apierrors.IsNotFound(err) {
		err = s.objects.Create(ctx, namespace)
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("making namespace %s: %w", name, err)
	}
	return nil
}

// some are the first of several names, for a message.
func some(names []string) string {
	const most = 10
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
