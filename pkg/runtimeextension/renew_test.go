package runtimeextension_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/runtimeextension"
)

// TestRenewal: a server that runs for two years has a good certificate all the time, and
// each new authority is told, again where that failed.
func TestRenewal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		write := func(path string, data []byte) error { return os.WriteFile(path, data, 0o600) }
		dir, host := t.TempDir(), "127.0.0.1"
		authority, err := runtimeextension.OwnCertificate(dir, host, time.Now(), write)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var told, failures int
		known := string(authority)
		go runtimeextension.Renewal{
			Dir: dir, Host: host, Authority: authority, Write: write,
			Renewed: func(_ context.Context, authority []byte) error {
				told++
				if told == 1 {
					return errors.New("no answer")
				}
				if string(authority) == known {
					t.Error("the authority is the one before")
				}
				known = string(authority)
				return nil
			},
			Failed: func(error) { failures++ },
		}.Run(ctx)
		for range 2 * 52 {
			time.Sleep(7 * 24 * time.Hour) // passes at once in a bubble of synctest
			if _, err := runtimeextension.Certificate(dir, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
		synctest.Wait()
		if diff := cmp.Diff([]int{3, 1}, []int{told, failures}); diff != "" {
			t.Errorf("how often an authority was told, and in vain (-want +got):\n%s", diff)
		}
		if authority, err := os.ReadFile(dir + "/" + runtimeextension.AuthorityFile); err != nil || string(authority) != known {
			t.Errorf("the authority told last is not that of the directory (%v)", err)
		}
	})
}
