package topology_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/skew"
)

func version(text string) v1alpha1.Version {
	if text == "" {
		return v1alpha1.Version{}
	}
	if strings.Count(text, ".") == 1 {
		text += ".0"
	}
	return v1alpha1.MustParseVersion(text)
}

func versions(text string) []v1alpha1.Version {
	var all []v1alpha1.Version
	for _, one := range strings.Fields(text) {
		all = append(all, version(one))
	}
	return all
}

// written writes segments as "control plane versions / worker versions".
func written(segments []plan.Segment) []string {
	var all []string
	for _, segment := range segments {
		var parts []string
		for _, list := range [][]v1alpha1.Version{segment.ControlPlane, segment.Workers} {
			var texts []string
			for _, v := range list {
				texts = append(texts, strings.TrimPrefix(v.String(), "v1."))
			}
			parts = append(parts, strings.Join(texts, " "))
		}
		all = append(all, strings.Join(parts, " / "))
	}
	return all
}

// TestSegments has the examples of Cluster API's proposal and documentation, and what
// its functions get wrong or leave to us.
func TestSegments(t *testing.T) {
	t.Parallel()
	const listed = "1.28.0 1.29.0 1.30.0 1.30.1 1.31.2 1.32.0 1.33.0 1.33.3 1.34.0 1.35.0"
	for name, test := range map[string]struct {
		versions, releases           string
		maxLag                       uint64
		target, controlPlane, oldest string
		want                         []string
		wrong                        string
	}{
		"the newest of each minor":         {listed, "", 0, "1.31.2", "1.28.0", "1.28.0", []string{"29.0 30.1 31.2 / 31.2"}, ""},
		"one hop on the way":               {listed, "", 0, "1.32.0", "1.28.0", "1.28.0", []string{"29.0 30.1 31.2 32.0 / 31.2 32.0"}, ""},
		"two hops on the way":              {listed, "", 0, "1.35.0", "1.28.0", "1.28.0", []string{"29.0 30.1 31.2 32.0 33.3 34.0 35.0 / 31.2 34.0 35.0"}, ""},
		"workers are behind":               {listed, "", 0, "1.33.3", "1.31.2", "1.28.0", []string{"32.0 33.3 / 31.2 33.3"}, ""},
		"only workers":                     {listed, "", 0, "1.31.2", "1.31.2", "1.29.0", []string{" / 31.2"}, ""},
		"no workers":                       {listed, "", 0, "1.30.1", "1.28.0", "", []string{"29.0 30.1 / "}, ""},
		"nothing to do":                    {listed, "", 0, "1.30.1", "1.30.1", "1.30.1", nil, ""},
		"a patch":                          {listed, "", 0, "1.30.1", "1.30.0", "1.30.0", []string{"30.1 / 30.1"}, ""},
		"no list: minor by minor":          {"", listed, 0, "1.31.2", "1.29.0", "1.29.0", []string{"30.1 / 30.1", "31.2 / 31.2"}, ""},
		"no list: a patch":                 {"", listed, 0, "1.33.3", "1.33.0", "1.33.0", []string{"33.3 / 33.3"}, ""},
		"no list, no workers":              {"", listed, 0, "1.31.2", "1.29.0", "", []string{"30.1 / ", "31.2 / "}, ""},
		"a policy of one minor":            {listed, "", 1, "1.31.2", "1.28.0", "1.28.0", []string{"29.0 / 29.0", "30.1 / 30.1", "31.2 / 31.2"}, ""},
		"a policy of two minors":           {listed, "", 2, "1.32.0", "1.28.0", "1.28.0", []string{"29.0 30.1 / 30.1", "31.2 32.0 / 32.0"}, ""},
		"nodes before 1.25 may lag by two": {"1.22.0 1.23.0 1.24.0 1.25.0", "", 0, "1.25.0", "1.22.0", "1.22.0", []string{"23.0 24.0 / 24.0", "25.0 / 25.0"}, ""},
		"workers are newer":                {listed, "", 0, "1.31.2", "1.29.0", "1.30.0", nil, "there is no upgrade path from v1.29.0, with workers at v1.30.0, to v1.31.2"},
		"down":                             {listed, "", 0, "1.29.0", "1.30.0", "1.30.0", nil, "there is no upgrade path from v1.30.0, with workers at v1.30.0, to v1.29.0"},
		"workers are too old already":      {listed, "", 0, "1.33.3", "1.33.3", "1.29.0", nil, "workers at v1.29.0 are too old for Cluster API to upgrade them to v1.33.3"},
		"a gap": {
			"1.28.0 1.29.0 1.31.2", "", 0, "1.31.2", "1.28.0", "1.28.0", nil,
			"invalid ControlPlane upgrade plan: item 0; expecting a version with minor 29 or 30, found version v1.31.2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			finder := topology.PathFinder{Versions: versions(test.versions), Releases: versions(test.releases), Policy: skew.Policy{MaxLag: test.maxLag}}
			segments, err := finder.Segments(t.Context(), version(test.target), version(test.controlPlane), version(test.oldest))
			wrong := ""
			if err != nil {
				wrong = err.Error()
			}
			if wrong != test.wrong {
				t.Errorf("error %q, want %q", wrong, test.wrong)
			}
			if diff := cmp.Diff(test.want, written(segments)); diff != "" {
				t.Errorf("segments (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSegmentsOfAnExtension: the way is the extension's, in one segment, and where nothing is
// to be planned nobody asks it.
func TestSegmentsOfAnExtension(t *testing.T) {
	t.Parallel()
	asked := 0
	finder := topology.PathFinder{Ask: func(_ context.Context, target, controlPlane, workers string) ([]string, []string, error) {
		asked++
		if target+controlPlane+workers != "v1.33.0v1.31.0v1.31.0" {
			return nil, nil, fmt.Errorf("asked for %s from %s, workers at %s", target, controlPlane, workers)
		}
		return []string{"v1.32.7", "v1.33.0"}, []string{"v1.32.7", "v1.33.0"}, nil
	}}
	if segments, err := finder.Segments(t.Context(), version("1.31"), version("1.31"), version("1.31")); err != nil || segments != nil || asked > 0 {
		t.Errorf("nothing to do: %q, %v; asked %d times", written(segments), err, asked)
	}
	segments, err := finder.Segments(t.Context(), version("1.33"), version("1.31"), version("1.31"))
	want := []plan.Segment{{Target: version("1.33"), ControlPlane: versions("1.32.7 1.33"), Workers: versions("1.32.7 1.33")}}
	if diff := cmp.Diff(want, segments, cmp.Comparer(func(a, b v1alpha1.Version) bool { return a == b })); diff != "" || err != nil {
		t.Errorf("segments (-want +got): %v\n%s", err, diff)
	}
	if _, err := finder.Segments(t.Context(), version("1.34"), version("1.31"), version("1.31")); err == nil || err.Error() != "asked for v1.34.0 from v1.31.0, workers at v1.31.0" {
		t.Errorf("error: %v", err)
	}
}

// TestSegmentsKeepThePolicy takes random clusters along their segments: no state breaks
// the policy, nothing moves down, and all arrive. One with a list that the policy
// of Kubernetes alone holds for has one segment.
func TestSegmentsKeepThePolicy(t *testing.T) {
	t.Parallel()
	const cases = 5000
	several := 0
	for i := range cases {
		r := rand.New(rand.NewPCG(11, uint64(i)))
		first := 26 + r.IntN(8)
		minors := r.IntN(9)
		finder := topology.PathFinder{Policy: skew.Policy{MaxLag: uint64(r.IntN(4))}}
		for minor := first; minor <= first+minors; minor++ {
			for patch := range 1 + r.IntN(3) {
				finder.Releases = append(finder.Releases, version(fmt.Sprintf("1.%d.%d", minor, patch)))
			}
		}
		listed := r.IntN(4) > 0
		if listed {
			finder.Versions = finder.Releases
		}
		from, to := finder.Releases[0], finder.Releases[len(finder.Releases)-1]
		segments, err := finder.Segments(t.Context(), to, from, from)
		if err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		if listed && finder.Policy.MaxLag == 0 && len(segments) > 1 {
			t.Fatalf("case %d: %d segments from %s to %s: %q", i, len(segments), from, to, written(segments))
		}
		if len(segments) > 1 {
			several++
		}
		if wrong := walk(segments, finder.Policy, from, to); wrong != "" {
			t.Fatalf("case %d: %s: %q", i, wrong, written(segments))
		}
	}
	if several < cases/4 {
		t.Errorf("only %d of %d cases have several segments", several, cases)
	}
}

// walk goes along segments as Cluster API does, and says what is wrong on the way.
func walk(segments []plan.Segment, policy skew.Policy, controlPlane, target v1alpha1.Version) string {
	workers := controlPlane
	for _, segment := range segments {
		behind := segment.Workers
		for _, next := range append([]v1alpha1.Version{controlPlane}, segment.ControlPlane...) {
			if next.Before(controlPlane) || next.Minor().Minor > controlPlane.Minor().Minor+1 {
				return fmt.Sprintf("control plane from %s to %s", controlPlane, next)
			}
			controlPlane = next
			if err := policy.Check(controlPlane, workers); err != nil {
				return fmt.Sprintf("workers at %s beside %s: %v", workers, controlPlane, err)
			}
			if len(behind) > 0 && behind[0] == controlPlane {
				if behind[0].Before(workers) {
					return fmt.Sprintf("workers from %s to %s", workers, behind[0])
				}
				workers, behind = behind[0], behind[1:]
			}
		}
		if controlPlane != segment.Target || workers != segment.Target {
			return fmt.Sprintf("a segment to %s ends at %s and %s", segment.Target, controlPlane, workers)
		}
	}
	if controlPlane != target || workers != target {
		return fmt.Sprintf("the end is %s and %s", controlPlane, workers)
	}
	return ""
}
