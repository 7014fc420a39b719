package lifecycle

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/clusterclass"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Creation is a cluster that can be created.
type Creation struct {
	Key types.NamespacedName
	// Missing says which Secrets and ConfigMaps the cluster needs and lacks. Create
	// refuses it until they are there.
	Missing []string

	exists   bool
	spec     Spec
	resolved validations.Resolved
	objects  []*unstructured.Unstructured
}

// Config is the spec of the cluster, with its defaults.
func (n Creation) Config() *v1alpha1.Config { return n.resolved.Config }

// Versions returns the versions that the spec was resolved to.
func (n Creation) Versions() v1alpha1.ClusterVersions { return n.resolved.Versions }

// StaysThere reports whether the cluster is new, and to manage itself: Create does not move it.
func (n Creation) StaysThere() bool { return !n.exists && n.spec.ManagesItselfBy() != "" }

// CreateOptions are the options of a creation.
type CreateOptions struct {
	// TakeOver takes over the locks of other runs that work on the cluster.
	TakeOver bool
}

// CheckCreation checks what can be known of a new cluster without a management cluster,
// and returns the warnings about it.
func (s Spec) CheckCreation() ([]strictyaml.Warning, error) {
	resolved, err := s.Validate()
	if s.managed() && versionsbundle.OnlyMissing(err) {
		err = nil // the class may have the version
	}
	return resolved.Warnings, err
}

// PlanCreation resolves and renders a cluster. The management cluster may have the
// class that its versions come from, or objects of an earlier create. It writes
// nothing.
func (s *Service) PlanCreation(ctx context.Context, spec Spec) (Creation, error) {
	if _, err := spec.CheckCreation(); err != nil {
		return Creation{}, err
	}
	n := Creation{Key: s.keyOf(spec)}
	live, exists, err := s.client.Observe(ctx, n.Key)
	if err != nil {
		return n, err
	}
	if n.exists = exists; exists {
		if err := clusterclass.CheckTopologyMode(spec.Config, live); err != nil {
			return n, err
		}
	}
	if n.spec, err = spec.withClass(ctx, s.client, n.Key.Namespace); err != nil {
		return n, err
	}
	if n.resolved, err = s.options.resolve(n.spec, runningOf(live)); err != nil {
		return n, err
	}
	if err := sameVersionsAs(live, n.resolved.Versions, n.Key.String()); err != nil {
		return n, err
	}
	r := request{spec: n.spec, resolved: n.resolved, from: current{state: live}, namespace: n.Key.Namespace}
	if n.objects, err = r.newObjects(ctx); err != nil {
		return n, err
	}
	if err := s.client.CheckKinds(ctx, n.objects); err != nil {
		return n, err
	}
	n.Missing, err = s.missingReferences(ctx, n.resolved, n.Key.Namespace)
	return n, err
}

// newObjects returns all objects of a new cluster.
func (r request) newObjects(ctx context.Context) ([]*unstructured.Unstructured, error) {
	at := point{versions: r.resolved.Versions, topology: r.resolved.Versions.ControlPlane, outside: pins(r.resolved.Config)}
	m, err := r.mode(ctx, source{}, at)
	if err != nil {
		return nil, err
	}
	objects, err := m.render(ctx, at)
	if err == nil && r.spec.managed() {
		err = r.spec.use().Check(ctx, objects.Cluster[0], nil)
	}
	return objects.All(), err
}

// sameVersionsAs refuses to create a cluster that is there with other versions: what the
// API server says against them is about an upgrade, which create is not.
func sameVersionsAs(live state.Cluster, wanted v1alpha1.ClusterVersions, key string) error {
	if all := versionChanges(live, wanted); len(all) > 0 {
		return &management.AlreadyExistsError{Cluster: key, Changes: all}
	}
	return nil
}

// DryRunCreation lets the management cluster check every object of a cluster, and returns
// the changes by which Create would create them.
func (s *Service) DryRunCreation(ctx context.Context, n Creation) ([]changes.Change, error) {
	tried, err := s.client.TryCreate(ctx, n.Key, n.objects)
	return tried, clusterclass.Admission(n.spec.Config, err)
}

// Create creates a cluster, or completes one whose creation was stopped, and returns
// the changes that created its objects. It does not wait until the cluster is ready; WaitReady does.
func (s *Service) Create(ctx context.Context, n Creation, o CreateOptions) ([]changes.Change, error) {
	if len(n.Missing) > 0 {
		return nil, referencesMissing(n.Missing)
	}
	if err := s.prepareContainers(ctx, n.resolved.Provider.Spec.ContainerNetwork); err != nil {
		return nil, err
	}
	done, err := s.client.CreateCluster(ctx, n.Key, management.Creation{
		Objects: n.objects, Record: recordOf(n.spec, n.resolved.Versions), Command: s.command("create"),
		TakeOver: o.TakeOver, Waiting: s.options.Waiting, Warn: s.warn,
	})
	return done, clusterclass.Admission(n.spec.Config, err)
}

// prepareContainers refuses a cluster of containers where there is no engine for them.
func (s *Service) prepareContainers(ctx context.Context, network string) error {
	if network == "" || s.options.PrepareContainers == nil {
		return nil
	}
	err := s.options.PrepareContainers(ctx, network)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return &management.RefusedError{Check: "container-engine", Reason: err.Error()}
}

// WaitReady waits until a cluster is as it was asked for. It calls show, unless it is
// nil, with the state of the cluster as it is first and after each change, and returns the
// last one.
func (s *Service) WaitReady(ctx context.Context, key types.NamespacedName, show func(state.Cluster)) (state.Cluster, error) {
	var last state.Cluster
	err := s.client.Watch(ctx, key, func(cluster state.Cluster, exists bool) (bool, error) {
		if !exists {
			return false, fmt.Errorf("cluster %s was deleted meanwhile", key)
		}
		last = cluster
		if show != nil {
			show(cluster)
		}
		return cluster.Ready(), management.Stuck(cluster)
	})
	return last, err
}
