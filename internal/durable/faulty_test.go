package durable

import (
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
)

func TestFaultsAndTrace(t *testing.T) {
	d := NewDisk()
	fsys := &Faulty{FS: d, Fault: FailNth(Write, 2, &ShortWrite{N: 2, Err: syscall.ENOSPC})}
	f := newFile(t, fsys, "log", "one")
	if n, err := f.WriteAt([]byte("two"), 3); n != 2 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a short write is %d, %v", n, err)
	}
	must(t, f.Truncate(3), f.Sync(), f.Close(), fsys.Rename("log", "b"), fsys.Link("b", "c"), fsys.Remove("c"),
		fsys.Mkdir("d", 0o700), fsys.SyncDir("."))
	_, err := f.ReadAt(make([]byte, 1), 0)
	_, statErr := fsys.Stat("log")
	_, lstatErr := fsys.Lstat("b")
	_, listErr := fsys.ReadDir(".")
	must(t, lstatErr, listErr)
	want := []string{"open log", "write log 0+3", "write log 3+3: " + syscall.ENOSPC.Error(), "truncate log 3", "sync log",
		"close log", "rename log b", "link b c", "remove c", "mkdir d", "syncdir .",
		"readat log 0+1: " + err.Error(), "stat log: " + statErr.Error(), "stat b", "readdir ."}
	if got := fsys.Trace(); !slices.Equal(got, want) {
		t.Errorf("the trace is\n%q\nwant\n%q", got, want)
	}
}

func TestAFailedOperationIsNotDone(t *testing.T) {
	d, _ := synced(t, "x")
	fail := func(kind OpKind) *Faulty { return &Faulty{FS: d, Fault: FailNth(kind, 1, syscall.EIO)} }
	open := func(kind OpKind) File {
		f, err := fail(kind).OpenFile("a", os.O_RDWR, 0)
		must(t, err)
		return f
	}
	_, openErr := fail(Open).OpenFile("b", os.O_CREATE|os.O_RDWR, 0o600)
	_, writeErr := open(Write).WriteAt([]byte("y"), 0)
	n, readErr := open(ReadAt).ReadAt(make([]byte, 1), 0)
	closing := open(Close)
	for i, err := range []error{
		openErr, writeErr, readErr, open(Truncate).Truncate(0), closing.Close(),
		fail(Rename).Rename("a", "b"), fail(Link).Link("a", "b"), fail(Remove).Remove("a"), fail(Mkdir).Mkdir("b", 0o700),
	} {
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("operation %d: %v", i, err)
		}
	}
	if got := string(contentOf(d, "a")); got != "x" || n != 0 || len(names(t, d)) != 1 {
		t.Errorf("an operation that failed was done: %q, %d, %q", got, n, names(t, d))
	}
	if err := closing.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a Close that failed kept the handle: %v", err)
	}
}

func TestShortWriteWithoutError(t *testing.T) {
	fsys := &Faulty{FS: NewDisk(), Fault: FailNth(Write, 1, &ShortWrite{N: 9})}
	f, err := fsys.OpenFile("a", os.O_CREATE|os.O_RDWR, 0o600)
	must(t, err)
	if n, err := f.WriteAt([]byte("two"), 0); n != 3 || !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("%d, %v", n, err)
	}
}

func TestKillInside(t *testing.T) {
	d := NewDisk()
	fsys := &Faulty{FS: d, Fault: KillInside(3, 2)}
	f := newFile(t, fsys, "a", "one")
	if n, err := f.WriteAt([]byte("two"), 3); n != 2 || !errors.Is(err, ErrKilled) {
		t.Errorf("the torn write is %d, %v", n, err)
	}
	if err := f.Sync(); !errors.Is(err, ErrKilled) {
		t.Errorf("a dead process syncs: %v", err)
	}
	k := d.Kill()
	if got := string(contentOf(k, "a")); got != "onetw" {
		t.Errorf("left %q", got)
	}
	// The Sync was not tried, so it spoiled nothing for the next process.
	g := newFile(t, k, "a", "")
	must(t, g.Sync(), k.SyncDir("."))
	leaves(t, k, "a", []string{"onetw"}, []string{"one", ""})
}

// For the race detector: everything at once.
func TestConcurrentUse(t *testing.T) {
	d := NewDisk()
	fsys := &Faulty{FS: d, Fault: FailNth(Sync, 20, syscall.EIO)}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			f := newFile(t, fsys, string(rune('a'+i%4)), "")
			for range 50 {
				f.WriteAt([]byte("hello"), int64(i)*700)
				f.Sync()
				fsys.SyncDir(".")
				d.Crash(newRand(uint64(i)))
				d.Kill()
				fsys.Trace()
			}
			f.Close()
		})
	}
	group.Wait()
}
