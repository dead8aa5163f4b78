package checkpoint

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/durable"
)

// errMoved: a path is not any more what it was when it was looked at.
var errMoved = errors.New("it changed at this moment")

// An applier brings paths from what they are to what they are to be. It keeps one directory
// open, since neighbours come one after the other.
type applier struct {
	ws    *workspace
	st    *Store
	begin entries.ID // names the temporary files

	fsys  durable.FS
	dir   string
	close func()

	touched map[string]bool // directories to be synced
	made    []string        // directories that nobody had recorded
	done    []Item

	// failed, where set, gets the errors of single paths, and the others go on.
	failed map[string]error
}

// apply does items: what goes away first, from below, then what comes, from above.
func (a *applier) apply(items []Item) (err error) {
	a.touched = map[string]bool{}
	defer func() {
		a.leave()
		if err == nil {
			err = a.syncDirs()
		}
	}()
	for _, it := range slices.Backward(items) {
		if goes(it) {
			if err := a.step(it, a.remove); err != nil {
				return err
			}
		}
	}
	for _, it := range items {
		if it.To.Kind != Absent {
			if err := a.step(it, a.put); err != nil {
				return err
			}
		}
	}
	return nil
}

// goes tells whether a path has to be empty before anything new stands there.
func goes(it Item) bool {
	return it.Disk.Kind != Absent && (it.To.Kind == Absent || (it.Disk.Kind == Dir) != (it.To.Kind == Dir))
}

func (a *applier) step(it Item, do func(Item) error) error {
	dir := path.Dir(it.Path)
	if a.failed[it.Path] != nil {
		return nil
	}
	if err := a.enter(dir); err != nil {
		return a.failure(it, err)
	}
	a.touched[dir] = true
	if len(a.done) == 0 || a.done[len(a.done)-1].Path != it.Path {
		a.done = append(a.done, it)
	}
	if err := do(it); err != nil {
		return a.failure(it, err)
	}
	return nil
}

func (a *applier) failure(it Item, err error) error {
	err = fmt.Errorf("%s: %w", it.Path, err)
	if a.failed != nil {
		a.failed[it.Path] = err
		return nil
	}
	return err
}

// enter opens a directory; one that is missing is made.
func (a *applier) enter(dir string) (err error) {
	if a.fsys != nil && a.dir == dir {
		return nil
	}
	a.leave()
	a.fsys, a.close, err = a.ws.open(dir)
	if err != nil && notExist(err) && dir != "." {
		if err = a.makeDir(dir); err == nil {
			a.leave()
			a.fsys, a.close, err = a.ws.open(dir)
		}
	}
	a.dir = dir
	return err
}

func (a *applier) makeDir(dir string) error {
	if err := a.enter(path.Dir(dir)); err != nil {
		return err
	}
	a.touched[path.Dir(dir)] = true
	err := a.fsys.Mkdir(path.Base(dir), dirMode)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err == nil:
		a.made = append(a.made, dir)
	}
	return err
}

func (a *applier) leave() {
	if a.fsys != nil {
		a.close()
	}
	a.fsys = nil
}

// same makes sure that a path is what it was when its plan was made.
func (a *applier) same(it Item) error {
	info, err := a.fsys.Lstat(path.Base(it.Path))
	switch {
	case notExist(err) && (it.Disk.Kind == Absent || goes(it)):
		return nil // goes: it was removed a moment ago, by us
	case err != nil:
		return err
	case it.Disk.Kind == Absent, info.Mode().Type() != it.Disk.look.signature.mode.Type():
		return errMoved
	case it.Disk.Kind != Dir && it.Disk.look.signature != signatureOf(info):
		return errMoved
	}
	return nil
}

func (a *applier) remove(it Item) error {
	if err := a.same(it); err != nil {
		return err
	}
	err := a.fsys.Remove(path.Base(it.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (a *applier) put(it Item) error {
	switch base := path.Base(it.Path); {
	case it.To.Kind == Dir:
		return a.putDir(it, base)
	case it.To.Kind == Symlink:
		return a.replace(it, base, func(temp string) error { return a.fsys.Symlink(it.To.Target, temp) })
	case it.Disk.Kind == File && it.Disk.SHA256 == it.To.SHA256:
		return a.chmod(it, base)
	default:
		return a.replace(it, base, func(temp string) error { return a.write(temp, it.To) })
	}
}

func (a *applier) putDir(it Item, base string) error {
	err := a.fsys.Mkdir(base, it.To.Mode.Perm())
	if errors.Is(err, fs.ErrExist) {
		if info, e := a.fsys.Lstat(base); e != nil || !info.IsDir() {
			return errors.Join(errMoved, e)
		}
		err = nil
	}
	if err == nil {
		err = a.fsys.Chmod(base, it.To.Mode)
	}
	return err
}

// chmod changes a mode alone: the bytes are right, and so is the time they were written.
func (a *applier) chmod(it Item, base string) error {
	if err := a.same(it); err != nil {
		return err
	}
	return a.fsys.Chmod(base, it.To.Mode)
}

// replace makes the new thing beside the path, and then puts it there in one step. What
// stands there is replaced itself, where it is a link.
func (a *applier) replace(it Item, base string, write func(temp string) error) error {
	temp := restoreTemp(a.begin, it.Path)
	if err := a.fsys.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // of a try before, which a crash cut short
	}
	err := write(temp)
	if err == nil {
		err = a.same(it)
	}
	if err == nil {
		err = a.fsys.Rename(temp, base)
	}
	if err != nil {
		if e := a.fsys.Remove(temp); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// write makes a file with the content and mode of a state, durably.
func (a *applier) write(temp string, s State) error {
	data, err := a.st.Get(s.SHA256)
	if err != nil {
		return err
	}
	f, err := a.fsys.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, s.Mode.Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(io.NewOffsetWriter(f, 0), bytes.NewReader(data))
	if err == nil && s.Mode != s.Mode.Perm() {
		err = a.fsys.Chmod(temp, s.Mode)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// restoreTemp names the temporary file of a path in a restore, so that whoever finishes a
// restore that was cut short knows what to remove.
func restoreTemp(begin entries.ID, name string) string {
	return ".sessctl-" + strings.ToLower(string(begin)) + "-" + sumOf([]byte(name))[:12] + ".tmp"
}

// syncDirs makes names durable. A directory that is gone has none, whatever stands in its
// place.
func (a *applier) syncDirs() error {
	var failed error
	for dir := range a.touched {
		fsys, done, err := a.ws.open(dir)
		if err == nil {
			err = fsys.SyncDir(".")
			done()
		}
		if err != nil && !notExist(err) && !errors.Is(err, errLink) {
			failed = cmp.Or(failed, err)
		}
	}
	return failed
}

// takeBack puts back what is still as it was put, in the opposite order. It returns why
// some of it could not be.
func (a *applier) takeBack() error {
	back := &applier{ws: a.ws, st: a.st, begin: a.begin, failed: map[string]error{}}
	var items []Item
	for _, it := range a.done {
		now := a.ws.state(it.Path, nil)
		switch {
		case now.Same(it.Disk):
		case now.Same(it.To), now.Kind == Absent && goes(it):
			items = append(items, Item{Path: it.Path, Disk: now, To: it.Disk})
		default:
			back.failed[it.Path] = fmt.Errorf("%s is what somebody else made of it", it.Path)
		}
	}
	slices.SortFunc(items, func(x, y Item) int { return strings.Compare(x.Path, y.Path) })
	items = slices.CompactFunc(items, func(x, y Item) bool { return x.Path == y.Path })
	err := back.apply(items)
	for _, dir := range slices.Backward(a.made) {
		back.removeDir(dir) // what is not empty by now is somebody else's too
	}
	return errors.Join(append(slices.Collect(maps.Values(back.failed)), err)...)
}

func (a *applier) removeDir(dir string) {
	if a.enter(path.Dir(dir)) == nil {
		_ = a.fsys.Remove(path.Base(dir))
	}
	a.leave()
}
