package store

import (
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ReadDir lists a directory in the order of names, leaving its access time alone
// where the system allows it.
func ReadDir(path string) ([]os.DirEntry, error) {
	d, err := openQuietly(path)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	list, err := d.ReadDir(-1)
	sortByName(list)
	return list, err
}

func sortByName(list []os.DirEntry) {
	slices.SortFunc(list, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
}

// A LogFile is a file whose name is that of a log or of its archive.
type LogFile struct {
	Path string
	Info fs.FileInfo // of what a link leads to
}

// LogFiles gives the logs in a directory and in the directories directly below it, in
// the order of names: regular files that end in .jsonl, and archives of such whose
// log does not stand beside them. What Trash has put away beside a log is no session
// any more and left out. A directory that is missing has none. One that cannot be
// read comes with its path and the error, and the others follow.
func LogFiles(dir string) iter.Seq2[LogFile, error] {
	return func(yield func(LogFile, error) bool) { logFiles(dir, true, yield) }
}

func logFiles(dir string, deeper bool, yield func(LogFile, error) bool) bool {
	list, err := ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		return yield(LogFile{Path: dir}, err)
	}
	for _, d := range list {
		path := filepath.Join(dir, d.Name())
		if deeper && isDir(d, path) {
			if d.Name() != besideTrash && !logFiles(path, false, yield) {
				return false
			}
		} else if info := logInfo(path); info != nil && !yield(LogFile{path, info}, nil) {
			return false
		}
	}
	return true
}

// isDir tells whether an entry is a directory, or a link to one: people link the
// directory of a project that they moved.
func isDir(d fs.DirEntry, path string) bool {
	if d.Type()&fs.ModeSymlink == 0 {
		return d.IsDir()
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// logInfo describes a log, or an archive that stands for its log; of any other file
// it gives nil.
func logInfo(path string) fs.FileInfo {
	log, archived := strings.CutSuffix(path, ArchiveSuffix)
	if !strings.HasSuffix(log, logSuffix) || archived && regular(log) != nil {
		return nil // of a log and its archive the log is the newer one
	}
	return regular(path)
}

// regular describes a regular file, or one that a link leads to. Opening a pipe would
// wait for its other end.
func regular(path string) fs.FileInfo {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return info
}
