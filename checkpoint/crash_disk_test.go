package checkpoint

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/sessctl/sessctl/internal/durable"
	"github.com/sessctl/sessctl/sessiontree"
)

// subtree is a directory of a file system as one of its own, as durable.Root is of the
// real one.
type subtree struct {
	durable.FS
	dir string
}

func (b subtree) at(name string) string { return path.Join(b.dir, name) }

func (b subtree) OpenFile(name string, flag int, perm fs.FileMode) (durable.File, error) {
	return b.FS.OpenFile(b.at(name), flag, perm)
}
func (b subtree) Stat(name string) (fs.FileInfo, error)          { return b.FS.Stat(b.at(name)) }
func (b subtree) Lstat(name string) (fs.FileInfo, error)         { return b.FS.Lstat(b.at(name)) }
func (b subtree) Rename(from, to string) error                   { return b.FS.Rename(b.at(from), b.at(to)) }
func (b subtree) Link(from, to string) error                     { return b.FS.Link(b.at(from), b.at(to)) }
func (b subtree) Symlink(target, name string) error              { return b.FS.Symlink(target, b.at(name)) }
func (b subtree) Readlink(name string) (string, error)           { return b.FS.Readlink(b.at(name)) }
func (b subtree) Chmod(name string, mode fs.FileMode) error      { return b.FS.Chmod(b.at(name), mode) }
func (b subtree) Chtimes(name string, mtime time.Time) error     { return b.FS.Chtimes(b.at(name), mtime) }
func (b subtree) Remove(name string) error                       { return b.FS.Remove(b.at(name)) }
func (b subtree) Mkdir(name string, perm fs.FileMode) error      { return b.FS.Mkdir(b.at(name), perm) }
func (b subtree) ReadDir(name string) (_ []fs.DirEntry, _ error) { return b.FS.ReadDir(b.at(name)) }
func (b subtree) SyncDir(name string) error                      { return b.FS.SyncDir(b.at(name)) }

// wholeTree is a file system that can make everything durable at once.
type wholeTree struct {
	subtree
	disk *durable.Disk
}

// SyncAll is one operation: it is done, or it fails.
func (w wholeTree) SyncAll() error {
	if err := w.SyncDir("."); err != nil {
		return err
	}
	syncWhole(w.disk, "/")
	return nil
}

// syncWhole makes everything below a directory durable.
func syncWhole(d *durable.Disk, dir string) {
	list, err := d.ReadDir(dir)
	for _, e := range list {
		name := path.Join(dir, e.Name())
		switch {
		case e.IsDir():
			syncWhole(d, name)
		case e.Type().IsRegular():
			f, err := d.OpenFile(name, os.O_RDWR, 0)
			must(err)
			must(f.Sync())
			must(f.Close())
		}
	}
	must(err)
	must(d.SyncDir(dir))
}

// must stops a test that cannot go on, also inside of a call to a Fault.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// treeDirs are the directories of a workspace on a simulated disk.
type treeDirs struct{ root subtree }

func (d treeDirs) open(dir string) (durable.FS, func(), error) {
	at := "."
	for _, name := range strings.Split(dir, "/") {
		at = path.Join(at, name)
		info, err := d.root.Lstat(at)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			err = errLink
		}
		if err == nil && !info.IsDir() {
			err = syscall.ENOTDIR
		}
		if err != nil {
			return nil, nil, &fs.PathError{Op: "open", Path: dir, Err: err}
		}
	}
	return subtree{d.root.FS, d.root.at(dir)}, func() {}, nil
}

// A computer is a disk with a workspace and a session, and which start of the machine this
// is.
type computer struct {
	disk    *durable.Disk
	boots   int
	started time.Time
	log     string // of the session
	whole   bool   // the store's file system can be synced as a whole
}

// Where things are on a computer's disk.
const (
	workDir  = "/w"
	homeDir  = "/s"
	blobsDir = "/s/blobs"
)

func (c computer) killed() computer {
	c.disk = c.disk.Kill()
	return c
}

// booted is the computer when it starts again with the disk that a power cut left.
func (c computer) booted(d *durable.Disk) computer {
	c.disk, c.boots, c.started = d, c.boots+1, d.Now()
	return c
}

func (c computer) crashed(r *rand.Rand) computer { return c.booted(c.disk.Crash(r)) }

func (c computer) options(fsys durable.FS) *sessiontree.Options {
	return sessiontree.Options{}.In(fsys, sessiontree.Boot{ID: fmt.Sprint("boot ", c.boots), Started: c.started, Now: c.disk.Now})
}

// put makes a file with its parents, as any program does.
func (c computer) put(name, text string, mode fs.FileMode) {
	name = path.Join(workDir, name)
	c.folder(path.Dir(name))
	f, err := c.disk.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, mode)
	must(err)
	_, err = f.WriteAt([]byte(text), 0)
	must(err)
	must(f.Close())
	must(c.disk.Chmod(name, mode))
}

func (c computer) folder(dir string) {
	if _, err := c.disk.Stat(dir); err != nil {
		c.folder(path.Dir(dir))
		must(c.disk.Mkdir(dir, 0o755))
	}
}

// drop removes a path with all that is in it.
func (c computer) drop(name string) {
	full := path.Join(workDir, name)
	list, _ := c.disk.ReadDir(full)
	for _, e := range list {
		c.drop(path.Join(name, e.Name()))
	}
	must(c.disk.Remove(full))
}

func (c computer) link(target, name string) {
	c.folder(path.Dir(path.Join(workDir, name)))
	must(c.disk.Symlink(target, path.Join(workDir, name)))
}

func (c computer) chmod(name string, mode fs.FileMode) {
	must(c.disk.Chmod(path.Join(workDir, name), mode))
}

// files tells what every path of the workspace is.
func (c computer) files() map[string]string {
	files := map[string]string{}
	c.list(".", files)
	return files
}

func (c computer) list(dir string, files map[string]string) {
	list, err := c.disk.ReadDir(path.Join(workDir, dir))
	must(err)
	for _, e := range list {
		name := path.Join(dir, e.Name())
		info, err := e.Info()
		must(err)
		switch {
		case e.IsDir():
			files[name] = "directory " + FormatMode(info.Mode())
			c.list(name, files)
		case e.Type().IsRegular():
			data, err := readFile(c.disk, path.Join(workDir, name), 1<<20)
			must(err)
			files[name] = FormatMode(info.Mode()) + " " + string(data)
		default:
			target, err := c.disk.Readlink(path.Join(workDir, name))
			must(err)
			files[name] = "-> " + target
		}
	}
}
