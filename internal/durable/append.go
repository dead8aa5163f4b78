package durable

import (
	"io"
	"io/fs"
	"os"
)

// OpenAppend opens a file that Append is going to write to. With os.O_CREATE in
// flag it makes the file, of exactly this mode, where it is missing.
func OpenAppend(fsys FS, name string, flag int, perm fs.FileMode) (File, error) {
	if _, ok := fsys.(osFS); !ok {
		return fsys.OpenFile(name, os.O_RDWR|flag, perm)
	}
	f, err := open(name, os.O_RDWR|os.O_APPEND|flag, perm)
	if err != nil {
		return nil, err // not f: a nil *os.File would be a File that is not nil
	}
	return appendFile{f}, nil
}

// Append writes p behind whatever the file ends with at that moment, and tells
// where it went and how many bytes of it. Where several programs append to one
// file, the system keeps their writes apart: none overwrites another.
//
// On a file system that is no OS nobody else writes, so that the end can be looked
// up first.
func Append(f File, p []byte) (at int64, n int, err error) {
	if f, ok := f.(appendFile); ok {
		return f.append(p)
	}
	fi, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	n, err = f.WriteAt(p, fi.Size())
	return fi.Size(), n, err
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
