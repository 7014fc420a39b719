package v1alpha1_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

func TestSelfManaged(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		name, management string
		want             bool
	}{
		"its own name":     {"prod", "prod", true},
		"another name":     {"prod", "mgmt", false},
		"no name":          {"prod", "", false},
		"neither has name": {"", "", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := v1alpha1.Cluster{
				Metadata: v1alpha1.Meta{Name: test.name},
				Spec:     v1alpha1.ClusterSpec{ManagementCluster: v1alpha1.ManagementCluster{Name: test.management}},
			}
			if got := cluster.SelfManaged(); got != test.want {
				t.Errorf("SelfManaged() = %t", got)
			}
		})
	}
}

func TestReplicas(t *testing.T) {
	t.Parallel()
	got := []int{
		v1alpha1.ControlPlaneConfiguration{}.Replicas(),
		v1alpha1.ControlPlaneConfiguration{Count: new(3)}.Replicas(),
		v1alpha1.WorkerNodeGroupConfiguration{}.Replicas(),
		v1alpha1.WorkerNodeGroupConfiguration{Count: new(0)}.Replicas(),
	}
	if diff := cmp.Diff([]int{1, 3, 1, 0}, got); diff != "" {
		t.Errorf("replicas (-want +got):\n%s", diff)
	}
}

func TestPinned(t *testing.T) {
	t.Parallel()
	got := []bool{
		v1alpha1.WorkerNodeGroupConfiguration{}.Pinned(),
		v1alpha1.WorkerNodeGroupConfiguration{KubernetesVersion: new(kubernetesVersion("1.34"))}.Pinned(),
	}
	if diff := cmp.Diff([]bool{false, true}, got); diff != "" {
		t.Errorf("pinned (-want +got):\n%s", diff)
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	type parsed struct {
		Duration time.Duration
		Text     string
		Err      string
	}
	const remedy = "write a duration such as 90s or 1m30s, or 0s for at once"
	tests := map[string]struct {
		text string
		want parsed
	}{
		"seconds":     {"90s", parsed{Duration: 90 * time.Second, Text: "1m30s"}},
		"fraction":    {"1.5s", parsed{Duration: 1500 * time.Millisecond, Text: "1.5s"}},
		"zero":        {"0", parsed{Text: "0s"}},
		"no unit":     {"5", parsed{Text: "0s", Err: remedy}},
		"negative":    {"-5s", parsed{Text: "0s", Err: remedy}},
		"too long":    {"9999999h", parsed{Text: "0s", Err: remedy}},
		"nothing":     {"", parsed{Text: "0s", Err: remedy}},
		"no duration": {"soon", parsed{Text: "0s", Err: remedy}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var duration v1alpha1.Duration
			got := parsed{}
			if err := duration.UnmarshalText([]byte(test.text)); err != nil {
				got.Err = err.Error()
			}
			text, err := duration.MarshalText()
			if err != nil {
				t.Fatal(err)
			}
			got.Duration, got.Text = duration.Duration, string(text)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("duration %q (-want +got):\n%s", test.text, diff)
			}
		})
	}
}
