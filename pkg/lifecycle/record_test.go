package lifecycle

import (
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// TestContinues: an upgrade is continued where something that it began with has moved,
// and not where groups came and went, or where it has ended.
func TestContinues(t *testing.T) {
	t.Parallel()
	versions := func(controlPlane string, groups ...string) v1alpha1.ClusterVersions {
		v := v1alpha1.ClusterVersions{ControlPlane: v1alpha1.MustParseVersion(controlPlane), WorkerNodeGroups: map[string]v1alpha1.Version{}}
		for i := 0; i < len(groups); i += 2 {
			v.WorkerNodeGroups[groups[i]] = v1alpha1.MustParseVersion(groups[i+1])
		}
		return v
	}
	const old, now = "v1.33.1", "v1.34.1"
	begin, end := versions(old, "md-0", old), versions(now, "md-0", now)
	controlPlane, workers := plan.Step{Kind: plan.ControlPlane}, plan.Step{Kind: plan.Workers}
	tests := map[string]struct {
		from, to v1alpha1.ClusterVersions // of the record
		plan     plan.Plan
		want     bool
	}{
		"nothing was started":          {begin, end, plan.Plan{From: begin, To: end, Steps: []plan.Step{controlPlane, workers}}, false},
		"the control plane moved":      {begin, end, plan.Plan{From: versions(now, "md-0", old), To: end, Steps: []plan.Step{workers}}, true},
		"a group moved":                {versions(now, "md-0", old, "md-1", old), versions(now, "md-0", now, "md-1", now), plan.Plan{From: versions(now, "md-0", now, "md-1", old), To: versions(now, "md-0", now, "md-1", now), Steps: []plan.Step{workers}}, true},
		"a group was created":          {begin, versions(now, "md-0", now, "md-1", old), plan.Plan{From: versions(old, "md-0", old, "md-1", old), To: versions(now, "md-0", now, "md-1", old), Steps: []plan.Step{controlPlane, workers}}, false},
		"a group was removed":          {versions(old, "md-0", old, "md-1", old), end, plan.Plan{From: begin, To: end, Steps: []plan.Step{controlPlane, workers}}, false},
		"it has ended":                 {begin, end, plan.Plan{From: end, To: end, Steps: []plan.Step{{Kind: plan.Template}}}, false},
		"to another version":           {begin, end, plan.Plan{From: end, To: versions("v1.35.1", "md-0", "v1.35.1"), Steps: []plan.Step{controlPlane, workers}}, false},
		"no record, or an older one's": {v1alpha1.ClusterVersions{}, end, plan.Plan{From: versions(now, "md-0", old), To: end, Steps: []plan.Step{workers}}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Upgrade{Plan: test.plan}
			if got := p.continues(management.Record{From: test.from, Versions: test.to}); got != test.want {
				t.Errorf("continued: %t, want %t", got, test.want)
			}
		})
	}
}
