package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/store"
)

func TestDirNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	d := store.Dir(dir)
	for _, name := range []string{"", ".", "..", "../x", "a/b", `a\b`, ".hidden", "a\x00b", "/etc/passwd", "c:x"} {
		if _, err := d.Create(context.Background(), name, []byte("x\n")); !errors.Is(err, store.ErrSessionName) {
			t.Errorf("%q: got %v, want ErrSessionName", name, err)
		}
		if _, err := d.Open(context.Background(), name); !errors.Is(err, store.ErrSessionName) {
			t.Errorf("%q: got %v, want ErrSessionName", name, err)
		}
	}
	log, err := d.Create(context.Background(), "a.b c", []byte("x\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for _, name := range []string{"x.txt", ".hidden.jsonl", "a.b c.jsonl.lock", "y.jsonl/z"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for session, err := range d.List(context.Background()) {
		if session != "a.b c" || err != nil {
			t.Errorf("listed %q, %v", session, err)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "a.b c.jsonl"))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("got %v, %v", info, err)
	}
}
