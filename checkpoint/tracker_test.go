package checkpoint_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// A bench is a session with a workspace, as a harness has it.
type bench struct {
	*testing.T
	dir  string // of the workspace
	home string // of the session
	s    *sessiontree.Session
	st   *checkpoint.Store
	root *os.Root
	f    *checkpoint.Tracker
	opt  *checkpoint.TrackOptions
}

func newBench(t *testing.T, opt *checkpoint.TrackOptions) *bench {
	t.Helper()
	b := &bench{T: t, dir: t.TempDir(), home: t.TempDir(), opt: opt}
	s, err := sessiontree.Create(b.home, entries.Header{Cwd: b.dir}, nil)
	b.must(err)
	b.s = s
	b.start()
	t.Cleanup(func() { b.stop() })
	return b
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) start() {
	b.Helper()
	var err error
	b.root, err = os.OpenRoot(b.dir)
	b.must(err)
	b.st, err = checkpoint.OpenStore(checkpoint.StoreOf(b.s.Path()))
	b.must(err)
	b.f, err = checkpoint.Track(b.Context(), b.s, b.root, b.st, b.opt)
	b.must(err)
}

func (b *bench) stop() {
	b.s.Close()
	b.st.Close()
	b.root.Close()
}

// reopen quits, and opens the session in another process, as it were.
func (b *bench) reopen() {
	b.Helper()
	b.stop()
	s, err := sessiontree.Open(b.s.Path(), nil)
	b.must(err)
	b.s = s
	b.start()
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

func (b *bench) write(name, text string) {
	b.Helper()
	b.must(os.MkdirAll(filepath.Dir(b.path(name)), 0o755))
	b.must(os.WriteFile(b.path(name), []byte(text), 0o644))
}

func (b *bench) prompt(text string) entries.ID {
	b.Helper()
	done, err := b.s.Append(b.Context(), entries.UserMessage(text))
	b.must(err)
	return done.Leaf
}

// edit writes a file as a tool does.
func (b *bench) edit(name, text string) {
	b.Helper()
	b.tool(name, func() { b.write(name, text) })
}

func (b *bench) tool(name string, do func()) {
	b.Helper()
	b.must(b.f.BeforeEdit(b.Context(), "call", name))
	do()
	b.must(b.f.AfterEdit(b.Context(), "call", name))
}

func (b *bench) has(want string) {
	b.Helper()
	if got := tree(b.T, b.dir); got != want {
		b.Errorf("the workspace is %q, want %q", got, want)
	}
}

// tree writes a folder down: every path with its content, and the mode where that is not
// the usual one.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		info, err := d.Info()
		if err != nil {
			return err
		}
		item := filepath.ToSlash(rel)
		if p := info.Mode().Perm(); p != 0o644 && p != 0o755 && p != 0o777 {
			item += "[" + checkpoint.FormatMode(info.Mode()) + "]"
		}
		switch {
		case d.IsDir():
			item += "/"
		case d.Type()&os.ModeSymlink != 0:
			target, _ := os.Readlink(name)
			item += "->" + target
		default:
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			item += "=" + string(data)
		}
		list = append(list, item)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, " ")
}

func (b *bench) commit(p *checkpoint.Plan, opt *checkpoint.CommitOptions) *checkpoint.Done {
	b.Helper()
	done, err := b.f.Commit(b.Context(), p, opt)
	b.must(err)
	return done
}

func (b *bench) plan(to entries.ID, scope checkpoint.Scope) *checkpoint.Plan {
	b.Helper()
	p, err := b.f.Plan(b.Context(), to, scope, nil)
	b.must(err)
	return p
}

func (b *bench) undo(scope checkpoint.Scope, opt *checkpoint.CommitOptions) {
	b.Helper()
	p, err := b.f.Undo(b.Context(), scope, nil)
	b.must(err)
	b.commit(p, opt)
}

func (b *bench) redo(scope checkpoint.Scope) {
	b.Helper()
	p, err := b.f.Redo(b.Context(), scope, nil)
	b.must(err)
	b.commit(p, nil)
}

func TestUndoAndRedoOfAnyDepth(t *testing.T) {
	for _, scope := range []checkpoint.Scope{checkpoint.Code, checkpoint.Both} {
		t.Run(string(scope), func(t *testing.T) {
			b := newBench(t, nil)
			b.write("a", "0")
			states := []string{"a=0"}
			step := func() { states = append(states, tree(t, b.dir)) }
			b.prompt("one")
			b.edit("a", "1")
			b.edit("d/e/new", "x")
			step()
			b.prompt("two")
			b.edit("a", "2")
			b.tool("d/e/new", func() { b.must(os.Remove(b.path("d/e/new"))) })
			step()
			b.prompt("three")
			b.edit("b", "3")
			step()
			for range 2 {
				for i := 2; i >= 0; i-- {
					b.undo(scope, nil)
					b.has(states[i])
					if i == 1 {
						b.reopen()
					}
				}
				if _, err := b.f.Undo(context.Background(), scope, nil); !errors.Is(err, sessiontree.ErrNothingToUndo) {
					t.Errorf("one more undo: %v", err)
				}
				for i := 1; i <= 3; i++ {
					b.redo(scope)
					b.has(states[i])
				}
				if _, err := b.f.Redo(context.Background(), scope, nil); !errors.Is(err, sessiontree.ErrNothingToUndo) {
					t.Errorf("one more redo: %v", err)
				}
			}
		})
	}
}
