package lifecycle

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// TestAnotherOwner: credentials that the provider made part of another cluster are not this
// cluster's.
func TestAnotherOwner(t *testing.T) {
	t.Parallel()
	resolved := validations.Resolved{
		Config:   &v1alpha1.Config{Cluster: &v1alpha1.Cluster{Metadata: v1alpha1.Meta{Name: "prod"}}},
		Provider: providers.Provider{Name: "example", Spec: providers.Spec{Infrastructure: &providers.Infrastructure{Cluster: "ExampleCluster"}}},
	}
	for name, test := range map[string]struct {
		owners []metav1.OwnerReference
		want   string
	}{
		"none":            {nil, ""},
		"itself":          {[]metav1.OwnerReference{{Kind: "ExampleCluster", Name: "prod"}}, ""},
		"another cluster": {[]metav1.OwnerReference{{Kind: "ExampleCluster", Name: "prod"}, {Kind: "ExampleCluster", Name: "test"}}, "ExampleCluster test"},
		"another kind":    {[]metav1.OwnerReference{{Kind: "ExternalSecret", Name: "test"}}, ""},
	} {
		if got := anotherOwner(management.Data{Owners: test.owners}, resolved); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
