package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sessctl/sessctl/store"
)

// logFiles gives the names, relative to dir, of the logs that are found, and of the
// directories that could not be read.
func logFiles(t *testing.T, dir string) (logs, unread []string) {
	t.Helper()
	for f, err := range store.LogFiles(dir) {
		name, relErr := filepath.Rel(dir, f.Path)
		switch {
		case relErr != nil:
			t.Fatal(relErr)
		case err != nil:
			unread = append(unread, name)
		default:
			logs = append(logs, filepath.ToSlash(name))
		}
	}
	return logs, unread
}

func TestLogFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"b.jsonl", "b.jsonl.b.jsonl", "b.jsonl.lock", "b.jsonl.zst", "c.jsonl.zst", "c.zst", "a.json", ".d.jsonl.x.tmp",
		"p/a.jsonl", "p/deeper/no.jsonl", "p/b.jsonl.zst", "q.jsonl/e.jsonl", "q.jsonl.zst", ".trash/gone.jsonl", ".hidden/f.jsonl",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{".hidden/f.jsonl", "b.jsonl", "b.jsonl.b.jsonl", "c.jsonl.zst", "p/a.jsonl", "p/b.jsonl.zst", "q.jsonl/e.jsonl", "q.jsonl.zst"}
	if got, unread := logFiles(t, dir); !slices.Equal(got, want) || unread != nil {
		t.Errorf("got %v (unread: %v), want %v", got, unread, want)
	}
	n := 0
	for range store.LogFiles(dir) {
		if n++; n == 5 { // inside the directory p
			break
		}
	}
	if n != 5 {
		t.Errorf("%d files before the loop was left", n)
	}
	if got, unread := logFiles(t, filepath.Join(dir, "missing")); got != nil || unread != nil {
		t.Errorf("a missing directory: %v, %v", got, unread)
	}
	// What cannot be read as a directory is told, and by its path.
	if got, unread := logFiles(t, filepath.Join(dir, "b.jsonl")); got != nil || !slices.Equal(unread, []string{"."}) {
		t.Errorf("a file instead of a directory: %v, %v", got, unread)
	}
}
