package management

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// maxRuns is how many runs a record keeps.
const maxRuns = 50

// newRun is a run that begins now.
func (c *Client) newRun(ctx context.Context, command string) state.Run {
	run := state.Run{Command: command, User: c.user(ctx), Client: c.identity(), Began: c.opts().Clock.Now().UTC().Truncate(time.Millisecond)}
	if held, is := ctx.Value(lockKey{}).(*lock); is {
		run.Client = held.identity
	}
	return run
}

// runOf is a run that carries out a plan.
func (c *Client) runOf(ctx context.Context, command string, p plan.Plan, groups []string) state.Run {
	run := c.newRun(ctx, command)
	run.Parts, run.Steps = groups, len(p.Steps)
	run.From, run.To = changedVersions(p.From, p.To)
	return run
}

// changedVersions leaves out parts that keep their version.
func changedVersions(from, to v1alpha1.ClusterVersions) (before, after v1alpha1.ClusterVersions) {
	without := func(versions, other v1alpha1.ClusterVersions) v1alpha1.ClusterVersions {
		var changed v1alpha1.ClusterVersions
		if versions.ControlPlane != other.ControlPlane {
			changed.ControlPlane = versions.ControlPlane
		}
		for name, version := range versions.WorkerNodeGroups {
			if is, exists := other.WorkerNodeGroups[name]; exists && is == version {
				continue
			}
			if changed.WorkerNodeGroups == nil {
				changed.WorkerNodeGroups = map[string]v1alpha1.Version{}
			}
			changed.WorkerNodeGroups[name] = version
		}
		return changed
	}
	return without(from, to), without(to, from)
}

// with returns the record with a run, in the place of what it has about the same run.
func (r Record) with(run state.Run) Record {
	r.Runs = slices.Clone(r.Runs)
	if i := slices.IndexFunc(r.Runs, run.Same); i >= 0 {
		r.Runs[i] = run
		return r
	}
	r.Runs = append(r.Runs, run)
	if more := len(r.Runs) - maxRuns; more > 0 {
		r.Runs = r.Runs[more:]
	}
	return r
}

// endRun writes to the record how a run ended, if the record has it, and the run did not
// lose its lock: then it writes nothing more. That the end cannot be written does not
// matter to the cluster.
func (c *Client) endRun(ctx context.Context, key client.ObjectKey, run state.Run, failed error, warn func(string)) {
	run.Ended, run.Result = c.opts().Clock.Now().UTC().Truncate(time.Millisecond), cmp.Or(run.Result, state.RunDone)
	patience := c.opts().RetryTimeout
	if failed != nil {
		run.Result = state.RunFailed
		run.SetReason(failed.Error())
	}
	if only := (interrupted{}); errors.As(failed, &only) {
		run.Reason = "" // it says no more than the result
	}
	if errors.Is(failed, context.Canceled) || errors.Is(failed, ErrTimeout) && ctx.Err() != nil {
		run.Result, patience = state.RunInterrupted, patience/2 // someone may be waiting
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	err := stillHeld(ending)
	if locked := (*LockedError)(nil); errors.As(failed, &locked) || errors.As(err, &locked) {
		return
	}
	if err == nil {
		err = c.changeRecord(ending, key, func(record Record) (Record, bool) {
			return record.with(run), slices.ContainsFunc(record.Runs, run.Same)
		})
	}
	if err != nil && warn != nil {
		warn(fmt.Sprintf("the history of cluster %s lacks the end of this run: %v", key, err))
	}
}

// user is the name of the user as the management cluster knows it, else as the
// certificate of the kubeconfig has it; empty where neither is known.
func (c *Client) user(ctx context.Context) string {
	var review authenticationv1.SelfSubjectReview
	if err := c.Create(ctx, &review); err == nil && review.Status.UserInfo.Username != "" {
		return review.Status.UserInfo.Username
	}
	return userOf(c.config)
}

// userOf is the user that a kubeconfig says it is of.
func userOf(config *rest.Config) string {
	if config == nil {
		return ""
	}
	var named string
	pair, err := tls.X509KeyPair(config.CertData, config.KeyData)
	if config.CertFile != "" {
		pair, err = tls.LoadX509KeyPair(config.CertFile, config.KeyFile)
	}
	if err == nil && pair.Leaf != nil {
		named = pair.Leaf.Subject.CommonName
	}
	return cmp.Or(config.Impersonate.UserName, config.Username, named)
}

// Events returns what clusterctl-x wrote about a cluster as Events, oldest first. The API
// server keeps them for an hour by default.
func (c *Client) Events(ctx context.Context, cluster state.Cluster) ([]state.Event, error) {
	var list corev1.EventList
	if err := c.List(ctx, &list, client.InNamespace(cluster.Namespace), client.MatchingFields{"involvedObject.uid": cluster.UID}); err != nil {
		return nil, c.explain(ctx, fmt.Errorf("listing the Events of cluster %s/%s: %w", cluster.Namespace, cluster.Name, err))
	}
	events := []state.Event{}
	for _, event := range list.Items {
		if event.Source.Component == string(FieldOwner) {
			events = append(events, state.Event{Time: event.LastTimestamp.UTC(), Reason: event.Reason, Message: event.Message})
		}
	}
	slices.SortStableFunc(events, func(a, b state.Event) int { return a.Time.Compare(b.Time) })
	return events, nil
}
