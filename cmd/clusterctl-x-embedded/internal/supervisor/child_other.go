//go:build unix && !linux

package supervisor

import "syscall"

// endsWithParent has no effect here: what a killed supervisor leaves behind
// keeps the lock, and the next start or stop ends it.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
