package lock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func acquire(t *testing.T, path string) (*Lock, Info) {
	t.Helper()
	l, before, err := Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	return l, before
}

func release(t *testing.T, l *Lock) {
	t.Helper()
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
}

// TestLockIsHandedOn: the next holder is told what the last one left.
func TestLockIsHandedOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.lock")
	first, before := acquire(t, path)
	if before != (Info{}) {
		t.Errorf("got %+v from nobody", before)
	}
	if err := first.Update(1234, true); err != nil {
		t.Fatal(err)
	}
	release(t, first)
	second, before := acquire(t, path)
	if before.PID != os.Getpid() || before.Synced != 1234 || !before.Clean || time.Since(before.Since) > time.Hour {
		t.Errorf("got %+v, want this process, 1234, clean", before)
	}
	release(t, second) // without a word, as where it is killed
	third, before := acquire(t, path)
	defer release(t, third)
	if before.Clean || before.Synced != 1234 {
		t.Errorf("got %+v, want 1234, not clean", before)
	}
}

// TestLockIsHeld until Release, also against this process, and then by nobody.
func TestLockIsHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.lock")
	l, _ := acquire(t, path)
	for range 2 { // a failure to take it changes nothing
		_, _, err := Acquire(path)
		held, ok := errors.AsType[*HeldError](err)
		if !ok || held.Holder.PID != os.Getpid() || held.Path != path {
			t.Fatalf("got %v, want this process as the holder", err)
		}
		if !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
			t.Errorf("got %q, want the process named", err)
		}
	}
	release(t, l)
	l, _ = acquire(t, path)
	release(t, l)
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		t.Errorf("the file has to stay, since whoever waits has it open: %v", err)
	}
}

// TestHolderThatSaysNothing: the lock counts, not the file.
func TestHolderThatSaysNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.lock")
	l, _ := acquire(t, path)
	defer release(t, l)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	_, _, err := Acquire(path)
	if held, ok := errors.AsType[*HeldError](err); !ok || held.Holder != (Info{}) || !strings.Contains(err.Error(), "another process") {
		t.Errorf("got %v, want a holder that is not known", err)
	}
}

func TestLockWhereThereIsNoPlace(t *testing.T) {
	if _, _, err := Acquire(filepath.Join(t.TempDir(), "no", "log.lock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want ErrNotExist", err)
	}
	if _, _, err := Acquire(t.TempDir()); err == nil {
		t.Error("a directory was locked")
	}
}

// TestBootStays: the machine was not started meanwhile.
func TestBootStays(t *testing.T) {
	id, started := Boot()
	again, startedAgain := Boot()
	if id != again || startedAgain.Sub(started).Abs() > time.Minute || started.After(time.Now()) {
		t.Errorf("got %q, %v, then %q, %v", id, started, again, startedAgain)
	}
}
