package durable

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

var (
	_ FS   = osFS{}
	_ FS   = (*Faulty)(nil)
	_ FS   = (*Disk)(nil)
	_ File = (*os.File)(nil)
)

// kind reduces an error to what both file systems must agree on.
func kind(err error) string {
	for _, k := range []error{fs.ErrExist, fs.ErrNotExist, fs.ErrClosed, io.EOF} {
		if errors.Is(err, k) {
			return k.Error()
		}
	}
	if err != nil {
		return "other error"
	}
	return ""
}

// player does one random history on one file system and notes what it saw.
type player struct {
	fsys  FS
	root  string
	files []File
	seen  []string
}

func (p *player) path(name string) string { return filepath.Join(p.root, name) }

func (p *player) see(op string, err error, what ...any) {
	p.seen = append(p.seen, fmt.Sprint(op, " ", what, " ", kind(err)))
}

var playNames = []string{"a", "b", "c", "d", "d/a", "d/b", "d/e", "d/e/a", "a/x", "nowhere/x"}

func pick[E any](r *rand.Rand, from []E) E { return from[r.IntN(len(from))] }

func (p *player) step(r *rand.Rand) {
	name, other := p.path(pick(r, playNames)), p.path(pick(r, playNames))
	switch r.IntN(15) {
	case 12:
		p.see("symlink", p.fsys.Symlink("/nowhere", p.path("link")))
		target, err := p.fsys.Readlink(p.path("link"))
		p.see("readlink", err, target)
	case 13:
		_, err := p.fsys.Readlink(name)
		p.see("readlink", err)
		p.see("rename", p.fsys.Rename(p.path("link"), name))
		if _, err := p.fsys.Readlink(name); err == nil { // away: the system would follow it
			p.see("remove", p.fsys.Remove(name))
		}
	case 14:
		p.see("chmod", p.fsys.Chmod(name, 0o700))
		p.see("chtimes", p.fsys.Chtimes(name, time.Unix(1, 0)))
	case 0, 1, 2:
		p.open(r, name)
	case 3, 4, 5, 6, 7:
		p.file(r)
	case 8:
		p.see("rename", p.fsys.Rename(name, other))
	case 9:
		p.see("link", p.fsys.Link(name, other))
	case 10:
		p.see("mkdir", p.fsys.Mkdir(name, 0o700))
	case 11:
		p.see("remove", p.fsys.Remove(name))
	}
}

var playFlags = []int{
	os.O_RDONLY, os.O_RDWR, os.O_RDWR | os.O_CREATE, os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_CREATE | os.O_EXCL, os.O_RDWR | os.O_TRUNC,
}

func (p *player) open(r *rand.Rand, name string) {
	flag := pick(r, playFlags)
	if fi, err := p.fsys.Stat(name); err == nil && fi.IsDir() {
		return // a Disk does not open directories
	}
	f, err := p.fsys.OpenFile(name, flag, 0o600)
	p.see("open", err, flag)
	if err == nil {
		p.files = append(p.files, f)
	}
}

func (p *player) file(r *rand.Rand) {
	if len(p.files) == 0 {
		return
	}
	i := r.IntN(len(p.files))
	f := p.files[i]
	off, n := r.Int64N(3000), r.IntN(1500)
	switch r.IntN(8) {
	case 0, 1, 2:
		done, err := f.WriteAt(bytes.Repeat([]byte{byte(r.IntN(256))}, n), off)
		p.see("write", err, done)
	case 3:
		p.see("truncate", f.Truncate(off))
	case 4:
		b := make([]byte, n)
		done, err := f.ReadAt(b, off)
		p.see("read", err, done, string(b))
	case 5:
		p.see("sync", f.Sync())
	case 6:
		p.see("close", f.Close())
	case 7:
		fi, err := f.Stat()
		if err == nil {
			p.see("size", nil, fi.Size(), fi.Mode())
		}
	}
}

// tree is everything that can be read of a file system.
func (p *player) tree(dir string) (lines []string) {
	list, err := p.fsys.ReadDir(p.path(dir))
	if err != nil {
		return []string{err.Error()}
	}
	for _, e := range list {
		name := filepath.Join(dir, e.Name())
		fi, err := e.Info()
		if err != nil {
			return []string{err.Error()}
		}
		if e.IsDir() {
			lines = append(append(lines, name+"/"), p.tree(name)...)
			continue
		}
		if fi.Mode()&fs.ModeSymlink != 0 {
			target, err := p.fsys.Readlink(p.path(name))
			lines = append(lines, fmt.Sprint(name, target, err))
			continue
		}
		lines = append(lines, fmt.Sprint(name, fi.Size(), fi.Mode(), string(contentOf(p.fsys, p.path(name)))))
	}
	return lines
}

// contentOf reads a file, or gives nil where there is none.
func contentOf(fsys FS, name string) []byte {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		panic(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<40))
	if err != nil {
		panic(err)
	}
	return append([]byte{}, b...)
}

func (p *player) closeAll() {
	for _, f := range p.files {
		f.Close()
	}
}

func TestDiskAgreesWithTheSystem(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("open files cannot be renamed there")
	}
	for seed := range uint64(60) {
		below, err := os.OpenRoot(t.TempDir())
		must(t, err)
		disk, system := &player{fsys: NewDisk(), root: "."}, &player{fsys: OS(), root: t.TempDir()}
		root := &player{fsys: Root(below), root: "."}
		for _, p := range []*player{disk, system, root} {
			for i := range uint64(120) {
				p.step(rand.New(rand.NewPCG(seed, i)))
			}
			p.closeAll()
		}
		for i, want := range system.seen {
			if disk.seen[i] != want || failed(root.seen[i]) != failed(want) {
				t.Fatalf("seed %d: step %d: the disk says %.200s\nthe root %.200s\nthe system %.200s", seed, i, disk.seen[i], root.seen[i], want)
			}
		}
		for _, p := range []*player{disk, root} {
			if got, want := p.tree("."), system.tree("."); !slices.Equal(got, want) {
				t.Fatalf("seed %d: %T has %.300q\nthe system %.300q", seed, p.fsys, got, want)
			}
		}
		must(t, below.Close())
	}
}

// failed says the same of every error: an os.Root resolves the second of two names first.
func failed(seen string) string {
	return strings.NewReplacer(fs.ErrNotExist.Error(), "failed", fs.ErrExist.Error(), "failed", "other error", "failed").Replace(seen)
}

// TestRootStaysInside: no name and no link leads out of it, and modes are exact.
func TestRootStaysInside(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "in"), 0o755), os.WriteFile(filepath.Join(dir, "out"), []byte("x"), 0o600))
	r, err := os.OpenRoot(filepath.Join(dir, "in"))
	must(t, err)
	defer r.Close()
	fsys := Root(r)
	must(t, fsys.Symlink("../out", "link"), fsys.Symlink("..", "up"), fsys.Mkdir("d", 0o700))
	newFile(t, fsys, "d/a", "y").Close()
	for what, err := range map[string]error{
		"open":    second(fsys.OpenFile("link", os.O_RDONLY, 0)),
		"create":  second(fsys.OpenFile("up/new", os.O_CREATE|os.O_WRONLY, 0o600)),
		"dots":    second(fsys.OpenFile("../out", os.O_RDONLY, 0)),
		"append":  second(fsys.OpenFile("d/a", os.O_APPEND|os.O_WRONLY, 0)),
		"rename":  fsys.Rename("d/a", "../b"),
		"link":    fsys.Link("up/out", "b"),
		"remove":  fsys.Remove("up/out"),
		"mkdir":   fsys.Mkdir("up/d", 0o700),
		"chmod":   fsys.Chmod("up/out", 0o644),
		"readdir": second(fsys.ReadDir("up")),
		"syncdir": fsys.SyncDir("up"),
	} {
		if err == nil {
			t.Errorf("%s went outside", what)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "in", "d", "a")); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if all, ok := fsys.(interface{ SyncAll() error }); ok {
		must(t, all.SyncAll())
	} else if runtime.GOOS == "linux" {
		t.Error("no SyncAll")
	}
}

func second[T any](_ T, err error) error { return err }

func newFile(t testing.TB, fsys FS, name, content string) File {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	put(t, f, content, 0)
	return f
}

func put(t testing.TB, f File, content string, off int64) {
	t.Helper()
	if _, err := f.WriteAt([]byte(content), off); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestHandlesOutliveNames(t *testing.T) {
	for _, fsys := range []FS{NewDisk(), &Faulty{FS: NewDisk()}} {
		f := newFile(t, fsys, "a", "one")
		g := newFile(t, fsys, "b", "two")
		must(t, fsys.Rename("a", "b"), fsys.Remove("b"))
		put(t, f, "1", 0)
		put(t, g, "2", 0)
		for file, want := range map[File]string{f: "1ne", g: "2wo"} {
			b := make([]byte, 3)
			if _, err := file.ReadAt(b, 0); err != nil || string(b) != want {
				t.Errorf("a removed file reads %q, %v", b, err)
			}
		}
		must(t, f.Close())
		if err := f.Sync(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Sync of a closed file: %v", err)
		}
	}
}

func TestSameFile(t *testing.T) {
	all := []FS{NewDisk(), &Faulty{FS: NewDisk()}}
	if runtime.GOOS != "windows" { // where an open file cannot be replaced
		all = append(all, inTemp{OS(), t.TempDir()})
	}
	for _, fsys := range all {
		f := newFile(t, fsys, "a", "x")
		must(t, fsys.Link("a", "b"), newFile(t, fsys, "c", "x").Close())
		stat := func(name string) fs.FileInfo {
			fi, err := fsys.Stat(name)
			must(t, err)
			return fi
		}
		open, err := f.Stat()
		must(t, err)
		if !fsys.SameFile(open, stat("a")) || !fsys.SameFile(stat("a"), stat("b")) || fsys.SameFile(stat("a"), stat("c")) {
			t.Error("SameFile is wrong")
		}
		must(t, fsys.Rename("c", "a"))
		if fsys.SameFile(open, stat("a")) {
			t.Error("a replaced file is said to be the same")
		}
		must(t, f.Close())
	}
}

// inTemp puts relative names into a directory of the system.
type inTemp struct {
	FS
	dir string
}

func (i inTemp) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	return i.FS.OpenFile(filepath.Join(i.dir, name), flag, perm)
}
func (i inTemp) Stat(name string) (fs.FileInfo, error) { return i.FS.Stat(filepath.Join(i.dir, name)) }
func (i inTemp) Lstat(name string) (fs.FileInfo, error) {
	return i.FS.Lstat(filepath.Join(i.dir, name))
}
func (i inTemp) Rename(a, b string) error {
	return i.FS.Rename(filepath.Join(i.dir, a), filepath.Join(i.dir, b))
}
func (i inTemp) Link(a, b string) error {
	return i.FS.Link(filepath.Join(i.dir, a), filepath.Join(i.dir, b))
}
func (i inTemp) Remove(name string) error { return i.FS.Remove(filepath.Join(i.dir, name)) }
func (i inTemp) Mkdir(name string, perm fs.FileMode) error {
	return i.FS.Mkdir(filepath.Join(i.dir, name), perm)
}
func (i inTemp) ReadDir(name string) ([]fs.DirEntry, error) {
	return i.FS.ReadDir(filepath.Join(i.dir, name))
}
func (i inTemp) SyncDir(name string) error { return i.FS.SyncDir(filepath.Join(i.dir, name)) }

func TestAppendFlagIsRefused(t *testing.T) {
	for _, fsys := range []FS{NewDisk(), OS()} {
		_, err := fsys.OpenFile(filepath.Join(t.TempDir(), "a"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil || !strings.Contains(err.Error(), "O_APPEND") {
			t.Errorf("%T: %v", fsys, err)
		}
	}
}

func TestWhatTheDiskRefuses(t *testing.T) {
	d := NewDisk()
	must(t, d.Mkdir("d", 0o700), d.Mkdir("d/e", 0o700))
	f := newFile(t, d, "a", "x")
	reader, err := d.OpenFile("a", os.O_RDONLY, 0)
	must(t, err)
	writer, err := d.OpenFile("a", os.O_WRONLY, 0)
	must(t, err)
	b := make([]byte, 1)
	refused := func(what string, err, want error) {
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	_, err = reader.WriteAt(b, 0)
	refused("a write of a reader", err, syscall.EBADF)
	_, err = writer.ReadAt(b, 0)
	refused("a read of a writer", err, syscall.EBADF)
	_, err = f.WriteAt(b, 1<<40)
	refused("a write far away", err, syscall.EFBIG)
	_, err = f.WriteAt(b, -1)
	refused("a write before the start", err, errNegative)
	_, err = f.ReadAt(b, -1)
	refused("a read before the start", err, errNegative)
	refused("a truncation below nothing", f.Truncate(-1), syscall.EINVAL)
	refused("a truncation of a reader", reader.Truncate(0), syscall.EINVAL)
	_, err = d.OpenFile("d", os.O_RDWR, 0)
	refused("opening a directory", err, syscall.EISDIR)
	_, err = d.OpenFile("a", os.O_RDWR|os.O_SYNC, 0)
	refused("an unknown flag", err, syscall.EINVAL)
	refused("a directory into itself", d.Rename("d", "d/e/f"), syscall.EINVAL)
	refused("syncing a file as a directory", d.SyncDir("a"), syscall.ENOTDIR)
	refused("removing a full directory", d.Remove("d"), fs.ErrExist)
	refused("no name", d.Remove(""), fs.ErrNotExist)
	_, err = d.ReadDir("b")
	refused("listing nothing", err, fs.ErrNotExist)
}
