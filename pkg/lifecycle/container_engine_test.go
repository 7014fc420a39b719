package lifecycle

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// TestUpgradeWithoutContainerEngine is refused before anything is asked of the management
// cluster.
func TestUpgradeWithoutContainerEngine(t *testing.T) {
	t.Parallel()
	asked := ""
	s := New(nil, Options{PrepareContainers: func(_ context.Context, network string) error {
		asked = network
		return errors.New("no engine answers")
	}})
	err := s.Upgrade(t.Context(), Upgrade{
		Plan:    plan.Plan{Steps: []plan.Step{{}}},
		request: request{resolved: validations.Resolved{Provider: providers.Provider{Spec: providers.Spec{ContainerNetwork: "kind"}}}},
	}, RunOptions{})
	var refused *management.RefusedError
	if !errors.As(err, &refused) {
		t.Fatalf("got %v, want %T", err, refused)
	}
	if diff := cmp.Diff(&management.RefusedError{Check: "container-engine", Reason: "no engine answers"}, refused); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	if asked != "kind" {
		t.Errorf("asked for network %q", asked)
	}
}
