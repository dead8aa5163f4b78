package checkpoint_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// The tests of this file are what other programs got wrong, each named after what has to
// hold here.

// saved replaces a file as most editors do: a new file takes the name.
func (b *bench) saved(name, text string) {
	b.Helper()
	b.write(name+"~", text)
	b.mv(name+"~", name)
}

// TestLargeFileIsNotEmptied: a capture that failed is not an empty file.
func TestLargeFileIsNotEmptied(t *testing.T) {
	b := newBench(t, &checkpoint.TrackOptions{MaxFile: 10})
	b.write("large", strings.Repeat("x", 11))
	b.prompt("go")
	b.edit("large", strings.Repeat("y", 11))
	b.edit("a", "1")
	for _, force := range []bool{false, true} {
		p := b.plan("", checkpoint.Code)
		if it := item(t, p, "large"); it.Action != checkpoint.ActUnknown {
			t.Errorf("%s: %s", it.Action, it.Reason)
		}
		b.commit(p, &checkpoint.CommitOptions{Force: force})
		b.has("large=" + strings.Repeat("y", 11))
	}
}

// TestHardLinkThatTheWriterBreaksIsNotEmptied: the path gets its content back, and the other
// name keeps it.
func TestHardLinkThatTheWriterBreaksIsNotEmptied(t *testing.T) {
	b := newBench(t, nil)
	b.write("a", "0")
	b.must(os.Link(b.path("a"), b.path("other")))
	b.prompt("go")
	b.tool("a", func() { b.saved("a", "1") })
	b.edit("beside", "1")
	b.undo(checkpoint.Code, nil)
	b.has("a=0 other=0")
}

// TestHardLinkThatStaysBlocksItselfAlone: not the whole restore.
func TestHardLinkThatStaysBlocksItselfAlone(t *testing.T) {
	b := newBench(t, nil)
	b.write("a", "0")
	b.must(os.Link(b.path("a"), b.path("other")))
	b.prompt("go")
	b.edit("a", "1")
	b.edit("beside", "1")
	b.undo(checkpoint.Code, &checkpoint.CommitOptions{Partial: true})
	b.has("a=1 other=1")
}

// TestLinkThatAToolReplacesIsNotDeleted: a link is a state like others.
func TestLinkThatAToolReplacesIsNotDeleted(t *testing.T) {
	b := newBench(t, nil)
	b.write("real", "0")
	b.link("real", "l")
	b.prompt("go")
	b.tool("l", func() { b.saved("l", "1") })
	b.undo(checkpoint.Code, nil)
	b.has("l->real real=0")
	b.redo(checkpoint.Code)
	b.has("l=1 real=0")
}

// TestHandEditsBetweenTurnsAreConflicts: also without scans, where only the next edit of the
// same file shows them.
func TestHandEditsBetweenTurnsAreConflicts(t *testing.T) {
	for _, scan := range []bool{false, true} {
		b := newBench(t, &checkpoint.TrackOptions{Scan: scan})
		b.write("a", "0")
		b.turn("one", func() { b.edit("a", "1") })
		b.write("a", "by hand")
		b.turn("two", func() { b.edit("a", "2") })
		p := b.plan("", checkpoint.Code)
		if it := item(t, p, "a"); it.Action != checkpoint.ActConflict || !strings.Contains(it.Reason, "by hand") {
			t.Errorf("scan %v: %s: %s", scan, it.Action, it.Reason)
		}
		if _, err := b.f.Commit(t.Context(), p, nil); !errors.Is(err, checkpoint.ErrConflict) {
			t.Error(err)
		}
		b.has("a=2")
		if scan { // which saw the edit before the last turn began, so that this one goes back alone
			b.undo(checkpoint.Code, nil)
			b.has("a=by hand")
		}
	}
}

// TestNothingIsLeftInTheWorkspace: no backup and no temporary file, also after one that
// failed, and no directory that is only there for one.
func TestNothingIsLeftInTheWorkspace(t *testing.T) {
	b := newBench(t, nil)
	b.write("d/a", "0")
	b.write("gone/a", "0")
	b.prompt("go")
	b.edit("d/a", "1")
	b.edit("new/deep/a", "1")
	b.named(func() { b.rm("gone") }, "gone", "gone/a")
	for range 3 {
		b.undo(checkpoint.Both, nil)
		b.has("d/ d/a=0 gone/ gone/a=0")
		b.redo(checkpoint.Both)
		b.has("d/ d/a=1 new/ new/deep/ new/deep/a=1")
	}
	for _, sub := range []string{"tmp", "refs"} {
		if list, err := os.ReadDir(filepath.Join(b.st.Dir(), sub)); len(list) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(list, err)
		}
	}
}

// TestBinariesSurviveEveryWay: contents are bytes and pass through no encoding, also through
// a new process, and what an undo overwrites.
func TestBinariesSurviveEveryWay(t *testing.T) {
	b := newBench(t, nil)
	r := rand.New(rand.NewPCG(1, 2))
	contents := map[string][2][]byte{}
	var names []string
	for i := range 60 {
		name := string(rune('A' + i))
		for v := range 2 {
			data := make([]byte, r.IntN(3000))
			for j := range data {
				data[j] = byte(r.UintN(256))
			}
			c := contents[name]
			c[v] = data
			contents[name] = c
		}
		names = append(names, name)
		b.must(os.WriteFile(b.path(name), contents[name][0], 0o644))
	}
	b.prompt("go")
	b.named(func() {
		for name, c := range contents {
			b.must(os.WriteFile(b.path(name), c[1], 0o644))
		}
	}, names...)
	for i, step := range []func(){
		func() { b.undo(checkpoint.Code, nil) }, func() { b.redo(checkpoint.Code) },
		b.reopen, func() { b.undo(checkpoint.Both, nil) }, b.reopen, func() { b.redo(checkpoint.Both) },
	} {
		step()
		want := []int{0, 1, 1, 0, 0, 1}[i]
		for name, c := range contents {
			if got, err := os.ReadFile(b.path(name)); err != nil || !bytes.Equal(got, c[want]) {
				t.Fatalf("step %d: %q: %v", i, name, err)
			}
		}
	}
}

// TestAnUndoDoesNotComeBackAfterReopening: what a new turn took away is not offered by the
// next process.
func TestAnUndoDoesNotComeBackAfterReopening(t *testing.T) {
	for _, scope := range []checkpoint.Scope{checkpoint.Code, checkpoint.Both} {
		b := newBench(t, nil)
		b.prompt("one")
		b.edit("a", "1")
		b.undo(scope, nil)
		b.prompt("two")
		b.edit("b", "2")
		for range 2 {
			if _, err := b.f.Redo(t.Context(), scope, nil); !errors.Is(err, sessiontree.ErrNothingToUndo) {
				t.Errorf("%s: %v", scope, err)
			}
			b.reopen()
		}
		b.has("b=2")
	}
}

// TestWhatNoLogRefersToCanGo: a store does not grow for ever: with its log go the contents
// that only it named, those of undone restores too, and nothing else.
func TestWhatNoLogRefersToCanGo(t *testing.T) {
	b := newBench(t, nil)
	b.write("a", "0")
	b.prompt("go")
	b.edit("a", "1")
	b.write("a", "by hand")
	b.undo(checkpoint.Code, &checkpoint.CommitOptions{Force: true})
	other, err := sessiontree.Create(b.home, entries.Header{Cwd: b.dir}, nil)
	b.must(err)
	defer other.Close()
	f, err := checkpoint.Track(t.Context(), other, b.root, b.st, nil)
	b.must(err)
	b.must(f.BeforeEdit(t.Context(), "c", "a")) // 0
	old := time.Now().Add(-48 * time.Hour)
	collect := func(want int) {
		t.Helper()
		b.must(filepath.WalkDir(b.st.Dir(), func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				err = os.Chtimes(name, old, old)
			}
			return err
		}))
		g, err := b.st.Garbage(t.Context())
		b.must(err)
		if n, _, err := b.st.Collect(t.Context(), g); n != want || err != nil {
			t.Errorf("%d went, want %d: %v", n, want, err)
		}
	}
	collect(0)
	b.s.Close()
	b.must(os.Remove(b.s.Path()))
	collect(2) // 1, by hand
	if !b.st.Has(sum("0")) {
		t.Error("what another log names went too")
	}
}

// TestNothingOfTheLogIsRewritten: what is taken back stays in the log, as it was.
func TestNothingOfTheLogIsRewritten(t *testing.T) {
	b := newBench(t, nil)
	b.prompt("one")
	b.edit("a", "1")
	for range 3 {
		before, err := os.ReadFile(b.s.Path())
		b.must(err)
		b.undo(checkpoint.Both, nil)
		b.redo(checkpoint.Both)
		after, err := os.ReadFile(b.s.Path())
		b.must(err)
		if !bytes.HasPrefix(after, before) {
			t.Error("the log was rewritten")
		}
	}
}

// TestForceKeepsWhatItOverwrites: an undo of a forced restore brings hand edits back.
func TestForceKeepsWhatItOverwrites(t *testing.T) {
	b := newBench(t, nil)
	b.write("a", "0")
	b.prompt("go")
	b.edit("a", "1")
	b.edit("new", "1")
	b.write("a", "by hand")
	b.rm("new")
	b.mkdir("new", 0o700)
	before := exact(t, b.dir)
	b.undo(checkpoint.Code, &checkpoint.CommitOptions{Force: true})
	b.has("a=0")
	b.reopen()
	b.redo(checkpoint.Code)
	if got := exact(t, b.dir); got != before {
		t.Errorf("the workspace is\n%s\nwant\n%s", got, before)
	}
}

// TestAttributesOfGitChangeNothing: neither line ends nor keywords are converted.
func TestAttributesOfGitChangeNothing(t *testing.T) {
	b := newBench(t, scans)
	b.write(".gitattributes", "* text=auto eol=lf\n*.c ident\n*.bin filter=lfs\n")
	b.write("a.txt", "one\r\ntwo\r\n")
	b.write("a.c", "$Id$ $Id: 0123 $\n")
	b.write("a.bin", "version https://git-lfs.github.com/spec/v1\n")
	before := exact(t, b.dir)
	b.turn("go", func() { b.shell("for f in a.*; do echo new > $f; done") })
	b.undo(checkpoint.Code, nil)
	if got := exact(t, b.dir); got != before {
		t.Errorf("the workspace is\n%s\nwant\n%s", got, before)
	}
}

// TestAModelTakesBackItsToolsWorkOnly: what changed during a turn without a tool may be a
// person's work beside the agent. It is a group of its own, and no model takes it back.
func TestAModelTakesBackItsToolsWorkOnly(t *testing.T) {
	b := newBench(t, scans)
	b.write("a", "0")
	b.write("mine", "0")
	b.write("both", "0")
	b.turn("go", func() {
		b.edit("a", "1")
		b.write("mine", "by hand")
		b.edit("both", "1")
		b.write("both", "by hand, too")
	})
	all, err := b.f.Plan(t.Context(), "", checkpoint.Code, nil)
	b.must(err)
	if it := item(t, all, "mine"); it.Source != checkpoint.ByScan || it.Action != checkpoint.ActRestore {
		t.Errorf("%s: %s", it.Source, it.Action)
	}
	p, err := b.f.Plan(t.Context(), "", checkpoint.Code, &checkpoint.PlanOptions{ToolsOnly: true})
	b.must(err)
	if it := item(t, p, "both"); it.Action != checkpoint.ActConflict {
		t.Errorf("%s: %s", it.Action, it.Reason)
	}
	b.commit(p, &checkpoint.CommitOptions{Partial: true})
	b.has("a=0 both=by hand, too mine=by hand")
}
