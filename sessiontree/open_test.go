package sessiontree

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/entries"
)

// TestLinkToALogHasItsLock: however a log is named, there is one lock.
func TestLinkToALogHasItsLock(t *testing.T) {
	dir := t.TempDir()
	s, err := Create(dir, entries.Header{Cwd: "/"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	link := filepath.Join(t.TempDir(), "link.jsonl")
	if err := os.Symlink(s.Path(), link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if _, err := Open(link, nil); !errors.Is(err, ErrLocked) {
		t.Errorf("opened by a link: %v, want ErrLocked", err)
	}
	if _, err := LockLog(link); !errors.Is(err, ErrLocked) {
		t.Errorf("locked by a link: %v, want ErrLocked", err)
	}
}

// TestOpenOfNothingLeavesNothing: no lock file stays where there is no log.
func TestOpenOfNothingLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "none.jsonl"), nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if list, _ := os.ReadDir(dir); len(list) > 0 {
		t.Errorf("%s is left", list[0].Name())
	}
}
