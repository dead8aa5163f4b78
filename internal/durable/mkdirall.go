package durable

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
)

// MkdirAll makes a directory and its missing parents, each with exactly this mode,
// and returns nil once they survive a power cut. What exists is left as it is.
func MkdirAll(fsys FS, dir string, perm fs.FileMode) error {
	dir = filepath.Clean(dir)
	parent := filepath.Dir(dir)
	fi, err := fsys.Stat(dir)
	switch {
	case err == nil && !fi.IsDir():
		return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
	case err == nil:
		return syncFound(fsys, dir, parent)
	case !errors.Is(err, fs.ErrNotExist) || parent == dir:
		return err
	}
	if err := MkdirAll(fsys, parent, perm); err != nil {
		return err
	}
	return mkdir(fsys, dir, parent, perm)
}

// mkdir makes one directory. Each parent is synced before anything is made below,
// so that only the last directory of a call that was cut short can be uncertain.
func mkdir(fsys FS, dir, parent string, perm fs.FileMode) error {
	err := fsys.Mkdir(dir, perm)
	if errors.Is(err, fs.ErrExist) {
		// Another process was faster. It may die before it syncs.
		fi, statErr := fsys.Stat(dir)
		if statErr != nil || !fi.IsDir() {
			return err
		}
		err = nil
	}
	if err != nil {
		return err
	}
	return fsys.SyncDir(parent)
}

// syncFound syncs the parent of a directory that was there: whoever made it may
// have died before its sync, and what is written below would be lost with it. A
// parent that we may not open is not ours, and neither is what happens in it.
func syncFound(fsys FS, dir, parent string) error {
	if parent == dir {
		return nil
	}
	if err := fsys.SyncDir(parent); !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}
