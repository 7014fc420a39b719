// Package workload keeps the objects of simulated workload clusters: upstream's runtime
// for them, with what upstream's simulated API server and etcd lack of real ones.
package workload

import (
	"context"
	"fmt"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	cloudv1 "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/cloud/api/v1alpha1"
	inmemoryruntime "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime"
	inmemoryclient "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime/client"
	"sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime/resourcegroup"
)

// NewManager returns a runtime that works until ctx ends.
func NewManager(ctx context.Context) (inmemoryruntime.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	m := manager{Manager: inmemoryruntime.NewManager(scheme), founding: &sync.Mutex{}}
	if err := m.Start(ctx); err != nil {
		return nil, fmt.Errorf("starting the runtime of simulated clusters: %w", err)
	}
	return m, nil
}

// newScheme holds the kinds that the simulated clusters keep.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(
		cloudv1.AddToScheme, corev1.AddToScheme, appsv1.AddToScheme, rbacv1.AddToScheme,
		storagev1.AddToScheme, apiextensionsv1.AddToScheme, policyv1.AddToScheme,
	)
	return scheme, builder.AddToScheme(scheme)
}

// manager gives out the clients that do better than upstream's.
type manager struct {
	inmemoryruntime.Manager
	founding *sync.Mutex
}

// GetResourceGroup returns the objects of a cluster.
func (m manager) GetResourceGroup(name string) resourcegroup.ResourceGroup {
	return group{ResourceGroup: m.Manager.GetResourceGroup(name), founding: m.founding}
}

type group struct {
	resourcegroup.ResourceGroup
	founding *sync.Mutex
}

// GetClient returns a client for the objects of a cluster.
func (g group) GetClient() inmemoryclient.Client {
	return unconditional{oneEtcd{Client: g.ResourceGroup.GetClient(), founding: g.founding}}
}
