package durable

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Disk is a simulated disk, in memory, that knows of each file and directory what
// is there and what of it is certain: what Sync and SyncDir have made durable. Crash
// and CrashAll give what a power cut may leave, Kill what the death of the process
// does. Make one with NewDisk. It is safe for concurrent use.
//
// It is as unkind as file systems may be, and no kinder: the sync of one thing makes
// nothing else durable. Where the real one is as a rule: a sector of 512 bytes is
// written whole or not; a rename is one step, as in a journal; a change of a
// directory does not survive without the earlier ones of the same names.
//
// The simplifications: symbolic links are never followed, modes are kept but not
// heeded and certain at once, directories cannot be opened, any name is relative to
// one root, and a failed SyncDir (of a Faulty above) may be repeated.
type Disk struct {
	mu     sync.Mutex
	root   *inode
	ops    []dirOp // unsynced changes of directories, in order
	pool   stalePool
	lastID uint64
	ticks  int64
}

// An inode is a file or a directory, whatever its names.
type inode struct {
	id    uint64
	mode  fs.FileMode
	mtime time.Time

	target string // of a symbolic link

	links   int   // names of a file
	now     image // what is there
	synced  image // what is certain, never written to
	shared  bool  // now.sectors is synced.sectors as well, to be copied before it is written to
	changes []change

	// The entries of a directory. The slices are shared and never written to.
	entries, syncedEntries []entry
}

// NewDisk returns an empty disk.
func NewDisk() *Disk {
	d := &Disk{}
	d.root = d.newInode(fs.ModeDir | 0o755)
	return d
}

// epoch is when a new disk's clock starts.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Now returns the disk's clock, which only operations that change something move
// on, by a millisecond each; a crash moves it on by a second. So what has an mtime
// before the Now of a disk that Crash just returned is older than that boot.
func (d *Disk) Now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now()
}

func (d *Disk) now() time.Time { return epoch.Add(time.Duration(d.ticks) * time.Millisecond) }

func (d *Disk) touch(n *inode) {
	d.ticks++
	n.mtime = d.now()
}

func (d *Disk) newInode(mode fs.FileMode) *inode {
	d.lastID++
	n := &inode{id: d.lastID, mode: mode}
	d.touch(n)
	return n
}

// lookup finds the directory of a name, and what the name leads to: nil if there is
// nothing. The root has no directory and no base.
func (d *Disk) lookup(name string) (dir *inode, base string, n *inode, err error) {
	if name == "" {
		return nil, "", nil, fs.ErrNotExist
	}
	n = d.root
	rest := path.Clean("/" + filepath.ToSlash(name))[1:]
	for more := rest != ""; more; {
		if n == nil {
			return nil, "", nil, fs.ErrNotExist
		}
		if !n.mode.IsDir() {
			return nil, "", nil, syscall.ENOTDIR
		}
		dir = n
		base, rest, more = strings.Cut(rest, "/")
		n = dir.child(base)
	}
	return dir, base, n, nil
}

// existing finds what a name leads to.
func (d *Disk) existing(name string) (*inode, error) {
	_, _, n, err := d.lookup(name)
	if err == nil && n == nil {
		err = fs.ErrNotExist
	}
	return n, err
}

// directory finds the directory that a name leads to.
func (d *Disk) directory(name string) (*inode, error) {
	n, err := d.existing(name)
	if err == nil && !n.mode.IsDir() {
		err = syscall.ENOTDIR
	}
	return n, err
}

// pathError wraps an error as package os does; nil stays nil.
func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

func linkError(op, oldname, newname string, err error) error {
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: op, Old: oldname, New: newname, Err: err}
}

// accessMode is the part of the flags that says read, write or both.
const accessMode = os.O_RDONLY | os.O_WRONLY | os.O_RDWR

// OpenFile opens a file, or creates one.
func (d *Disk) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.open(name, flag, perm)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	access := flag & accessMode
	return &diskFile{disk: d, inode: n, name: name, reads: access != os.O_WRONLY, writes: access != os.O_RDONLY}, nil
}

func (d *Disk) open(name string, flag int, perm fs.FileMode) (*inode, error) {
	if err := checkFlags(flag); err != nil {
		return nil, err
	}
	dir, base, n, err := d.lookup(name)
	switch {
	case err != nil:
		return nil, err
	case n == nil && flag&os.O_CREATE == 0:
		return nil, fs.ErrNotExist
	case n == nil:
		n = d.newInode(perm.Perm())
		n.links = 1
		d.change(edit{dir, base, n})
	case flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		return nil, fs.ErrExist
	case n.mode.IsDir():
		return nil, syscall.EISDIR
	case !n.mode.IsRegular():
		return nil, syscall.ELOOP
	}
	if flag&os.O_TRUNC != 0 {
		d.truncate(n, 0)
	}
	return n, nil
}

func checkFlags(flag int) error {
	switch {
	case flag&os.O_APPEND != 0:
		return errAppend
	case flag&^(accessMode|os.O_CREATE|os.O_EXCL|os.O_TRUNC) != 0,
		flag&os.O_TRUNC != 0 && flag&accessMode == os.O_RDONLY:
		return syscall.EINVAL
	}
	return nil
}

// Stat describes a file or directory.
func (d *Disk) Stat(name string) (fs.FileInfo, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.existing(name)
	if err != nil {
		return nil, pathError("stat", name, err)
	}
	return n.info(path.Base(filepath.ToSlash(name))), nil
}

// Lstat is Stat, as symbolic links are not followed.
func (d *Disk) Lstat(name string) (fs.FileInfo, error) { return d.Stat(name) }

// SameFile tells whether two descriptions are of one file. Files keep their
// identity over Crash and Kill.
func (d *Disk) SameFile(a, b fs.FileInfo) bool {
	x, okX := a.(fileInfo)
	y, okY := b.(fileInfo)
	return okX && okY && x.id == y.id
}

// ReadDir lists a directory.
func (d *Disk) ReadDir(name string) ([]fs.DirEntry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, err := d.directory(name)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	list := make([]fs.DirEntry, 0, len(dir.entries))
	for _, e := range dir.entries {
		list = append(list, fs.FileInfoToDirEntry(e.node.info(e.name)))
	}
	return list, nil
}

// Mkdir makes a directory.
func (d *Disk) Mkdir(name string, perm fs.FileMode) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, base, n, err := d.lookup(name)
	if err == nil && n != nil {
		err = fs.ErrExist
	}
	if err == nil {
		d.change(edit{dir, base, d.newInode(fs.ModeDir | perm.Perm())})
	}
	return pathError("mkdir", name, err)
}

// SyncDir makes the entries of a directory durable; of what they lead to, nothing.
func (d *Disk) SyncDir(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, err := d.directory(name)
	if err == nil {
		d.syncEntries(dir)
	}
	return pathError("sync", name, err)
}

// Stale adds to what may turn up in the sectors of a file that grew, but whose new
// data was lost: what the disk held there before. Freed sectors are added by
// themselves; a test that wants the worst adds an earlier version of its log.
func (d *Disk) Stale(data []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for block := range slices.Chunk(data, sectorSize) {
		s := new(sector)
		copy(s[:], block)
		d.pool.add(s)
	}
}
