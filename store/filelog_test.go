package store

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sessctl/sessctl/internal/durable"
)

// newLog makes a log on the real file system, with faults.
func newLog(t *testing.T) (log *FileLog, path string, fsys *durable.Faulty) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "log")
	fsys = &durable.Faulty{FS: durable.OS()}
	log, err := CreateFileLogIn(fsys, path, []byte("first\n"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return log, path, fsys
}

// foreign appends as a program does that knows nothing of us.
func foreign(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func wantConflict(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, ErrConflict) {
		t.Errorf("%s: got %v, want ErrConflict", what, err)
	}
}

func TestFileLogOpens(t *testing.T) {
	log, path, _ := newLog(t)
	if info, err := log.Stat(); err != nil || info.Mode() != 0o600 {
		t.Errorf("got %v, %v", info, err)
	}
	if _, err := CreateFileLog(path, []byte("other\n")); !errors.Is(err, ErrExists) {
		t.Errorf("got %v, want ErrExists", err)
	}
	if _, err := OpenFileLog(path + "none"); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if _, err := OpenFileLog(filepath.Dir(path)); err == nil {
		t.Error("a directory was opened")
	}
	if _, err := OpenFileLog(os.DevNull); !errors.Is(err, ErrNotALog) {
		t.Errorf("got %v, want ErrNotALog", err)
	}
	checkFile(t, path, "first\n")
}

// Whatever another program did to the file is noticed before anything is written.
func TestFileLogNoticesOthers(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path string){
		"appended": func(t *testing.T, path string) { foreign(t, path, "theirs\n") },
		"cut":      func(t *testing.T, path string) { os.Truncate(path, 3) },
		"removed":  func(t *testing.T, path string) { os.Remove(path) },
		"replaced": func(t *testing.T, path string) {
			os.WriteFile(path+".new", []byte("first\n"), 0o600)
			os.Rename(path+".new", path)
		},
	} {
		log, path, _ := newLog(t)
		change(t, path)
		before, _ := os.ReadFile(path)
		_, err := log.Append(context.Background(), 6, []byte("ours\n"))
		wantConflict(t, name, err)
		_, err = log.Append(context.Background(), int64(len(before)), []byte("ours\n"))
		wantConflict(t, name+", at the new end", err)
		wantConflict(t, name+", a cut", log.Cut(1))
		after, _ := os.ReadFile(path)
		if !bytes.Equal(before, after) {
			t.Errorf("%s: the file was changed from %q to %q", name, before, after)
		}
	}
}

// A program that writes between our look and our write: both lines are whole, and
// the append says that it was not alone.
func TestFileLogAtTheSameMoment(t *testing.T) {
	log, path, fsys := newLog(t)
	fsys.Fault = func(op durable.Op) error {
		if op.Kind == durable.Write {
			foreign(t, path, "theirs\n")
		}
		return nil
	}
	_, err := log.Append(context.Background(), 6, []byte("ours\n"))
	wantConflict(t, "at the same moment", err)
	checkFile(t, path, "first\ntheirs\nours\n")
	fsys.Fault = nil
	// The lines are there, so that the same append at their place is done.
	if end, err := log.Append(context.Background(), 13, []byte("ours\n")); err != nil || end != 18 {
		t.Errorf("got %d, %v", end, err)
	}
}

func TestFileLogUndoesAShortWrite(t *testing.T) {
	lines := []byte(strings.Repeat("ours\n", 200))
	for _, n := range []int{0, 1, 500, len(lines) - 1, len(lines)} {
		log, path, fsys := newLog(t)
		fsys.Fault = durable.FailNth(durable.Write, 1, &durable.ShortWrite{N: n, Err: syscall.ENOSPC})
		_, err := log.Append(context.Background(), 6, lines)
		if !errors.Is(err, syscall.ENOSPC) || errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), path) {
			t.Errorf("%d bytes: got %v", n, err)
		}
		checkFile(t, path, "first\n")
		if end, err := log.Append(context.Background(), 6, lines); err != nil || end != 6+int64(len(lines)) {
			t.Errorf("%d bytes, once more: got %d, %v", n, end, err)
		}
		checkFile(t, path, "first\n"+string(lines))
	}
}

// Where another program wrote behind the rest of a write that failed, nothing is cut:
// it would be theirs.
func TestFileLogLeavesWhatFollowsAShortWrite(t *testing.T) {
	log, path, fsys := newLog(t)
	written := false
	fsys.Fault = func(op durable.Op) error {
		switch {
		case op.Kind == durable.Write && !written:
			written = true
			return &durable.ShortWrite{N: 2, Err: syscall.EIO}
		case op.Kind == durable.Stat && written:
			written = false
			foreign(t, path, "theirs\n")
		}
		return nil
	}
	_, err := log.Append(context.Background(), 6, []byte("ours\n"))
	if !errors.Is(err, ErrUnknown) || !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
	checkFile(t, path, "first\noutheirs\n")
	if _, err := log.Append(context.Background(), 6, []byte("ours\n")); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
	if err := log.Sync(context.Background()); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
}

func TestFileLogIsCut(t *testing.T) {
	log, path, fsys := newLog(t)
	if _, err := log.Append(context.Background(), 6, []byte("torn")); err != nil {
		t.Fatal(err)
	}
	from := len(fsys.Trace())
	if err := log.Cut(6); err != nil {
		t.Fatal(err)
	}
	checkFile(t, path, "first\n")
	if got := strings.Join(fsys.Trace()[from:], "\n"); !strings.HasSuffix(got, "truncate "+path+" 6\nsync "+path) {
		t.Errorf("the cut is not durable:\n%s", got)
	}
	if end, err := log.Append(context.Background(), 6, []byte("whole\n")); err != nil || end != 12 {
		t.Errorf("got %d, %v", end, err)
	}
	log.Close()
	if err := log.Cut(0); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

// After a sync that failed the bytes are durable once they are written anew, and not
// before: this is what Renew is for.
func TestFileLogIsRenewed(t *testing.T) {
	disk := durable.NewDisk()
	fsys := &durable.Faulty{FS: disk}
	log, err := CreateFileLogIn(fsys, "log", []byte("first\n"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Repeat("ours\n", 300)
	if _, err := log.Append(context.Background(), 6, []byte(lines)); err != nil {
		t.Fatal(err)
	}
	fsys.Fault = durable.FailNth(durable.Sync, 1, syscall.EIO)
	if err := log.Sync(context.Background()); !errors.Is(err, ErrUnknown) {
		t.Fatal(err)
	}
	if err := log.Renew(6); !errors.Is(err, ErrUnknown) {
		t.Errorf("a log that is broken was renewed: %v", err)
	}
	if log, err = OpenFileLogIn(fsys, "log"); err != nil {
		t.Fatal(err)
	}
	if err := log.Sync(context.Background()); err != nil || !mayLose(disk, lines) {
		t.Errorf("a sync after one that failed: %v, and nothing can be lost", err)
	}
	if err := log.Renew(6); err != nil || mayLose(disk, lines) {
		t.Errorf("renewed: %v, and lines can be lost", err)
	}
}

// mayLose tells whether a power cut can lose lines behind the first one.
func mayLose(disk *durable.Disk, lines string) bool {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		f, err := disk.Crash(r).OpenFile("log", os.O_RDONLY, 0)
		if err != nil {
			return true
		}
		b := make([]byte, len(lines))
		f.ReadAt(b, 6)
		if string(b) != lines {
			return true
		}
	}
	return false
}

func TestFileLogOfAReplacedFileIsNotRenewed(t *testing.T) {
	log, path, _ := newLog(t)
	if err := errors.Join(os.WriteFile(path+".new", []byte("theirs, longer\n"), 0o600), os.Rename(path+".new", path)); err != nil {
		t.Fatal(err)
	}
	wantConflict(t, "renewing", log.Renew(0))
	checkFile(t, path, "theirs, longer\n")
}
