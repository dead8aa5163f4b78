package durable

import (
	"io"
	"io/fs"
	"os"
)

// An appender appends by itself, or opens files that do. OS and Faulty have them;
// on any other file system nobody else writes, so that the end can be looked up.
type (
	appender interface {
		append(p []byte) (int64, int, error)
	}
	appendOpener interface {
		openAppend(name string, flag int, perm fs.FileMode) (File, error)
	}
)

// OpenAppend opens a file that Append is going to write to. With os.O_CREATE in
// flag it makes the file, of exactly this mode, where it is missing.
func OpenAppend(fsys FS, name string, flag int, perm fs.FileMode) (File, error) {
	if o, ok := fsys.(appendOpener); ok {
		return o.openAppend(name, flag, perm)
	}
	return fsys.OpenFile(name, os.O_RDWR|flag, perm)
}

// Append writes p behind whatever the file ends with at that moment, and tells
// where it went and how many bytes of it. Where several programs append to one
// file, the system keeps their writes apart: none overwrites another.
func Append(f File, p []byte) (at int64, n int, err error) {
	if a, ok := f.(appender); ok {
		return a.append(p)
	}
	fi, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	n, err = f.WriteAt(p, fi.Size())
	return fi.Size(), n, err
}

func (osFS) openAppend(name string, flag int, perm fs.FileMode) (File, error) {
	if flag&os.O_CREATE != 0 {
		flag |= noFollow // what is made beside a log must not be somebody's other file
	}
	f, err := open(name, os.O_RDWR|os.O_APPEND|flag, perm)
	if err != nil {
		return nil, err // not f: a nil *os.File would be a File that is not nil
	}
	return appendFile{f}, nil
}

func (f *Faulty) openAppend(name string, flag int, perm fs.FileMode) (File, error) {
	file := &faultyFile{fsys: f, name: name}
	err := f.do(Op{Kind: Open, Name: name}, func() (err error) {
		file.below, err = OpenAppend(f.FS, name, flag, perm)
		return err
	})
	if err != nil {
		return nil, err
	}
	return file, nil
}

// append asks for a Write at the end, as the file has it before.
func (f *faultyFile) append(p []byte) (at int64, n int, err error) {
	fi, err := f.below.Stat()
	if err != nil {
		return 0, 0, err
	}
	i, fault := f.fsys.ask(Op{Kind: Write, Name: f.name, Offset: fi.Size(), Len: len(p)})
	if fault == nil {
		at, n, err = Append(f.below, p)
		return at, n, f.fsys.ended(i, err)
	}
	short, err := shortened(fault, len(p))
	at = fi.Size()
	if short > 0 {
		var belowErr error
		if at, n, belowErr = Append(f.below, p[:short]); belowErr != nil {
			err = belowErr
		}
	}
	return at, n, f.fsys.ended(i, err)
}

// appendFile is an os.File that was opened with O_APPEND; its WriteAt fails.
type appendFile struct{ *os.File }

func (f appendFile) append(p []byte) (at int64, n int, err error) {
	n, err = f.Write(p)
	// The position of such a file is behind what it wrote last.
	end, seekErr := f.Seek(0, io.SeekCurrent)
	if err == nil {
		err = seekErr
	}
	return end - int64(n), n, err
}
