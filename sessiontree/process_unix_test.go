//go:build unix

package sessiontree_test

import (
	"os"

	"golang.org/x/sys/unix"
)

// holdKernelLock takes a lock that goes with the process.
func holdKernelLock(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	held = f // or the garbage collector closes it
	return unix.Flock(int(f.Fd()), unix.LOCK_EX)
}

var held *os.File
