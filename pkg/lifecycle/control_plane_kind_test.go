package lifecycle

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// bundlesOf are releases of which the versions are known.
func bundlesOf(versions ...string) *versionsbundle.Bundles {
	bundles := &versionsbundle.Bundles{}
	for _, version := range versions {
		release := versionsbundle.VersionOnly(v1alpha1.MustParseVersion(version))
		bundles.Spec.VersionsBundles = append(bundles.Spec.VersionsBundles, versionsbundle.VersionsBundle{KubeVersion: release.Version.Minor(), Releases: []versionsbundle.Release{release}})
	}
	return bundles
}

func kubernetesVersion(t *testing.T, text string) v1alpha1.KubernetesVersion {
	t.Helper()
	version, err := v1alpha1.ParseKubernetesVersion(text)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

func TestReleasesFor(t *testing.T) {
	t.Parallel()
	bundles := bundlesOf("v1.32.5", "v1.32.5+rke2r1", "v1.33.1+k0s.0")
	type result struct {
		Releases []string
		Err      string
	}
	all := result{Releases: []string{"v1.32.5", "v1.32.5+rke2r1", "v1.33.1+k0s.0"}}
	tests := map[string]struct {
		running, asked string
		topology       *state.Topology
		want           result
	}{
		"without a build":      {"v1.31.4", "1.33", nil, all},
		"of the same sort":     {"v1.31.4+rke2r3", "1.32", nil, result{Releases: []string{"v1.32.5+rke2r1"}}},
		"the sort of a target": {"v1.31.4", "v1.33.1+k0s.1", nil, result{Releases: []string{"v1.33.1+k0s.0"}}},
		"what runs":            {"v1.31.4+rke2r3", "1.31", nil, result{Releases: []string{"v1.32.5+rke2r1"}}},
		"an exact version":     {"v1.31.4+rke2r3", "v1.33.2+rke2r1", nil, result{Releases: []string{"v1.32.5+rke2r1"}}},
		"a class has a list":   {"v1.31.4+rke2r3", "1.33", &state.Topology{}, all},
		"a minor without": {"v1.31.4+rke2r3", "1.33", nil, result{
			Err: "--kubernetes-version 1.33: the control plane of cluster ns/c is at v1.31.4+rke2r3, and no versions bundle has a release of 1.33 with such a build; write the exact version, or name a file that has the provider's releases by --bundles",
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := state.Cluster{Namespace: "ns", Name: "c", Topology: test.topology, ControlPlane: state.Part{Object: "RKE2ControlPlane/c", Version: v1alpha1.MustParseVersion(test.running)}}
			var got result
			some, err := releasesFor(VersionChange{KubernetesVersion: kubernetesVersion(t, test.asked)}, cluster, bundles)
			if err != nil {
				got.Err = err.Error()
			} else {
				for _, version := range some.Versions() {
					got.Releases = append(got.Releases, version.String())
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestWithMinors: the provider chooses the patch of the control plane, and groups have patches.
func TestWithMinors(t *testing.T) {
	t.Parallel()
	minor := func(number uint64) v1alpha1.Version {
		return v1alpha1.MinorVersion(v1alpha1.Minor{Major: 1, Minor: number})
	}
	spec := Spec{Config: &v1alpha1.Config{Cluster: &v1alpha1.Cluster{}}, bundles: bundlesOf("v1.31.14", "v1.32.4", "v1.32.5").With([]versionsbundle.Release{versionsbundle.VersionOnly(minor(31))})} // of a record
	resolved := func(controlPlane v1alpha1.Version, group v1alpha1.Version) validations.Resolved {
		return validations.Resolved{Set: versionsbundle.Set{}, Versions: v1alpha1.ClusterVersions{ControlPlane: controlPlane, WorkerNodeGroups: map[string]v1alpha1.Version{"a": group}}}
	}
	exact := v1alpha1.MustParseVersion
	tests := map[string]struct {
		resolved         validations.Resolved
		running, runsOne v1alpha1.Version
		want             [2]string
	}{
		"another minor":                {resolved(exact("v1.32.5"), exact("v1.32.5")), minor(31), exact("v1.31.2"), [2]string{"v1.32", "v1.32.5"}},
		"a pinned group":               {resolved(exact("v1.32.5"), exact("v1.31.14")), minor(31), exact("v1.31.2"), [2]string{"v1.32", "v1.31.14"}},
		"the minor that runs":          {resolved(minor(31), minor(31)), minor(31), exact("v1.31.2"), [2]string{"v1.31", "v1.31.2"}},
		"a group that is behind":       {resolved(minor(31), minor(31)), minor(31), exact("v1.30.2"), [2]string{"v1.31", "v1.31.14"}},
		"a minor without a release":    {resolved(minor(33), minor(33)), minor(33), exact("v1.31.2"), [2]string{"v1.33", "v1.33.0"}},
		"a control plane with a patch": {resolved(exact("v1.32.5"), exact("v1.32.5")), exact("v1.31.2"), exact("v1.31.2"), [2]string{"v1.32.5", "v1.32.5"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := spec.withMinors(test.resolved, v1alpha1.ClusterVersions{ControlPlane: test.running, WorkerNodeGroups: map[string]v1alpha1.Version{"a": test.runsOne}})
			if diff := cmp.Diff(test.want, [2]string{got.Versions.ControlPlane.String(), got.Versions.WorkerNodeGroups["a"].String()}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTightened(t *testing.T) {
	t.Parallel()
	limit := func(number int) v1alpha1.UpgradePolicy { return v1alpha1.UpgradePolicy{MaxWorkerVersionSkew: &number} }
	tests := map[string]struct {
		kind       string
		has, wants v1alpha1.UpgradePolicy
	}{
		"a provider that allows less": {"GCPManagedControlPlane", v1alpha1.UpgradePolicy{}, limit(2)},
		"more than it allows":         {"GCPManagedControlPlane", limit(3), limit(2)},
		"a file that allows less":     {"GCPManagedControlPlane", limit(1), limit(1)},
		"one that says nothing":       {"TalosControlPlane", limit(3), limit(3)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := tightened(test.has, state.Cluster{ControlPlane: state.Part{Object: test.kind + "/c"}})
			if diff := cmp.Diff(test.wants, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
