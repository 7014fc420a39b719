package versionsbundle_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// TestWithPreLoadImages: a node needs kube-proxy and CoreDNS of control planes that it may have,
// and of the one that a new control plane machine joins; never its own, and none twice.
func TestWithPreLoadImages(t *testing.T) {
	t.Parallel()
	bundles := &versionsbundle.Bundles{}
	for _, of := range []struct{ version, dns string }{{"v1.31.1", "v1"}, {"v1.32.1", "v1"}, {"v1.34.1", "v2"}, {"v1.34.2", "v2"}, {"v1.35.0", "v3"}} {
		v := version(of.version)
		bundles.Spec.VersionsBundles = append(bundles.Spec.VersionsBundles, versionsbundle.VersionsBundle{KubeVersion: v.Minor(), Releases: []versionsbundle.Release{{
			Version: v, Images: versionsbundle.Images{KubeProxy: versionsbundle.Image("r/kube-proxy:" + of.version), CoreDNS: versionsbundle.Image("r/coredns:" + of.dns)},
			NodeImages:    map[string]string{"docker": "r/node:" + of.version},
			PreLoadImages: map[string][]versionsbundle.Image{"other": {"r/own:v1"}, "docker": {"r/old:v1"}},
		}}})
	}
	var got []string
	for _, release := range bundles.WithPreLoadImages().Releases() {
		got = append(got, fmt.Sprint(release.Version, " ", release.PreLoadImages))
	}
	want := []string{
		"v1.31.1 map[docker:[r/kube-proxy:v1.32.1 r/kube-proxy:v1.34.1 r/coredns:v2 r/kube-proxy:v1.34.2] other:[r/own:v1]]",
		"v1.32.1 map[docker:[r/kube-proxy:v1.31.1 r/kube-proxy:v1.34.1 r/coredns:v2 r/kube-proxy:v1.34.2 r/kube-proxy:v1.35.0 r/coredns:v3] other:[r/own:v1]]",
		"v1.34.1 map[docker:[r/kube-proxy:v1.34.2 r/kube-proxy:v1.35.0 r/coredns:v3] other:[r/own:v1]]",
		"v1.34.2 map[docker:[r/kube-proxy:v1.34.1 r/kube-proxy:v1.35.0 r/coredns:v3] other:[r/own:v1]]",
		"v1.35.0 map[docker:[r/kube-proxy:v1.34.1 r/coredns:v2 r/kube-proxy:v1.34.2] other:[r/own:v1]]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
	if got := fmt.Sprint(bundles.Releases()[0].PreLoadImages["docker"]); got != "[r/old:v1]" {
		t.Errorf("the bundles themselves have %s now", got)
	}
	bundles = &versionsbundle.Bundles{Spec: versionsbundle.BundlesSpec{VersionsBundles: []versionsbundle.VersionsBundle{{Releases: []versionsbundle.Release{{Version: version("v1.31.1")}}}}}}
	if diff := cmp.Diff(bundles, bundles.WithPreLoadImages(), equateVersions()); diff != "" {
		t.Errorf("without node images (-want +got):\n%s", diff)
	}
}
