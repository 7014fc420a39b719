package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/hack/source"
)

// names is the part of constants.go that is the same in all releases from 1.25
// to 1.36.
const names = `
const (
	// Etcd defines variable used internally when referring to etcd component
	Etcd = "etcd"
	// KubeAPIServer defines variable used internally when referring to kube-apiserver component
	KubeAPIServer = "kube-apiserver"
	KubeControllerManager = "kube-controller-manager"
	KubeScheduler = "kube-scheduler"
	KubeProxy = "kube-proxy"
	CoreDNSImageName = "coredns"
)
`

// constantsWith are the constants that names gives, with the others added.
func constantsWith(coreDNS, pause, defaultEtcd string, supportedEtcd map[int]string) kubeadmConstants {
	return kubeadmConstants{
		KubeAPIServer:         "kube-apiserver",
		KubeControllerManager: "kube-controller-manager",
		KubeScheduler:         "kube-scheduler",
		KubeProxy:             "kube-proxy",
		Etcd:                  "etcd",
		CoreDNSImageName:      "coredns",
		CoreDNSVersion:        coreDNS,
		PauseVersion:          pause,
		DefaultEtcdVersion:    defaultEtcd,
		SupportedEtcdVersion:  supportedEtcd,
	}
}

func TestParseConstants(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		src   string
		minor int
		want  kubeadmConstants
	}{
		"1.30 to 1.34 and 1.36: keys are numbers": {
			minor: 34,
			src: `
const (
	MinExternalEtcdVersion = "3.5.24-0"
	DefaultEtcdVersion = "3.6.5-0"
	CoreDNSVersion = "v1.12.1"
	PauseVersion = "3.10.1"
	EtcdListenClientPort = 2379
)

var (
	ControlPlaneComponents = []string{KubeAPIServer, KubeControllerManager, KubeScheduler}

	// SupportedEtcdVersion lists officially supported etcd versions with corresponding Kubernetes releases
	SupportedEtcdVersion = map[uint8]string{
		33: "3.5.24-0",
		34: "3.6.5-0",
	}
)
`,
			want: constantsWith("v1.12.1", "3.10.1", "3.6.5-0", map[int]string{33: "3.5.24-0", 34: "3.6.5-0"}),
		},
		"1.35: keys are relative to kubeadm's own version": {
			minor: 35,
			src: `
const (
	DefaultEtcdVersion = "3.6.6-0"
	CoreDNSVersion = "v1.13.1"
	PauseVersion = "3.10.1"
)

var (
	CurrentKubernetesVersion = getSkewedKubernetesVersion(0)

	SupportedEtcdVersion = map[uint8]string{
		uint8(getSkewedKubernetesVersion(-2).Minor()): "3.5.24-0",
		uint8(getSkewedKubernetesVersion(-1).Minor()): "3.6.6-0",
		uint8(getSkewedKubernetesVersion(0).Minor()):  "3.6.6-0",
	}
)

func getSkewedKubernetesVersion(n int) *version.Version {
	versionInfo := componentversion.Get()
	return getSkewedKubernetesVersionImpl(&versionInfo, n)
}
`,
			want: constantsWith("v1.13.1", "3.10.1", "3.6.6-0", map[int]string{33: "3.5.24-0", 34: "3.6.6-0", 35: "3.6.6-0"}),
		},
		"single declarations, types and references": {
			minor: 36,
			src: `
const DefaultEtcdVersion string = ` + "`3.6.8-0`" + `
const CoreDNSVersion, PauseVersion = "v1.14.2", "3.10.2"

var SupportedEtcdVersion = map[uint8]string{36: DefaultEtcdVersion}
`,
			want: constantsWith("v1.14.2", "3.10.2", "3.6.8-0", map[int]string{36: "3.6.8-0"}),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parseConstants("constants.go", []byte("package constants\n"+names+test.src), test.minor)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("constants differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseConstantsRefusesUnknownForms(t *testing.T) {
	t.Parallel()
	const versions = `
const (
	DefaultEtcdVersion = "3.6.5-0"
	CoreDNSVersion = "v1.12.1"
	PauseVersion = "3.10.1"
)
`
	tests := map[string]struct {
		src  string
		want string
	}{
		"no Go": {
			src:  "const (",
			want: "parse: constants.go:",
		},
		"missing constant": {
			src:  `const DefaultEtcdVersion, PauseVersion = "3.6.5-0", "3.10.1"`,
			want: "constants.go: CoreDNSVersion is not declared",
		},
		"missing map": {
			src:  versions,
			want: "constants.go: SupportedEtcdVersion is not declared as a map",
		},
		"computed string": {
			src:  `const DefaultEtcdVersion, PauseVersion, CoreDNSVersion = "3.6.5-0", "3.10.1", "v" + "1.12.1"`,
			want: "constants.go: CoreDNSVersion: *ast.BinaryExpr is not a form of string that is known here",
		},
		"number instead of string": {
			src:  `const DefaultEtcdVersion, PauseVersion, CoreDNSVersion = "3.6.5-0", 3.10, "v1.12.1"`,
			want: "constants.go: PauseVersion: 3.10 is not a string",
		},
		"key of another function": {
			src:  versions + `var SupportedEtcdVersion = map[uint8]string{uint8(currentVersion().Minor()): "3.6.5-0"}`,
			want: "constants.go: SupportedEtcdVersion: *ast.CallExpr is not a form of number that is known here",
		},
		"value that is not declared": {
			src:  versions + `var SupportedEtcdVersion = map[uint8]string{34: NewestEtcdVersion}`,
			want: "constants.go: SupportedEtcdVersion: NewestEtcdVersion is not declared",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parseConstants("constants.go", []byte("package constants\n"+names+test.src), 34)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got error %v, want %q", err, test.want)
			}
		})
	}
}

func TestEtcdVersion(t *testing.T) {
	t.Parallel()
	listed := map[int]string{31: "3.5.21-0", 33: "3.5.24-0", 34: "3.6.5-0"}
	tests := map[string]struct {
		supported map[int]string
		minor     int
		want      string
	}{
		"listed":            {supported: listed, minor: 33, want: "3.5.24-0"},
		"older than listed": {supported: listed, minor: 30, want: "3.5.21-0"},
		"newer than listed": {supported: listed, minor: 35, want: "3.6.5-0"},
		"gap in the list":   {supported: listed, minor: 32, want: "3.6.6-0"},
		"nothing listed":    {minor: 34, want: "3.6.6-0"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			constants := kubeadmConstants{DefaultEtcdVersion: "3.6.6-0", SupportedEtcdVersion: test.supported}
			if diff := cmp.Diff(test.want, constants.EtcdVersion(test.minor)); diff != "" {
				t.Errorf("etcd version differs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRender goes from published data to the file: order of releases and
// architectures, and entries that are left out where nothing was published.
func TestRender(t *testing.T) {
	t.Parallel()
	input, err := parsePublished([]byte(`
name: test
sources:
  here: this test
endOfSupport:
  "1.33": {date: "2026-06-28", source: here}
releases:
- version: v1.34.10
- version: v1.34.4
  docker:
    image: kindest/node:v1.34.4@sha256:` + strings.Repeat("d", 64) + `
    source: here
  kubeadm:
    arm64: {sha256: ` + strings.Repeat("b", 64) + `, source: here}
    amd64: {sha256: ` + strings.Repeat("a", 64) + `, source: here}
- version: v1.33.6
  kubeadm:
    amd64: {sha256: ` + strings.Repeat("c", 64) + `, source: here}
`))
	if err != nil {
		t.Fatal(err)
	}
	read := func(_ context.Context, version releaseVersion) (kubeadmFacts, error) {
		supported := map[int]string{version.Minor: "3." + version.KubeVersion()}
		return kubeadmFacts{
			ImageRepository: "registry.example",
			Constants:       constantsWith("v1.12.1", "3.10.1", "3.6.5-0", supported),
		}, nil
	}
	built, err := buildBundles(t.Context(), input, read)
	if err != nil {
		t.Fatal(err)
	}
	got, err := render(built)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(
		"AAAA", strings.Repeat("a", 64), "BBBB", strings.Repeat("b", 64),
		"CCCC", strings.Repeat("c", 64), "DDDD", strings.Repeat("d", 64),
	).Replace(`# Generated by hack/bundles; do not edit. ` + "`make bundles` makes it again, `make verify-bundles` compares." + `
apiVersion: clusterctl-x.io/v1alpha1
kind: Bundles
metadata:
  name: "test"
spec:
  versionsBundles:
  - kubeVersion: "1.33"
    endOfSupport: "2026-06-28"
    releases:
    # etcd, CoreDNS, pause: k8s.io/kubernetes@v1.33.6 cmd/kubeadm/app/constants/constants.go
    - version: v1.33.6
      images:
        kubeAPIServer: registry.example/kube-apiserver:v1.33.6
        kubeControllerManager: registry.example/kube-controller-manager:v1.33.6
        kubeScheduler: registry.example/kube-scheduler:v1.33.6
        kubeProxy: registry.example/kube-proxy:v1.33.6
        etcd: registry.example/etcd:3.1.33
        coreDNS: registry.example/coredns/coredns:v1.12.1
        pause: registry.example/pause:3.10.1
      kubeadm:
        amd64:
          url: https://dl.k8s.io/release/v1.33.6/bin/linux/amd64/kubeadm
          sha256: CCCC
        arm64:
          url: https://dl.k8s.io/release/v1.33.6/bin/linux/arm64/kubeadm
  - kubeVersion: "1.34"
    releases:
    # etcd, CoreDNS, pause: k8s.io/kubernetes@v1.34.4 cmd/kubeadm/app/constants/constants.go
    - version: v1.34.4
      images:
        kubeAPIServer: registry.example/kube-apiserver:v1.34.4
        kubeControllerManager: registry.example/kube-controller-manager:v1.34.4
        kubeScheduler: registry.example/kube-scheduler:v1.34.4
        kubeProxy: registry.example/kube-proxy:v1.34.4
        etcd: registry.example/etcd:3.1.34
        coreDNS: registry.example/coredns/coredns:v1.12.1
        pause: registry.example/pause:3.10.1
      nodeImages:
        docker: kindest/node:v1.34.4@sha256:DDDD
      kubeadm:
        amd64:
          url: https://dl.k8s.io/release/v1.34.4/bin/linux/amd64/kubeadm
          sha256: AAAA
        arm64:
          url: https://dl.k8s.io/release/v1.34.4/bin/linux/arm64/kubeadm
          sha256: BBBB
    # etcd, CoreDNS, pause: k8s.io/kubernetes@v1.34.10 cmd/kubeadm/app/constants/constants.go
    - version: v1.34.10
      images:
        kubeAPIServer: registry.example/kube-apiserver:v1.34.10
        kubeControllerManager: registry.example/kube-controller-manager:v1.34.10
        kubeScheduler: registry.example/kube-scheduler:v1.34.10
        kubeProxy: registry.example/kube-proxy:v1.34.10
        etcd: registry.example/etcd:3.1.34
        coreDNS: registry.example/coredns/coredns:v1.12.1
        pause: registry.example/pause:3.10.1
      kubeadm:
        amd64:
          url: https://dl.k8s.io/release/v1.34.10/bin/linux/amd64/kubeadm
        arm64:
          url: https://dl.k8s.io/release/v1.34.10/bin/linux/arm64/kubeadm
`)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("file differs (-want +got):\n%s", diff)
	}
}

func TestParsePublishedRefusesSlips(t *testing.T) {
	t.Parallel()
	digest := strings.Repeat("a", 64)
	tests := map[string]struct {
		releases string
		want     string
	}{
		"image of another release": {
			releases: "- version: v1.34.4\n  docker: {image: 'kindest/node:v1.34.3@sha256:" + digest + "', source: here}\n",
			want:     `release "v1.34.4": image "kindest/node:v1.34.3@sha256:` + digest + `" is not kindest/node:v1.34.4 with a sha256 digest`,
		},
		"short checksum": {
			releases: "- version: v1.34.4\n  kubeadm: {amd64: {sha256: abcd, source: here}}\n",
			want:     `release "v1.34.4": kubeadm for amd64: sha256 "abcd" is not 64 lower-case hexadecimal digits`,
		},
		"unknown source": {
			releases: "- version: v1.34.4\n  kubeadm: {amd64: {sha256: " + digest + ", source: memory}}\n",
			want:     `release "v1.34.4": kubeadm for amd64: source "memory" is not among the sources`,
		},
		"release twice": {
			releases: "- version: v1.34.4\n- version: v1.34.4\n",
			want:     "release v1.34.4 is there twice",
		},
		"end of support of a minor that is not there": {
			releases: "- version: v1.34.4\nendOfSupport: {\"1.33\": {date: \"2026-06-28\", source: here}}\n",
			want:     `end of support of "1.33": no release is of this minor`,
		},
		"end of support that is no day": {
			releases: "- version: v1.34.4\nendOfSupport: {\"1.34\": {date: 2026-10, source: here}}\n",
			want:     `end of support of "1.34": date "2026-10" is not of the form 2026-02-28`,
		},
		"no release version": {
			releases: "- version: v1.34.4-rc.1\n",
			want:     `release "v1.34.4-rc.1": version "v1.34.4-rc.1" is not of the form v1.2.3`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parsePublished([]byte("name: test\nsources: {here: this test}\nreleases:\n" + test.releases))
			if err == nil {
				t.Fatal("got no error")
			}
			if diff := cmp.Diff(test.want, err.Error()); diff != "" {
				t.Errorf("error differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWriteFileAndCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "bundles.yaml")
	if err := source.ReplaceFile(path, []byte("one\ntwo\nthree\n")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("got %d files, want no temporary file to be left: %v", len(entries), entries)
	}

	var same strings.Builder
	if err := check(path, []byte("one\ntwo\nthree\n"), &same); err != nil || same.String() != "" {
		t.Errorf("got error %v and output %q for a file that is up to date", err, same.String())
	}

	var different strings.Builder
	if err := check(path, []byte("one\n2\nthree"), &different); err == nil {
		t.Error("got no error for a file that is not up to date")
	}
	want := "--- " + path + "\n+++ generated\n" +
		"-    2: two\n-    3: three\n+    2: 2\n+    3: three (no line break at the end)\n"
	if diff := cmp.Diff(want, different.String()); diff != "" {
		t.Errorf("output differs (-want +got):\n%s", diff)
	}
}
