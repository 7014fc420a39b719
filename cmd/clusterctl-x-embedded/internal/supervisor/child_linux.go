package supervisor

import "syscall"

// endsWithParent makes the kernel end a child when the supervisor is killed.
func endsWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
