package checkpoint

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sessctl/sessctl/internal/durable"
)

// A batch stores several contents at once: first all are written, then made durable,
// then named. So many of them take one sync of the file system, where that has one, and
// a name never stands for bytes that are not certain.
// A batch is safe for concurrent use until it is committed.
type batch struct {
	st *Store

	mu    sync.Mutex
	temps map[string]temp // by sum
	dirs  map[string]bool // with names that are not durable yet
}

// A temp is a blob that has no name yet.
type temp struct {
	name string // where it is
	to   string // where it goes
	size int64
	file durable.File // open until it is synced

	replaces bool // something stands there, and is not the content
}

func (st *Store) batch() *batch {
	return &batch{st: st, temps: map[string]temp{}, dirs: map[string]bool{}}
}

// put writes a content, unless the store has it: sound, since otherwise a power cut or a
// planted file would take it away for ever.
func (b *batch) put(sum string, data []byte) (err error) {
	if b.has(sum) || b.st.isSynced(sum) && b.st.touch(sum) == nil {
		return nil
	}
	name, _, missing := b.st.find(sum)
	if missing == nil && b.found(name, sum) {
		return b.add(sum, temp{})
	}
	packed, suffix := pack(data)
	t := temp{name: path.Join(tempDir, tempName()), to: blobName(sum) + suffix, size: int64(len(packed)), replaces: !errors.Is(missing, errNoFile)}
	if t.file, err = b.st.fsys.OpenFile(t.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return err
	}
	if _, err := io.Copy(io.NewOffsetWriter(t.file, 0), bytes.NewReader(packed)); err != nil {
		return errors.Join(err, t.file.Close(), b.st.fsys.Remove(t.name))
	}
	return b.add(sum, t)
}

// found tells whether what stands under a name is the content, and makes it young.
func (b *batch) found(name, sum string) bool {
	_, err := b.st.sound(name, sum)
	return err == nil && b.st.fsys.Chtimes(name, b.st.now()) == nil
}

func (b *batch) has(sum string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, ok := b.temps[sum]
	return ok
}

// add notes what was written, or found. Many files are not kept open: they are synced all
// at once, or where the system cannot do that, now.
func (b *batch) add(sum string, t temp) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if other, ok := b.temps[sum]; ok { // of another goroutine
		if t.file == nil {
			return nil
		}
		if other.file == nil && other.name == "" {
			b.temps[sum] = t
			return nil
		}
		return errors.Join(t.file.Close(), b.st.fsys.Remove(t.name))
	}
	var err error
	if t.file == nil { // whoever made it, and its directory, may have died before they were certain
		b.dirs[path.Dir(blobName(sum))], b.dirs[sumsDir] = true, true
	} else if len(b.temps) >= manyBlobs {
		_, whole := b.st.fsys.(syncer)
		err = t.close(!whole)
		t.file = nil
	}
	if err != nil {
		return errors.Join(err, b.st.fsys.Remove(t.name))
	}
	b.temps[sum] = t
	return nil
}

// touch makes a blob young, so that gc leaves it alone until a log refers to it.
func (st *Store) touch(sum string) error {
	name, _, err := st.find(sum)
	if err != nil {
		return err
	}
	return st.fsys.Chtimes(name, st.now())
}

// manyBlobs is from where on the file system is synced as a whole.
const manyBlobs = 16

// syncer is a file system that can make everything durable at once.
type syncer interface{ SyncAll() error }

// commit makes what was put durable, and names it.
func (b *batch) commit() error {
	whole, ok := b.st.fsys.(syncer)
	ok = ok && len(b.temps) > manyBlobs
	var err error
	if ok {
		err = whole.SyncAll()
	}
	for sum, t := range b.temps {
		if t.file == nil {
			continue
		}
		err = errors.Join(err, t.close(err == nil && !ok))
		t.file = nil
		b.temps[sum] = t
	}
	if err == nil {
		err = b.publish(ok)
	}
	if err == nil && ok {
		err = whole.SyncAll()
	} else if err == nil {
		err = b.syncDirs()
	}
	if err != nil {
		b.drop()
		return err
	}
	b.st.noteSynced(b.temps)
	return nil
}

// close closes a temporary file, after a sync where that is asked for, and a look at
// whether all of it is there: a file system that lies about a write shows it here.
func (t temp) close(sync bool) (err error) {
	if sync {
		err = t.file.Sync()
	}
	if info, e := t.file.Stat(); e == nil && info.Size() != t.size {
		err = errors.Join(err, fmt.Errorf("%s: %d of %d bytes were written: %w", t.name, info.Size(), t.size, io.ErrShortWrite))
	}
	return errors.Join(err, t.file.Close())
}

// publish gives the blobs their names. One that stands there already is of the same
// content, or damaged: it is replaced either way.
func (b *batch) publish(whole bool) error {
	for sum, t := range b.temps {
		if t.name == "" {
			continue
		}
		dir := path.Dir(t.to)
		if err := b.makeDir(dir, whole); err != nil {
			return err
		}
		if t.replaces {
			if err := b.clear(sum, t.to); err != nil {
				return err
			}
		}
		err := b.st.fsys.Rename(t.name, t.to)
		if errors.Is(err, fs.ErrNotExist) { // somebody has removed a directory that was made
			err = errors.Join(b.st.makeAgain(dir), b.st.fsys.Rename(t.name, t.to))
		}
		if err != nil {
			return err
		}
		t.name = ""
		b.temps[sum] = t
	}
	return nil
}

// makeDir makes a directory of blobs, where the whole file system is synced later without
// a sync of its own.
func (b *batch) makeDir(dir string, whole bool) error {
	if b.dirs[dir] {
		return nil
	}
	b.dirs[dir] = true
	if !whole {
		return b.st.makeDir(dir)
	}
	if err := b.st.fsys.Mkdir(dir, 0o700); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// makeDir makes a directory of blobs, durably. What this process has made so once need not
// be synced again: nothing removes it.
func (st *Store) makeDir(dir string) error {
	st.mu.Lock()
	made := st.dirs[dir]
	st.mu.Unlock()
	if made {
		return nil
	}
	if err := durable.MkdirAll(st.fsys, dir, 0o700); err != nil {
		return err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.dirs == nil {
		st.dirs = map[string]bool{}
	}
	st.dirs[dir] = true
	return nil
}

// makeAgain makes a directory of blobs that this process has made, and that is gone.
func (st *Store) makeAgain(dir string) error {
	st.mu.Lock()
	clear(st.dirs)
	st.mu.Unlock()
	return st.makeDir(dir)
}

// clear takes away what stands under the other name of a blob, and was found unsound.
func (b *batch) clear(sum, to string) error {
	for _, suffix := range []string{"", zstdSuffix} {
		name := blobName(sum) + suffix
		if info, err := b.st.fsys.Lstat(name); err == nil && (name != to || !info.Mode().IsRegular()) {
			if err := b.st.fsys.Remove(name); err != nil {
				return fmt.Errorf("%s in %s stands in the place of a blob: %w", name, b.st.dir, err)
			}
		}
	}
	return nil
}

func (b *batch) syncDirs() error {
	for dir := range b.dirs {
		if err := b.st.fsys.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// drop removes what was not named.
func (b *batch) drop() {
	for _, t := range b.temps {
		if t.file != nil {
			t.file.Close()
		}
		if t.name != "" {
			_ = b.st.fsys.Remove(t.name) // else the next OpenStore does it
		}
	}
	b.temps = map[string]temp{}
}

func (st *Store) isSynced(sum string) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.synced[sum]
}

func (st *Store) noteSynced(sums map[string]temp) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for sum := range sums {
		st.synced[sum] = true
	}
}

// tempName tells whose a temporary file is, so that what a dead process left can go.
func tempName() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%s-%d-%s", strings.ReplaceAll(host, "/", "_"), os.Getpid(), strings.ToLower(rand.Text()[:12]))
}

// leftoverAge is from when on a temporary file is nobody's, whoever made it.
const leftoverAge = 24 * time.Hour

// removeLeftovers removes temporary files of processes of this machine that are gone, and
// brings back blobs that were being removed.
func (st *Store) removeLeftovers() {
	list, err := st.fsys.ReadDir(tempDir)
	if err != nil {
		return
	}
	for _, e := range list {
		if st.putBack(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil && (st.now().Sub(info.ModTime()) > leftoverAge || ofTheDead(e.Name())) {
			_ = st.fsys.Remove(path.Join(tempDir, e.Name()))
		}
	}
}

// ofTheDead tells whether a temporary file's process ran here and does no more.
func ofTheDead(name string) bool {
	host, _ := os.Hostname()
	rest, ok := strings.CutPrefix(name, strings.ReplaceAll(host, "/", "_")+"-")
	pid, _, found := strings.Cut(rest, "-")
	n, err := strconv.Atoi(pid)
	return ok && found && err == nil && n != os.Getpid() && !alive(n)
}

// notExist tells that a path leads nowhere: it, or a parent, is missing or no directory.
func notExist(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) }
