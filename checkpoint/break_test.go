package checkpoint_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// TestOtherSessionsInsideAreLeftOut: another session keeps its log and its store in a folder
// of the workspace. An undo here must not take that log back, nor remove its contents.
func TestOtherSessionsInsideAreLeftOut(t *testing.T) {
	b := newBench(t, scans)
	b.mkdir("sub", 0o755)
	b.mkdir("sub/sessions", 0o755)
	s, err := sessiontree.Create(b.path("sub/sessions"), entries.Header{Cwd: b.path("sub")}, nil)
	b.must(err)
	defer s.Close()
	var f *checkpoint.Tracker
	b.turn("go", func() {
		b.edit("mine", "1")
		f, err = checkpoint.Follow(t.Context(), s, nil)
		b.must(err)
		_, err = s.Append(t.Context(), entries.UserMessage("hello"))
		b.must(err)
		b.write("sub/f", "0")
		b.must(f.BeforeEdit(t.Context(), "c", "f"))
	})
	defer f.Close()
	before, err := os.ReadFile(s.Path())
	b.must(err)
	p := b.planUndo()
	if !slices.ContainsFunc(p.NotCovered, func(u checkpoint.Uncovered) bool { return u.Path == "sub/sessions/blobs/" }) {
		t.Errorf("the store is not told of: %v", p.NotCovered)
	}
	b.commit(p, &checkpoint.CommitOptions{Force: true})
	if after, err := os.ReadFile(s.Path()); err != nil || string(after) != string(before) {
		t.Errorf("the other session's log was written: %v", err)
	}
	if !f.Store().Has(sum("0")) {
		t.Error("the other session's contents were removed")
	}
	if _, err := s.Append(t.Context(), entries.UserMessage("go on")); err != nil {
		t.Error(err)
	}
}

// TestReplacedWorkspaceIsNoticed: a tool moves the workspace away and puts another folder in
// its place, as a clone does. What then happens there is not taken for what the session
// follows, and no restore says that it was done, while it wrote elsewhere.
func TestReplacedWorkspaceIsNoticed(t *testing.T) {
	for _, scan := range []bool{false, true} {
		b := newBench(t, &checkpoint.TrackOptions{Scan: scan})
		b.write("a", "0")
		b.must(b.f.TurnStart(t.Context()))
		b.prompt("go")
		b.edit("a", "1")
		old := filepath.Join(t.TempDir(), "old")
		b.must(os.Rename(b.dir, old))
		b.must(os.Mkdir(b.dir, 0o755))
		b.tool(b.path("b"), func() { b.write("b", "new") })
		b.must(b.f.TurnEnd(t.Context()))
		p := b.planUndo()
		if it := item(t, p, "a"); it.Action != checkpoint.ActConflict || len(p.Items) != 1 {
			t.Errorf("%+v", p.Items)
		}
		if !slices.ContainsFunc(p.NotCovered, func(u checkpoint.Uncovered) bool {
			return u.Path == "b" && strings.Contains(u.Reason, "another folder")
		}) {
			t.Errorf("not told: %v", p.NotCovered)
		}
		if _, err := b.f.Commit(t.Context(), p, &checkpoint.CommitOptions{Force: true}); !errors.Is(err, checkpoint.ErrRoot) {
			t.Error(err)
		}
		b.has("b=new")
		if got := tree(t, old); got != "a=1" {
			t.Error(got)
		}
	}
}

// TestInterruptedTurnIsRecorded: whoever stops an agent cancels its context, and what the
// turn did is its work as before, and not a person's.
func TestInterruptedTurnIsRecorded(t *testing.T) {
	b := newBench(t, scans)
	b.write("a", "0")
	b.write("b", "0")
	b.must(b.f.TurnStart(t.Context()))
	b.prompt("go")
	ctx, cancel := context.WithCancel(t.Context())
	b.must(b.f.BeforeEdit(ctx, "c", "b"))
	b.write("b", "1")
	cancel()
	b.must(b.f.AfterEdit(ctx, "c", "b"))
	b.write("a", "1")
	b.must(b.f.TurnEnd(ctx))
	b.undo(checkpoint.Code, nil)
	b.has("a=0 b=0")
}

// TestWhatAnEditOfADirectoryLeavesOutIsNamed: a plan that brings a directory back without one
// of its files says so.
func TestWhatAnEditOfADirectoryLeavesOutIsNamed(t *testing.T) {
	b := newBench(t, &checkpoint.TrackOptions{MaxFiles: 4})
	b.prompt("go")
	named := func(dir, path, reason string) {
		t.Helper()
		b.tool(dir, func() { b.must(os.RemoveAll(b.path(dir))) })
		if p := b.planUndo(); !slices.ContainsFunc(p.NotCovered, func(u checkpoint.Uncovered) bool {
			return u.Path == path && strings.Contains(u.Reason, reason)
		}) {
			t.Errorf("not told: %v", p.NotCovered)
		}
	}
	b.mkdir("d", 0o755)
	if err := os.WriteFile(b.path("d/b\xffd"), []byte("precious"), 0o644); err == nil { // some systems know no such names
		named("d", "d/b\uFFFDd", "UTF-8")
	}
	for _, name := range []string{"1", "2", "3", "4", "5", "6"} {
		b.write("many/"+name, "0")
	}
	named("many", "many/5", "too many files")
}

// TestStoreThatIsRemovedIsMadeAgain: somebody removes the contents while a session goes on.
// What comes after that is kept, without a new start.
func TestStoreThatIsRemovedIsMadeAgain(t *testing.T) {
	b := newBench(t, scans)
	b.write("a", "0")
	b.write("b", "0")
	b.turn("one", func() { b.edit("a", "1") })
	b.must(os.RemoveAll(filepath.Join(b.st.Dir(), "sha256")))
	b.turn("two", func() { b.edit("a", "2") })
	b.undo(checkpoint.Code, nil)
	b.has("a=1 b=0")
}

// TestCollectLeavesWhatARunningTurnFound: another session's look replaces what scans remember,
// and the turn has not told of its first state yet.
func TestCollectLeavesWhatARunningTurnFound(t *testing.T) {
	b := newBench(t, scans)
	o := b.beside(scans)
	b.write("a", "0")
	b.must(b.f.TurnStart(t.Context()))
	old := time.Now().Add(-48 * time.Hour)
	b.must(filepath.WalkDir(filepath.Join(b.st.Dir(), "sha256"), func(name string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(name, old, old))
	}))
	b.prompt("go")
	b.write("a", "1")
	o.turn("other", func() {})
	g, err := b.st.Garbage(t.Context())
	b.must(err)
	if n, _, err := b.st.Collect(t.Context(), g); n != 0 || err != nil {
		t.Errorf("%d went: %v", n, err)
	}
	b.must(b.f.TurnEnd(t.Context()))
	b.commit(b.planUndo(), &checkpoint.CommitOptions{Force: true})
	b.has("a=0")
}

// TestSessionInAFolderOfTheWorkspaceIsBeside: its turn ran at the same time, and what no tool
// told of here may be its work.
func TestSessionInAFolderOfTheWorkspaceIsBeside(t *testing.T) {
	b := newBench(t, scans)
	b.write("sub/f", "0")
	b.mkdir("sub2", 0o755)
	for _, dir := range []string{"sub", "sub2"} {
		o := &bench{T: t, dir: b.path(dir), home: b.home, opt: scans}
		s, err := sessiontree.Create(o.home, entries.Header{Cwd: o.dir}, nil)
		b.must(err)
		o.s = s
		o.start()
		t.Cleanup(o.stop)
		b.must(b.f.TurnStart(t.Context()))
		b.must(o.f.TurnStart(t.Context()))
		b.prompt("outer")
		o.prompt("inner")
		o.write("f", "1"+dir)
		b.must(b.f.TurnEnd(t.Context()))
		b.must(o.f.TurnEnd(t.Context()))
		for name, p := range map[string]*checkpoint.Plan{dir + "/f": b.planUndo(), "f": o.planUndo()} {
			if it := item(t, p, name); it.Action != checkpoint.ActConflict || !strings.Contains(it.Reason, "another session") {
				t.Errorf("%s: %s: %s", name, it.Action, it.Reason)
			}
		}
	}
}

// TestRestoresAreNobodysWork: a restore removes a file, and the leaf goes to a branch that
// says nothing of it. That it is gone is not a person's work there, which a later restore on
// that branch would have to spare, or bring back.
func TestRestoresAreNobodysWork(t *testing.T) {
	b := newBench(t, scans)
	b.prompt("start")
	fork := b.s.Leaf()
	side := b.prompt("side")
	b.commit(b.plan(fork, checkpoint.Both), nil)
	b.turn("one", func() { b.shell("mkdir d; echo 1 > d/f") })
	b.commit(b.plan(fork, checkpoint.Both), nil)
	b.commit(b.plan(side, checkpoint.Both), nil)
	b.turn("two", func() { b.edit("d/f", "2") })
	p := b.plan(side, checkpoint.Both)
	for _, it := range p.Items {
		if it.Action != checkpoint.ActRemove || it.Source == checkpoint.ByUser {
			t.Errorf("%s: %s: %s, by %s", it.Path, it.Action, it.Reason, it.Source)
		}
	}
	b.commit(p, &checkpoint.CommitOptions{Partial: true})
	b.has("")
}

// TestDamagedContentBlocksItselfAlone: the rest of a restore is done, and the result says what
// is not.
func TestDamagedContentBlocksItselfAlone(t *testing.T) {
	b := newBench(t, nil)
	for _, name := range []string{"a", "b", "gone/c"} {
		b.write(name, "0"+name)
	}
	b.prompt("go")
	b.named(func() {
		b.write("a", "1")
		b.write("b", "1")
		b.rm("gone")
	}, "a", "b", "gone")
	for _, text := range []string{"0a", "0gone/c"} {
		s := sum(text)
		b.must(os.WriteFile(filepath.Join(b.st.Dir(), "sha256", s[:2], s[2:]), []byte("damaged"), 0o600))
	}
	done := b.commit(b.planUndo(), nil)
	b.has("a=1 b=0b gone/")
	if done.Count(checkpoint.Failed) != 2 || done.Count(checkpoint.Restored) != 2 {
		t.Errorf("%+v", done.Files)
	}
	for _, o := range done.Files {
		if o.Result == checkpoint.Failed && !strings.Contains(o.Reason, "damaged or replaced") {
			t.Errorf("%s: %s", o.Path, o.Reason)
		}
	}
	b.redo(checkpoint.Code)
	b.has("a=1 b=1")
}
