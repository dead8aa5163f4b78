package checkpoint_test

import (
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// tools tells of paths that a tool changes.
func (b *bench) tools(do func(), names ...string) {
	b.Helper()
	b.must(b.f.BeforeEdit(b.Context(), "call", names...))
	do()
	b.must(b.f.AfterEdit(b.Context(), "call", names...))
}

// back undoes the last turn, without a conflict, and brings it back.
func (b *bench) back(was, is string) {
	b.Helper()
	b.has(is)
	b.undo(checkpoint.Code, nil)
	b.has(was)
	b.redo(checkpoint.Code)
	b.has(is)
}

// Small histories in which the model found something wrong.
func TestFoundByTheModel(t *testing.T) {
	tests := map[string]struct {
		scan bool
		play func(b *bench)
	}{
		"a new link leads to a file that is edited later": {false, func(b *bench) {
			b.write("a", "0")
			b.turn("go", func() {
				b.tool("l", func() { b.shell("ln -s a l") })
				b.edit("a", "1")
			})
			b.back("a=0", "a=1 l->a")
		}},
		"a link becomes a directory": {false, func(b *bench) {
			b.shell("mkdir d && ln -s d l")
			b.turn("go", func() { b.tools(func() { b.shell("rm l && mkdir -p l/e && echo x > l/e/x") }, "l", "l/e/x") })
			b.back("d/ l->d", "d/ l/ l/e/ l/e/x=x\n")
		}},
		"a directory becomes a link": {false, func(b *bench) {
			b.shell("mkdir d && echo x > d/x")
			b.turn("go", func() { b.tools(func() { b.shell("rm -r d && ln -s d d") }, "d", "d/x") })
			b.back("d/ d/x=x\n", "d->d")
		}},
		"a command removes a directory, and a tool a link in its place": {true, func(b *bench) {
			b.shell("mkdir d && ln -s a d/z")
			b.turn("go", func() {
				b.shell("rm -r d && ln -s e d")
				b.tools(func() { b.shell("rm d && mkdir d && ln -s b d/z") }, "d", "d/z")
			})
			b.back("d/ d/z->a", "d/ d/z->b")
		}},
		"a command removes a directory, and a tool makes it again": {true, func(b *bench) {
			b.shell("mkdir d && ln -s a d/z")
			b.turn("go", func() {
				b.shell("rm -r d && ln -s e d")
				b.tools(func() { b.shell("rm d && mkdir d && ln -s a d/z") }, "d", "d/z")
				b.edit("b", "1")
			})
			b.back("d/ d/z->a", "b=1 d/ d/z->a")
		}},
		"a model leaves a command's work alone, and a person takes it back": {true, func(b *bench) {
			b.turn("go", func() { b.edit("a", "1"); b.shell("echo 2 > a") })
			p, err := b.f.Plan(b.Context(), "", checkpoint.Both, &checkpoint.PlanOptions{ToolsOnly: true})
			b.must(err)
			b.commit(p, &checkpoint.CommitOptions{Partial: true, Batch: func(*checkpoint.Done) []entries.Draft {
				return []entries.Draft{entries.BranchSummaryDraft("", "report", nil)}
			}})
			b.has("a=2\n")
			b.commit(b.plan("", checkpoint.Code), nil)
			b.has("")
		}},
		"a person steers": {true, func(b *bench) {
			b.turn("go", func() { b.edit("a", "1"); b.prompt("and also"); b.shell("echo 2 > b") })
			b.has("a=1 b=2\n")
			b.commit(b.plan("", checkpoint.Code), nil)
			b.has("")
		}},
		"a command removes what a tool made": {true, func(b *bench) {
			b.turn("go", func() { b.edit("a", "1"); b.edit("b", "1"); b.shell("rm a") })
			b.back("", "b=1")
		}},
		"a tool, a command, a tool": {true, func(b *bench) {
			b.turn("go", func() { b.edit("a", "1"); b.shell("echo 2 > a"); b.edit("a", "3") })
			b.back("", "a=3")
		}},
		"an undo that has nothing left to do": {false, func(b *bench) {
			b.turn("one", func() { b.edit("a", "1") })
			b.turn("two", func() { b.edit("b", "2") })
			b.shell("rm b")
			b.undo(checkpoint.Code, nil)
			b.undo(checkpoint.Code, nil)
			b.has("")
			b.redo(checkpoint.Code)
			b.redo(checkpoint.Code)
			b.has("a=1") // as it was before the undo
		}},
		"a directory above is gone": {false, func(b *bench) {
			b.write("d/x", "0")
			b.turn("go", func() { b.edit("d/x", "1") })
			b.shell("rm -r d")
			force := &checkpoint.CommitOptions{Overwrite: []string{"d/x"}}
			b.undo(checkpoint.Code, force)
			b.has("d/ d/x=0")
			b.redo(checkpoint.Code)
			b.has("")
		}},
		"a person made a directory of a file": {false, func(b *bench) {
			b.turn("go", func() { b.edit("a", "1"); b.edit("b", "1") })
			b.shell("rm a && mkdir a && echo mine > a/x")
			b.undo(checkpoint.Code, &checkpoint.CommitOptions{Force: true})
			b.has("a/ a/x=mine\n")
			b.redo(checkpoint.Code)
			b.has("a/ a/x=mine\n b=1")
		}},
		"a second undo overwrites what the first did not know": {false, func(b *bench) {
			b.turn("one", func() { b.edit("a", "1") })
			b.turn("two", func() { b.edit("b", "2") })
			b.write("a", "mine")
			b.undo(checkpoint.Code, nil)
			b.undo(checkpoint.Code, &checkpoint.CommitOptions{Force: true})
			b.redo(checkpoint.Code)
			b.redo(checkpoint.Code)
			b.has("a=mine b=2")
		}},
		"what was kept in a conflict stays a person's": {true, func(b *bench) {
			b.turn("one", func() { b.edit("a", "1"); b.edit("b", "1") })
			b.write("a", "mine")
			b.turn("two", func() {})
			partial := &checkpoint.CommitOptions{Partial: true}
			b.undo(checkpoint.Code, partial)
			b.redo(checkpoint.Code)
			b.commit(b.plan("", checkpoint.Both), partial)
			b.has("a=mine")
		}},
		"a move after a foreign one": {false, func(b *bench) {
			b.turn("one", func() { b.edit("a", "1") })
			one := b.s.Leaf()
			b.turn("two", func() { b.edit("a", "2") })
			two := b.s.Leaf()
			_, err := b.s.MoveLeaf(b.Context(), one, sessiontree.ReasonCheckout)
			b.must(err)
			b.move("")
			b.commit(b.plan(one, checkpoint.Code), nil)
			b.has("a=1")
			b.commit(b.plan(two, checkpoint.Code), nil)
			b.has("a=2")
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test.play(newBench(t, &checkpoint.TrackOptions{Scan: test.scan})) })
	}
}

// move moves the leaf, and the files stay.
func (b *bench) move(to entries.ID) {
	b.Helper()
	t, err := b.s.Tree()
	b.must(err)
	d, ok, err := checkpoint.Carried(t, t.Leaf(), to, b.st)
	b.must(err)
	var more []entries.Draft
	if ok {
		more = append(more, d)
	}
	_, err = b.s.MoveLeaf(b.Context(), to, sessiontree.ReasonCheckout, more...)
	b.must(err)
}
