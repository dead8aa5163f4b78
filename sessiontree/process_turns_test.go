package sessiontree_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// childTakesTurns appends one message whenever it is told, in a turn of its own.
func childTakesTurns(c *child) error {
	s, err := sessiontree.Open(c.args[0], &sessiontree.Options{Lock: sessiontree.LockTurn})
	if err != nil {
		return err
	}
	c.say("open")
	for c.in.Scan() {
		_, err := s.Append(context.Background(), entries.UserMessage("theirs"))
		if errors.Is(err, sessiontree.ErrConflict) {
			if err = s.Reload(); err == nil {
				_, err = s.Append(context.Background(), entries.UserMessage("theirs"))
			}
		}
		if err != nil {
			return err
		}
		if err := s.EndTurn(context.Background()); err != nil {
			return err
		}
		c.say(s.Leaf())
	}
	return s.Close()
}

// TestTurnsOfTwoProcesses: with LockTurn another process can write between turns.
// The first one notices, and goes on below what the other wrote.
func TestTurnsOfTwoProcesses(t *testing.T) {
	s := newSession(t, &sessiontree.Options{Lock: sessiontree.LockTurn})
	p := start(t, "turns", s.Path())
	p.expect("open")
	ctx := context.Background()
	for turn := range 4 {
		p.tell()
		theirs := p.hears()
		_, err := s.Append(ctx, entries.UserMessage("mine"))
		if !errors.Is(err, sessiontree.ErrConflict) {
			t.Fatalf("turn %d: got %v, want ErrConflict", turn, err)
		}
		if err := s.Reload(); err != nil {
			t.Fatal(err)
		}
		if string(s.Leaf()) != theirs {
			t.Errorf("turn %d: got leaf %s, want %s", turn, s.Leaf(), theirs)
		}
		appendTo(t, s, entries.UserMessage("mine"))
		if _, err := sessiontree.Open(s.Path(), nil); !errors.Is(err, sessiontree.ErrLocked) {
			t.Errorf("inside a turn: got %v, want ErrLocked", err)
		}
		if err := s.EndTurn(ctx); err != nil {
			t.Fatal(err)
		}
	}
	p.finish()
	x, err := s.Tree()
	if err != nil {
		t.Fatal(err)
	}
	if path := walked(t, x.Path(s.Leaf())); len(path) != 8 {
		t.Errorf("got a path of %d entries, want all 8 one below the other", len(path))
	}
	sound(t, s.Path())
}

// TestFollowAnotherProcess: a follower and readers see whole batches only, in their
// order, while another process appends.
func TestFollowAnotherProcess(t *testing.T) {
	s := newSession(t, nil)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	p := start(t, "write", s.Path(), "0", "7", "20")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var at sessiontree.Cursor
	seen := batchCount{}
	for e, err := range sessiontree.Follow(ctx, s.Path(), &at, &sessiontree.FollowOptions{Poll: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		if done := seen.see(t, e); done == 0 || !seen.whole(done) {
			continue
		} else if checkReader(t, s.Path(), done); done == 20 {
			break
		}
	}
	p.finish()
}

// checkReader demands of a reader that it sees whole batches, and at least so many.
func checkReader(t *testing.T, path string, least int) {
	t.Helper()
	if got := readBatches(t, path); got < least {
		t.Errorf("a reader sees %d batches, want at least %d", got, least)
	}
}

// childLocksForOmp holds the kernel lock that oh-my-pi takes.
func childLocksForOmp(c *child) error {
	if err := holdKernelLock(c.args[0]); err != nil {
		return err
	}
	c.say("held")
	c.wait()
	return nil
}

// TestLocksOfOmp: in a log of oh-my-pi's its own locks are heeded, and go when
// their holder is gone.
func TestLocksOfOmp(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // no oh-my-pi that locks like this
	}
	log, err := os.ReadFile("../testdata/omp/title.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "log.jsonl")
	if err := replace(path, log); err != nil {
		t.Fatal(err)
	}
	s, err := sessiontree.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	claim := filepath.Join(dir, ".log.jsonl.lock")
	locked := func(what string) {
		t.Helper()
		before := s.Leaf()
		if _, err := s.Append(context.Background(), entries.UserMessage("x")); !errors.Is(err, sessiontree.ErrLocked) {
			t.Errorf("%s: got %v, want ErrLocked", what, err)
		}
		if now, _ := os.ReadFile(path); string(now) != string(log) || s.Leaf() != before {
			t.Errorf("%s: something was written", what)
		}
	}
	holder := start(t, "flock", claim+".os")
	holder.expect("held")
	locked("a kernel lock of a live process")
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(claim, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	holder.kill()
	write(fmt.Sprintf("%d:1767603600000\n", os.Getpid()))
	locked("a lock file of a live process")
	write("what is this?")
	locked("a lock file that names nobody")
	write(fmt.Sprintf("%d:1767603600000\n", holder.cmd.Process.Pid))
	appendTo(t, s, entries.UserMessage("a lock file of a dead process"))
	if _, err := os.Stat(claim); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock file stayed: %v", err)
	}
	if got, _ := os.ReadFile(path); !strings.Contains(string(got), "a dead process") {
		t.Error("nothing was written")
	}
}
