package sessiontree_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// A talker appends short turns to a session.
type talker struct {
	t *testing.T
	s *sessiontree.Session
}

func newTalker(t *testing.T) *talker {
	t.Helper()
	s, err := sessiontree.Create(t.TempDir(), entries.Header{Cwd: "/p"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return &talker{t, s}
}

func (k *talker) add(d ...entries.Draft) entries.ID {
	k.t.Helper()
	done, err := k.s.Append(context.Background(), d...)
	if err != nil {
		k.t.Fatal(err)
	}
	return done.Leaf
}

func (k *talker) answer(calls ...string) entries.ID {
	k.t.Helper()
	var content []json.RawMessage
	for _, c := range calls {
		content = append(content, entries.ToolCallBlock(c, "bash", json.RawMessage("{}")))
	}
	return k.add(entries.AssistantMessage(entries.Assistant{Content: append(content, entries.TextBlock("ok"))}))
}

func (k *talker) result(call string) entries.ID {
	k.t.Helper()
	return k.add(entries.ToolResult(call, "bash", nil, false, nil))
}

// do plans and returns.
func (k *talker) do(plan func(*sessiontree.Tree) (*sessiontree.Return, error)) *sessiontree.Return {
	k.t.Helper()
	tree, err := k.s.Tree()
	if err != nil {
		k.t.Fatal(err)
	}
	r, err := plan(tree)
	if err != nil {
		k.t.Fatal(err)
	}
	if _, err := k.s.Return(context.Background(), r); err != nil {
		k.t.Fatal(err)
	}
	return r
}

// here is the last entry of the path that is no marker.
func (k *talker) here() entries.ID {
	k.t.Helper()
	tree, err := k.s.Tree()
	if err != nil {
		k.t.Fatal(err)
	}
	for e, err := range tree.Ancestors(tree.Leaf()) {
		if err != nil {
			k.t.Fatal(err)
		}
		if e.Type != entries.TypeCustom {
			return e.ID
		}
	}
	return ""
}

func undo(t *sessiontree.Tree) (*sessiontree.Return, error) { return t.PlanUndo() }
func redo(t *sessiontree.Tree) (*sessiontree.Return, error) { return t.PlanRedo() }

func TestUndoAndRedo(t *testing.T) {
	k := newTalker(t)
	k.add(entries.UserMessage("one"))
	first := k.answer()
	k.add(entries.UserMessage("two"))
	k.answer("a")
	second := k.result("a")
	k.add(entries.UserMessage("three"))
	third := k.answer()

	r := k.do(undo)
	if m, err := r.Prompt.Message(); err != nil || m.Text() != "three" || r.Entries != 2 || r.Turns != 1 || k.here() != second {
		t.Fatalf("got %+v (%v), now at %s", r, err, k.here())
	}
	if r = k.do(undo); k.here() != first || r.Turns != 1 {
		t.Fatalf("got %+v, now at %s", r, k.here())
	}
	if k.do(undo); k.here() != "" {
		t.Fatalf("now at %s, want before the first entry", k.here())
	}
	tree, err := k.s.Tree()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.PlanUndo(); !errors.Is(err, sessiontree.ErrNothingToUndo) {
		t.Errorf("got %v, want ErrNothingToUndo", err)
	}
	for _, want := range []entries.ID{first, second, third} {
		if r = k.do(redo); k.here() != want || r.Turns != 1 {
			t.Fatalf("got %+v, now at %s, want %s", r, k.here(), want)
		}
	}
	if tree, err = k.s.Tree(); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.PlanRedo(); !errors.Is(err, sessiontree.ErrNothingToUndo) {
		t.Errorf("with everything back: got %v, want ErrNothingToUndo", err)
	}
	k.do(undo)
	k.add(entries.LabelDraft(first, "x")) // says nothing
	if k.do(redo); k.here() != third {
		t.Errorf("behind a label: now at %s, want %s", k.here(), third)
	}
	k.do(undo)
	k.add(entries.UserMessage("something else"))
	if tree, err = k.s.Tree(); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.PlanRedo(); !errors.Is(err, sessiontree.ErrNothingToUndo) {
		t.Errorf("behind another turn: got %v, want ErrNothingToUndo", err)
	}
}

func TestUndoTo(t *testing.T) {
	k := newTalker(t)
	one := k.add(entries.UserMessage("one"))
	answer := k.answer("a", "b")
	a := k.result("a")
	b := k.result("b")
	two := k.add(entries.UserMessage("two"))
	k.answer()
	tree, err := k.s.Tree()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		to, lands entries.ID
		prompt    entries.ID
		entries   int
	}{{one, "", one, 6}, {answer, b, "", 2}, {a, b, "", 2}, {b, b, "", 2}, {two, b, two, 2}} {
		r, err := tree.PlanUndoTo(c.to)
		if err != nil || r.To != c.lands || r.Prompt.ID != c.prompt || r.Entries != c.entries {
			t.Errorf("to %s: got %+v (%v), want to land on %s, with %d entries", c.to, r, err, c.lands, c.entries)
		}
	}
	if r, err := tree.PlanUndoTo(""); err != nil || r.To != "" || r.Prompt.ID != one || r.Entries != 6 || r.Turns != 2 {
		t.Errorf("to before the first entry: got %+v (%v)", r, err)
	}
	if _, err := tree.PlanUndoTo("nobody"); !errors.Is(err, sessiontree.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	r, err := tree.PlanUndo()
	if err != nil {
		t.Fatal(err)
	}
	k.add(entries.UserMessage("three"))
	if _, err := k.s.Return(context.Background(), r); !errors.Is(err, sessiontree.ErrConflict) {
		t.Errorf("with a leaf that has moved: got %v, want ErrConflict", err)
	}
}

// Answers keep their calls and results together wherever one goes among them.
func TestUndoAmongResults(t *testing.T) {
	k := newTalker(t)
	first := k.add(entries.UserMessage("go"))
	answer := k.answer("a", "b")
	started := k.add(entries.ToolExecutionStart("a", "bash"))
	a := k.result("a")
	label := k.add(entries.LabelDraft(first, "x"))
	steering := k.add(entries.UserMessage("hurry"))
	note := k.add(entries.CustomMessageDraft("hook", json.RawMessage(`"n"`), true, nil))
	last := k.result("b")
	k.answer()
	tree, err := k.s.Tree()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []entries.ID{answer, started, a, label, note, last} {
		if r, err := tree.PlanUndoTo(id); err != nil || r.To != last || r.Entries != 1 {
			t.Errorf("to %s: got %+v, %v, want to %s", id, r, err, last)
		}
	}
	r, err := tree.PlanUndo() // the last prompt came among the results: the answer goes too
	if err != nil || r.To != first || r.Prompt.ID != steering || r.Entries != 8 {
		t.Errorf("got %+v, %v, want to %s", r, err, first)
	}
}

// Settings and records are nothing that was said: what was taken back can still come.
func TestRedoAfterSettings(t *testing.T) {
	k := newTalker(t)
	k.add(entries.UserMessage("go"))
	leaf := k.answer()
	k.do(undo)
	k.add(entries.ModelChangeDraft("acme", "m"), entries.ThinkingLevelDraft("high"), entries.CustomDraft("note", json.RawMessage(`1`)))
	if r := k.do(redo); r.To != leaf {
		t.Errorf("got %+v, want to %s", r, leaf)
	}
}
