package durable

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// Root returns the directory of an os.Root as a file system of its own: names are
// relative to it, and none leads out of it, whatever links there are or come. It lives
// as long as the os.Root, which the caller closes.
func Root(r *os.Root) FS { return rootFS{r} }

type rootFS struct{ r *os.Root }

func (s rootFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if flag&os.O_APPEND != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errAppend}
	}
	f, err := s.open(name, flag, perm)
	if err != nil {
		return nil, err // not f: a nil *os.File would be a File that is not nil
	}
	return f, nil
}

// open is that of OS: see there.
func (s rootFS) open(name string, flag int, perm fs.FileMode) (f *os.File, err error) {
	if flag&os.O_CREATE == 0 {
		return s.r.OpenFile(name, flag|nonBlock, 0)
	}
	for range 8 {
		f, err = s.create(name, flag|os.O_EXCL, perm)
		if flag&os.O_EXCL != 0 || !errors.Is(err, fs.ErrExist) {
			return f, err
		}
		f, err = s.r.OpenFile(name, flag&^os.O_CREATE, 0)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return nil, err
}

func (s rootFS) create(name string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := s.r.OpenFile(name, flag, perm.Perm())
	if err != nil {
		return nil, err
	}
	if err = exactly(f, perm); err != nil {
		return nil, errors.Join(err, f.Close(), s.r.Remove(name))
	}
	return f, nil
}

func (s rootFS) Mkdir(name string, perm fs.FileMode) error {
	if err := s.r.Mkdir(name, perm.Perm()); err != nil {
		return err
	}
	fi, err := s.r.Lstat(name)
	if err == nil && fi.Mode().Perm() != perm.Perm() {
		err = modeless(s.r.Chmod(name, perm.Perm()))
	}
	if err != nil {
		return errors.Join(err, s.r.Remove(name))
	}
	return nil
}

func (s rootFS) ReadDir(name string) ([]fs.DirEntry, error) {
	d, err := s.r.Open(name)
	if err != nil {
		return nil, err
	}
	list, err := d.ReadDir(-1)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, errors.Join(err, d.Close())
}

func (s rootFS) SyncDir(name string) error {
	return syncDir(func() (*os.File, error) { return s.r.Open(name) })
}

func (s rootFS) Stat(name string) (fs.FileInfo, error)     { return s.r.Stat(name) }
func (s rootFS) Lstat(name string) (fs.FileInfo, error)    { return s.r.Lstat(name) }
func (s rootFS) SameFile(a, b fs.FileInfo) bool            { return os.SameFile(a, b) }
func (s rootFS) Rename(oldname, newname string) error      { return s.r.Rename(oldname, newname) }
func (s rootFS) Link(oldname, newname string) error        { return s.r.Link(oldname, newname) }
func (s rootFS) Symlink(target, name string) error         { return s.r.Symlink(target, name) }
func (s rootFS) Readlink(name string) (string, error)      { return s.r.Readlink(name) }
func (s rootFS) Chmod(name string, mode fs.FileMode) error { return s.r.Chmod(name, mode) }
func (s rootFS) Chtimes(name string, t time.Time) error    { return s.r.Chtimes(name, time.Time{}, t) }
func (s rootFS) Remove(name string) error                  { return s.r.Remove(name) }
