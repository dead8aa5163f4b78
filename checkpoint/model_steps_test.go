package checkpoint_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// play plays a history.
func (w *world) play() {
	for range 8 + w.r.IntN(14) {
		w.next()
	}
	if w.inTurn {
		w.end()
	}
	w.someChain()
}

// A chance is something that may happen next, and how often.
type chance struct {
	weight int
	do     func()
}

func (w *world) next() {
	list := []chance{{5, w.begin}, {4, w.jump}, {2, w.someChain}, {2, w.forceBack}, {1, w.stale}}
	if w.inTurn {
		list = []chance{{6, w.tool}, {1, w.answer}, {1, w.steer}, {3, w.end}}
	}
	add := func(when bool, more ...chance) {
		if when {
			list = append(list, more...)
		}
	}
	add(w.inTurn && w.scan, chance{3, w.shell})
	add(w.inTurn && w.mid, chance{1, w.jump}, chance{1, w.forceBack})
	add(w.hand && !w.inTurn && !w.beside, chance{3, w.byHand})
	add(w.moves && (w.mid || !w.inTurn), chance{2, w.keep})
	add(w.quits, chance{1, w.quit})
	add(w.weather.other, chance{3, w.neighbours})
	n := 0
	for _, c := range list {
		n += c.weight
	}
	n = w.r.IntN(n)
	for _, c := range list {
		if n -= c.weight; n < 0 {
			c.do()
			return
		}
	}
}

// called takes up what a call of the tracker appended.
func (w *world) called(pre folder, err error) {
	w.Helper()
	w.must(err)
	w.foreign = false
	w.sync()
	w.learn(pre)
}

func (w *world) say(d entries.Draft) {
	w.Helper()
	_, err := w.s.Append(w.Context(), d)
	w.must(err)
	w.learn(w.seen)
}

func (w *world) begin() {
	w.note("turn")
	pre := w.seen
	w.called(pre, w.f.TurnStart(w.Context()))
	w.inTurn, w.overlap = true, w.beside
	w.say(entries.UserMessage("go"))
}

func (w *world) answer() {
	w.note("  answer")
	w.say(entries.AssistantMessage(entries.Assistant{Content: []json.RawMessage{entries.TextBlock("done")}}))
}

func (w *world) steer() {
	w.note("  steer")
	w.say(entries.UserMessage("and also"))
}

func (w *world) end() {
	w.note("end of turn")
	pre := w.seen
	if w.overlap {
		maps.Copy(w.tainted, w.pending) // it may be the other session's
	}
	w.unseen, w.pending = w.pending, map[string]bool{}
	w.called(pre, w.f.TurnEnd(w.Context()))
	clear(w.unseen)
	w.inTurn = false
}

// tool changes paths as a tool does that tells of them.
func (w *world) tool() {
	steps := w.steps()
	var names, what []string
	for _, s := range steps {
		names, what = append(names, s.names...), append(what, s.what)
	}
	w.note("  tool: %s", strings.Join(what, ", "))
	pre := w.seen.copy()
	for _, name := range names {
		if !w.throughLink(name) {
			delete(w.pending, name)
		}
	}
	w.called(pre, w.f.BeforeEdit(w.Context(), "call", names...))
	w.did(byTool, func() {
		for _, s := range steps {
			w.must(s.do())
		}
	})
	if w.quits && w.r.IntN(8) == 0 {
		w.cut(names)
		return
	}
	for _, name := range names {
		delete(w.pending, name)
	}
	w.called(w.seen, w.f.AfterEdit(w.Context(), "call", names...))
}

// throughLink tells whether a path means something else, since a link is above it.
func (w *world) throughLink(name string) bool {
	for above := path.Dir(name); above != "."; above = path.Dir(above) {
		if info, err := os.Lstat(filepath.Join(w.dir, above)); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// steps draws changes that do not get into each other's way.
func (w *world) steps() (list []step) {
	taken := map[string]bool{}
	for range 1 + w.r.IntN(3) {
		s := w.step(w.dir, paths)
		free := func(name string) bool { return !related(taken, name) && name != "l" && name != "l/x" }
		if len(list) > 0 && slices.ContainsFunc(s.names, func(name string) bool { return !free(name) }) {
			break
		}
		list = append(list, s)
		for _, name := range s.names {
			taken[name] = true
		}
		if taken["l"] || taken["l/x"] {
			break // leads elsewhere
		}
	}
	return list
}

// cut ends the program between a change and what tells of it.
func (w *world) cut(names []string) {
	for _, name := range names {
		w.tainted[name] = true
	}
	for _, name := range w.seen.differs(look(w.T, w.dir)) {
		w.tainted[name] = true
	}
	w.quit()
}

func (w *world) shell() {
	w.note("  shell")
	for _, name := range w.did(byShell, func() { w.change(w.dir, paths) }) {
		w.pending[name] = true
	}
}

func (w *world) byHand() {
	w.note("by hand")
	w.did(byHand, func() { w.change(w.dir, paths) })
	w.sync()
}

// quit ends the program, and starts another one. What a command did in a turn that was cut
// short looks as if it was made by hand.
func (w *world) quit() {
	w.note("quit")
	for name := range w.pending {
		w.tainted[name] = true
	}
	clear(w.pending)
	pre := w.seen
	w.inTurn = false
	w.reopen()
	w.called(pre, nil)
}

// place draws an entry of the tree.
func (w *world) place() entries.ID {
	i := w.r.IntN(len(w.ids) + 1)
	if i == len(w.ids) {
		return ""
	}
	return w.ids[i]
}

// keep moves the leaf, and the files stay.
func (w *world) keep() {
	to, how := w.place(), w.r.IntN(3)
	w.note("keep %d: to %s", how, short(to))
	t, err := w.s.Tree()
	w.must(err)
	leaf := t.Leaf()
	if to == leaf {
		return
	}
	w.foreign = true
	switch how {
	case 0:
		var more []entries.Draft
		d, ok, err := checkpoint.Carried(t, leaf, to, w.st)
		w.must(err)
		if ok {
			more = append(more, d)
		}
		_, err = w.s.MoveLeaf(w.Context(), to, sessiontree.ReasonCheckout, more...)
		w.called(w.seen, err)
	case 1:
		_, err = w.s.MoveLeaf(w.Context(), to, sessiontree.ReasonCheckout)
		w.must(err)
		w.learn(w.seen)
	default:
		_, err = w.s.Branch(w.Context(), to, leaf, entries.UserMessage("elsewhere"))
		w.must(err)
		w.learn(w.seen)
	}
}

func short(id entries.ID) string {
	if len(id) < 6 {
		return string(id)
	}
	return string(id[len(id)-6:])
}

// neighbours lets the other session do something.
func (w *world) neighbours() {
	o := w.other
	switch n := w.r.IntN(6); {
	case w.beside && n < 4:
		w.note("other: edits")
		s := w.step(w.dir, others)
		w.note("    %s", s.what)
		w.must(o.f.BeforeEdit(w.Context(), "call", s.names...))
		w.did(byOther, func() { w.must(s.do()) })
		w.must(o.f.AfterEdit(w.Context(), "call", s.names...))
	case w.beside:
		w.note("other: end of turn")
		w.must(o.f.TurnEnd(w.Context()))
		w.beside = false
	case n < 3:
		w.note("other: turn")
		w.must(o.f.TurnStart(w.Context()))
		o.prompt("go")
		w.beside, w.overlap = true, true
	case n == 3:
		w.returns("undo", o.f.Undo)
	default:
		w.returns("redo", o.f.Redo)
	}
	w.sync()
}

type returning = func(ctx context.Context, scope checkpoint.Scope, opt *checkpoint.PlanOptions) (*checkpoint.Plan, error)

// returns lets the other session undo or redo: it touches nothing but its own.
func (w *world) returns(what string, plan returning) {
	w.note("other: %s", what)
	w.overlap = true
	p, err := plan(w.Context(), checkpoint.Code, nil)
	if errors.Is(err, sessiontree.ErrNothingToUndo) {
		return
	}
	w.must(err)
	changed := w.did(byOther, func() {
		_, err = w.other.f.Commit(w.Context(), p, &checkpoint.CommitOptions{Partial: true})
		w.must(err)
	})
	for _, name := range changed {
		if !slices.Contains(others, name) {
			w.fail("the other session's %s changed %s", what, name)
		}
	}
}
