package backup

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Save saves the clusters of a namespace, or of all where it is empty, in a directory, and returns
// what that holds. The clusters are locked, and paused while their objects are read. Whatever ends
// it, the pause ends, or is found by the next call; and the directory is there whole or not at all.
func (s *Service) Save(ctx context.Context, namespace string, target Target) (Contents, error) {
	from, err := s.check(ctx, namespace, state.PauseForBackup)
	if err != nil {
		return Contents{}, err
	}
	ctx, release, err := s.lock(ctx, from.clusters, false)
	if err != nil {
		return Contents{}, err
	}
	defer release()
	// Others may have begun something before this run had the locks.
	if from, err = s.check(ctx, namespace, state.PauseForBackup); err != nil {
		return Contents{}, err
	}
	if err := target.prepare(); err != nil {
		return Contents{}, err
	}
	err = s.read(ctx, from, namespace, target.plain())
	if err == nil {
		var contents Contents
		if contents, err = s.write(ctx, target); err == nil {
			return contents, nil
		}
	}
	return Contents{}, errors.Join(s.management.Explain(ctx, err), target.discard())
}

// read writes the objects to a directory while the clusters are paused.
func (s *Service) read(ctx context.Context, from source, namespace, directory string) (err error) {
	for _, object := range from.pausable {
		// A run that was killed left its pause, which clusterctl would refuse.
		if pauseOf(object) == state.PauseForBackup {
			if err := lift(ctx, s.objects, object); err != nil {
				return err
			}
		}
	}
	mark, err := s.management.PauseMark(state.Pause{Why: "save it in a backup", For: state.PauseForBackup})
	if err != nil {
		return err
	}
	pausing := &pauser{Client: s.objects, mark: mark, paused: map[string]*unstructured.Unstructured{}}
	defer func() { err = errors.Join(err, pausing.liftAll(ctx)) }()
	return mover(pausing).ObjectMover().ToDirectory(ctx, namespace, directory)
}

// write turns what clusterctl wrote into the backup.
func (s *Service) write(ctx context.Context, to Target) (Contents, error) {
	objects, err := readObjects(to.plain())
	if err != nil {
		return Contents{}, err
	}
	contents := Contents{
		ID: string(uuid.NewUUID()), Created: time.Now().UTC().Truncate(time.Second),
		Version: s.options.Version, ClusterAPI: clusterAPIVersion(), Encrypted: len(to.recipients) > 0, Files: map[string]string{},
	}
	mark, err := s.management.PauseMark(state.Pause{Why: "restore it from a backup", For: state.PauseForRestore})
	if err != nil {
		return Contents{}, err
	}
	for name, object := range objects {
		setOrigin(object, contents.ID, mark)
		data, err := object.MarshalJSON()
		if err != nil {
			return Contents{}, err
		}
		contents.Files[name] = hashOf(data)
		if err := to.write(filepath.Join(objectsDirectory, name), data); err != nil {
			return Contents{}, err
		}
	}
	contents.describe(slices.Collect(maps.Values(objects)))
	if contents.Missing, err = s.missingSecrets(ctx, objects); err != nil {
		return Contents{}, err
	}
	text, err := contents.text()
	if err != nil {
		return Contents{}, err
	}
	if err := to.write(documentFile, text); err != nil {
		return Contents{}, err
	}
	return contents, to.finish()
}
