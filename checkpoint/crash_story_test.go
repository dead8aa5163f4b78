package checkpoint

import (
	"context"
	"fmt"
	"maps"

	"github.com/sessctl/sessctl/entries"
)

// A story is what a session did before the commit that is cut short, and which commit that
// is.
type story struct {
	name string
	tell func(l *life)
	plan func(l *life) (*Plan, error)
	opt  *CommitOptions
}

// A scene is a story that was told, up to the commit, on a disk where all is certain.
type scene struct {
	story
	start         computer
	before, after map[string]string
	said, saying  []entries.ID // the conversation before and after
	sums          []string     // contents that the store was given
	conflicts     int
	known         bool // the log knows all that was on disk before
}

// play tells a story, and finds out what comes of its commit when nothing goes wrong.
func (y story) play(whole bool) *scene {
	c := newComputer()
	c.whole = whole
	l := c.start()
	y.tell(l)
	x := &scene{story: y, before: c.files(), said: l.said(), sums: l.sums(), known: l.fold() == nil}
	must(l.s.Close())
	syncWhole(c.disk, "/")
	x.start = c.killed()
	l = x.start.killed().start()
	p, err := y.plan(l)
	must(err)
	x.conflicts = p.Count(ActConflict)
	_, err = l.f.Commit(context.Background(), p, y.opt)
	must(err)
	x.after, x.saying = l.files(), l.said()
	if len(l.restores()) == 0 || maps.Equal(x.before, x.after) {
		panic(fmt.Sprintf("%s: nothing was done", y.name))
	}
	return x
}

// said lists the conversation on the path to the leaf.
func (l *life) said() (list []entries.ID) {
	tree, err := l.s.Tree()
	must(err)
	for e, err := range tree.Path(tree.Leaf()) {
		must(err)
		if e.Type.Conversation() {
			list = append(list, e.ID)
		}
	}
	return list
}

// sums lists the contents that the log names.
func (l *life) sums() (sums []string) {
	for _, events := range l.history().paths {
		for _, ev := range events {
			if ev.after.Kind == File {
				sums = append(sums, ev.after.SHA256)
			}
		}
	}
	return sums
}

// twoTurns are turns that do to files whatever can be done to them.
func twoTurns(l *life) {
	for _, name := range []string{"a", "gone", "mode", "was-file", "d/one", "d/sub/two", "old/x/y"} {
		l.put(name, "first "+name, 0o644)
	}
	l.put("big", fmt.Sprint(1e9, "incompressible? ", sumOf([]byte("big")), sumOf([]byte("bigger"))), 0o640)
	l.link("a", "link")
	l.link("gone", "link-gone")
	syncWhole(l.disk, "/")
	l.prompt("one")
	l.tool(func(c computer) {
		c.put("a", "second", 0o644)
		c.put("new", "new", 0o600)
		c.put("n/e/s/t", "deep", 0o644)
		c.put("n/e/u", "", 0o644)
		c.drop("gone")
		c.chmod("mode", 0o755)
	}, "a", "new", "n/e/s/t", "n/e/u", "gone", "mode")
	l.tool(func(c computer) {
		c.drop("was-file")
		c.put("was-file/in", "in", 0o644)
		c.drop("old")
		c.put("old", "a file now", 0o644)
		c.drop("link")
		c.link("big", "link")
		c.link("nowhere", "fresh")
		c.drop("link-gone")
		c.put("link-gone", "no link", 0o644)
	}, "was-file", "was-file/in", "old/x/y", "old/x", "old", "link", "fresh", "link-gone")
	l.prompt("two")
	l.tool(func(c computer) {
		c.put("a", "third", 0o600)
		c.put("big", "small", 0o644)
		c.drop("d/one")
		c.put("d/three", "3", 0o644)
		c.drop("n/e/u")
		c.put("n/e/v/w", "w", 0o644)
		c.chmod("d", 0o700)
	}, "a", "big", "d/one", "d/three", "n/e/u", "n/e/v/w", "d")
}

// fewFiles is a story that is short enough to cut it in every way there is.
func fewFiles(l *life) {
	l.put("a", "first", 0o644)
	syncWhole(l.disk, "/")
	l.prompt("one")
	l.tool(func(c computer) { c.put("a", "second", 0o644) }, "a")
}

// manyFiles has more contents to save than are synced one by one.
func manyFiles(l *life) {
	l.prompt("one")
	for i := range 6 {
		name := func(j int) string { return fmt.Sprintf("m%d/f%d", i, j) }
		l.tool(func(c computer) {
			for j := range 3 {
				c.put(name(j), "first "+name(j), 0o644)
			}
		}, name(0), name(1), name(2))
	}
	for i := range 6 {
		for j := range 3 {
			l.put(fmt.Sprintf("m%d/f%d", i, j), fmt.Sprintf("by hand %d %d", i, j), 0o644)
		}
	}
}

func toStart(scope Scope) func(l *life) (*Plan, error) {
	return func(l *life) (*Plan, error) { return l.f.Plan(context.Background(), "", scope, nil) }
}

func undo(scope Scope) func(l *life) (*Plan, error) {
	return func(l *life) (*Plan, error) { return l.f.Undo(context.Background(), scope, nil) }
}

func redo(scope Scope) func(l *life) (*Plan, error) {
	return func(l *life) (*Plan, error) { return l.f.Redo(context.Background(), scope, nil) }
}

// undone tells a story whose turns were taken back.
func undone(scope Scope, times int) func(l *life) {
	return func(l *life) {
		twoTurns(l)
		for range times {
			l.commit(undo(scope)(l))
		}
	}
}

// otherBranch leaves two turns for another branch, whose leaf it gives to toOther.
func otherBranch(l *life) {
	twoTurns(l)
	l.commit(toStart(Both)(l))
	l.prompt("other")
	l.tool(func(c computer) { c.put("a", "other", 0o644); c.put("n/e", "a file here", 0o644) }, "a", "n/e")
}

// toOther goes to the end of the branch that was left first.
func toOther(l *life) (*Plan, error) {
	tree, err := l.s.Tree()
	must(err)
	list, err := tree.Branches()
	must(err)
	return l.f.Plan(context.Background(), list[0].Tip, Both, nil)
}

var stories = []story{
	{name: "code to the start", tell: twoTurns, plan: toStart(Code)},
	{name: "both to the start", tell: twoTurns, plan: toStart(Both)},
	{name: "undo code", tell: twoTurns, plan: undo(Code)},
	{name: "undo both", tell: undone(Both, 1), plan: undo(Both)},
	{name: "redo code", tell: undone(Code, 2), plan: redo(Code)},
	{name: "redo both", tell: undone(Both, 2), plan: redo(Both)},
	{name: "to another branch", tell: otherBranch, plan: toOther},
	{name: "over what was changed by hand", tell: manyFiles, plan: toStart(Both), opt: &CommitOptions{Force: true}},
}
