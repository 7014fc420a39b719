package versionsbundle_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// bundlesOf has a release for each version, with an image to tell it by.
func bundlesOf(versions ...string) *versionsbundle.Bundles {
	bundles := &versionsbundle.Bundles{}
	for _, text := range versions {
		bundles.Spec.VersionsBundles = append(bundles.Spec.VersionsBundles, versionsbundle.VersionsBundle{
			KubeVersion: version(text).Minor(),
			Releases:    []versionsbundle.Release{release(text)},
		})
	}
	return bundles
}

func release(text string) versionsbundle.Release {
	return versionsbundle.Release{Version: version(text), NodeImages: map[string]string{"docker": "kindest/node:" + text}}
}

// pin is a worker node group; one without version follows the cluster.
type pin struct{ name, version string }

func clusterOf(t *testing.T, controlPlane string, groups ...pin) *v1alpha1.Cluster {
	t.Helper()
	cluster := &v1alpha1.Cluster{}
	parse := func(text string) v1alpha1.KubernetesVersion {
		if text == "" {
			return v1alpha1.KubernetesVersion{}
		}
		parsed, err := v1alpha1.ParseKubernetesVersion(text)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	cluster.Spec.KubernetesVersion = parse(controlPlane)
	for _, group := range groups {
		g := v1alpha1.WorkerNodeGroupConfiguration{Name: group.name}
		if group.version != "" {
			g.KubernetesVersion = new(parse(group.version))
		}
		cluster.Spec.WorkerNodeGroupConfigurations = append(cluster.Spec.WorkerNodeGroupConfigurations, g)
	}
	return cluster
}

// versions are those of a cluster; empty text is no version.
func versions(controlPlane string, groups map[string]string) v1alpha1.ClusterVersions {
	parse := func(text string) v1alpha1.Version {
		if text == "" {
			return v1alpha1.Version{}
		}
		return version(text)
	}
	of := v1alpha1.ClusterVersions{ControlPlane: parse(controlPlane), WorkerNodeGroups: map[string]v1alpha1.Version{}}
	for name, text := range groups {
		of.WorkerNodeGroups[name] = parse(text)
	}
	return of
}

func TestResolve(t *testing.T) {
	t.Parallel()
	type resolved struct {
		Versions v1alpha1.ClusterVersions
		Set      versionsbundle.Set
		Errs     []string
	}
	type groups = map[string]string
	setOf := func(texts ...string) versionsbundle.Set {
		set := versionsbundle.Set{}
		for _, text := range texts {
			set[version(text)] = release(text)
		}
		return set
	}
	versionsOnly := func(texts ...string) versionsbundle.Set {
		set := versionsbundle.Set{}
		for _, text := range texts {
			set[version(text)] = versionsbundle.VersionOnly(version(text))
		}
		return set
	}
	// Not in order, and with a patch of two digits.
	bundles := bundlesOf("v1.34.9", "v1.34.10", "v1.34.2", "v1.33.5", "v1.33.7", "v1.35.1")
	const available = "there are 1.33 (v1.33.5, v1.33.7), 1.34 (v1.34.2, v1.34.9, v1.34.10), 1.35 (v1.35.1); use one of these, or a file with more by --bundles"
	none := v1alpha1.ClusterVersions{}
	tests := map[string]struct {
		cluster *v1alpha1.Cluster
		running v1alpha1.ClusterVersions
		want    resolved
	}{
		"minor is its newest patch": {
			clusterOf(t, "1.34"), none,
			resolved{versions("v1.34.10", nil), setOf("v1.34.10"), nil},
		},
		"exact version is itself": {
			clusterOf(t, "1.34.2"), none,
			resolved{versions("v1.34.2", nil), setOf("v1.34.2"), nil},
		},
		"exact version whatever runs": {
			clusterOf(t, "1.34.9"), versions("v1.34.10", nil),
			resolved{versions("v1.34.9", nil), setOf("v1.34.9"), nil},
		},
		"running patch of the minor wins": {
			clusterOf(t, "1.34"), versions("v1.34.2", nil),
			resolved{versions("v1.34.2", nil), setOf("v1.34.2"), nil},
		},
		"running patch of another minor does not": {
			clusterOf(t, "1.34"), versions("v1.33.5", nil),
			resolved{versions("v1.34.10", nil), setOf("v1.34.10"), nil},
		},
		"running patch that has no release wins too": {
			clusterOf(t, "1.34", pin{"a", ""}, pin{"b", "1.33"}), versions("v1.34.3", groups{"b": "v1.33.99"}),
			resolved{versions("v1.34.3", groups{"a": "v1.34.3", "b": "v1.33.99"}), versionsOnly("v1.34.3", "v1.33.99"), nil},
		},
		"running patch that has no release, written out": {
			clusterOf(t, "1.34.3", pin{"a", ""}), versions("v1.34.3", groups{"a": "v1.34.2"}),
			resolved{versions("v1.34.3", groups{"a": "v1.34.3"}), versionsOnly("v1.34.3"), nil},
		},
		"following groups go where the cluster goes": {
			clusterOf(t, "1.34", pin{"a", ""}, pin{"b", ""}), versions("v1.33.5", groups{"a": "v1.33.5", "b": "v1.34.2"}),
			resolved{versions("v1.34.10", groups{"a": "v1.34.10", "b": "v1.34.10"}), setOf("v1.34.10"), nil},
		},
		"pinned group of an older minor": {
			clusterOf(t, "1.34", pin{"a", "1.33"}), none,
			resolved{versions("v1.34.10", groups{"a": "v1.33.7"}), setOf("v1.34.10", "v1.33.7"), nil},
		},
		"pinned group with an exact version": {
			clusterOf(t, "1.34", pin{"a", "v1.33.5"}, pin{"b", ""}), none,
			resolved{versions("v1.34.10", groups{"a": "v1.33.5", "b": "v1.34.10"}), setOf("v1.34.10", "v1.33.5"), nil},
		},
		"group's minor is no newer than an exact control plane": {
			clusterOf(t, "1.34.9", pin{"a", "1.34"}), none,
			resolved{versions("v1.34.9", groups{"a": "v1.34.9"}), setOf("v1.34.9"), nil},
		},
		"group's minor is no newer than the running control plane": {
			clusterOf(t, "1.34", pin{"a", "1.34"}), versions("v1.34.2", nil),
			resolved{versions("v1.34.2", groups{"a": "v1.34.2"}), setOf("v1.34.2"), nil},
		},
		"running patch of a group's minor wins": {
			clusterOf(t, "1.34", pin{"a", "1.33"}), versions("v1.34.2", groups{"a": "v1.33.5"}),
			resolved{versions("v1.34.2", groups{"a": "v1.33.5"}), setOf("v1.34.2", "v1.33.5"), nil},
		},
		"what runs in one group is nothing to another": {
			clusterOf(t, "1.34", pin{"a", "1.33"}), versions("v1.34.2", groups{"b": "v1.33.5"}),
			resolved{versions("v1.34.2", groups{"a": "v1.33.7"}), setOf("v1.34.2", "v1.33.7"), nil},
		},
		// The skew policy says what is wrong with it.
		"group's minor is newer than the control plane": {
			clusterOf(t, "1.33", pin{"a", "1.34"}), none,
			resolved{versions("v1.33.7", groups{"a": "v1.34.2"}), setOf("v1.33.7", "v1.34.2"), nil},
		},
		"no version": {
			clusterOf(t, "", pin{"a", ""}, pin{"b", "1.33"}), none,
			resolved{versions("", groups{"a": "", "b": "v1.33.7"}), setOf("v1.33.7"), []string{
				`spec.kubernetesVersion: Required value: a version of Kubernetes such as "1.34"; ` + available,
			}},
		},
		"minor without release": {
			clusterOf(t, "1.32", pin{"a", ""}, pin{"b", ""}), none,
			resolved{versions("", groups{"a": "", "b": ""}), setOf(), []string{
				`spec.kubernetesVersion: Invalid value: "1.32": no versions bundle has this version; ` + available,
			}},
		},
		"exact version without release": {
			clusterOf(t, "1.34.3"), versions("v1.34.4", groups{"a": "v1.34.3"}),
			resolved{versions("", nil), setOf(), []string{
				`spec.kubernetesVersion: Invalid value: "v1.34.3": no versions bundle has this version; ` + available,
			}},
		},
		"build that has no release": {
			clusterOf(t, "1.34.2+vendor.1"), none,
			resolved{versions("", nil), setOf(), []string{
				`spec.kubernetesVersion: Invalid value: "v1.34.2+vendor.1": no versions bundle has this version; ` + available,
			}},
		},
		"each field is reported once": {
			clusterOf(t, "1.40", pin{"a", "1.41"}, pin{"b", ""}, pin{"c", "1.33.6"}), none,
			resolved{versions("", groups{"a": "", "b": "", "c": ""}), setOf(), []string{
				`spec.kubernetesVersion: Invalid value: "1.40": no versions bundle has this version; ` + available,
				`spec.workerNodeGroupConfigurations[0].kubernetesVersion: Invalid value: "1.41": no versions bundle has this version; use one of those listed for spec.kubernetesVersion`,
				`spec.workerNodeGroupConfigurations[2].kubernetesVersion: Invalid value: "v1.33.6": no versions bundle has this version; use one of those listed for spec.kubernetesVersion`,
			}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got resolved
			desired, set, errs := versionsbundle.Resolve(test.cluster, bundles, test.running, versionsbundle.Needs{})
			got.Versions, got.Set = desired, set
			for _, err := range errs {
				got.Errs = append(got.Errs, err.Error())
			}
			if diff := cmp.Diff(test.want, got, equateVersions()); diff != "" {
				t.Errorf("resolved (-want +got):\n%s", diff)
			}
		})
	}
}

// TestResolveOfClass: what runs is no version of a class that does not list it.
func TestResolveOfClass(t *testing.T) {
	t.Parallel()
	bundles := bundlesOf("v1.34.2").OfClass("prod", []v1alpha1.Version{version("v1.34.2")})
	desired, _, errs := versionsbundle.Resolve(clusterOf(t, "1.34"), bundles, versions("v1.34.3", nil), versionsbundle.Needs{})
	if diff := cmp.Diff(versions("v1.34.2", nil), desired, equateVersions()); diff != "" || len(errs) > 0 {
		t.Errorf("errors %v, versions (-want +got):\n%s", errs, diff)
	}
	if _, _, errs = versionsbundle.Resolve(clusterOf(t, "1.34.3"), bundles, versions("v1.34.3", nil), versionsbundle.Needs{}); len(errs) != 1 {
		t.Errorf("errors are %v", errs)
	}
}

// TestResolveOrdersBuilds: a provider may have several builds of one patch.
func TestResolveOrdersBuilds(t *testing.T) {
	t.Parallel()
	bundles := bundlesOf("v1.34.2+vendor.10", "v1.34.2+vendor.9", "v1.34.2")
	desired, _, errs := versionsbundle.Resolve(clusterOf(t, "1.34", pin{"a", "1.34"}), bundles, versions("v1.34.2+vendor.9", nil), versionsbundle.Needs{})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	want := versions("v1.34.2+vendor.9", map[string]string{"a": "v1.34.2+vendor.9"})
	if diff := cmp.Diff(want, desired, equateVersions()); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
}
