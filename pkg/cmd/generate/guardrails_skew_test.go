package generate

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/skew"
)

// TestGuardrailsHaveTheNumbersOfTheSkewPolicy: how many minors a node may be older
// than its control plane stands in the policies, as numbers, and in pkg/skew.
func TestGuardrailsHaveTheNumbersOfTheSkewPolicy(t *testing.T) {
	t.Parallel()
	var policy skew.Policy
	at := func(minor uint64) v1alpha1.Version {
		return v1alpha1.MustParseVersion(fmt.Sprintf("v1.%d.0", minor))
	}
	lag := func(worker uint64) uint64 { return policy.Newest(at(worker)).Minor - worker }
	behind := func(controlPlane uint64) uint64 { return controlPlane - policy.Oldest(at(controlPlane)).Minor }
	// From these minors on, of nodes and of control planes, it is the most there is.
	node, controlPlane := uint64(10), uint64(10)
	for lag(node) < skew.MaxLag {
		node++
	}
	for behind(controlPlane) < skew.MaxLag {
		controlPlane++
	}
	if diff := cmp.Diff([]uint64{25, 28}, []uint64{node, controlPlane}); diff != "" {
		t.Fatalf("the policy of Kubernetes (-want +got):\n%s", diff)
	}
	const minors = 1_000_000_000 // of a major
	want := map[string]string{
		"allowed": fmt.Sprintf("variables.minors[N] < %d ? %d : %d", minors+node, lag(node-1), lag(node)),
		"oldest":  fmt.Sprintf("variables.minors[N] - (variables.minors[N] < %d ? %d : %d)", minors+controlPlane, behind(controlPlane-1), behind(controlPlane)),
	}
	index := regexp.MustCompile(`minors\[\d\]`)
	policies, _ := decodeGuardrails(t)
	found := map[string]int{}
	for _, p := range policies {
		for _, variable := range p.Spec.Variables {
			expression, ours := want[variable.Name]
			if !ours {
				continue
			}
			found[variable.Name]++
			if diff := cmp.Diff(expression, index.ReplaceAllString(variable.Expression, "minors[N]")); diff != "" {
				t.Errorf("variable %s of %s (-want +got):\n%s", variable.Name, p.Name, diff)
			}
		}
	}
	if names := slices.Sorted(maps.Keys(found)); len(names) != len(want) || found["allowed"] != found["oldest"] {
		t.Errorf("variables found: %v", found)
	}
}
