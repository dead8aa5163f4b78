package durable

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// An entry is a name in a directory.
type entry struct {
	name string
	node *inode
}

// An edit sets a name of a directory, or takes it away where node is nil.
type edit struct {
	dir  *inode
	name string
	node *inode
}

// A dirOp is the edits of one operation, which happen together or not at all.
type dirOp []edit

func (op dirOp) touches(dir *inode) bool {
	return slices.ContainsFunc(op, func(e edit) bool { return e.dir == dir })
}

// conflicts tells whether two operations edit one name, so that the later cannot
// have happened without the earlier.
func (op dirOp) conflicts(other dirOp) bool {
	for _, a := range op {
		for _, b := range other {
			if a.dir == b.dir && a.name == b.name {
				return true
			}
		}
	}
	return false
}

func find(entries []entry, name string) (int, bool) {
	return slices.BinarySearchFunc(entries, name, func(e entry, name string) int { return cmp.Compare(e.name, name) })
}

func (n *inode) child(name string) *inode {
	if i, ok := find(n.entries, name); ok {
		return n.entries[i].node
	}
	return nil
}

// edited returns other entries, with one edit made.
func edited(entries []entry, e edit) []entry {
	i, found := find(entries, e.name)
	var to []entry
	if e.node != nil {
		to = []entry{{e.name, e.node}}
	}
	rest := entries[i:]
	if found {
		rest = rest[1:]
	}
	return slices.Concat(entries[:i], to, rest)
}

// change does one operation on directories, which is durable only later.
func (d *Disk) change(edits ...edit) {
	for _, e := range edits {
		e.dir.entries = edited(e.dir.entries, e)
		d.touch(e.dir)
	}
	d.ops = append(d.ops, edits)
}

// syncEntries makes durable the operations that touch a directory, and with each
// the whole of it, also if it reached into another directory.
func (d *Disk) syncEntries(dir *inode) {
	if len(d.ops) == 0 {
		return
	}
	synced := d.withEarlier(func(i int) bool { return d.ops[i].touches(dir) })
	var rest []dirOp
	for i, op := range d.ops {
		if !synced[i] {
			rest = append(rest, op)
			continue
		}
		for _, e := range op {
			e.dir.syncedEntries = edited(e.dir.syncedEntries, e)
		}
	}
	d.ops = rest
}

// withEarlier returns which unsynced operations are in a set that holds the wanted
// ones, and with each the earlier ones of the same names.
func (d *Disk) withEarlier(wanted func(i int) bool) []bool {
	in := make([]bool, len(d.ops))
	for i := len(d.ops) - 1; i >= 0; i-- {
		in[i] = wanted(i) || d.neededBy(i, in)
	}
	return in
}

func (d *Disk) neededBy(i int, in []bool) bool {
	for j := i + 1; j < len(in); j++ {
		if in[j] && d.ops[i].conflicts(d.ops[j]) {
			return true
		}
	}
	return false
}

// unlinked notes that a file has a name less.
func (d *Disk) unlinked(n *inode) {
	n.links--
	if n.links == 0 {
		d.pool.add(n.now.sectors...)
	}
}

// Rename moves a file or directory.
func (d *Disk) Rename(oldname, newname string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return linkError("rename", oldname, newname, d.rename(oldname, newname))
}

func (d *Disk) rename(oldname, newname string) error {
	oldDir, oldBase, n, err := d.lookup(oldname)
	if err != nil {
		return err
	}
	newDir, newBase, replaced, err := d.lookup(newname)
	switch {
	case err != nil:
		return err
	case n == nil:
		return fs.ErrNotExist
	case replaced != nil && replaced.mode.IsDir():
		return fs.ErrExist // as os.Rename, also of an empty one
	case n == replaced:
		return nil // two names of one file: both stay, says POSIX
	case replaced != nil && n.mode.IsDir():
		return syscall.ENOTDIR
	case n.mode.IsDir() && inside(newname, oldname):
		return syscall.EINVAL
	}
	if replaced != nil {
		d.unlinked(replaced)
	}
	d.change(edit{oldDir, oldBase, nil}, edit{newDir, newBase, n})
	return nil
}

// inside tells whether a name lies below a directory's.
func inside(name, dir string) bool {
	clean := func(s string) string { return path.Clean("/" + filepath.ToSlash(s)) }
	return strings.HasPrefix(clean(name)+"/", strings.TrimSuffix(clean(dir), "/")+"/")
}

// Link gives a file another name.
func (d *Disk) Link(oldname, newname string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return linkError("link", oldname, newname, d.link(oldname, newname))
}

func (d *Disk) link(oldname, newname string) error {
	n, err := d.existing(oldname)
	if err != nil {
		return err
	}
	dir, base, taken, err := d.lookup(newname)
	switch {
	case err != nil:
		return err
	case taken != nil:
		return fs.ErrExist
	case n.mode.IsDir():
		return syscall.EPERM
	}
	n.links++
	d.change(edit{dir, base, n})
	return nil
}

// Remove removes a file's name or an empty directory.
func (d *Disk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return pathError("remove", name, d.remove(name))
}

func (d *Disk) remove(name string) error {
	dir, base, n, err := d.lookup(name)
	switch {
	case err != nil:
		return err
	case n == nil:
		return fs.ErrNotExist
	case dir == nil:
		return syscall.EBUSY
	case len(n.entries) > 0:
		// fs.ErrExist, as errors.Is says of ENOTEMPTY on every system that has it.
		return fmt.Errorf("%w: directory not empty", fs.ErrExist)
	case !n.mode.IsDir():
		d.unlinked(n)
	}
	d.change(edit{dir, base, nil})
	return nil
}

// Symlink makes a symbolic link, which nothing here follows.
func (d *Disk) Symlink(target, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, base, n, err := d.lookup(name)
	if err == nil && n != nil {
		err = fs.ErrExist
	}
	if err == nil {
		n = d.newInode(fs.ModeSymlink | 0o777)
		n.target, n.links = target, 1
		d.change(edit{dir, base, n})
	}
	return linkError("symlink", target, name, err)
}

// Readlink gives what a symbolic link leads to.
func (d *Disk) Readlink(name string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.existing(name)
	switch {
	case err != nil:
		return "", pathError("readlink", name, err)
	case n.mode&fs.ModeSymlink == 0:
		return "", pathError("readlink", name, syscall.EINVAL)
	}
	return n.target, nil
}

// Chtimes sets when a file was changed.
func (d *Disk) Chtimes(name string, mtime time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.existing(name)
	if err == nil {
		n.mtime = mtime
	}
	return pathError("chtimes", name, err)
}

// Chmod sets a mode.
func (d *Disk) Chmod(name string, mode fs.FileMode) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.existing(name)
	if err == nil {
		n.mode = n.mode.Type() | mode.Perm()
	}
	return pathError("chmod", name, err)
}
