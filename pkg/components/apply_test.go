package components

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/management"
)

// TestOptions: only what changes is named, by its type and without a version where that is the
// newest.
func TestOptions(t *testing.T) {
	t.Parallel()
	plan := Plan{Components: []Component{
		{Name: certManager, To: "v1.21.1"},
		to(installedAt("cluster-api", "v1.13.2"), "v1.14.0"),
		to(installedAt("control-plane-kubeadm", "v1.13.2"), "v1.14.0"),
		to(installedAt("infrastructure-aws", "v2.9.0"), ""),
		installedAt("infrastructure-gcp", "v1.10.0"),
	}}
	want := client.InitOptions{
		Kubeconfig:              client.Kubeconfig{Path: "file"},
		CoreProvider:            "cluster-api:v1.14.0",
		ControlPlaneProviders:   []string{"kubeadm:v1.14.0"},
		InfrastructureProviders: []string{"aws"},
	}
	got := (&Client{kubeconfig: client.Kubeconfig{Path: "file"}}).options(plan)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(client.InitOptions{})); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

// TestLocked: components are changed while the clusters are locked, and not at all without the
// lock that was asked for.
func TestLocked(t *testing.T) {
	t.Parallel()
	refused := errors.New("no lock")
	for name, test := range map[string]struct {
		lock error
		asks bool
		want []string
	}{
		"no lock is asked for": {nil, false, []string{"change"}},
		"locked":               {nil, true, []string{"lock", "change", "release"}},
		"no lock":              {refused, true, []string{"lock"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var did []string
			run := Run{}
			if test.asks {
				run.Lock = func(ctx context.Context, _ func(string)) (context.Context, func(), error) {
					did = append(did, "lock")
					return ctx, func() { did = append(did, "release") }, test.lock
				}
			}
			err := locked(t.Context(), run, func(context.Context) error {
				did = append(did, "change")
				return nil
			})
			if !errors.Is(err, test.lock) || !slices.Equal(did, test.want) {
				t.Errorf("%v, %v; want %v, %v", did, err, test.want, test.lock)
			}
		})
	}
}

// TestLostLock: a change that ended because the lock was lost says why it was, and not that the
// user interrupted it.
func TestLostLock(t *testing.T) {
	t.Parallel()
	unrenewed := errors.New("the lock could not be renewed")
	failed := errors.New("the change failed")
	for name, test := range map[string]struct {
		cause, err, want error
	}{
		"lost":              {unrenewed, context.Canceled, unrenewed},
		"lost and done":     {unrenewed, nil, nil},
		"interrupted":       {context.Canceled, context.Canceled, context.Canceled},
		"out of time":       {management.ErrTimeout, failed, failed},
		"held to the end":   {nil, failed, failed},
		"held and all done": {nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := Run{Lock: func(ctx context.Context, _ func(string)) (context.Context, func(), error) {
				held, lose := context.WithCancelCause(ctx)
				if test.cause != nil {
					lose(test.cause)
				}
				return held, func() { lose(nil) }, nil
			}}
			err := locked(t.Context(), run, func(context.Context) error { return test.err })
			if !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
				t.Errorf("error %v, want %v", err, test.want)
			}
		})
	}
}
