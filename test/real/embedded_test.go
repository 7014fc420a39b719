//go:build real

package real_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
)

// embeddedDir is the directory of an embedded management cluster.
func embeddedDir(name string) string { return filepath.Join(suite.home, "embedded", name) }

// losePower kills all processes of an embedded management cluster at the same time, and waits until
// they are gone.
func losePower(t *testing.T, name string) {
	t.Helper()
	instance, err := embedded.Find(suite.home, name)
	if err != nil {
		t.Fatal(err)
	}
	status, err := instance.Status()
	if err != nil {
		t.Fatal(err)
	}
	if group := status.SupervisorPID; group > 1 {
		_ = syscall.Kill(-group, syscall.SIGKILL) // it may be gone
	}
	await(t, "the end of embedded management cluster "+name, func() bool {
		status, err := instance.Status()
		return err == nil && !status.Running
	})
}

// lose is the loss of the disk that an embedded management cluster is on.
func lose(t *testing.T, name string) {
	t.Helper()
	losePower(t, name)
	if err := os.RemoveAll(embeddedDir(name)); err != nil {
		t.Fatal(err)
	}
}
