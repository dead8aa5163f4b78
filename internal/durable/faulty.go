package durable

import (
	"io/fs"
	"sync"
	"time"
)

// Faulty is a file system that fails where Fault says, and remembers what was done.
// It is safe for concurrent use if Fault is, which is called outside of any lock:
// it may block, or look at the disk.
type Faulty struct {
	// FS is the file system below.
	FS FS

	// Fault is asked before each operation; an error from it is what the operation
	// returns. The operation is then not done, except that a
	// *ShortWrite puts some bytes, that a Close still gives back the handle, and
	// that on a Disk a failed Sync spoils what it should have made durable: a later
	// Sync succeeds, but the data may be lost all the same. Nil fails nothing. Not
	// to be changed while operations run.
	Fault func(op Op) error

	mu    sync.Mutex
	trace []traced
}

// traced is an operation and how it ended.
type traced struct {
	op  Op
	err error
}

// Trace returns a line for each operation so far, in the order in which they began:
// "write log 512+100", and, of one that failed, ": " and the error behind it.
func (f *Faulty) Trace() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	lines := make([]string, len(f.trace))
	for i, t := range f.trace {
		lines[i] = t.op.String()
		if t.err != nil {
			lines[i] += ": " + t.err.Error()
		}
	}
	return lines
}

// ask records an operation and returns its fault.
func (f *Faulty) ask(op Op) (i int, fault error) {
	f.mu.Lock()
	i = len(f.trace)
	f.trace = append(f.trace, traced{op: op})
	f.mu.Unlock()
	if f.Fault != nil {
		fault = f.Fault(op)
	}
	return i, fault
}

// ended records how the operation of a line ended, and returns that.
func (f *Faulty) ended(i int, err error) error {
	if err != nil {
		f.mu.Lock()
		f.trace[i].err = err
		f.mu.Unlock()
	}
	return err
}

// do does an operation unless it has a fault.
func (f *Faulty) do(op Op, below func() error) error {
	i, err := f.ask(op)
	if err == nil {
		err = below()
	}
	return f.ended(i, err)
}

// OpenFile asks for an Open, and opens a File whose operations ask as well.
func (f *Faulty) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	file := &faultyFile{fsys: f, name: name}
	err := f.do(Op{Kind: Open, Name: name}, func() (err error) {
		file.below, err = f.FS.OpenFile(name, flag, perm)
		return err
	})
	if err != nil {
		return nil, err
	}
	return file, nil
}

// Stat asks for a Stat.
func (f *Faulty) Stat(name string) (fi fs.FileInfo, err error) {
	err = f.do(Op{Kind: Stat, Name: name}, func() (err error) {
		fi, err = f.FS.Stat(name)
		return err
	})
	return fi, err
}

// Lstat asks for a Stat.
func (f *Faulty) Lstat(name string) (fi fs.FileInfo, err error) {
	err = f.do(Op{Kind: Stat, Name: name}, func() (err error) {
		fi, err = f.FS.Lstat(name)
		return err
	})
	return fi, err
}

// SameFile never fails.
func (f *Faulty) SameFile(a, b fs.FileInfo) bool { return f.FS.SameFile(a, b) }

// Rename asks for a Rename.
func (f *Faulty) Rename(oldname, newname string) error {
	return f.do(Op{Kind: Rename, Name: oldname, NewName: newname}, func() error {
		return f.FS.Rename(oldname, newname)
	})
}

// Link asks for a Link.
func (f *Faulty) Link(oldname, newname string) error {
	return f.do(Op{Kind: Link, Name: oldname, NewName: newname}, func() error {
		return f.FS.Link(oldname, newname)
	})
}

// Symlink asks for a Symlink.
func (f *Faulty) Symlink(target, name string) error {
	return f.do(Op{Kind: Symlink, Name: name, NewName: target}, func() error {
		return f.FS.Symlink(target, name)
	})
}

// Readlink asks for a Readlink.
func (f *Faulty) Readlink(name string) (target string, err error) {
	err = f.do(Op{Kind: Readlink, Name: name}, func() (err error) {
		target, err = f.FS.Readlink(name)
		return err
	})
	return target, err
}

// Chmod asks for a Chmod.
func (f *Faulty) Chmod(name string, mode fs.FileMode) error {
	return f.do(Op{Kind: Chmod, Name: name}, func() error { return f.FS.Chmod(name, mode) })
}

// Chtimes asks for a Chtimes.
func (f *Faulty) Chtimes(name string, mtime time.Time) error {
	return f.do(Op{Kind: Chtimes, Name: name}, func() error { return f.FS.Chtimes(name, mtime) })
}

// Remove asks for a Remove.
func (f *Faulty) Remove(name string) error {
	return f.do(Op{Kind: Remove, Name: name}, func() error { return f.FS.Remove(name) })
}

// Mkdir asks for a Mkdir.
func (f *Faulty) Mkdir(name string, perm fs.FileMode) error {
	return f.do(Op{Kind: Mkdir, Name: name}, func() error { return f.FS.Mkdir(name, perm) })
}

// ReadDir asks for a ReadDir.
func (f *Faulty) ReadDir(name string) (entries []fs.DirEntry, err error) {
	err = f.do(Op{Kind: ReadDir, Name: name}, func() (err error) {
		entries, err = f.FS.ReadDir(name)
		return err
	})
	return entries, err
}

// SyncDir asks for a SyncDir.
func (f *Faulty) SyncDir(name string) error {
	return f.do(Op{Kind: SyncDir, Name: name}, func() error { return f.FS.SyncDir(name) })
}
