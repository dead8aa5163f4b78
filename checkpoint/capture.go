package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/durable"
)

// Why a state is unknown, where that is asked for.
const (
	reasonBudget  = "not looked at yet: the time for it was up"
	reasonSecret  = "it may hold secrets"
	reasonNotUTF8 = "its name is not UTF-8"
	reasonOurs    = "it is a log or a store of sessions"
)

// A keeper stores a content.
type keeper func(sum string, data []byte) error

// state reads what a path is now. A path below something that is no directory, links
// included, is absent: nothing is followed. keep, where set, gets the sum and
// the bytes of a file.
func (w *workspace) state(name string, keep keeper) State {
	l := looker{ws: w}
	defer l.leave()
	return l.state(name, keep)
}

// A looker looks at one path after the other. It keeps one directory open, since
// neighbours come together.
type looker struct {
	ws    *workspace
	dir   string
	fsys  durable.FS // nil where none is open
	close func()
}

func (l *looker) state(name string, keep keeper) State {
	if l.ws.isOurs(name) {
		return unknown(reasonOurs)
	}
	if dir := path.Dir(name); l.fsys == nil || l.dir != dir {
		l.leave()
		fsys, done, err := l.ws.open(dir)
		switch {
		case err == nil:
			l.dir, l.fsys, l.close = dir, fsys, done
		case notExist(err) || errors.Is(err, errLink):
			return State{Kind: Absent}
		default:
			return unknown("its directory cannot be opened: %s", plain(err))
		}
	}
	return l.ws.stateIn(l.fsys, path.Base(name), keep)
}

func (l *looker) leave() {
	if l.fsys != nil {
		l.close()
	}
	l.fsys = nil
}

func (w *workspace) stateIn(fsys durable.FS, base string, keep keeper) State {
	info, err := fsys.Lstat(base)
	if err != nil {
		if notExist(err) {
			return State{Kind: Absent}
		}
		return unknown("it cannot be looked at: %s", plain(err))
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return w.fileState(fsys, base, info, keep)
	case mode.IsDir():
		return State{Kind: Dir, Mode: mode & modeBits, look: lookOf(info)}
	case mode&fs.ModeSymlink != 0:
		return linkState(fsys, base, info)
	}
	return unknown("it is a device, a pipe or a socket")
}

func linkState(fsys durable.FS, base string, info fs.FileInfo) State {
	target, err := fsys.Readlink(base)
	if err != nil {
		return unknown("its link cannot be read: %s", plain(err))
	}
	if !utf8.ValidString(target) {
		return unknown("what its link leads to is not UTF-8")
	}
	return State{Kind: Symlink, Target: target, look: lookOf(info)}
}

// fileState reads a file, again where it changed meanwhile.
func (w *workspace) fileState(fsys durable.FS, base string, info fs.FileInfo, keep keeper) State {
	for range 3 {
		if info.Size() > w.most {
			return unknown("it is larger than the %d bytes that are kept", w.most)
		}
		data, before, after, err := readOpen(fsys, base, w.most)
		if err != nil {
			return unknown("it cannot be read: %s", plain(err))
		}
		if !fsys.SameFile(info, before) || signatureOf(before) != signatureOf(after) || int64(len(data)) != after.Size() {
			if info, err = fsys.Lstat(base); err != nil || !info.Mode().IsRegular() {
				break
			}
			continue
		}
		s := State{Kind: File, Mode: after.Mode() & modeBits, Size: int64(len(data)), SHA256: sumOf(data), look: lookOf(after)}
		if keep != nil {
			if err := keep(s.SHA256, data); err != nil {
				return unknown("its content could not be stored: %s", plain(err))
			}
		}
		return s
	}
	return unknown("it changed while it was read")
}

// readOpen reads a file of at most so many bytes, and what it was before and after that.
func readOpen(fsys durable.FS, base string, most int64) (data []byte, before, after fs.FileInfo, err error) {
	f, err := fsys.OpenFile(base, os.O_RDONLY, 0)
	if err != nil {
		return nil, nil, nil, err
	}
	defer f.Close()
	if before, err = f.Stat(); err != nil {
		return nil, nil, nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, nil, nil, errors.New("it is no file any more")
	}
	data = make([]byte, 0, min(before.Size(), most)+1) // one more shows that it grew
	n, err := f.ReadAt(data[:cap(data)], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, nil, err
	}
	after, err = f.Stat()
	return data[:n], before, after, err
}

// plain is an error without the name that it is about, which stands beside it.
func plain(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return fmt.Sprint(err)
}
