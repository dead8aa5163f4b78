package sessiontree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/durable"
)

// A racing file system does something just after the writer has looked at its log.
type racing struct {
	durable.FS
	then func()
}

func (r *racing) Stat(name string) (fs.FileInfo, error) {
	info, err := r.FS.Stat(name)
	if then := r.then; then != nil {
		r.then = nil
		then()
	}
	return info, err
}

const foreignLine = `{"type":"message","id":"f0000001","parentId":null,"timestamp":"2026-01-05T09:00:00.000Z","message":{"role":"user","content":"theirs"}}`

func writeRaw(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestWriteAtTheSameMoment: another program writes between the look and the write.
// Both lines are whole; the append is a conflict, and its repetition is none.
func TestWriteAtTheSameMoment(t *testing.T) {
	s, err := Create(t.TempDir(), entries.Header{Cwd: "/p"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	path := s.Path()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	disk := &racing{FS: durable.OS()}
	if s, err = Open(path, &Options{fsys: disk}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	id, err := s.NewID()
	if err != nil {
		t.Fatal(err)
	}
	mine := entries.UserMessage("mine").WithID(id)
	disk.then = func() { writeRaw(t, path, foreignLine+"\n") }
	if _, err := s.Append(context.Background(), mine); !errors.Is(err, ErrConflict) || s.Leaf() != "" {
		t.Fatalf("got %v, leaf %q, want ErrConflict and no leaf", err, s.Leaf())
	}
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	if done, err := s.Append(context.Background(), mine); err != nil || !done.Repeated || done.Leaf != id {
		t.Errorf("repeated: got %+v, %v, want %s, which is there", done, err, id)
	}
	mustAppend(t, s, entries.UserMessage("and on"))
	// Both claim to follow the header, which costs the second a note of its order.
	if x, err := s.Tree(); err != nil {
		t.Error(err)
	} else if n, err := x.Len(); n != 3 || err != nil {
		t.Errorf("got %d entries (%v), want 3", n, err)
	}
	verifySound(t, path)
}

// halfWritten makes a session that another program is just writing to, and a clock
// for it: at the first look at the clock the program writes on.
func halfWritten(t *testing.T, more string, rest func()) (path string, opt *Options) {
	t.Helper()
	s, err := Create(t.TempDir(), entries.Header{Cwd: "/p"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	path = s.Path()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	writeRaw(t, path, foreignLine[:20])
	opt = &Options{Settle: time.Hour}
	opt.now = func() time.Time {
		if more != "" {
			writeRaw(t, path, more)
			more = ""
		} else {
			rest()
		}
		return time.Now()
	}
	return path, opt
}

// TestOpenWaitsForAnotherProgram: a line that is being written while the session is
// opened is waited for, and no conflict for the next append.
func TestOpenWaitsForAnotherProgram(t *testing.T) {
	path, opt := halfWritten(t, foreignLine[20:]+"\n", func() {})
	s, err := Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Leaf() != "f0000001" || s.Repairs() != nil {
		t.Errorf("got leaf %q, repairs %v, want the other program's line", s.Leaf(), s.Repairs())
	}
	mustAppend(t, s, entries.UserMessage("mine"))
	verifySound(t, path)
}

// TestOpenOutlastsAnotherProgram: that program dies before the line is whole.
func TestOpenOutlastsAnotherProgram(t *testing.T) {
	var path string
	var opt *Options
	path, opt = halfWritten(t, foreignLine[20:40], func() {
		past := time.Now().Add(-2 * time.Hour)
		if err := os.Chtimes(path, past, past); err != nil {
			t.Error(err)
		}
	})
	s, err := Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if r := s.Repairs(); len(r) != 1 || r[0].Kind != "torn-tail" || r[0].Length != 40 {
		t.Errorf("got repairs %+v, want 40 bytes cut", r)
	}
	mustAppend(t, s, entries.UserMessage("mine"))
	verifySound(t, path)
}

// TestReloadThatFails leaves the session as it was: still in conflict, and able to
// go on once the file is right again.
func TestReloadThatFails(t *testing.T) {
	s, err := Create(t.TempDir(), entries.Header{Cwd: "/p"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	first := mustAppend(t, s, entries.UserMessage("one"))
	x, err := s.Tree()
	if err != nil {
		t.Fatal(err)
	}
	old := s.Path() + ".old"
	v1 := `{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/x"}` + "\n"
	if err := errors.Join(os.Rename(s.Path(), old), os.WriteFile(s.Path(), []byte(v1), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := s.Reload(); !errors.Is(err, ErrReadOnly) {
		t.Errorf("got %v, want ErrReadOnly", err)
	}
	if _, err := s.Append(context.Background(), entries.UserMessage("two")); !errors.Is(err, ErrConflict) {
		t.Errorf("got %v, want ErrConflict", err)
	}
	if err := os.Rename(old, s.Path()); err != nil {
		t.Fatal(err)
	}
	second := mustAppend(t, s, entries.UserMessage("two"))
	if err := s.Reload(); err != nil || s.Leaf() != second.Leaf {
		t.Errorf("got leaf %s, %v, want %s", s.Leaf(), err, second.Leaf)
	}
	for e, err := range x.Path(first.Leaf) { // a tree from before the reloads
		if raw, bad := e.Raw(); err != nil || bad != nil || len(raw) == 0 {
			t.Errorf("a tree that was read before: %v, %v", err, bad)
		}
	}
	verifySound(t, s.Path())
}
