package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
)

// content is two sectors and a bit, so that it can be torn.
var content = repeat("0123456789abcdef", 70)

var temporary = regexp.MustCompile(`\.log\.[a-z0-9]{12}\.tmp`)

// writes is a WriteFile, or a broken one.
type writes func(fsys FS, name string, data io.Reader, perm fs.FileMode) error

func (w writes) log(fsys FS) error { return w(fsys, "log", strings.NewReader(content), 0o600) }

// names lists the root of a file system.
func names(t testing.TB, fsys FS) (list []string) {
	t.Helper()
	entries, err := fsys.ReadDir(".")
	must(t, err)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestWriteFileTrace(t *testing.T) {
	fsys := &Faulty{FS: NewDisk()}
	must(t, writes(WriteFile).log(fsys))
	want := `open TEMP
write TEMP 0+1120
stat TEMP
sync TEMP
close TEMP
link TEMP log
remove TEMP
syncdir .`
	if got := temporary.ReplaceAllString(strings.Join(fsys.Trace(), "\n"), "TEMP"); got != want {
		t.Errorf("the trace is\n%s\nwant\n%s", got, want)
	}
}

func TestWriteFileLeavesWhatIsThere(t *testing.T) {
	for _, fsys := range []FS{NewDisk(), inTemp{OS(), t.TempDir()}, &noLinks{FS: NewDisk()}} {
		must(t, newFile(t, fsys, "log", "old").Close())
		if err := writes(WriteFile).log(fsys); !errors.Is(err, fs.ErrExist) || errors.Is(err, ErrPublished) {
			t.Errorf("%T: %v", fsys, err)
		}
		if got := string(contentOf(fsys, "log")); got != "old" || len(names(t, fsys)) != 1 {
			t.Errorf("%T: the file is now %q beside %q", fsys, got, names(t, fsys))
		}
	}
}

// noLinks is a file system without hard links.
type noLinks struct{ FS }

func (noLinks) Link(a, b string) error {
	return &os.LinkError{Op: "link", Old: a, New: b, Err: syscall.EPERM}
}

func TestWriteFileWithoutLinks(t *testing.T) {
	d := NewDisk()
	must(t, writes(WriteFile).log(noLinks{d}))
	if got := names(t, d); !slices.Equal(got, []string{"log"}) {
		t.Errorf("left %q", got)
	}
	leaves(t, d, "log", []string{content}, []string{"-", ""})
}

func TestWriteFileOfALongName(t *testing.T) {
	name := strings.Repeat("ü", 120)
	fsys := inTemp{OS(), t.TempDir()}
	must(t, WriteFile(fsys, name, strings.NewReader("x"), 0o600))
	if got := names(t, fsys); !slices.Equal(got, []string{name}) {
		t.Errorf("left %q", got)
	}
}

func TestWriteFileOfABrokenReader(t *testing.T) {
	d := NewDisk()
	broken := io.MultiReader(strings.NewReader(content), iotest.ErrReader(syscall.EIO))
	if err := WriteFile(d, "log", broken, 0o600); !errors.Is(err, syscall.EIO) || len(names(t, d)) != 0 {
		t.Errorf("%v, left %q", err, names(t, d))
	}
}

// whole checks what is left of a WriteFile: nothing, or the whole file.
func whole(d FS) error {
	if got := contentOf(d, "log"); got != nil && string(got) != content {
		return fmt.Errorf("left %d bytes that are not the file", len(got))
	}
	return nil
}

// faults are what may happen to one operation.
var faults = []error{syscall.EIO, &ShortWrite{N: 600, Err: syscall.ENOSPC}, &ShortWrite{}}

func TestWriteFileWithEveryFault(t *testing.T) {
	for _, below := range []func() FS{
		func() FS { return NewDisk() },
		func() FS { return noLinks{NewDisk()} },
		func() FS { return inTemp{OS(), t.TempDir()} },
	} {
		for _, fault := range faults {
			for n := 1; ; n++ {
				fsys := below()
				faulty := &Faulty{FS: fsys, Fault: FailNth("", n, fault)}
				err := writes(WriteFile).log(faulty)
				if err == nil {
					break
				}
				if !errors.Is(err, fault) && !errors.Is(err, errors.Unwrap(fault)) {
					t.Errorf("fault %d: the error is %v", n, err)
				}
				checkFaulty(t, fsys, err)
			}
		}
	}
}

func checkFaulty(t *testing.T, fsys FS, err error) {
	t.Helper()
	must(t, whole(fsys))
	published := contentOf(fsys, "log") != nil
	if published != errors.Is(err, ErrPublished) {
		t.Errorf("published: %v, error: %v", published, err)
	}
	if list := names(t, fsys); !published && len(list) > 0 {
		t.Errorf("left %q after %v", list, err)
	}
}

func TestWriteFileKilledEverywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := 1; ; n++ {
		d := NewDisk()
		if err := writes(WriteFile).log(&Faulty{FS: d, Fault: KillAt(n)}); err == nil {
			break
		}
		k := d.Kill()
		must(t, whole(k), whole(k.Crash(r)))
		if contentOf(k, "log") == nil {
			must(t, writes(WriteFile).log(k)) // what was left is in nobody's way
			leaves(t, k, "log", []string{content}, []string{"-"})
		}
	}
}

// crashEverywhere cuts the power before each operation and after the last.
func crashEverywhere(w writes) error {
	d := NewDisk()
	d.Stale([]byte(repeat("stale", 200)))
	var errs []error
	fsys := &Faulty{FS: d, Fault: func(Op) error {
		for c := range d.CrashAll {
			errs = append(errs, whole(c))
		}
		return nil
	}}
	if err := w.log(fsys); err != nil {
		return err
	}
	for c := range d.CrashAll {
		if string(contentOf(c, "log")) != content {
			errs = append(errs, errors.New("the file is lost, after success"))
		}
	}
	return errors.Join(errs...)
}

func TestWriteFileCrashedEverywhere(t *testing.T) {
	must(t, crashEverywhere(WriteFile), crashEverywhere(func(fsys FS, name string, data io.Reader, perm fs.FileMode) error {
		return WriteFile(withoutLinks(fsys), name, data, perm)
	}))
}

func withoutLinks(fsys FS) FS { return noLinks{fsys} }

// without does nothing where WriteFile does one kind of operation.
type without struct {
	FS
	kind OpKind
}

func (w without) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := w.FS.OpenFile(name, flag, perm)
	return fileWithout{f, w.kind}, err
}

func (w without) SyncDir(name string) error {
	if w.kind == SyncDir {
		return nil
	}
	return w.FS.SyncDir(name)
}

type fileWithout struct {
	File
	kind OpKind
}

func (f fileWithout) Sync() error {
	if f.kind == Sync {
		return nil
	}
	return f.File.Sync()
}

// A WriteFile that leaves out a step must be caught, or the test above shows nothing.
func TestBrokenWriteFileIsCaught(t *testing.T) {
	for _, kind := range []OpKind{Sync, SyncDir} {
		err := crashEverywhere(func(fsys FS, name string, data io.Reader, perm fs.FileMode) error {
			return WriteFile(without{fsys, kind}, name, data, perm)
		})
		if err == nil {
			t.Errorf("a WriteFile without %s is not caught", kind)
		}
	}
	direct := func(fsys FS, name string, data io.Reader, perm fs.FileMode) error {
		return errors.Join(writeTemp(fsys, name, data, perm), fsys.SyncDir("."))
	}
	if crashEverywhere(direct) == nil {
		t.Error("a WriteFile without a temporary file is not caught")
	}
}

func TestMkdirAll(t *testing.T) {
	d := NewDisk()
	fsys := &Faulty{FS: d}
	must(t, MkdirAll(fsys, "a/b/c", 0o700), newFile(t, d, "f", "").Close())
	changes := slices.DeleteFunc(fsys.Trace(), func(line string) bool { return strings.HasPrefix(line, "stat") })
	want := []string{"mkdir a", "syncdir .", "mkdir " + filepath.Join("a", "b"), "syncdir a",
		"mkdir " + filepath.Join("a", "b", "c"), "syncdir " + filepath.Join("a", "b")}
	if !slices.Equal(changes, want) {
		t.Errorf("the trace is %q, want %q", changes, want)
	}
	if err := MkdirAll(d, "f", 0o700); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("of a file: %v", err)
	}
	if err := MkdirAll(d, "f/x", 0o700); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("below a file: %v", err)
	}
}

// slow is a file system on which another process makes each directory first.
type slow struct{ FS }

func (s slow) Mkdir(name string, perm fs.FileMode) error {
	return errors.Join(s.FS.Mkdir(name, perm), s.FS.Mkdir(name, perm))
}

func TestMkdirAllBesideAnother(t *testing.T) {
	d := NewDisk()
	must(t, MkdirAll(slow{d}, "a/b", 0o700))
	for c := range d.CrashAll {
		if _, err := c.Stat("a/b"); err != nil {
			t.Fatal(err)
		}
	}
	for n := 1; ; n++ {
		err := MkdirAll(&Faulty{FS: NewDisk(), Fault: FailNth("", n, syscall.EIO)}, "a/b", 0o700)
		if err == nil {
			break
		}
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("fault %d: %v", n, err)
		}
	}
}

// A parent that may not be opened is not ours to sync.
func TestMkdirAllBelowAForeignParent(t *testing.T) {
	d := NewDisk()
	must(t, MkdirAll(d, "home/me", 0o700))
	fsys := &Faulty{FS: d, Fault: func(op Op) error {
		if op.Kind == SyncDir && op.Name == "home" {
			return fs.ErrPermission
		}
		return nil
	}}
	must(t, MkdirAll(fsys, "home/me/x", 0o700))
}

// A process that dies between a Mkdir and its sync leaves a directory that looks
// like any other, but may go.
func TestMkdirAllAfterADeath(t *testing.T) {
	for n := 1; ; n++ {
		d := NewDisk()
		err := MkdirAll(&Faulty{FS: d, Fault: KillAt(n)}, "a/b", 0o700)
		k := d.Kill()
		must(t, MkdirAll(k, "a/b", 0o700))
		for c := range k.CrashAll {
			if fi, err := c.Stat("a/b"); err != nil || !fi.IsDir() {
				t.Fatalf("killed at operation %d: %v", n, err)
			}
		}
		if err == nil {
			break
		}
	}
}
