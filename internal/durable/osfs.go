package durable

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"time"
)

// OS returns the real file system. SyncDir does nothing where the system cannot
// sync a directory (Windows, and file systems that refuse it): there is then no way
// to ask for more.
//
// On Windows a file that is open can be neither removed nor renamed, and of a mode
// only whether the file may be written is kept.
func OS() FS { return osFS{} }

type osFS struct{}

// errAppend answers os.O_APPEND: os.File then refuses every WriteAt, much later.
var errAppend = errors.New("os.O_APPEND is not supported: files are written by position")

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if flag&os.O_APPEND != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errAppend}
	}
	f, err := open(name, flag, perm)
	if err != nil {
		return nil, err // not f: a nil *os.File would be a File that is not nil
	}
	return f, nil
}

// open opens or creates, and sets the mode only of what it created: so it has to
// know which it did, and asks for one or the other. A file that comes or goes in
// between is met in the next round; one that keeps doing so is a dangling link.
func open(name string, flag int, perm fs.FileMode) (f *os.File, err error) {
	if flag&os.O_CREATE == 0 {
		return os.OpenFile(name, flag, 0)
	}
	for range 8 {
		f, err = create(name, flag|os.O_EXCL, perm)
		if flag&os.O_EXCL != 0 || !errors.Is(err, fs.ErrExist) {
			return f, err
		}
		f, err = os.OpenFile(name, flag&^os.O_CREATE, 0)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return nil, err
}

// create makes a file of exactly this mode. The umask only takes bits away, so that
// the file is at no moment open to more readers than asked for.
func create(name string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(name, flag, perm.Perm())
	if err != nil {
		return nil, err
	}
	if err = exactly(f, perm); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(name))
	}
	return f, nil
}

// exactly gives a file that was just made its mode, whatever the umask.
func exactly(f *os.File, perm fs.FileMode) error {
	fi, err := f.Stat()
	if err == nil && fi.Mode().Perm() != perm.Perm() {
		err = modeless(f.Chmod(perm.Perm()))
	}
	return err
}

// modeless forgives a change of mode that the file system does not know at all.
// One that it knows and refuses is an error: the file would be open to others.
func modeless(err error) error {
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

func (osFS) Mkdir(name string, perm fs.FileMode) error {
	if err := os.Mkdir(name, perm.Perm()); err != nil {
		return err
	}
	fi, err := os.Lstat(name)
	if err == nil && fi.Mode().Perm() != perm.Perm() {
		err = modeless(os.Chmod(name, perm.Perm()))
	}
	if err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

func (osFS) SyncDir(name string) error {
	return syncDir(func() (*os.File, error) { return os.Open(name) })
}

func syncDir(open func() (*os.File, error)) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := open()
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

func (osFS) Stat(name string) (fs.FileInfo, error)      { return os.Stat(name) }
func (osFS) Lstat(name string) (fs.FileInfo, error)     { return os.Lstat(name) }
func (osFS) SameFile(a, b fs.FileInfo) bool             { return os.SameFile(a, b) }
func (osFS) Rename(oldname, newname string) error       { return os.Rename(oldname, newname) }
func (osFS) Link(oldname, newname string) error         { return os.Link(oldname, newname) }
func (osFS) Symlink(target, name string) error          { return os.Symlink(target, name) }
func (osFS) Readlink(name string) (string, error)       { return os.Readlink(name) }
func (osFS) Chmod(name string, mode fs.FileMode) error  { return os.Chmod(name, mode) }
func (osFS) Chtimes(name string, t time.Time) error     { return os.Chtimes(name, time.Time{}, t) }
func (osFS) Remove(name string) error                   { return os.Remove(name) }
func (osFS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
