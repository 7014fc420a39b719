package embedded

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The tests of this file are not parallel: a process that another test starts
// has, for the moment before its program runs, all descriptors of this one,
// and with them its locks.

func lock(t *testing.T, instance Instance) *os.File {
	t.Helper()
	file, err := instance.Lock()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func lockSupervisor(t *testing.T, instance Instance) *os.File {
	t.Helper()
	file, err := instance.LockSupervisor()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func closeFile(t *testing.T, file *os.File) {
	t.Helper()
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

func assertLocked(t *testing.T, instance Instance, when string) {
	t.Helper()
	if locked, err := instance.locked(); err != nil || !locked {
		t.Errorf("%s: locked is %v, %v; want true", when, locked, err)
	}
}

func assertFree(t *testing.T, instance Instance, when string) {
	t.Helper()
	if locked, err := instance.locked(); err != nil || locked {
		t.Errorf("%s: locked is %v, %v; want false", when, locked, err)
	}
}

func TestLock(t *testing.T) {
	instance := Instance{Name: "a", Dir: t.TempDir()}
	assertFree(t, instance, "never locked")

	first := lock(t, instance)
	assertLocked(t, instance, "held")
	if second, err := instance.Lock(); second != nil || !errors.Is(err, ErrRunning) {
		t.Errorf("a second lock: %v, %v", second, err)
	}
	assertLocked(t, instance, "held, after another was refused")

	closeFile(t, first)
	assertFree(t, instance, "released")
	closeFile(t, lock(t, instance))
	want := map[string]file{"lock": {Mode: 0o600}}
	if diff := cmp.Diff(want, readDir(t, instance.Dir)); diff != "" {
		t.Errorf("directory (-want +got):\n%s", diff)
	}
}

// TestLookersDoNotDisturb has two processes look at once.
func TestLookersDoNotDisturb(t *testing.T) {
	instance := Instance{Name: "a", Dir: t.TempDir()}
	closeFile(t, lock(t, instance))
	other, err := os.Open(instance.lockFile())
	if err != nil {
		t.Fatal(err)
	}
	defer closeFile(t, other)
	if err := syscall.Flock(int(other.Fd()), syscall.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	assertFree(t, instance, "while another process looks")
}

// TestLockOfChild keeps the lock in a child that inherited it.
func TestLockOfChild(t *testing.T) {
	instance := Instance{Name: "a", Dir: t.TempDir()}
	file := lock(t, instance)
	child := exec.CommandContext(t.Context(), self())
	child.Env = append(os.Environ(), roleVariable+"="+roleInherit)
	child.ExtraFiles = []*os.File{file}
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	closeFile(t, file)
	assertLocked(t, instance, "held by the child alone")
	if second, err := instance.Lock(); second != nil || !errors.Is(err, ErrRunning) {
		t.Errorf("a lock beside the child's: %v, %v", second, err)
	}
	if err := errors.Join(stdin.Close(), child.Wait()); err != nil {
		t.Fatal(err)
	}
	assertFree(t, instance, "after the child's end")
}

func TestLockWithoutDirectory(t *testing.T) {
	instance := Instance{Name: "a", Dir: t.TempDir() + "/none"}
	assertFree(t, instance, "no directory")
	_, err := instance.Lock()
	if !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("error %v, want %v", err, fs.ErrNotExist)
	}
	want := `locking embedded management cluster "a": open ` + instance.Dir + "/lock: no such file or directory"
	if diff := cmp.Diff(want, text(err)); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}
