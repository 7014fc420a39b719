package lifecycle

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// History returns the runs that changed a cluster, from its record, and the Events about
// it that the management cluster still has.
func (s *Service) History(ctx context.Context, key types.NamespacedName) (state.History, error) {
	history := state.History{Namespace: key.Namespace, Name: key.Name}
	cluster, err := s.find(ctx, key)
	if err != nil {
		return history, err
	}
	// Who holds a lock is read first: a run that ends meanwhile has written its end.
	held, err := s.client.HeldLocks(ctx, key)
	if err != nil {
		return history, err
	}
	record, _, err := s.client.Record(ctx, key)
	if err != nil {
		return history, err
	}
	history.Runs = withResults(record.Runs, held)
	history.Events, err = s.client.Events(ctx, cluster)
	return history, err
}

// withResults completes runs whose end was not written: one that holds a lock is still
// running.
func withResults(runs []state.Run, held []management.HeldLock) []state.Run {
	all := make([]state.Run, len(runs))
	for i, run := range runs {
		holds := slices.ContainsFunc(held, func(h management.HeldLock) bool { return h.Holder == run.Client })
		switch {
		case run.Result != "":
		case holds:
			run.Result = state.RunUnderWay
		default:
			run.Result = state.RunLost
		}
		all[i] = run
	}
	return all
}
