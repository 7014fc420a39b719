//go:build unix

package embedded

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Lock takes the instance for the supervisor. The returned file goes to every
// child process as an inherited descriptor: so the lock is held exactly as
// long as any process of the instance lives, however the supervisor ended.
// It is ErrRunning while another supervisor, or what one left behind, lives.
func (i Instance) Lock() (*os.File, error) { return i.lock(i.lockFile()) }

// LockSupervisor is held by the supervisor alone, which takes it before Lock:
// no child inherits it, so that it reports whether the supervisor itself lives.
// Its process number would not: that of a dead process which nobody waited for
// is still there.
func (i Instance) LockSupervisor() (*os.File, error) { return i.lock(i.supervisorLockFile()) }

func (i Instance) lock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking embedded management cluster %q: %w", i.Name, err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		closeErr := file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errors.Join(ErrRunning, closeErr)
		}
		return nil, fmt.Errorf("locking embedded management cluster %q: %w", i.Name, errors.Join(err, closeErr))
	}
	return file, nil
}

// locked reports whether any process of the instance lives.
func (i Instance) locked() (bool, error) { return held(i.lockFile()) }

// supervised reports whether the supervisor of the instance lives.
func (i Instance) supervised() (bool, error) { return held(i.supervisorLockFile()) }

// held reports whether a process has the lock on path.
func held(path string) (bool, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	held := errors.Is(err, syscall.EWOULDBLOCK)
	if held {
		err = nil
	}
	return held, errors.Join(err, file.Close())
}

// acquire waits for an exclusive lock on path, which ends with the file.
func acquire(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
