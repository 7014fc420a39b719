package view

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBackup: what people read of a backup, and of a restore.
func TestBackup(t *testing.T) {
	t.Parallel()
	b := Backup{Directory: "dir", Clusters: []string{"ns/a", "ns/b"}, Secrets: []string{"ns/a-ca"}, Objects: 7}
	encrypted, again := b, b
	encrypted.Encrypted, again.Restored = true, true
	for name, test := range map[string]struct{ got, want string }{
		"saved":          {b.Saved(), "saved in dir: 2 clusters, in 7 objects:\n  ns/a\n  ns/b\nwith private keys and tokens, not encrypted, in these Secrets:\n  ns/a-ca\n"},
		"encrypted":      {encrypted.Saved(), "saved in dir: 2 clusters, in 7 objects:\n  ns/a\n  ns/b\nwith private keys and tokens, encrypted, in these Secrets:\n  ns/a-ca\n"},
		"restored":       {b.Restoration(), "restored from dir: 2 clusters, in 7 objects:\n  ns/a\n  ns/b\n"},
		"restored again": {again.Restoration(), "the clusters of dir were restored already; nothing to do\n"},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
