package sessiontree_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// How many programs are stale, one after the other, and how many lines each writes.
const (
	staleWriters = 8
	staleLines   = 1200
)

// childIsStale appends lines as pi does, as fast as it can, knowing of no lock and
// of no leaf but its own. Its arguments are the log and its number.
func childIsStale(c *child) error {
	f, err := os.OpenFile(c.args[0], os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	parent := "null"
	for n := range staleLines {
		id := staleID(c.args[1], n)
		line := fmt.Sprintf(`{"type":"message","id":"%s","parentId":%s,"timestamp":"2026-01-05T09:00:00.000Z","message":{"role":"user","content":"%s"}}`+"\n",
			id, parent, strings.Repeat("x", n%5000))
		if _, err := f.WriteString(line); err != nil {
			return err
		}
		parent = `"` + id + `"`
		if n == 0 {
			c.say("writing")
		}
	}
	c.say("done")
	return nil
}

func staleID(writer string, n int) string { return fmt.Sprintf("f%s%06d", writer, n) }

// TestStaleWriterAtFullSpeed: another program writes to the log all the time. No
// line is cut by another, nothing that was acknowledged is lost or there twice.
func TestStaleWriterAtFullSpeed(t *testing.T) {
	s := newSession(t, &sessiontree.Options{Sync: sessiontree.SyncNever})
	var ids []string
	conflicts := 0
	for writer := range staleWriters {
		number := fmt.Sprint(writer)
		p := start(t, "stale", s.Path(), number)
		p.expect("writing")
		done := make(chan bool)
		go func() { p.hears(); close(done) }()
		for running := true; running; {
			select {
			case <-done:
				running = false // and once more
			default:
			}
			id, err := s.NewID()
			if err != nil {
				t.Fatal(err)
			}
			conflicts += appendAnyway(t, s, entries.UserMessage("mine").WithID(id))
			ids = append(ids, string(id))
		}
		p.finish()
		for n := range staleLines {
			ids = append(ids, staleID(number, n))
		}
	}
	if conflicts == 0 {
		t.Error("there was no conflict: nothing was proved")
	}
	t.Logf("%d conflicts, %d lines", conflicts, len(ids))
	checkBoth(t, s.Path(), ids)
}

// appendAnyway appends until it works, and counts the conflicts.
func appendAnyway(t *testing.T, s *sessiontree.Session, d entries.Draft) (conflicts int) {
	t.Helper()
	for {
		_, err := s.Append(context.Background(), d)
		if err == nil {
			return conflicts
		}
		if !errors.Is(err, sessiontree.ErrConflict) {
			t.Fatal(err)
		}
		conflicts++
		if err := s.Reload(); err != nil {
			t.Fatal(err)
		}
	}
}

// checkBoth demands that the log has all lines of both programs, each once.
func checkBoth(t *testing.T, path string, ids []string) {
	t.Helper()
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for n, line := range strings.Split(strings.TrimSpace(string(log)), "\n") {
		var f struct{ ID string }
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("line %d is not whole: %v\n%.200s", n+1, err, line)
		}
		seen[f.ID]++
	}
	for _, id := range ids {
		if seen[id] != 1 {
			t.Errorf("%s is there %d times, want once", id, seen[id])
		}
	}
	if got := sound(t, path); len(got) != len(ids) {
		t.Errorf("got %d entries, want %d", len(got), len(ids))
	}
}

// beneath are things that happen to the file of an open session.
var beneath = map[string]func(path string, log []byte) error{
	"replaced by a copy": func(path string, log []byte) error { return replace(path, log) },
	"cut":                func(path string, log []byte) error { return os.Truncate(path, int64(lastLine(log))) },
	"longer":             func(path string, log []byte) error { return os.WriteFile(path, append(log, ' ', '\n'), 0o600) },
	"rewritten by a program that knows less": func(path string, log []byte) error {
		return replace(path, log[:lastLine(log)])
	},
}

func lastLine(log []byte) int { return strings.LastIndexByte(string(log[:len(log)-1]), '\n') + 1 }

// TestFileChangesBeneath: whatever happens to the file, an append is a conflict that
// changes nothing, also one of an id that the session does not know; Reload goes on
// with what is there, and what is not there any more can be appended again.
func TestFileChangesBeneath(t *testing.T) {
	for what, change := range beneath {
		s := newSession(t, &sessiontree.Options{Settle: 1})
		appendTo(t, s, entries.UserMessage("one"))
		id, err := s.NewID()
		if err != nil {
			t.Fatal(err)
		}
		last := entries.UserMessage("two").WithID(id)
		appendTo(t, s, last)
		log, err := os.ReadFile(s.Path())
		if err != nil {
			t.Fatal(err)
		}
		if err := change(s.Path(), log); err != nil {
			t.Fatal(err)
		}
		changed, _ := os.ReadFile(s.Path())
		for _, d := range []entries.Draft{entries.UserMessage("three"), entries.UserMessage("four").WithID("unknown")} {
			if _, err := s.Append(context.Background(), d); !errors.Is(err, sessiontree.ErrConflict) {
				t.Errorf("%s: got %v, want ErrConflict", what, err)
			}
		}
		if got, _ := os.ReadFile(s.Path()); string(got) != string(changed) {
			t.Errorf("%s: the other program's file was changed", what)
		}
		if err := s.Reload(); err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		appendTo(t, s, last)
		appendTo(t, s, entries.UserMessage("five"))
		if got := sound(t, s.Path()); len(got) != 3 {
			t.Errorf("%s: got entries %v, want three", what, got)
		}
	}
}

// TestFileIsRemovedBeneath: there is nothing to go on with, and no file is made.
func TestFileIsRemovedBeneath(t *testing.T) {
	s := newSession(t, nil)
	appendTo(t, s, entries.UserMessage("one"))
	if err := os.Remove(s.Path()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(context.Background(), entries.UserMessage("two")); !errors.Is(err, sessiontree.ErrConflict) {
		t.Errorf("got %v, want ErrConflict", err)
	}
	if err := s.Reload(); !errors.Is(err, sessiontree.ErrNotFound) {
		t.Errorf("Reload: got %v, want ErrNotFound", err)
	}
	if _, err := os.Stat(s.Path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was made: %v", err)
	}
}
