package checkpoint_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/checkpoint"
)

// A folder is a naive copy of a workspace.
type folder map[string]thing

// A thing is what a path is; the zero thing is absent.
type thing struct {
	kind  checkpoint.Kind
	mode  fs.FileMode
	text  string // content, or where a link leads
	mtime time.Time
}

func (t thing) same(o thing) bool { return t.kind == o.kind && t.mode == o.mode && t.text == o.text }

// untouched tells whether nothing happened to a path. What is in a directory changes its
// time.
func (t thing) untouched(o thing) bool {
	return t.same(o) && (t.kind == checkpoint.Dir || t.mtime.Equal(o.mtime))
}

func (t thing) String() string {
	if t.kind == "" {
		return "absent"
	}
	return fmt.Sprintf("%s %s %q", t.kind, checkpoint.FormatMode(t.mode), t.text)
}

func (f folder) copy() folder { return maps.Clone(f) }

// differs lists the paths that are not the same in another folder.
func (f folder) differs(o folder) (list []string) {
	for _, name := range f.names(o) {
		if !f[name].same(o[name]) {
			list = append(list, name)
		}
	}
	return list
}

func (f folder) names(o folder) []string {
	all := maps.Clone(f)
	maps.Copy(all, o)
	return slices.Sorted(maps.Keys(all))
}

// look reads a whole folder.
func look(t *testing.T, dir string) folder {
	t.Helper()
	f := folder{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		f[filepath.ToSlash(rel)], err = thingAt(name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func thingAt(name string) (t thing, err error) {
	info, err := os.Lstat(name)
	if err != nil {
		return t, err
	}
	t = thing{kind: checkpoint.File, mode: info.Mode() & (fs.ModePerm | fs.ModeSetuid), mtime: info.ModTime()}
	switch {
	case info.IsDir():
		t.kind = checkpoint.Dir
	case info.Mode()&fs.ModeSymlink != 0:
		t.kind, t.mode = checkpoint.Symlink, 0
		t.text, err = os.Readlink(name)
	default:
		var data []byte
		data, err = os.ReadFile(name)
		t.text = string(data)
	}
	return t, err
}

// paths are what the session works with. Some sort between a directory and what is in it.
var paths = []string{"a", "d", "d-", "d/x", "d/y", "d/e", "d/e/z", "l", "l/x", ":é\n"}

// others are what another session works with.
var others = []string{"o", "o/p", "q"}

// A step is a change of one path, and what a tool has to tell of before it.
type step struct {
	what  string
	names []string
	do    func() error
}

// change makes a random change by hand.
func (w *world) change(dir string, names []string) {
	w.Helper()
	s := w.step(dir, names)
	w.note("    %s", s.what)
	w.must(s.do())
}

// step draws a change of one path: it becomes something else, or gets another mode, or goes
// away.
func (w *world) step(dir string, names []string) step {
	name := names[w.r.IntN(len(names))]
	at := filepath.Join(dir, filepath.FromSlash(name))
	info, err := os.Lstat(at)
	s := step{names: append(blockers(dir, name), below(dir, name)...)}
	clear := func() error { return clearFor(dir, name) }
	switch n := w.r.IntN(12); {
	case err == nil && n < 3:
		s.what, s.do = "remove "+name, clear
	case err == nil && n < 5 && info.Mode()&fs.ModeSymlink == 0:
		mode := []fs.FileMode{0o755, 0o700, 0o600, 0o444}[w.r.IntN(4)]
		if info.IsDir() {
			mode |= 0o700
		}
		s.names = []string{name}
		s.what, s.do = fmt.Sprintf("chmod %o %s", mode, name), func() error { return os.Chmod(at, mode) }
	case err == nil && n < 7 && info.Mode().IsRegular() && info.Mode()&0o200 != 0:
		text := w.text()
		s.names = []string{name}
		s.what, s.do = fmt.Sprintf("rewrite %s %q", name, text), func() error { return os.WriteFile(at, []byte(text), 0o644) }
	case n < 8:
		target := []string{"a", "d", "nowhere", "../d/x", "/nonexistent", "d/e"}[w.r.IntN(6)]
		if slices.Contains(others, name) {
			target = "nowhere"
		}
		s.what, s.do = fmt.Sprintf("link %s to %s", name, target), after(clear, func() error { return os.Symlink(target, at) })
	case n < 9:
		s.what, s.do = "mkdir "+name, after(clear, func() error { return os.Mkdir(at, 0o755) })
	default:
		text := w.text()
		s.what, s.do = fmt.Sprintf("write %s %q", name, text), after(clear, func() error { return os.WriteFile(at, []byte(text), 0o644) })
	}
	s.names = append(s.names, name)
	return s
}

func after(first, then func() error) func() error {
	return func() error {
		if err := first(); err != nil {
			return err
		}
		return then()
	}
}

// text is mostly a new one.
func (w *world) text() string {
	if w.count++; w.r.IntN(6) == 0 {
		return []string{"", "same\r\n"}[w.r.IntN(2)]
	}
	return fmt.Sprintf("text %d", w.count)
}

// blockers are files above a path, in the place of directories. A link to a directory is
// none: what is below it is meant.
func blockers(dir, name string) (list []string) {
	for above := path.Dir(name); above != "."; above = path.Dir(above) {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(above)))
		_, lerr := os.Lstat(filepath.Join(dir, filepath.FromSlash(above)))
		if err == nil && !info.IsDir() || err != nil && lerr == nil {
			list = append(list, above)
		}
	}
	return list
}

// below are the paths below a directory.
func below(dir, name string) (list []string) {
	at := filepath.Join(dir, filepath.FromSlash(name))
	if info, err := os.Lstat(at); err != nil || !info.IsDir() {
		return nil
	}
	_ = filepath.WalkDir(at, func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, p)
		list = append(list, filepath.ToSlash(rel))
		return nil
	})
	return list
}

// clearFor makes place for something new.
func clearFor(dir, name string) error {
	for _, above := range blockers(dir, name) {
		if err := os.Remove(filepath.Join(dir, filepath.FromSlash(above))); err != nil {
			return err
		}
	}
	at := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.RemoveAll(at); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Dir(at), 0o755)
}

// related tells whether a path is one of a set, or above or below one.
func related(set map[string]bool, name string) bool {
	for other := range set {
		if other == name || strings.HasPrefix(name, other+"/") || strings.HasPrefix(other, name+"/") {
			return true
		}
	}
	return false
}
