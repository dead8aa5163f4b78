package store

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// SideFiles lists what belongs to the log at path and is there: its lock file, what
// a repair saved, and with omp oh-my-pi's locks and the directory in which that
// keeps the session's artifacts. The log itself is not among them. An archive whose
// log is there as well has none: they are the log's.
func SideFiles(path string, omp bool) []string {
	log := strings.TrimSuffix(path, ArchiveSuffix)
	if _, err := os.Lstat(log); err == nil && log != path {
		return nil
	}
	dir, base := filepath.Split(log)
	candidates := []string{log + ".lock", log + ".damaged"}
	if name, ok := strings.CutSuffix(base, ".jsonl"); omp && ok && name != "" {
		candidates = append(candidates, dir+"."+base+".lock", dir+"."+base+".lock.os", dir+name)
	}
	var list []string
	for _, p := range candidates {
		if _, err := os.Lstat(p); err == nil {
			list = append(list, p)
		}
	}
	return list
}

// Trash moves a log and files that belong to it, as SideFiles lists them, into the user's trash, from where file
// managers put them back (freedesktop.org's trash specification). Where the trash
// is on another file system they go into a directory `.trash` beside the log.
// Nothing is overwritten. It returns where the log is now. The caller holds the
// writer's lock.
func Trash(path string, side []string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	t, err := homeTrash()
	var to string
	if err == nil {
		to, err = t.put(path)
	}
	if errors.Is(err, syscall.EXDEV) || errors.Is(err, errNoTrash) {
		t = trash{files: filepath.Join(filepath.Dir(path), besideTrash)}
		to, err = t.put(path)
	}
	if err != nil {
		return "", fmt.Errorf("cannot move %s into the trash: %w", path, err)
	}
	for _, p := range side {
		abs, e := filepath.Abs(p)
		if e == nil {
			_, e = t.put(abs)
		}
		if e != nil {
			err = errors.Join(err, fmt.Errorf("cannot move %s into the trash: %w", p, e))
		}
	}
	return to, err
}

// besideTrash is the directory for what no trash of the user's takes.
const besideTrash = ".trash"

// errNoTrash: there is no home directory to have one.
var errNoTrash = errors.New("no trash")

// A trash is a directory for files and, as the specification has it, one for where
// they came from; without the second it is a plain directory.
type trash struct{ files, info string }

func homeTrash() (trash, error) {
	data := os.Getenv("XDG_DATA_HOME")
	if data == "" {
		home := os.Getenv("HOME")
		if home == "" {
			return trash{}, errNoTrash
		}
		data = filepath.Join(home, ".local", "share")
	}
	return trash{filepath.Join(data, "Trash", "files"), filepath.Join(data, "Trash", "info")}, nil
}

// put moves a file or directory into the trash, under a name that is free.
func (t trash) put(path string) (string, error) {
	for _, dir := range []string{t.files, t.info} {
		if dir != "" {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return "", err
			}
		}
	}
	base := filepath.Base(path)
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s.%d", base, n)
		}
		to := filepath.Join(t.files, name)
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		release, err := t.describe(name, path)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		if err := os.Rename(path, to); err != nil {
			release()
			return "", err
		}
		return to, nil
	}
}

// describe writes down where a file came from, which also takes its name.
func (t trash) describe(name, path string) (undo func(), err error) {
	if t.info == "" {
		return func() {}, nil
	}
	at := filepath.Join(t.info, name+".trashinfo")
	f, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(f, "[Trash Info]\nPath=%s\nDeletionDate=%s\n", (&url.URL{Path: path}).EscapedPath(), time.Now().Format("2006-01-02T15:04:05"))
	if err := errors.Join(err, f.Close()); err != nil {
		os.Remove(at)
		return nil, err
	}
	return func() { os.Remove(at) }, nil
}
