package durable

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// certainty says what is known of a change of a file.
type certainty uint8

const (
	dirty   certainty = iota // the next Sync makes it certain
	spoiled                  // a Sync of it failed; it counts as clean, and no Sync makes it certain
	certain                  // synced, but on top of something spoiled
)

// A change is one write or truncation since the file was last synced.
type change struct {
	certainty certainty
	size      int64     // of the file after it, or -1 if it left the size alone
	first     int       // the first sector that it changed
	sectors   []*sector // what those sectors hold after it, whole; nil for zeros
}

// diskFile is an open file of a Disk.
type diskFile struct {
	disk          *Disk
	inode         *inode
	name          string
	reads, writes bool
	closed        bool
}

// maxSize keeps a wrong offset from taking all memory.
const maxSize = 1 << 32

// begin locks the disk for an operation of an open file; the caller unlocks it.
func (f *diskFile) begin() (err error) {
	f.disk.mu.Lock()
	if f.closed {
		err = fs.ErrClosed
	}
	return err
}

var errNegative = errors.New("negative offset")

func (f *diskFile) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.begin()
	defer f.disk.mu.Unlock()
	switch {
	case err != nil:
	case off < 0:
		err = errNegative
	case !f.reads && len(p) > 0:
		err = syscall.EBADF
	default:
		if n = f.inode.now.readAt(p, off); n < len(p) {
			return n, io.EOF // as it is, which callers compare with
		}
	}
	return n, pathError("read", f.name, err)
}

func (f *diskFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.begin()
	defer f.disk.mu.Unlock()
	switch {
	case err != nil:
	case off < 0:
		err = errNegative
	case len(p) == 0:
	case !f.writes:
		err = syscall.EBADF
	case off+int64(len(p)) > maxSize:
		err = syscall.EFBIG
	default:
		f.disk.write(f.inode, p, off)
		n = len(p)
	}
	return n, pathError("write", f.name, err)
}

func (f *diskFile) Truncate(size int64) error {
	err := f.begin()
	defer f.disk.mu.Unlock()
	switch {
	case err != nil:
	case size < 0 || !f.writes:
		err = syscall.EINVAL
	case size > maxSize:
		err = syscall.EFBIG
	default:
		f.disk.truncate(f.inode, size)
	}
	return pathError("truncate", f.name, err)
}

func (f *diskFile) Sync() error {
	err := f.begin()
	defer f.disk.mu.Unlock()
	if err == nil {
		f.inode.sync()
	}
	return pathError("sync", f.name, err)
}

func (f *diskFile) Stat() (fs.FileInfo, error) {
	err := f.begin()
	defer f.disk.mu.Unlock()
	if err != nil {
		return nil, pathError("stat", f.name, err)
	}
	return f.inode.info(path.Base(filepath.ToSlash(f.name))), nil
}

func (f *diskFile) Close() error {
	err := f.begin()
	defer f.disk.mu.Unlock()
	f.closed = true
	return pathError("close", f.name, err)
}

// spoil does what a failed fsync does on Linux: what was to be written counts as
// clean, stays readable, and may or may not have reached the disk.
func (f *diskFile) spoil() {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.inode.settle(spoiled)
}

// settle says what is known of the dirty changes from now on.
func (n *inode) settle(c certainty) {
	for i := range n.changes {
		if n.changes[i].certainty == dirty {
			n.changes[i].certainty = c
		}
	}
}

func (n *inode) sync() {
	if slices.ContainsFunc(n.changes, func(c change) bool { return c.certainty == spoiled }) {
		n.settle(certain)
		// The size is the inode's, which this sync wrote, whatever became of the data.
		n.changes = append(n.changes, change{certainty: certain, size: n.now.size, first: len(n.now.sectors)})
		return
	}
	if len(n.changes) > 0 {
		n.synced, n.shared, n.changes = n.now, true, n.changes[:0]
	}
}

// own makes the sectors this file's, before it writes to the slice.
func (n *inode) own() {
	if n.shared {
		n.now.sectors, n.shared = slices.Clone(n.now.sectors), false
	}
}

func (d *Disk) write(n *inode, p []byte, off int64) {
	c := change{size: -1}
	n.own()
	c.first, c.sectors = n.now.patched(p, off)
	if end := off + int64(len(p)); end > n.now.size {
		c.size = end
		n.now.size = end
		n.now.sectors = resized(n.now.sectors, end)
	}
	d.apply(n, c)
}

func (d *Disk) truncate(n *inode, size int64) {
	if size == n.now.size {
		return
	}
	n.own()
	c := change{size: size, first: int(size / sectorSize)}
	if before := len(n.now.sectors); size < n.now.size {
		d.pool.add(n.now.sectors[sectorsOf(size):]...)
		c.sectors = make([]*sector, before-c.first)
		n.now.sectors = resized(n.now.sectors, size)
		copy(c.sectors, n.now.sectors[c.first:])
	} else {
		n.now.sectors = resized(n.now.sectors, size)
	}
	n.now.size = size
	d.apply(n, c)
}

// apply puts a change's sectors, as far as the file still has them, and notes it.
func (d *Disk) apply(n *inode, c change) {
	for i, s := range c.sectors {
		if at := c.first + i; at < len(n.now.sectors) {
			if n.synced.has(at, n.now.sectors[at]) {
				// Where files are copied on write, the old sector is free now.
				d.pool.add(n.now.sectors[at])
			}
			n.now.sectors[at] = s
		}
	}
	n.changes = append(n.changes, c)
	d.touch(n)
}

func (m image) has(i int, s *sector) bool { return i < len(m.sectors) && m.sectors[i] == s }

// fileInfo describes an inode as it was.
type fileInfo struct {
	id    uint64
	name  string
	size  int64
	mode  fs.FileMode
	mtime time.Time
}

func (n *inode) info(name string) fs.FileInfo {
	return fileInfo{id: n.id, name: name, size: n.now.size, mode: n.mode, mtime: n.mtime}
}

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.size }
func (i fileInfo) Mode() fs.FileMode  { return i.mode }
func (i fileInfo) ModTime() time.Time { return i.mtime }
func (i fileInfo) IsDir() bool        { return i.mode.IsDir() }
func (i fileInfo) Sys() any           { return nil }
