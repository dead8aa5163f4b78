package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/durable"
	"github.com/sessctl/sessctl/sessiontree"
)

// hookedDirs tells of each operation in a workspace before it is done.
type hookedDirs struct {
	dirs
	hook func(durable.Op) error
}

func (d hookedDirs) open(dir string) (durable.FS, func(), error) {
	fsys, done, err := d.dirs.open(dir)
	if err != nil {
		return nil, nil, err
	}
	return &durable.Faulty{FS: fsys, Fault: d.hook}, done, nil
}

// A swapping is a workspace in which a directory is swapped for a link that leads out.
type swapping struct {
	*testing.T
	dir, outside string
	session      *sessiontree.Session
	st           *Store
	ws           *workspace
	t            *Tracker
	hook         func(durable.Op) error
}

func (s *swapping) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *swapping) path(name string) string { return filepath.Join(s.dir, name) }

func newSwapping(t *testing.T) *swapping {
	s := &swapping{T: t, dir: t.TempDir(), outside: t.TempDir()}
	session, err := sessiontree.Create(t.TempDir(), entries.Header{Cwd: s.dir}, nil)
	s.must(err)
	root, err := os.OpenRoot(s.dir)
	s.must(err)
	st, err := OpenStore(StoreOf(session.Path()))
	s.must(err)
	s.session, s.st = session, st
	t.Cleanup(func() { s.session.Close(); st.Close(); root.Close() })
	ws, err := newWorkspace(root, defaultMaxFile)
	s.must(err)
	s.ws = ws
	ws.dirs = hookedDirs{ws.dirs, func(op durable.Op) error { return s.hook(op) }}
	s.hook = func(durable.Op) error { return nil }
	for _, dir := range []string{s.path("d"), s.outside} {
		for _, name := range []string{"file", "mode", "gone", "swap"} {
			s.must(os.MkdirAll(filepath.Join(dir, "below"), 0o755))
			s.must(os.WriteFile(filepath.Join(dir, name), []byte("0"), 0o644))
		}
	}
	s.t, err = track(t.Context(), session, ws, st, (*TrackOptions)(nil).withDefaults())
	s.must(err)
	_, err = session.Append(t.Context(), entries.UserMessage("go"))
	s.must(err)
	return s
}

// work does what a tool does in the directory.
func (s *swapping) work() {
	paths := []string{"d/file", "d/mode", "d/gone", "d/swap", "d/new", "d/below/new"}
	s.must(s.t.BeforeEdit(s.Context(), "c", paths...))
	s.must(os.WriteFile(s.path("d/file"), []byte("1"), 0o644))
	s.must(os.Chmod(s.path("d/mode"), 0o600))
	s.must(os.Remove(s.path("d/gone")))
	s.must(os.Remove(s.path("d/swap")))
	s.must(os.Symlink("file", s.path("d/swap")))
	s.must(os.WriteFile(s.path("d/new"), []byte("1"), 0o644))
	s.must(os.WriteFile(s.path("d/below/new"), []byte("1"), 0o644))
	s.must(s.t.AfterEdit(s.Context(), "c", paths...))
}

// seen writes the outside folder down.
func (s *swapping) seen() (text string) {
	s.must(filepath.WalkDir(s.outside, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, _ := os.ReadFile(name)
		text += name + info.Mode().String() + string(data) + "\n"
		return nil
	}))
	return text
}

// TestParentIsSwappedAtEveryOperation: whenever (at every other operation, to be quick) in a restore a directory is swapped for a
// link, nothing happens where the link leads.
func TestParentIsSwappedAtEveryOperation(t *testing.T) {
	errAbort := errors.New("this one fails, so that all is taken back")
	for fail, step := range map[bool]int{false: 2, true: 7} {
		for n, done := 1, false; !done; n += step {
			done = true
			s := newSwapping(t)
			s.work()
			before := s.seen()
			v, err := s.t.view()
			s.must(err)
			p, err := v.Undo(Code, nil)
			s.must(err)
			ops := 0
			s.hook = func(op durable.Op) error {
				if ops++; ops == n {
					done = false
					s.must(os.Rename(s.path("d"), s.path("away")))
					s.must(os.Symlink(s.outside, s.path("d")))
				}
				if fail && ops > n && op.Kind == durable.Rename {
					return errAbort
				}
				return nil
			}
			_, err = s.t.Commit(t.Context(), p, nil)
			if got := s.seen(); got != before {
				t.Fatalf("at operation %d (%v): it was\n%s\nand is\n%s", n, err, before, got)
			}
			if done && (err != nil || ops < 50) {
				t.Errorf("%v after %d operations", err, ops)
			}
		}
	}
}

// next is the process after the one that died.
func (s *swapping) next() {
	s.Helper()
	s.hook = func(durable.Op) error { return nil }
	var err error
	s.session, err = sessiontree.Open(s.session.Path(), nil)
	s.must(err)
	s.t, err = track(s.Context(), s.session, s.ws, s.st, (*TrackOptions)(nil).withDefaults())
	s.must(err)
}

// files writes the directory down.
func (s *swapping) files() string {
	s.outside, s.dir = s.dir, s.outside
	defer func() { s.outside, s.dir = s.dir, s.outside }()
	return s.seen()
}

// TestRestoreIsFinishedByTheNextProcess: wherever in a restore the process dies, also while it
// takes back what failed, the next one has the files and the conversation either as they were
// or as they were to be.
func TestRestoreIsFinishedByTheNextProcess(t *testing.T) {
	for i, way := range []struct {
		rewind entries.ID
		after  int // operations between one that fails and the death
	}{{"", 0}, {"rewind", 0}, {"", 1}, {"", 8}} {
		for n, done := 1+i, false; !done; n += 6 {
			s := newSwapping(t)
			to := s.files()
			s.work()
			from, leaf := s.files(), s.session.Leaf()
			v, err := s.t.view()
			s.must(err)
			p, err := v.Undo(Both, nil)
			s.must(err)
			ops := s.dies(n, way.after)
			_, failed := s.t.Commit(t.Context(), p, &CommitOptions{Rewind: way.rewind})
			done = *ops < n
			s.session.Close()
			s.next()
			if s.t.pending != nil {
				_, ok, err := s.t.FinishRewind(t.Context(), way.rewind, nil)
				if !ok || err != nil {
					t.Fatalf("at operation %d: %v", n, err)
				}
			}
			tree, err := s.session.Tree()
			s.must(err)
			stayed, err := isBelow(tree, tree.Leaf(), leaf)
			s.must(err)
			if got := s.files(); stayed && got != from || !stayed && got != to {
				t.Fatalf("%+v at operation %d (%v), stayed %v: the files are\n%s\nfrom\n%s\nto\n%s", way, n, failed, stayed, got, from, to)
			}
		}
	}
}

// dies lets an operation fail, and the process die some operations later. It counts them.
func (s *swapping) dies(fails, after int) (ops *int) {
	ops = new(int)
	s.hook = func(durable.Op) error {
		*ops++
		if *ops == fails+after {
			s.session.Close()
		}
		if *ops == fails || *ops >= fails+after {
			return durable.ErrKilled
		}
		return nil
	}
	return ops
}
