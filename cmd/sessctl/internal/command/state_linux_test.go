package command

import (
	"fmt"
	"syscall"
	"testing"
)

// systemState is what the system tells of a file, but for its access time, which
// this test changes itself; package sessiontree's tests look at that.
func systemState(t *testing.T, path string) string {
	t.Helper()
	var s syscall.Stat_t
	if err := syscall.Stat(path, &s); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("inode %d, size %d, mode %o, modified %v, changed %v; ", s.Ino, s.Size, s.Mode, s.Mtim, s.Ctim)
}
