package config_test

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/config"
)

// TestJoined: manifests come in the order of their names, and nothing else comes.
func TestJoined(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"a/2.yaml": {Data: []byte("two\n")}, "a/1.yaml": {Data: []byte("# why\none\n")}, "a/README.md": {}, "b/3.yaml": {}}
	text, err := config.Joined(files, "a")
	if diff := cmp.Diff("# why\none\n---\ntwo\n", text); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
