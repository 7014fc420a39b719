package validations_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/skew"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

func TestSpecUpgradePolicy(t *testing.T) {
	t.Parallel()
	const path = "spec.upgradePolicy."
	policy := func(policy v1alpha1.UpgradePolicy) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Spec.UpgradePolicy = policy }
	}
	groups := func(number int) func(*v1alpha1.Cluster) {
		return policy(v1alpha1.UpgradePolicy{MaxConcurrentWorkerGroups: &number})
	}
	minors := func(number int) func(*v1alpha1.Cluster) {
		return policy(v1alpha1.UpgradePolicy{MaxWorkerVersionSkew: &number})
	}
	noGroups := func(shown string) string {
		return path + "maxConcurrentWorkerGroups: Invalid value: " + shown + ": must be 1 or more; use 1 for one group after the other"
	}
	noSkew := func(shown string) string {
		return path + "maxWorkerVersionSkew: Invalid value: " + shown + ": must be from 1 to 3: in an upgrade groups come after the control plane; use 1"
	}
	wide := func(shown string) []string {
		return []string{path + "maxWorkerVersionSkew: Invalid value: " + shown + ": must be from 1 to 3: Kubernetes allows no more; use 3, or remove it"}
	}
	testSpec(t, map[string]specTest{
		"nothing given":         {policy(v1alpha1.UpgradePolicy{}), nil},
		"one group":             {groups(1), nil},
		"more than there are":   {groups(math.MaxInt), nil},
		"no group":              {groups(0), []string{noGroups("0")}},
		"less than no group":    {groups(-1), []string{noGroups("-1")}},
		"skew of 1":             {minors(1), nil},
		"skew of 3":             {minors(3), nil},
		"no skew":               {minors(0), []string{noSkew("0")}},
		"negative skew":         {minors(-1), []string{noSkew("-1")}},
		"wider than Kubernetes": {minors(4), wide("4")},
		"largest skew":          {minors(math.MaxInt), wide("9223372036854775807")},
		"both":                  {policy(v1alpha1.UpgradePolicy{MaxConcurrentWorkerGroups: new(0), MaxWorkerVersionSkew: new(0)}), []string{noGroups("0"), noSkew("0")}},
	})
}

// TestPolicy: a limit that is a mistake itself is none.
func TestPolicy(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		limit *int
		want  skew.Policy
	}{
		"none":     {nil, skew.Policy{}},
		"1":        {new(1), skew.Policy{MaxLag: 1}},
		"3":        {new(3), skew.Policy{MaxLag: 3}},
		"zero":     {new(0), skew.Policy{}},
		"negative": {new(-1), skew.Policy{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := validations.Policy(valid(func(c *v1alpha1.Cluster) { c.Spec.UpgradePolicy.MaxWorkerVersionSkew = test.limit }))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("policy (-want +got):\n%s", diff)
			}
		})
	}
}

// TestVersionsKeepTheTightenedSkew: as wide as the policy allows, and by one
// minor wider.
func TestVersionsKeepTheTightenedSkew(t *testing.T) {
	t.Parallel()
	const prefix = `spec.workerNodeGroupConfigurations[1].kubernetesVersion: Invalid value: `
	tests := map[string]struct {
		limit               *int
		controlPlane, group string
		want                []string
	}{
		"at most 1, by 1": {new(1), "v1.35.4", "v1.34.2", nil},
		"at most 1, by 2": {new(1), "v1.35.4", "v1.33.9", []string{prefix + `"v1.33.9": group md-1 must not be more than 1 minor older than the control plane (v1.35.4); use 1.34 to v1.35.4, or change spec.kubernetesVersion to 1.34 or older, or raise spec.upgradePolicy.maxWorkerVersionSkew, which sets the limit`}},
		"at most 2, by 2": {new(2), "v1.35.4", "v1.33.9", nil},
		"at most 2, by 3": {new(2), "v1.35.4", "v1.32.9", []string{prefix + `"v1.32.9": group md-1 must not be more than 2 minors older than the control plane (v1.35.4); use 1.33 to v1.35.4, or change spec.kubernetesVersion to 1.34 or older, or raise spec.upgradePolicy.maxWorkerVersionSkew, which sets the limit`}},
		"at most 3, by 3": {new(3), "v1.35.4", "v1.32.9", nil},
		"at most 3, by 4": {new(3), "v1.35.4", "v1.31.9", []string{prefix + `"v1.31.9": group md-1 must not be more than 3 minors older than the control plane (v1.35.4); use 1.32 to v1.35.4, or change spec.kubernetesVersion to 1.34 or older`}},
		"no limit, by 4":  {nil, "v1.35.4", "v1.31.9", []string{prefix + `"v1.31.9": group md-1 must not be more than 3 minors older than the control plane (v1.35.4); use 1.32 to v1.35.4, or change spec.kubernetesVersion to 1.34 or older`}},
		"no limit, 1.24":  {nil, "v1.27.1", "v1.24.9", []string{prefix + `"v1.24.9": group md-1 must not be more than 2 minors older than the control plane (v1.27.1); use 1.25 to v1.27.1, or change spec.kubernetesVersion to 1.26 or older`}},
		"limit that Kubernetes does not allow": {new(5), "v1.35.4", "v1.31.9", []string{
			prefix + `"v1.31.9": group md-1 must not be more than 3 minors older than the control plane (v1.35.4); use 1.32 to v1.35.4, or change spec.kubernetesVersion to 1.34 or older`,
		}},
		// There is no one minor that would do.
		"at most 1, newer": {new(1), "v1.35.4", "v1.36.0", []string{prefix + `"v1.36.0": group md-1 must not be newer than the control plane (v1.35.4); use 1.34 to v1.35.4, or change spec.kubernetesVersion`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := valid(func(c *v1alpha1.Cluster) {
				c.Spec.UpgradePolicy.MaxWorkerVersionSkew = test.limit
				c.Spec.WorkerNodeGroupConfigurations[1].KubernetesVersion = new(kubernetesVersion(test.group))
			})
			versions := v1alpha1.ClusterVersions{
				ControlPlane:     version(test.controlPlane),
				WorkerNodeGroups: map[string]v1alpha1.Version{"md-0": version(test.controlPlane), "md-1": version(test.group)},
			}
			if diff := cmp.Diff(test.want, printed(validations.Versions(cluster, versions))); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}
