//go:build unix

package sessiontree_test

import (
	"testing"

	"golang.org/x/sys/unix"
)

// mkfifo makes a named pipe, which nobody writes to.
func mkfifo(t *testing.T, path string) {
	t.Helper()
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Logf("no pipes here: %v", err)
	}
}
