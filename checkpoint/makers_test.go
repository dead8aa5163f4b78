package checkpoint_test

import (
	"os"
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
)

// TestHandEditsAreRemembered: a person's edit between two turns is one, however often turns
// were undone and redone, the leaf was moved, or the session was forked meanwhile.
func TestHandEditsAreRemembered(t *testing.T) {
	for name, meanwhile := range map[string]func(b *bench){
		"nothing":       func(*bench) {},
		"undo both":     func(b *bench) { b.undo(checkpoint.Both, nil) },
		"undo code":     func(b *bench) { b.undo(checkpoint.Code, nil) },
		"undo and redo": func(b *bench) { b.undo(checkpoint.Both, nil); b.redo(checkpoint.Both) },
		"undo and redo, twice": func(b *bench) {
			b.undo(checkpoint.Code, nil)
			b.redo(checkpoint.Code)
			b.undo(checkpoint.Code, nil)
			b.redo(checkpoint.Code)
		},
		"undo the conversation": func(b *bench) {
			p, err := b.f.Undo(b.Context(), checkpoint.Conversation, nil)
			b.must(err)
			b.commit(p, nil)
		},
		"all undone by force, and redone": func(b *bench) {
			b.undo(checkpoint.Code, nil)
			b.undo(checkpoint.Code, &checkpoint.CommitOptions{Force: true})
			b.redo(checkpoint.Code)
			b.redo(checkpoint.Code)
		},
		"opened again": func(b *bench) { b.reopen() },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, scans)
			b.write("b", "0")
			b.turn("one", func() { b.edit("b", "1") })
			b.write("b", "1 by hand")
			b.turn("two", func() { b.edit("b", "2") })
			meanwhile(b)
			was := tree(t, b.dir)
			p := b.plan("", checkpoint.Code)
			if it := item(t, p, "b"); it.Action != checkpoint.ActConflict || it.Reason != "it was edited by hand between the changes that are taken back" {
				t.Errorf("%s: %s", it.Action, it.Reason)
			}
			if _, err := b.f.Commit(b.Context(), p, nil); err == nil {
				t.Error("done")
			}
			b.has(was)
		})
	}
}

// TestToolsWorkUnderAHandEdit: what a person did last on a file does not hide that a tool
// had changed it before.
func TestToolsWorkUnderAHandEdit(t *testing.T) {
	b := newBench(t, scans)
	b.write("b", "0")
	b.turn("one", func() { b.edit("b", "1") })
	b.turn("two", func() { b.edit("x", "2") })
	b.write("b", "1 by hand")
	b.turn("three", func() { b.edit("x", "3") })
	b.undo(checkpoint.Code, nil)
	b.undo(checkpoint.Code, nil)
	b.has("b=1 by hand")
	p := b.plan("", checkpoint.Code)
	if it := item(t, p, "b"); it.Action != checkpoint.ActConflict {
		t.Errorf("%s: %s", it.Action, it.Reason)
	}
	b.undo(checkpoint.Code, &checkpoint.CommitOptions{Force: true})
	b.has("b=0")
}

// TestToWhatTheLogKnows: what a person broke goes back to what the session left, where that
// is named.
func TestToWhatTheLogKnows(t *testing.T) {
	b := newBench(t, nil)
	b.write("a", "0")
	b.prompt("one")
	b.edit("a", "1")
	b.edit("c", "1")
	b.write("a", "garbage")
	b.rm("c")
	p := b.plan(b.s.Leaf(), checkpoint.Code)
	if p.Count(checkpoint.ActConflict) != 2 {
		t.Errorf("%+v", p.Items)
	}
	b.commit(p, &checkpoint.CommitOptions{Overwrite: []string{"c"}, Partial: true})
	b.has("a=garbage c=1")
	b.undo(checkpoint.Code, nil)
	b.has("a=garbage")
}

// TestUndoThatCouldDoNothing: where no content is there, nothing is undone, and the log does
// not say so.
func TestUndoThatCouldDoNothing(t *testing.T) {
	b := newBench(t, nil)
	b.write("a", "0")
	b.prompt("one")
	b.edit("a", "1")
	b.stop()
	b.must(os.RemoveAll(b.st.Dir()))
	b.reopen()
	for range 2 {
		p := b.planUndo()
		if it := item(t, p, "a"); it.Action != checkpoint.ActUnknown {
			t.Fatalf("%s: %s", it.Action, it.Reason)
		}
		if done := b.commit(p, nil); done.End != "" {
			t.Error("it is recorded")
		}
	}
	b.has("a=1")
}
