package changes_test

import (
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// TestContentHash: the names of templates of clusters that run end in it, so that
// another hash would replace all their machines.
func TestContentHash(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{"": "e3b0c44298", `{"template":{}}`: "87f0463c44"} {
		if got := changes.ContentHash([]byte(content)); got != want {
			t.Errorf("%q: %s, want %s", content, got, want)
		}
	}
}
