package durable

import (
	"io"
	"io/fs"
	"time"
)

// A File is an open file, written and read by position. An *os.File is one.
//
// Operations on a closed File fail with an error that is fs.ErrClosed. A File
// outlives its name: after a Remove or Rename it is still the same file.
type File interface {
	// ReadAt reads as io.ReaderAt says: fewer bytes than asked for come with an
	// error, io.EOF at the file's end.
	io.ReaderAt

	// WriteAt writes at a position, which may lie beyond the end; the gap reads as
	// zeros. On an error some of the bytes may have been written: look at Stat.
	io.WriterAt

	// Truncate cuts the file, or extends it with zeros.
	Truncate(size int64) error

	// Sync returns nil once what was written survives a power cut. Its failure is
	// final, see the package comment.
	Sync() error

	Stat() (fs.FileInfo, error)

	// Close gives the handle back. It makes nothing durable.
	Close() error
}

// FS is a file system. Errors are *fs.PathError or *os.LinkError around an error
// that is fs.ErrExist, fs.ErrNotExist or the system's own.
type FS interface {
	// OpenFile opens a file as os.OpenFile does, but for two things: perm is the
	// exact mode of a file that it creates, and os.O_APPEND is refused, since a
	// File is written by position. A dangling symbolic link is not created through.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)

	// Stat describes what a name leads to, following symbolic links.
	Stat(name string) (fs.FileInfo, error)

	// Lstat describes the name itself, so that a dangling symbolic link is there.
	Lstat(name string) (fs.FileInfo, error)

	// SameFile tells whether two descriptions, from Stat of this FS or of its
	// Files, are of one file, whatever its names.
	SameFile(a, b fs.FileInfo) bool

	// Rename moves a file, atomically, in place of a file that has the new name.
	Rename(oldname, newname string) error

	// Link gives a file another name, and fails with fs.ErrExist where that exists.
	Link(oldname, newname string) error

	// Symlink makes a symbolic link.
	Symlink(target, name string) error

	// Readlink gives what a symbolic link leads to.
	Readlink(name string) (string, error)

	// Chmod sets the mode of a file or directory. It is not certain before the next
	// Sync of the file.
	Chmod(name string, mode fs.FileMode) error

	// Chtimes sets when a file was last changed.
	Chtimes(name string, mtime time.Time) error

	// Remove removes a file's name or an empty directory.
	Remove(name string) error

	// Mkdir makes a directory of exactly this mode.
	Mkdir(name string, perm fs.FileMode) error

	// ReadDir lists a directory, sorted by name.
	ReadDir(name string) ([]fs.DirEntry, error)

	// SyncDir makes creations, renames and removals in a directory durable.
	SyncDir(name string) error
}
