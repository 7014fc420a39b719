// Package lifecycle creates, plans, upgrades, watches and deletes clusters: the use cases
// of clusterctl-x as a Go API. It prints nothing, and reads no flags, files or
// environment.
//
// A [Spec] describes a cluster. A [Service] works on the clusters of one management
// cluster, in two calls where anything is written: [Service.PlanCreation] and
// [Service.Create], [Service.PlanUpgrade] and [Service.Upgrade]. The first call checks and
// renders everything and writes nothing; the second one carries out what the first one
// returned. [PlanBetween] plans from one spec to another without a management cluster.
//
// The example of the package is a whole program, which the end-to-end tests run.
//
// The clock and the durations of locks and retries are options of [management.Connect].
// What the libraries of Kubernetes log goes to the logger of the context that a method is
// called with (klog.NewContext), or else to that of klog.
package lifecycle

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Options are what the use cases have in common. The zero value is usable.
type Options struct {
	// Bundles resolve the versions of clusters whose file is not at hand, from their
	// records.
	Bundles *versionsbundle.Bundles
	// Providers of these clusters.
	Providers providers.Set
	// Command is what the history of a cluster calls the runs of this Service, such as
	// "apply"; empty for the name of the use case.
	Command string
	// Namespace of clusters that nothing else names a namespace for; default is the
	// default.
	Namespace string
	// Certificates are shown to runtime extensions that demand one of their clients.
	Certificates []tls.Certificate
	// Warn is called with what is no error and not what was asked for either.
	Warn func(text string)
	// PrepareContainers makes sure, before a cluster is created or upgraded whose machines are containers,
	// that there is an engine for them, with a network of this name; nil where that is not
	// known, since the management cluster is elsewhere.
	PrepareContainers func(ctx context.Context, network string) error
	// Waiting is called with each run of another that a lock is waited for.
	Waiting func(management.HeldLock)
}

// Service works on the clusters of one management cluster.
type Service struct {
	client  *management.Client
	options Options
}

// New returns a Service for a management cluster.
func New(client *management.Client, options Options) *Service {
	if options.Waiting == nil {
		options.Waiting = func(management.HeldLock) {}
	}
	return &Service{client: client, options: options}
}

// Key returns the place of a cluster; namespace may be empty.
func (s *Service) Key(name, namespace string) types.NamespacedName {
	return types.NamespacedName{Namespace: s.options.namespace(namespace), Name: name}
}

// keyOf is the place of the cluster that a spec describes.
func (s *Service) keyOf(spec Spec) types.NamespacedName {
	meta := spec.Config.Cluster.Metadata
	return s.Key(meta.Name, meta.Namespace)
}

// exists reports whether the cluster that a spec describes exists, or is being created.
func (s *Service) exists(ctx context.Context, spec Spec) (bool, error) {
	cluster, exists, err := s.client.Observe(ctx, s.keyOf(spec))
	return exists && !cluster.ControlPlane.Version.IsZero(), err
}

// find observes a cluster. It is an error if there is none.
func (s *Service) find(ctx context.Context, key types.NamespacedName) (state.Cluster, error) {
	cluster, exists, err := s.client.Observe(ctx, key)
	if err == nil && !exists {
		err = fmt.Errorf("cluster %s: %w; 'clusterctl-x get clusters -A' lists the ones there are", key, management.ErrNotFound)
	}
	return cluster, err
}

// resolve resolves the versions of a spec. Where it is not valid, the warnings are given
// now.
func (o Options) resolve(spec Spec, running v1alpha1.ClusterVersions) (validations.Resolved, error) {
	resolved, err := spec.resolve(running)
	if err != nil {
		o.warnOf(resolved)
	}
	return resolved, err
}

func (o Options) namespace(named string) string { return cmp.Or(named, o.Namespace, "default") }

func (o Options) warn(format string, args ...any) {
	if o.Warn != nil {
		o.Warn(fmt.Sprintf(format, args...))
	}
}

// warnOf passes on the warnings about a spec.
func (o Options) warnOf(resolved validations.Resolved) {
	for _, warning := range resolved.Warnings {
		o.warn("%s", warning)
	}
}

// command is what the history of a cluster calls a run of a use case.
func (s *Service) command(useCase string) string { return cmp.Or(s.options.Command, useCase) }

func (s *Service) warn(text string) { s.options.warn("%s", text) }
