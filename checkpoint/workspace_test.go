package checkpoint_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// TestWorkspaceIsNotTheOneThatWasRecorded: a folder that was moved is the same, one that
// was replaced is not.
func TestWorkspaceIsNotTheOneThatWasRecorded(t *testing.T) {
	work := func(t *testing.T) *bench {
		b := newBench(t, nil)
		b.within()
		b.prompt("go")
		b.edit("a", "1")
		return b
	}
	t.Run("moved", func(t *testing.T) {
		b := work(t)
		b.stop()
		b.must(os.Rename(b.dir, b.dir+"-moved"))
		b.dir += "-moved"
		b.reopen()
		b.undo(checkpoint.Code, nil)
		if _, err := os.Lstat(b.path("a")); !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	})
	t.Run("replaced", func(t *testing.T) {
		b := work(t)
		b.stop()
		old := b.dir
		b.must(os.Rename(old, old+"-old"))
		b.write("a", "1")
		b.reopen()
		p := b.planUndo()
		if it := item(t, p, "a"); it.Action != checkpoint.ActConflict || !strings.Contains(it.Reason, "moved or replaced") {
			t.Errorf("%s: %s", it.Action, it.Reason)
		}
		if _, err := b.f.Commit(t.Context(), p, nil); !errors.Is(err, checkpoint.ErrConflict) {
			t.Error(err)
		}
		b.has("a=1")
	})
	t.Run("gone", func(t *testing.T) {
		b := work(t)
		b.must(os.RemoveAll(b.dir))
		p, err := b.f.Undo(t.Context(), checkpoint.Code, nil)
		if err == nil {
			_, err = b.f.Commit(t.Context(), p, &checkpoint.CommitOptions{Force: true})
		}
		if _, e := os.Lstat(b.dir); !errors.Is(e, os.ErrNotExist) {
			t.Errorf("it was made again: %v; %v", e, err)
		}
		if _, err := os.OpenRoot(b.dir); err == nil {
			t.Error("there")
		}
		b.must(os.MkdirAll(b.dir, 0o755)) // for what follows the test
	})
	t.Run("a link", func(t *testing.T) {
		b := work(t)
		link := filepath.Join(t.TempDir(), "link")
		b.must(os.Symlink(b.dir, link))
		real := b.dir
		b.dir = link
		b.reopen()
		b.must(b.f.BeforeEdit(t.Context(), "c", filepath.Join(real, "b"), filepath.Join(link, "c")))
		b.write("b", "1")
		b.write("c", "1")
		b.must(b.f.AfterEdit(t.Context(), "c", filepath.Join(real, "b"), filepath.Join(link, "c")))
		p := b.planUndo()
		if len(p.Items) != 3 || p.Count(checkpoint.ActRemove) != 3 {
			t.Errorf("%+v", p.Items)
		}
		b.commit(p, nil)
	})
}

// TestRootsThatNobodyMeans: a home directory and a whole disk are refused, by whatever name.
func TestRootsThatNobodyMeans(t *testing.T) {
	b := newBench(t, nil)
	home := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	b.must(os.Symlink(home, link))
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	disk := filepath.VolumeName(home) + string(filepath.Separator)
	for _, dir := range []string{home, link, home + "/.", disk} {
		root, err := os.OpenRoot(dir)
		b.must(err)
		if _, err := checkpoint.Track(t.Context(), b.s, root, b.st, nil); !errors.Is(err, checkpoint.ErrRoot) {
			t.Errorf("%s: %v", dir, err)
		}
		if err := checkpoint.CheckRoot(root); !errors.Is(err, checkpoint.ErrRoot) {
			t.Errorf("%s, before anything is tracked: %v", dir, err)
		}
		root.Close()
	}
	b.must(checkpoint.CheckRoot(b.root))
}

// TestStoreAndLogInsideTheWorkspace: what sessctl keeps is nothing that a turn did, and no
// record can have it changed.
func TestStoreAndLogInsideTheWorkspace(t *testing.T) {
	for _, where := range []string{".", "logs", ".a/b/c"} {
		t.Run(where, func(t *testing.T) {
			b := newBench(t, scans)
			b.stop()
			home := filepath.Join(b.dir, where)
			b.must(os.MkdirAll(home, 0o755))
			s, err := sessiontree.Create(home, entries.Header{Cwd: b.dir}, nil)
			b.must(err)
			b.s = s
			b.start()
			other, err := sessiontree.Create(home, entries.Header{Cwd: b.dir}, nil)
			b.must(err)
			defer other.Close()
			b.write("a", "0")
			b.turn("one", func() {
				b.write("a", "1")
				_, err := other.Append(t.Context(), entries.UserMessage("hello"))
				b.must(err)
			})
			rel, err := filepath.Rel(b.dir, b.s.Path())
			b.must(err)
			log, err := os.ReadFile(b.s.Path())
			b.must(err)
			blob := filepath.ToSlash(filepath.Join(where, "blobs", "sha256", sum("0")[:2], sum("0")[2:]))
			b.plant(entries.CustomFileSnapshot, object{"phase": "after", "source": "tool", "files": []object{
				{"path": filepath.ToSlash(rel), "before": fileOf("0"), "state": fileOf(string(log))},
				{"path": blob, "before": absent, "state": fileOf("0")},
				{"path": filepath.ToSlash(filepath.Join(where, "blobs", "new")), "before": fileOf("0"), "state": absent},
			}})
			p := b.force()
			for _, it := range p.Items {
				if it.Path != "a" && it.Action != checkpoint.ActUnknown {
					t.Errorf("%s is %s: %s", it.Path, it.Action, it.Reason)
				}
			}
			if data, err := os.ReadFile(b.path("a")); string(data) != "0" {
				t.Error(string(data), err)
			}
			if _, err := b.st.Get(sum("0")); err != nil {
				t.Error(err)
			}
			for _, path := range []string{b.s.Path(), other.Path()} {
				x, err := sessiontree.Read(path, nil)
				b.must(err)
				if x.Leaf() == "" {
					t.Errorf("%s lost what was said", path)
				}
				x.Close()
			}
		})
	}
}
