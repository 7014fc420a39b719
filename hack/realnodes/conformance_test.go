package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestConformanceImages builds every version that is asked for of what can be built, and nothing
// of the same name in another registry.
func TestConformanceImages(t *testing.T) {
	t.Parallel()
	const registry = "registry.k8s.io/e2e-test-images/"
	asked := []string{
		registry + "agnhost:2.55", registry + "agnhost:2.63.0", "gcr.io/k8s-authenticated-test/agnhost:2.6",
		registry + "busybox:1", registry + "glibc-dns-testing:1", registry + "kitten:1", registry + "nginx:1", registry + "nginx:2",
		registry + "nonewprivs:1", "registry.k8s.io/pause:1",
	}
	images, err := conformanceImages("dir", asked)
	if err != nil {
		t.Fatal(err)
	}
	layers := map[string][]string{}
	for _, image := range images {
		for _, name := range image.names {
			layers[name] = append(layers[name], image.layers...)
		}
	}
	want := map[string][]string{
		registry + "agnhost:2.55":        {"dir/debian", "dir/agnhost"},
		registry + "agnhost:2.63.0":      {"dir/debian", "dir/agnhost"},
		registry + "busybox:1":           {"dir/busybox"},
		registry + "glibc-dns-testing:1": {"dir/debian"},
		registry + "nginx:1":             {"dir/debian"},
		registry + "nginx:2":             {"dir/debian"},
		registry + "nonewprivs:1":        {"dir/busybox", "dir/nonewprivs"},
		"registry.k8s.io/pause:1":        {"dir/pause"},
	}
	if diff := cmp.Diff(want, layers); diff != "" {
		t.Errorf("layers (-want +got):\n%s", diff)
	}
	if images, err := conformanceImages("dir", asked[1:9]); err == nil {
		t.Errorf("without an image of pause: %v", images)
	}
}
