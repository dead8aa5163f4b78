package checkpoint

import (
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// Undo plans to take back the newest turn or restore of the path that was not taken back
// yet: with the conversation as sessiontree's PlanUndo does, with the files as they were
// before it. Scope Code leaves the conversation where it is. Doing it again takes back the
// one before. sessiontree.ErrNothingToUndo where there is nothing.
func (v *View) Undo(scope Scope, opt *PlanOptions) (*Plan, error) {
	if scope == Code {
		return v.undoCode(opt)
	}
	if jump, err := v.lastJump(); err != nil {
		return nil, err
	} else if jump != nil {
		return v.Return(jump, scope, opt)
	}
	r, err := v.tree.PlanUndo()
	if err != nil {
		return nil, err
	}
	return v.Return(r, scope, opt)
}

// UndoTo plans to go back to an entry of the path: see sessiontree's PlanUndoTo.
func (v *View) UndoTo(id entries.ID, scope Scope, opt *PlanOptions) (*Plan, error) {
	r, err := v.tree.PlanUndoTo(id)
	if err != nil {
		return nil, err
	}
	return v.Return(r, scope, opt)
}

// Redo plans to bring back what the newest undo took back, as long as only metadata
// followed it. Several undos are brought back one by one.
func (v *View) Redo(scope Scope, opt *PlanOptions) (*Plan, error) {
	if scope == Code {
		return v.redoCode(opt)
	}
	r, err := v.tree.PlanRedo()
	if err != nil {
		return nil, err
	}
	return v.Return(r, scope, opt)
}

// lastJump plans to take back a restore that moved the leaf, where it is the newest thing
// on the path.
func (v *View) lastJump() (*sessiontree.Return, error) {
	for e, err := range v.tree.Ancestors(v.tree.Leaf()) {
		if err != nil {
			return nil, err
		}
		m, moved, err := e.LeafMarker()
		switch {
		case err != nil:
			return nil, err
		case moved && m.Reason == string(sessiontree.ReasonRestore) && m.From != "":
			return &sessiontree.Return{Reason: sessiontree.ReasonUndo, From: v.tree.Leaf(), To: m.From}, nil
		case moved || e.Type.Conversation():
			return nil, nil
		}
	}
	return nil, nil
}

// A deed is something on the path that can be taken back, by its scope Code: a turn, or a
// restore.
type deed struct {
	id     entries.ID // of the prompt, or of the restore's end
	before entries.ID // where the files are what they were before it
}

// deeds are those that stand, and those that were taken back and can come again, the
// newest last.
type deeds struct {
	done, undone []deed
	undos        []deed // what took back undone
}

var errNothing = sessiontree.ErrNothingToUndo

func (v *View) undoCode(opt *PlanOptions) (*Plan, error) {
	d, err := v.deeds()
	if err != nil {
		return nil, err
	}
	if len(d.done) == 0 {
		return nil, fmt.Errorf("%s: %w: no turn on the path changed a file that is recorded", v.tree.File(), errNothing)
	}
	last := d.done[len(d.done)-1]
	return v.plan(nil, last.before, Code, opt, func(p *Plan) { p.Undoes = last.id })
}

func (v *View) redoCode(opt *PlanOptions) (*Plan, error) {
	d, err := v.deeds()
	if err != nil {
		return nil, err
	}
	if len(d.undone) == 0 {
		return nil, fmt.Errorf("%s: %w: no undo of files is there to bring back, or something happened since", v.tree.File(), errNothing)
	}
	undo := d.undos[len(d.undos)-1]
	return v.plan(nil, undo.before, Code, opt, func(p *Plan) { p.Redoes = undo.id })
}

// deeds reads the path. A turn counts where it changed a file.
func (v *View) deeds() (d deeds, err error) {
	if err := v.tree.Scan(); err != nil { // the plan wants it too
		return d, err
	}
	var prompt entries.Entry
	for e, err := range v.tree.Path(v.tree.Leaf()) {
		if err != nil {
			return d, err
		}
		if isPrompt(e) {
			prompt = e
		}
		r, ok, err := readRecord(e, v.st)
		if err != nil && !damaged(err) {
			return d, err
		}
		if ok {
			d.take(e, r, deed{prompt.ID, prompt.Parent})
		}
	}
	return d, nil
}

// take takes up a record.
func (d *deeds) take(e entries.Entry, r record, turn deed) {
	switch {
	case r.Phase == phaseEnd && r.Outcome == outcomeDone && r.Undoes != "":
		d.undo(r.Undoes, deed{e.ID, r.Begin})
	case r.Phase == phaseEnd && r.Outcome == outcomeDone && r.Redoes != "":
		d.redo(r.Redoes)
	case r.Phase == phaseEnd && r.Outcome == outcomeDone && e.Parent == r.Begin:
		d.push(deed{e.ID, r.Begin})
	case r.Phase == phaseAfter && r.Source != ByUser && turn.id != "":
		d.push(turn)
	}
}

// push adds a deed that stands. What was undone before it cannot come again.
func (d *deeds) push(what deed) {
	if len(d.done) == 0 || d.done[len(d.done)-1].id != what.id {
		d.done = append(d.done, what)
	}
	d.undone, d.undos = nil, nil
}

func (d *deeds) undo(id entries.ID, by deed) {
	for i, done := range slices.Backward(d.done) {
		if done.id == id {
			d.done = slices.Delete(d.done, i, i+1)
			d.undone, d.undos = append(d.undone, done), append(d.undos, by)
			return
		}
	}
}

func (d *deeds) redo(undo entries.ID) {
	if n := len(d.undos); n > 0 && d.undos[n-1].id == undo {
		d.done = append(d.done, d.undone[n-1])
		d.undone, d.undos = d.undone[:n-1], d.undos[:n-1]
	}
}
