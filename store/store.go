// Package store defines where session logs live, as bytes that are read back
// exactly as they were written.
//
// A log is addressed by byte offset. [OpenFile] opens one that is a file; [Spool]
// makes one of a stream, such as standard input. Readers of this module need no
// more than a [Source], so that archives and other stores are read by the same
// code. A [Log] can be appended to; [OpenFileLog] opens one that is a file. Logs
// elsewhere implement Log and [Store], and prove it by package storetest.
//
// Programs do not write logs through this package: sessiontree does, which knows
// what is in them and holds the writer's lock.
package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A Source is the reading side of a log. Its methods may be called concurrently.
type Source interface {
	// ReadAt reads as io.ReaderAt says: fewer bytes than asked for come with an
	// error, which is io.EOF at the log's end.
	io.ReaderAt
	// Size is the log's length in bytes now. A log that is being written grows.
	Size() (int64, error)
	// Close releases what the source holds. Later reads fail.
	Close() error
}

// ErrNotALog is returned for what cannot be a log: a directory, a device.
var ErrNotALog = errors.New("not a log")

// A File is a log in a file of the operating system. It is read with pread, never
// mapped: a log may be cut under its reader, which a mapping answers with a fault.
type File struct{ f *os.File }

// OpenFile opens the log at path for reading. It takes no lock, and where the
// system allows it leaves even the access time as it was. A named pipe is read to
// its end into a temporary file, which goes when it is closed. Of an archive the log
// in it is given, see [OpenArchive].
func OpenFile(path string) (Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
	case mode&fs.ModeNamedPipe != 0:
		return openPipe(path)
	default:
		return nil, fmt.Errorf("%s is a %s, %w", path, describe(mode), ErrNotALog)
	}
	f, err := openQuietly(path)
	if err != nil {
		return nil, err
	}
	src, err := transparent(&File{f}, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return src, nil
}

func describe(mode fs.FileMode) string {
	if mode.IsDir() {
		return "directory (sessctl ls lists the sessions in it)"
	}
	return "device or socket"
}

func openPipe(path string) (Source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Spool(f)
}

// ReadAt implements Source.
func (l *File) ReadAt(p []byte, off int64) (int, error) { return l.f.ReadAt(p, off) }

// Size implements Source.
func (l *File) Size() (int64, error) { return sizeOf(l) }

// sizeOf is how long an open file is now, whoever wrote it.
func sizeOf(f interface{ Stat() (fs.FileInfo, error) }) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Stat describes the open file, whatever stands at its path by now.
func (l *File) Stat() (fs.FileInfo, error) { return l.f.Stat() }

// Close implements Source.
func (l *File) Close() error { return l.f.Close() }

// Spool reads r to its end into a temporary file that has no name (where the
// system allows that), since a log's tail is read first and its bodies at random.
// A regular file is used as it is. Of an archive the log in it is given.
func Spool(r io.Reader) (Source, error) {
	src, err := spool(r)
	if err != nil {
		return nil, err
	}
	return transparent(src, "")
}

func spool(r io.Reader) (Source, error) {
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return &File{f}, nil
		}
	}
	f, err := os.CreateTemp("", "sessctl-*.jsonl")
	if err != nil {
		return nil, err
	}
	s := &spooled{File{f}, os.Remove(f.Name()) != nil}
	if _, err := io.Copy(f, r); err != nil {
		s.Close()
		return nil, fmt.Errorf("store: cannot keep the stream in %s: %w", filepath.Dir(f.Name()), err)
	}
	return s, nil
}

// A spooled log is a temporary file; named tells that it still has to be removed.
type spooled struct {
	File
	named bool
}

func (s *spooled) Close() error {
	err := s.File.Close()
	if s.named {
		return errors.Join(err, os.Remove(s.f.Name()))
	}
	return err
}
