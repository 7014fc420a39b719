package versionsbundle_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// manifest is a release manifest of two minors, not in order. Tests replace
// parts of it.
const manifest = `apiVersion: clusterctl-x.io/v1alpha1
kind: Bundles
metadata:
  name: test
spec:
  versionsBundles:
  - kubeVersion: "1.34"
    releases:
    - version: v1.34.10
      images: &images
        kubeAPIServer: registry.k8s.io/kube-apiserver:v1.34.10
        kubeControllerManager: registry.k8s.io/kube-controller-manager:v1.34.10
        kubeScheduler: registry.k8s.io/kube-scheduler:v1.34.10
        kubeProxy: registry.k8s.io/kube-proxy:v1.34.10
        etcd: registry.k8s.io/etcd:3.6.5-0
        coreDNS: registry.k8s.io/coredns/coredns:v1.12.1
        pause: registry.k8s.io/pause:3.10.1
    - version: v1.34.9
      images: *images
  - kubeVersion: "1.33"
    releases:
    - version: v1.33.5
      images: *images
      nodeImages:
        docker: kindest/node:v1.33.5@sha256:0123
      kubeadm:
        amd64:
          url: https://dl.k8s.io/release/v1.33.5/bin/linux/amd64/kubeadm
          sha256: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
`

// with replaces the one place in manifest where old stands.
func with(old, replacement string) string {
	if strings.Count(manifest, old) != 1 {
		panic("not once in the manifest: " + old)
	}
	return strings.Replace(manifest, old, replacement, 1)
}

func equateVersions() cmp.Option {
	return cmpopts.EquateComparable(v1alpha1.Version{}, v1alpha1.Minor{})
}

func version(text string) v1alpha1.Version { return v1alpha1.MustParseVersion(text) }

func parse(t *testing.T, text string) *versionsbundle.Bundles {
	t.Helper()
	bundles, err := versionsbundle.Parse("bundles.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return bundles
}

func TestParse(t *testing.T) {
	t.Parallel()
	images := versionsbundle.Images{
		KubeAPIServer:         "registry.k8s.io/kube-apiserver:v1.34.10",
		KubeControllerManager: "registry.k8s.io/kube-controller-manager:v1.34.10",
		KubeScheduler:         "registry.k8s.io/kube-scheduler:v1.34.10",
		KubeProxy:             "registry.k8s.io/kube-proxy:v1.34.10",
		Etcd:                  "registry.k8s.io/etcd:3.6.5-0",
		CoreDNS:               "registry.k8s.io/coredns/coredns:v1.12.1",
		Pause:                 "registry.k8s.io/pause:3.10.1",
	}
	want := &versionsbundle.Bundles{
		APIVersion: v1alpha1.APIVersion,
		Kind:       versionsbundle.Kind,
		Metadata:   versionsbundle.Meta{Name: "test"},
		Spec: versionsbundle.BundlesSpec{VersionsBundles: []versionsbundle.VersionsBundle{
			{
				KubeVersion: v1alpha1.Minor{Major: 1, Minor: 34},
				Releases:    []versionsbundle.Release{{Version: version("v1.34.10"), Images: images}, {Version: version("v1.34.9"), Images: images}},
			},
			{
				KubeVersion: v1alpha1.Minor{Major: 1, Minor: 33},
				Releases: []versionsbundle.Release{{
					Version:    version("v1.33.5"),
					Images:     images,
					NodeImages: map[string]string{"docker": "kindest/node:v1.33.5@sha256:0123"},
					Kubeadm: map[string]versionsbundle.Download{"amd64": {
						URL:    "https://dl.k8s.io/release/v1.33.5/bin/linux/amd64/kubeadm",
						SHA256: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
					}},
				}},
			},
		}},
	}
	if diff := cmp.Diff(want, parse(t, manifest), equateVersions()); diff != "" {
		t.Errorf("parsed (-want +got):\n%s", diff)
	}
}

func TestParseReportsAllProblems(t *testing.T) {
	t.Parallel()
	const image = "an image with repository and tag and without digest, such as registry.k8s.io/pause:3.10"
	const checksum = "must be the SHA-256 checksum of the file: 64 hexadecimal digits in lower case; without it machines read it from the publisher"
	const address = "must be an address that begins with https:// or http://, or file:/// and the path of a file in the node image"
	tests := map[string]struct {
		text string
		want []string
	}{
		"no versions bundles": {"apiVersion: clusterctl-x.io/v1alpha1\nkind: Bundles\nspec: {versionsBundles: []}\n", []string{
			"bundles.yaml:3: spec.versionsBundles: Required value: a release manifest has one for each minor of Kubernetes",
		}},
		"another kind": {with("kind: Bundles", "kind: Cluster"), []string{
			`bundles.yaml:2: kind: Unsupported value: "Cluster": supported values: "Bundles"`,
		}},
		"manifest of EKS Anywhere": {with("clusterctl-x.io/v1alpha1", "anywhere.eks.amazonaws.com/v1alpha1"), []string{
			`bundles.yaml:1: apiVersion: Unsupported value: "anywhere.eks.amazonaws.com/v1alpha1": supported values: "clusterctl-x.io/v1alpha1"`,
		}},
		"misspelt field": {with("kubeVersion: \"1.33\"", "kubeVerison: \"1.33\""), []string{
			"bundles.yaml:20: spec.versionsBundles[1].kubeVerison: Forbidden: unknown field; did you mean kubeVersion?",
		}},
		"exact version as a minor": {with("kubeVersion: \"1.33\"", "kubeVersion: \"1.33.5\""), []string{
			`bundles.yaml:20: spec.versionsBundles[1].kubeVersion: Invalid value: "1.33.5": "1.33.5" is not a minor version of Kubernetes such as 1.34`,
		}},
		"minor missing": {with("- kubeVersion: \"1.33\"\n    releases", "- releases"), []string{
			"bundles.yaml:20: spec.versionsBundles[1].kubeVersion: Required value: a minor such as \"1.34\"",
		}},
		"minor twice": {with("kubeVersion: \"1.33\"", "kubeVersion: \"1.34\""), []string{
			`bundles.yaml:20: spec.versionsBundles[1].kubeVersion: Duplicate value: "1.34": is at spec.versionsBundles[0].kubeVersion already; remove one of them`,
			`bundles.yaml:22: spec.versionsBundles[1].releases[0].version: Invalid value: "v1.33.5": is not a patch of 1.34; move it to the versions bundle of 1.33`,
		}},
		"no releases": {manifest + "  - kubeVersion: \"1.35\"\n", []string{
			"bundles.yaml:30: spec.versionsBundles[2].releases: Required value: a versions bundle has one or more",
		}},
		"version missing": {with("version: v1.34.9\n      images", "images"), []string{
			"bundles.yaml:18: spec.versionsBundles[0].releases[1].version: Required value: an exact version such as v1.34.2",
		}},
		"version twice": {with("v1.34.9", "v1.34.10"), []string{
			`bundles.yaml:18: spec.versionsBundles[0].releases[1].version: Duplicate value: "v1.34.10": is at spec.versionsBundles[0].releases[0].version already; remove one of them`,
		}},
		"images missing": {with("version: v1.34.9\n      images: *images", "version: v1.34.9\n      images: {etcd: registry.k8s.io/etcd:3.6.5-0}"), []string{
			"bundles.yaml:19: spec.versionsBundles[0].releases[1].images.coreDNS: Required value: " + image,
			"bundles.yaml:19: spec.versionsBundles[0].releases[1].images.kubeAPIServer: Required value: " + image,
			"bundles.yaml:19: spec.versionsBundles[0].releases[1].images.kubeControllerManager: Required value: " + image,
			"bundles.yaml:19: spec.versionsBundles[0].releases[1].images.kubeProxy: Required value: " + image,
			"bundles.yaml:19: spec.versionsBundles[0].releases[1].images.kubeScheduler: Required value: " + image,
			"bundles.yaml:19: spec.versionsBundles[0].releases[1].images.pause: Required value: " + image,
		}},
		"node image missing": {with("docker: kindest/node:v1.33.5@sha256:0123", "docker:"), []string{
			"bundles.yaml:25: spec.versionsBundles[1].releases[0].nodeImages[docker]: Required value: the image of the provider's machines; if there is none, leave the provider out",
		}},
		"download empty": {with("        amd64:\n", "        arm64: {}\n        amd64:\n"), []string{
			`bundles.yaml:27: spec.versionsBundles[1].releases[0].kubeadm[arm64].url: Invalid value: "": ` + address,
		}},
		"file of the node image": {with("https://dl.k8s.io", "file:///dl.k8s.io"), nil},
		"file of another machine": {with("https://dl.k8s.io", "file://dl.k8s.io"), []string{
			`bundles.yaml:28: spec.versionsBundles[1].releases[0].kubeadm[amd64].url: Invalid value: "file://dl.k8s.io/release/v1.33.5/bin/linux/amd64/kubeadm": ` + address,
		}},
		"checksum of the publisher": {with("          sha256: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n", ""), nil},
		"images to load":            {with("      nodeImages:\n", "      loadBalancerImages: {docker: registry.example.org/kindest/haproxy:v1}\n      preLoadImages: {docker: [registry.k8s.io/kube-proxy:v1.34.10]}\n      nodeImages:\n"), nil},
		"load balancer of another name": {with("      nodeImages:\n", "      loadBalancerImages: {docker: registry.example.org/nginx:v1}\n      nodeImages:\n"), []string{
			`bundles.yaml:24: spec.versionsBundles[1].releases[0].loadBalancerImages[docker]: Invalid value: "registry.example.org/nginx:v1": must be called haproxy, such as registry.example.org/kindest/haproxy:v20230606-42a2262b: Cluster API takes repository and tag and adds this name; give the image such a name too`,
		}},
		"image to load missing": {with("      nodeImages:\n", "      preLoadImages: {docker: [null]}\n      nodeImages:\n"), []string{
			"bundles.yaml:24: spec.versionsBundles[1].releases[0].preLoadImages[docker][0]: Required value: an item of a list must have a value; write one or remove the item",
		}},
		"address of another scheme": {with("https://dl.k8s.io", "ftp://dl.k8s.io"), []string{
			`bundles.yaml:28: spec.versionsBundles[1].releases[0].kubeadm[amd64].url: Invalid value: "ftp://dl.k8s.io/release/v1.33.5/bin/linux/amd64/kubeadm": ` + address,
		}},
		"address with a space": {with("linux/amd64/kubeadm", "linux/amd64/ kubeadm"), []string{
			`bundles.yaml:28: spec.versionsBundles[1].releases[0].kubeadm[amd64].url: Invalid value: "https://dl.k8s.io/release/v1.33.5/bin/linux/amd64/ kubeadm": ` + address,
		}},
		"address without a host": {with("https://dl.k8s.io", "https://"), []string{
			`bundles.yaml:28: spec.versionsBundles[1].releases[0].kubeadm[amd64].url: Invalid value: "https:///release/v1.33.5/bin/linux/amd64/kubeadm": ` + address,
		}},
		"address that cannot be read": {with("https://dl.k8s.io", "https://%zz"), []string{
			`bundles.yaml:28: spec.versionsBundles[1].releases[0].kubeadm[amd64].url: Invalid value: "https://%zz/release/v1.33.5/bin/linux/amd64/kubeadm": ` + address,
		}},
		"short checksum": {with("sha256: 0123456789abcdef", "sha256: abc"), []string{
			`bundles.yaml:29: spec.versionsBundles[1].releases[0].kubeadm[amd64].sha256: Invalid value: "abc0123456789abcdef0123456789abcdef0123456789abcdef": ` + checksum,
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			if _, err := versionsbundle.Parse("bundles.yaml", []byte(test.text)); err != nil {
				got = strings.Split(err.Error(), "\n")
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBundlesAreOrdered(t *testing.T) {
	t.Parallel()
	bundles := parse(t, manifest)
	want := []v1alpha1.Version{version("v1.33.5"), version("v1.34.9"), version("v1.34.10")}
	if diff := cmp.Diff(want, bundles.Versions(), equateVersions()); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
	minors := bundles.Spec.VersionsBundles
	releases := []versionsbundle.Release{minors[1].Releases[0], minors[0].Releases[1], minors[0].Releases[0]}
	if diff := cmp.Diff(releases, bundles.Releases(), equateVersions()); diff != "" {
		t.Errorf("releases (-want +got):\n%s", diff)
	}
}

func TestRelease(t *testing.T) {
	t.Parallel()
	bundles := parse(t, manifest)
	type found struct {
		Release versionsbundle.Release
		Is      bool
	}
	tests := map[string]struct {
		version v1alpha1.Version
		want    found
	}{
		"is there":             {version("v1.33.5"), found{bundles.Spec.VersionsBundles[1].Releases[0], true}},
		"other patch":          {version("v1.33.6"), found{}},
		"same patch, as build": {version("v1.33.5+build"), found{}},
		"no version":           {v1alpha1.Version{}, found{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got found
			got.Release, got.Is = bundles.Release(test.version)
			if diff := cmp.Diff(test.want, got, equateVersions()); diff != "" {
				t.Errorf("release (-want +got):\n%s", diff)
			}
		})
	}
}

// TestBundlesOfClusterctlX reads the manifest that is embedded in the program.
func TestBundlesOfClusterctlX(t *testing.T) {
	t.Parallel()
	bundles := parse(t, string(config.Bundles))
	var minors []string
	for _, bundle := range bundles.Spec.VersionsBundles {
		minors = append(minors, strings.TrimSpace(bundle.KubeVersion.String()+" "+bundle.EndOfSupport))
	}
	want := []string{
		"1.25 2023-10-28", "1.26 2024-02-28", "1.27 2024-07-16", "1.28 2024-10-22", "1.29 2025-02-28", "1.30 2025-07-15",
		"1.31 2025-11-11", "1.32 2026-02-28", "1.33 2026-06-28", "1.34 2026-10-27", "1.35", "1.36",
	}
	if diff := cmp.Diff(want, minors); diff != "" {
		t.Errorf("minors with the end of their support (-want +got):\n%s", diff)
	}
	for _, release := range bundles.Releases() {
		images := release.Images
		var tags []string
		for _, image := range []versionsbundle.Image{images.KubeAPIServer, images.KubeControllerManager, images.KubeScheduler, images.KubeProxy} {
			tags = append(tags, image.Tag())
		}
		if diff := cmp.Diff(slices.Repeat([]string{release.Version.String()}, 4), tags); diff != "" {
			t.Errorf("%s: tags of Kubernetes' own images (-want +got):\n%s", release.Version, diff)
		}
	}
}

// TestBundlesOfClusterctlXOnDocker: of each minor there is a patch that machines
// of docker can be made of, and of each but the newest one whose kubeadm machines
// of older minors can download.
func TestBundlesOfClusterctlXOnDocker(t *testing.T) {
	t.Parallel()
	bundles := parse(t, string(config.Bundles))
	needs := versionsbundle.Needs{NodeImage: "docker", Kubeadm: true}
	var got []string
	for _, bundle := range bundles.Spec.VersionsBundles {
		desired, set, errs := versionsbundle.Resolve(clusterOf(t, bundle.KubeVersion.String()), bundles, v1alpha1.ClusterVersions{}, needs)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		release := set[desired.ControlPlane]
		line := release.Version.String()
		if needs.LacksNodeImage(release) {
			line += " without node image"
		}
		if needs.Unverified(release) {
			line += " without the checksum of kubeadm"
		}
		got = append(got, line)
	}
	want := []string{
		"v1.25.16", "v1.26.15", "v1.27.16", "v1.28.15", "v1.29.8", "v1.30.8", "v1.31.4", "v1.32.2", "v1.33.7", "v1.34.3", "v1.35.0",
		"v1.36.1 without the checksum of kubeadm",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
