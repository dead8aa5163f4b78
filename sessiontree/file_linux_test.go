package sessiontree_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sessctl/sessctl/sessiontree"
)

// age makes the access time older than the change, so that a system that updates
// it seldom (relatime) would update it now.
func age(t *testing.T, path string) {
	t.Helper()
	old := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := os.Chtimes(path, old, time.Time{}); err != nil {
		t.Fatal(err)
	}
}

// status is what the system tells of a file.
func status(t *testing.T, path string) string {
	t.Helper()
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("inode %d, size %d, mode %o, links %d, accessed %v, modified %v, changed %v", s.Ino, s.Size, s.Mode, s.Nlink, s.Atim, s.Mtim, s.Ctim)
}

// TestNamedPipe: a pipe is read to its end, and then like any log.
func TestNamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	log := randomLog(1)
	wrote := make(chan error, 1)
	go func() { wrote <- os.WriteFile(path, log, 0o600) }()
	x := read(t, path)
	if err := <-wrote; err != nil {
		t.Fatal(err)
	}
	readAll(t, x)
	want := tree(t, log, nil)
	if x.Leaf() != want.Leaf() || x.Size() != int64(len(log)) {
		t.Errorf("got leaf %s of %d bytes, want %s of %d", x.Leaf(), x.Size(), want.Leaf(), len(log))
	}
}

func TestDevicesAreNoLogs(t *testing.T) {
	if _, err := sessiontree.Read(os.DevNull, nil); err == nil || errors.Is(err, sessiontree.ErrNoSession) {
		t.Errorf("got %v, want that it is no file", err)
	}
}
