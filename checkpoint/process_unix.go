//go:build unix

package checkpoint

import (
	"errors"
	"syscall"
)

// errNotDir is what a path below a file gives.
const errNotDir = syscall.ENOTDIR

// alive tells whether a process runs; where that cannot be told it does.
func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
