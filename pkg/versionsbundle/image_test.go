package versionsbundle_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

func TestImage(t *testing.T) {
	t.Parallel()
	type parsed struct{ Repository, Tag, Err string }
	failed := parsed{Err: "must be an image with repository and tag and without digest, such as registry.k8s.io/pause:3.10"}
	tests := map[string]struct {
		text string
		want parsed
	}{
		"usual":                  {"registry.k8s.io/pause:3.10", parsed{Repository: "registry.k8s.io", Tag: "3.10"}},
		"long path":              {"registry.k8s.io/coredns/coredns:v1.12.1", parsed{Repository: "registry.k8s.io/coredns", Tag: "v1.12.1"}},
		"registry with a port":   {"localhost:5000/etcd:3.6.5-0", parsed{Repository: "localhost:5000", Tag: "3.6.5-0"}},
		"tag with underscore":    {"a.b/kube-proxy:v1.34.2_vendor.1", parsed{Repository: "a.b", Tag: "v1.34.2_vendor.1"}},
		"no tag":                 {"registry.k8s.io/pause", failed},
		"no tag, but a port":     {"localhost:5000/pause", failed},
		"no repository":          {"pause:3.10", failed},
		"digest":                 {"registry.k8s.io/pause@sha256:0123", failed},
		"tag and digest":         {"registry.k8s.io/pause:3.10@sha256:0123", failed},
		"tag that is empty":      {"registry.k8s.io/pause:", failed},
		"name that is empty":     {"registry.k8s.io/:3.10", failed},
		"registry that is empty": {"/pause:3.10", failed},
		"two tags":               {"registry.k8s.io/pause:3.10:3.11", failed},
		"space":                  {"registry.k8s.io/pause:3.10 ", failed},
		"end of line":            {"registry.k8s.io/pause:3.10\n", failed},
		"nothing":                {"", failed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var image versionsbundle.Image
			got := parsed{}
			if err := image.UnmarshalText([]byte(test.text)); err != nil {
				got.Err = err.Error()
			}
			got.Repository, got.Tag = image.Repository(), image.Tag()
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("image %q (-want +got):\n%s", test.text, diff)
			}
		})
	}
}
