package versionsbundle_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// partly has releases of which some lack a node image (those in images have
// one) or the download of kubeadm.
func partly(images, downloads []string, all ...string) *versionsbundle.Bundles {
	bundles := &versionsbundle.Bundles{}
	for _, text := range all {
		r := versionsbundle.Release{Version: version(text)}
		for _, image := range images {
			if image == text {
				r.NodeImages = map[string]string{"docker": "kindest/node:" + text}
			}
		}
		for _, download := range downloads {
			if download == text {
				r.Kubeadm = map[string]versionsbundle.Download{"amd64": {SHA256: "known"}}
			}
		}
		bundles.Spec.VersionsBundles = append(bundles.Spec.VersionsBundles, versionsbundle.VersionsBundle{
			KubeVersion: r.Version.Minor(), Releases: []versionsbundle.Release{r},
		})
	}
	return bundles
}

// TestOffered: which patches a minor may stand for, and which one of them a spec
// gets that asks for the minor. Both are the same for every command.
func TestOffered(t *testing.T) {
	t.Parallel()
	images := versionsbundle.Needs{NodeImage: "docker"}
	both := versionsbundle.Needs{NodeImage: "docker", Kubeadm: true}
	all := []string{"v1.33.1", "v1.34.1", "v1.34.2", "v1.34.3"}
	type text = []string
	tests := map[string]struct {
		bundles *versionsbundle.Bundles
		needs   versionsbundle.Needs
		want    []string
		minor   string // what 1.34 is resolved to
	}{
		"nothing is needed":               {partly(nil, nil, all...), versionsbundle.Needs{}, all, "v1.34.3"},
		"no image at all":                 {partly(nil, nil, all...), images, all, "v1.34.3"},
		"an image of an older patch":      {partly(text{"v1.34.1"}, nil, all...), images, text{"v1.33.1", "v1.34.1"}, "v1.34.1"},
		"images of two patches":           {partly(text{"v1.34.1", "v1.34.2"}, nil, all...), images, text{"v1.33.1", "v1.34.1", "v1.34.2"}, "v1.34.2"},
		"images of another provider":      {partly(text{"v1.34.1"}, nil, all...), versionsbundle.Needs{NodeImage: "other"}, all, "v1.34.3"},
		"kubeadm of one with an image":    {partly(text{"v1.34.1", "v1.34.2"}, text{"v1.34.1"}, all...), both, text{"v1.33.1", "v1.34.1"}, "v1.34.1"},
		"kubeadm, and it is not needed":   {partly(text{"v1.34.1", "v1.34.2"}, text{"v1.34.1"}, all...), images, text{"v1.33.1", "v1.34.1", "v1.34.2"}, "v1.34.2"},
		"an image is worth more":          {partly(text{"v1.34.2"}, text{"v1.34.3"}, all...), both, text{"v1.33.1", "v1.34.2"}, "v1.34.2"},
		"only kubeadm":                    {partly(nil, text{"v1.34.2"}, all...), both, text{"v1.33.1", "v1.34.2"}, "v1.34.2"},
		"pre-releases beside releases":    {partly(nil, nil, "v1.34.0-rc.1", "v1.34.0", "v1.34.1-rc.0", "v1.35.0-rc.1"), versionsbundle.Needs{}, text{"v1.34.0", "v1.35.0-rc.1"}, "v1.34.0"},
		"only pre-releases":               {partly(nil, nil, "v1.34.0-rc.0", "v1.34.0-rc.1"), versionsbundle.Needs{}, text{"v1.34.0-rc.0", "v1.34.0-rc.1"}, "v1.34.0-rc.1"},
		"versions of a class, one known":  {partly(text{"v1.34.2"}, nil, "v1.34.2").OfClass("c", []v1alpha1.Version{version("v1.34.2"), version("v1.34.5")}), images, text{"v1.34.2", "v1.34.5"}, "v1.34.5"},
		"versions of a class, one has no": {partly(nil, nil, "v1.34.5").OfClass("c", []v1alpha1.Version{version("v1.34.2"), version("v1.34.5")}), images, text{"v1.34.2"}, "v1.34.2"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			type outcome struct {
				Offered []string
				Minor   string
			}
			got := outcome{}
			for _, version := range test.bundles.Offered(test.needs) {
				got.Offered = append(got.Offered, version.String())
			}
			desired, _, errs := versionsbundle.Resolve(clusterOf(t, "1.34"), test.bundles, v1alpha1.ClusterVersions{}, test.needs)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			got.Minor = desired.ControlPlane.String()
			if diff := cmp.Diff(outcome{test.want, test.minor}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestOfferedUnverified: a kubeadm whose checksum the bundles have is worth more than a newer
// patch, and one without is worth more than none.
func TestOfferedUnverified(t *testing.T) {
	t.Parallel()
	with := func(verified ...string) *versionsbundle.Bundles {
		bundles := partly(nil, verified, "v1.34.1", "v1.34.2", "v1.34.3")
		bundles.Spec.VersionsBundles[1].Releases[0].Kubeadm = map[string]versionsbundle.Download{"amd64": {URL: "https://example.org"}, "arm64": {URL: "file:///kubeadm"}}
		return bundles
	}
	got := map[string]string{}
	for name, bundles := range map[string]*versionsbundle.Bundles{"none is verified": with(), "an older one is": with("v1.34.1")} {
		for _, version := range bundles.Offered(versionsbundle.Needs{Kubeadm: true}) {
			got[name] += version.String()
		}
	}
	if diff := cmp.Diff(map[string]string{"none is verified": "v1.34.2", "an older one is": "v1.34.1"}, got); diff != "" {
		t.Errorf("offered (-want +got):\n%s", diff)
	}
}

// TestUsable: releases without a node image are left out where their minor has another
// one, unless they are kept.
func TestUsable(t *testing.T) {
	t.Parallel()
	images := versionsbundle.Needs{NodeImage: "docker", Kubeadm: true}
	bundles := partly([]string{"v1.34.1", "v1.34.3"}, []string{"v1.34.1"}, "v1.33.1", "v1.33.2", "v1.34.1", "v1.34.2", "v1.34.3", "v1.34.4")
	for name, test := range map[string]struct {
		needs versionsbundle.Needs
		kept  []v1alpha1.Version
		want  []string
	}{
		"images are needed": {images, nil, []string{"v1.33.1", "v1.33.2", "v1.34.1", "v1.34.3"}},
		"one is kept":       {images, []v1alpha1.Version{version("v1.34.4")}, []string{"v1.33.1", "v1.33.2", "v1.34.1", "v1.34.3", "v1.34.4"}},
		"nothing is needed": {versionsbundle.Needs{}, nil, []string{"v1.33.1", "v1.33.2", "v1.34.1", "v1.34.2", "v1.34.3", "v1.34.4"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, release := range bundles.Usable(test.needs, test.kept) {
				got = append(got, release.Version.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("releases (-want +got):\n%s", diff)
			}
		})
	}
}

// TestResolveNeedsOfGroups: machines of a group fetch the kubeadm of the control
// plane, and need none of their own version.
func TestResolveNeedsOfGroups(t *testing.T) {
	t.Parallel()
	bundles := partly([]string{"v1.33.1", "v1.33.2", "v1.34.1", "v1.34.2"}, []string{"v1.33.1", "v1.34.1"}, "v1.33.1", "v1.33.2", "v1.33.3", "v1.34.1", "v1.34.2")
	both := versionsbundle.Needs{NodeImage: "docker", Kubeadm: true}
	tests := map[string]struct {
		cluster *v1alpha1.Cluster
		running v1alpha1.ClusterVersions
		want    v1alpha1.ClusterVersions
	}{
		"new":                        {clusterOf(t, "1.34", pin{"a", "1.33"}), v1alpha1.ClusterVersions{}, versions("v1.34.1", map[string]string{"a": "v1.33.2"})},
		"what runs is kept":          {clusterOf(t, "1.34", pin{"a", "1.33"}), versions("v1.34.2", map[string]string{"a": "v1.33.3"}), versions("v1.34.2", map[string]string{"a": "v1.33.3"})},
		"no newer than asked for":    {clusterOf(t, "1.34.1", pin{"a", "1.34"}), v1alpha1.ClusterVersions{}, versions("v1.34.1", map[string]string{"a": "v1.34.1"})},
		"exact versions are as said": {clusterOf(t, "1.34.2", pin{"a", "1.33.3"}), v1alpha1.ClusterVersions{}, versions("v1.34.2", map[string]string{"a": "v1.33.3"})},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			desired, _, errs := versionsbundle.Resolve(test.cluster, bundles, test.running, both)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			if diff := cmp.Diff(test.want, desired, equateVersions()); diff != "" {
				t.Errorf("versions (-want +got):\n%s", diff)
			}
		})
	}
}
