package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/sessctl/sessctl/internal/durable"
)

// oldFile writes a file that nobody has touched for an hour.
func oldFile(t *testing.T, path, text string) string {
	t.Helper()
	hourAgo := time.Now().Add(-time.Hour)
	if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, hourAgo, hourAgo)); err != nil {
		t.Fatal(err)
	}
	return path
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func checkFile(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); string(got) != want {
		t.Errorf("%s: got %.30q, %v, want %.30q", filepath.Base(path), got, err, want)
	}
}

var longLog = strings.Repeat("a line of a log that is archived\n", 20000)

func TestArchiveFileAndBack(t *testing.T) {
	for _, keep := range []bool{false, true} {
		opt := &ArchiveFileOptions{Keep: keep}
		log := oldFile(t, filepath.Join(t.TempDir(), "log.jsonl"), longLog)
		done, err := ArchiveFile(log, opt)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(log + ".zst")
		if err != nil || info.Mode().Perm() != 0o600 || there(log) != keep {
			t.Errorf("keep %v: %v, %v, log there: %v", keep, info, err, there(log))
		}
		want := Archived{Path: log, Archive: log + ".zst", Size: int64(len(longLog)), ArchivedSize: info.Size()}
		if done != want {
			t.Errorf("got %+v, want %+v", done, want)
		}
		if keep {
			os.Remove(log)
		}
		if back, err := UnarchiveFile(log+".zst", opt); err != nil || back != want {
			t.Errorf("back: got %+v, %v, want %+v", back, err, want)
		}
		checkFile(t, log, longLog)
		if there(log+".zst") != keep {
			t.Errorf("keep %v: archive there: %v", keep, !keep)
		}
	}
}

// TestUnarchiveFileOfZstd restores what zstd itself compressed.
func TestUnarchiveFileOfZstd(t *testing.T) {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "log.jsonl")
	oldFile(t, log+".zst", string(enc.EncodeAll([]byte(longLog), nil)))
	if _, err := UnarchiveFile(log+".zst", nil); err != nil {
		t.Fatal(err)
	}
	checkFile(t, log, longLog)
	if there(log + ".zst") {
		t.Error("the archive is still there")
	}
}

func TestArchiveFileRefuses(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	oldFile(t, path("taken.jsonl"), longLog)
	oldFile(t, path("taken.jsonl.zst"), "not an archive")
	fresh := oldFile(t, path("fresh.jsonl"), longLog)
	if err := os.Chtimes(fresh, time.Now(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path("taken.jsonl"), path("link.jsonl")); err != nil {
		t.Fatal(err)
	}
	var cut bytes.Buffer
	if err := CreateArchive(&cut, openFile{open(t, path("taken.jsonl"))}, nil); err != nil {
		t.Fatal(err)
	}
	oldFile(t, path("cut.jsonl.zst"), cut.String()[:cut.Len()-1])
	oldFile(t, path("both.jsonl.zst"), cut.String())
	oldFile(t, path("both.jsonl"), "another log\n")
	archive := func(name string) error { _, err := ArchiveFile(path(name), nil); return err }
	unarchive := func(name string) error { _, err := UnarchiveFile(path(name), nil); return err }
	before := names(t, dir)
	for name, test := range map[string]struct {
		got, want error
	}{
		"the name is taken":          {archive("taken.jsonl"), fs.ErrExist},
		"written to just now":        {archive("fresh.jsonl"), ErrConflict},
		"a link":                     {archive("link.jsonl"), ErrNotALog},
		"missing":                    {archive("missing.jsonl"), fs.ErrNotExist},
		"a directory":                {archive(""), ErrNotALog},
		"a damaged archive":          {unarchive("cut.jsonl.zst"), ErrCorrupt},
		"the log's name is taken":    {unarchive("both.jsonl.zst"), fs.ErrExist},
		"another archive is there":   {archive("both.jsonl"), fs.ErrExist},
		"missing, the other way":     {unarchive("missing.jsonl.zst"), fs.ErrNotExist},
		"no archive, but named so":   {unarchive("taken.jsonl.zst"), ErrCorrupt},
		"an archive, archived again": {archive("both.jsonl.zst"), nil},
		"a log, unarchived":          {unarchive("taken.jsonl"), nil},
	} {
		if test.got == nil || test.want != nil && !errors.Is(test.got, test.want) {
			t.Errorf("%s: got %v, want %v", name, test.got, test.want)
		}
	}
	if after := names(t, dir); after != before {
		t.Errorf("left %s, want %s", after, before)
	}
	checkFile(t, path("both.jsonl"), "another log\n")
	checkFile(t, path("taken.jsonl.zst"), "not an archive")
}

func open(t *testing.T, path string) durable.File {
	t.Helper()
	f, err := durable.OS().OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func names(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(list)
}

func TestArchiveFileHoldsTheLock(t *testing.T) {
	log := oldFile(t, filepath.Join(t.TempDir(), "log.jsonl"), longLog)
	errHeld, errUnlock := errors.New("held"), errors.New("unlock")
	var locked string
	hold := func(path string) (func() error, error) { locked = path; return nil, errHeld }
	if _, err := ArchiveFile(log, &ArchiveFileOptions{Lock: hold}); !errors.Is(err, errHeld) || locked != log || !there(log) {
		t.Errorf("held: got %v, locked %q", err, locked)
	}
	free := func(path string) (func() error, error) {
		locked = path
		return func() error {
			if there(log) {
				t.Error("the lock is given up before the log is gone")
			}
			return errUnlock
		}, nil
	}
	if _, err := ArchiveFile(log, &ArchiveFileOptions{Lock: free}); !errors.Is(err, errUnlock) {
		t.Errorf("got %v", err)
	}
	_, err := UnarchiveFile(log+".zst", &ArchiveFileOptions{Lock: hold})
	if !errors.Is(err, errHeld) || locked != log {
		t.Errorf("unarchiving: got %v, locked %q", err, locked)
	}
}

// A rig is a log, or an archive of it, on a simulated disk.
type rig struct {
	disk  *durable.Disk
	fsys  *durable.Faulty
	log   string
	fault func(durable.Op) error
}

const rigLog = "dir/log.jsonl"

func newRig(t *testing.T, text string, archived bool) *rig {
	t.Helper()
	r := &rig{disk: durable.NewDisk(), log: text}
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	must(durable.MkdirAll(r.disk, "dir", 0o700))
	must(durable.WriteFile(r.disk, rigLog, strings.NewReader(text), 0o600))
	r.fsys = &durable.Faulty{FS: r.disk, Fault: func(op durable.Op) error {
		if r.fault == nil {
			return nil
		}
		return r.fault(op)
	}}
	if archived {
		_, err := r.run(r.fsys, false, false)
		must(err)
	}
	return r
}

func (r *rig) run(fsys durable.FS, unarchive, keep bool) (Archived, error) {
	c := newConversion(fsys, rigLog, &ArchiveFileOptions{Keep: keep})
	if c.from, c.to = c.log, c.archive; unarchive {
		c.from, c.to = c.archive, c.log
	}
	return c.run()
}

// content reads a log or an archive as its user would.
func content(fsys durable.FS, name string) (string, error) {
	c := newConversion(fsys, rigLog, nil)
	_, src, err := c.open(name)
	if err != nil {
		return "", err
	}
	defer src.Close()
	size, err := src.Size()
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.NewSectionReader(src, 0, size))
	return string(b), err
}

// check holds that whatever has a name is whole, and that there is something.
func (r *rig) check(t *testing.T, when string, fsys durable.FS) {
	t.Helper()
	found := 0
	for _, name := range []string{rigLog, rigLog + ".zst"} {
		got, err := content(fsys, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil || got != r.log:
			t.Fatalf("%s: %s has %d bytes (%v), want %d", when, name, len(got), err, len(r.log))
		default:
			found++
		}
	}
	if found == 0 {
		t.Fatalf("%s: neither the log nor the archive is there", when)
	}
}

// finish runs again without faults, as a user would.
func (r *rig) finish(t *testing.T, when string, fsys durable.FS, unarchive bool) {
	t.Helper()
	from, to := rigLog, rigLog+".zst"
	if unarchive {
		from, to = to, from
	}
	if _, err := r.run(fsys, unarchive, false); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s, once more: %v", when, err)
	}
	if got, err := content(fsys, to); err != nil || got != r.log {
		t.Fatalf("%s, once more: got %d bytes, %v", when, len(got), err)
	}
	if _, err := fsys.Lstat(from); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s, once more: %s is still there: %v", when, from, err)
	}
}

// TestArchiveFileInterrupted fails every operation, and kills the process and cuts
// the power at every one.
func TestArchiveFileInterrupted(t *testing.T) {
	faults := map[string]func(int) func(durable.Op) error{
		"fails": func(n int) func(durable.Op) error { return durable.FailNth("", n, syscall.EIO) },
		"is short": func(n int) func(durable.Op) error {
			return durable.FailNth("", n, &durable.ShortWrite{N: 7, Err: syscall.ENOSPC})
		},
		"kills": durable.KillAt,
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, unarchive := range []bool{false, true} {
		for name, fault := range faults {
			for n, done := 1, false; !done; n++ {
				r := newRig(t, longLog[:20<<10], unarchive)
				r.fault = fault(n)
				_, err := r.run(r.fsys, unarchive, false)
				done = err == nil && len(r.fsys.Trace()) < n
				when := fmt.Sprintf("unarchive %v, operation %d %s (%v)", unarchive, n, name, err)
				r.check(t, when, r.disk)
				for range 3 {
					crashed := r.disk.Crash(random)
					r.check(t, when+", power cut", crashed)
					r.finish(t, when+", power cut", crashed, unarchive)
				}
				killed := r.disk.Kill()
				r.check(t, when+", killed", killed)
				r.finish(t, when+", killed", killed, unarchive)
			}
		}
	}
}

// TestArchiveFileOfAChangingLog writes to the log, or replaces it, before every
// operation: either the archive is not made, or the log stays.
func TestArchiveFileOfAChangingLog(t *testing.T) {
	for name, change := range map[string]func(*durable.Disk) error{
		"appended": func(d *durable.Disk) error { return appendTo(d, "more\n") },
		"replaced": func(d *durable.Disk) error {
			if err := durable.WriteFile(d, "dir/new", strings.NewReader(longLog[:100<<10]), 0o600); err != nil {
				return err
			}
			return d.Rename("dir/new", rigLog)
		},
	} {
		for n, removed := int64(2), false; !removed; n++ {
			r := newRig(t, longLog[:100<<10], false)
			var seen atomic.Int64
			r.fault = func(op durable.Op) error {
				if seen.Add(1) != n {
					return nil
				}
				if op.Kind == durable.Remove && op.Name == rigLog {
					removed = true // nothing can look later than this
					return nil
				}
				return change(r.disk)
			}
			_, err := r.run(r.fsys, false, false)
			if removed {
				break
			}
			if !errors.Is(err, ErrConflict) {
				t.Fatalf("%s at operation %d: got %v, want ErrConflict", name, n, err)
			}
			if _, err := r.disk.Lstat(rigLog); err != nil {
				t.Fatalf("%s at operation %d: %v", name, n, err)
			}
			if _, err := r.disk.Lstat(rigLog + ".zst"); err == nil {
				t.Fatalf("%s at operation %d: the archive of an older log stays", name, n)
			}
		}
	}
}

func appendTo(d *durable.Disk, text string) error {
	f, err := d.OpenFile(rigLog, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(text), info.Size())
	return errors.Join(err, f.Close())
}
