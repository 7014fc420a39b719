//go:build !unix

package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
)

// errUnsupported is why no instance runs on this system: its programs build for
// Unix only.
func (i Instance) errUnsupported() error {
	return fmt.Errorf("starting embedded management cluster %q: it does not run on %s: use a management cluster of your own with --management kubeconfig, or clusterctl-x for Linux in WSL: %w",
		i.Name, runtime.GOOS, errors.ErrUnsupported)
}

// Start fails on this system.
func (i Instance) Start(context.Context) error { return i.errUnsupported() }

// Stop returns false: nothing runs on this system.
func (i Instance) Stop(context.Context) (bool, error) { return false, nil }

// No process of an instance lives on this system.
func (i Instance) locked() (bool, error)     { return false, nil }
func (i Instance) supervised() (bool, error) { return false, nil }

func acquire(string) (*os.File, error) { return nil, errors.ErrUnsupported }
