package lock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
)

// TestOmpKeepsApart: one writer at a time, and inside its write both locks are there
// as oh-my-pi has them; afterwards only the file for the kernel's lock.
func TestOmpKeepsApart(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log.jsonl")
	claim := filepath.Join(dir, ".log.jsonl.lock")
	says := regexp.MustCompile(fmt.Sprintf(`^%d:\d{13}\n$`, os.Getpid()))
	var inside atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				err := Omp(path, func() error {
					n := inside.Add(1)
					if b, err := os.ReadFile(claim); err != nil || !says.Match(b) || n != 1 {
						t.Errorf("the lock file says %q (%v), %d inside", b, err, n)
					}
					inside.Add(-1)
					return nil
				})
				// With eight of them one may wait too long, which is no mistake.
				if _, held := errors.AsType[*HeldError](err); err != nil && !held {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	checkDir(t, dir, ".log.jsonl.lock.os")
}

func checkDir(t *testing.T, dir string, want ...string) {
	t.Helper()
	var got []string
	list, err := os.ReadDir(dir)
	for _, f := range list {
		got = append(got, f.Name())
	}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got files %q (%v), want %q", got, err, want)
	}
}

// TestOmpGivesTheLockBack also where the write fails.
func TestOmpGivesTheLockBack(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log.jsonl")
	full := errors.New("full")
	for range 2 {
		if err := Omp(path, func() error { return full }); !errors.Is(err, full) {
			t.Errorf("got %v, want the error of the write", err)
		}
	}
	checkDir(t, dir, ".log.jsonl.lock.os")
	if err := Omp(filepath.Join(dir, "no", "log.jsonl"), func() error { return nil }); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want ErrNotExist", err)
	}
}

// TestOmpWaitsForTheLiving and for those of whom nothing is known, but not for ever.
func TestOmpWaitsForTheLiving(t *testing.T) {
	dir := t.TempDir()
	claim := filepath.Join(dir, ".log.jsonl.lock")
	for _, content := range []string{fmt.Sprintf("%d:1767603600000\n", os.Getpid()), ""} {
		if err := os.WriteFile(claim, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		err := Omp(filepath.Join(dir, "log.jsonl"), func() error { t.Error("it writes"); return nil })
		if _, ok := errors.AsType[*HeldError](err); !ok {
			t.Errorf("%q: got %v, want a HeldError", content, err)
		}
		if b, err := os.ReadFile(claim); err != nil || string(b) != content {
			t.Errorf("%q: the lock file is now %q (%v)", content, b, err)
		}
	}
}

func TestOrphaned(t *testing.T) {
	for content, want := range map[string]bool{
		fmt.Sprint(os.Getpid()):               false,
		fmt.Sprintf("%d:1\n", os.Getpid()):    false,
		fmt.Sprintf(" %d:1:2 ", os.Getppid()): false,
		"4194304:1767603600000\n":             true, // no process has it: the largest id is one less
		"4194304":                             true,
		"":                                    false,
		"0:1":                                 false, // every process of a group, to kill
		"-1:1":                                false, // every process
		"one:1":                               false,
		"99999999999999999999999999:1":        false,
		"{\"pid\":4194304}":                   false,
		"4194304x:1":                          false,
	} {
		if got := orphaned(content); got != want {
			t.Errorf("%q: got %v, want %v", content, got, want)
		}
	}
}
