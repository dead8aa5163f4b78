package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// deed names what a plan takes back or brings back; "" where it goes somewhere else. It is
// safe to print.
func (a *app) deed(v *fileView, p *checkpoint.Plan) string {
	r := p.Return
	switch {
	case p.Undoes != "":
		return "takes back " + a.deedAt(v.t, p.Undoes)
	case p.Redoes != "":
		return "brings back " + a.deedAt(v.t, v.undoneBy(p.Redoes))
	case r == nil || r.From == r.To:
		return ""
	case r.Reason == sessiontree.ReasonUndo:
		return "takes back " + a.deedsBetween(v.t, r.From, r.To)
	case r.Reason == sessiontree.ReasonRedo:
		return "brings back " + a.deedsBetween(v.t, r.To, r.From)
	}
	return ""
}

// deedAt names a turn by its prompt, and a restore by when it was.
func (a *app) deedAt(t *sessiontree.Tree, id entries.ID) string {
	e, err := t.Entry(id)
	if err != nil {
		return "what " + short(id) + " did"
	}
	if e.Type == entries.TypeMessage {
		return "the turn: " + firstLine(e)
	}
	return fmt.Sprintf("the restore of %s (%s)", a.clock(e.Time), short(id))
}

// firstLine is the beginning of what a prompt says.
func firstLine(e entries.Entry) string {
	line, _, _ := strings.Cut(strings.TrimSpace(summarize(e).text), "\n")
	return term.Cut(term.OneLine(line), 100)
}

// undoneBy gives what an undo of files took back.
func (v *fileView) undoneBy(undo entries.ID) entries.ID {
	for s := range v.steps() {
		if s.Entry == undo && s.Undoes != "" {
			return s.Undoes
		}
	}
	return undo
}

// steps goes over what the records of the active path say, from the root down.
func (v *fileView) steps() func(yield func(checkpoint.Step) bool) {
	return func(yield func(checkpoint.Step) bool) {
		for turn, err := range checkpoint.Turns(v.t, v.t.Leaf(), v.st) {
			if err != nil {
				return
			}
			for _, s := range turn.Steps {
				if !yield(s) {
					return
				}
			}
		}
	}
}

// deedsBetween names what happened on the path to an entry since it parted from that to
// another one: the jump that it ends in, or turns.
func (a *app) deedsBetween(t *sessiontree.Tree, tip, other entries.ID) string {
	if e, ok := jump(t, tip, other); ok {
		return fmt.Sprintf("the jump of %s (%s)", a.clock(e.Time), short(e.ID))
	}
	shared, _, err := t.CommonAncestor(tip, other)
	if other == "" || err != nil {
		shared = ""
	}
	n, first := 0, ""
	for e, err := range t.Ancestors(tip) {
		if err != nil || e.ID == shared {
			break
		}
		if e.Type == entries.TypeMessage && e.Role == "user" {
			n, first = n+1, firstLine(e)
		}
	}
	switch n {
	case 0:
		return "what came after " + placeName(t, other)
	case 1:
		return "the turn: " + first
	}
	return fmt.Sprintf("%d turns, the first: %s", n, first)
}

// jump finds the restore by which the leaf came to a tip from another place, or from above
// the marker by which it came back there.
func jump(t *sessiontree.Tree, tip, other entries.ID) (e entries.Entry, ok bool) {
	e, ok = marker(t, tip)
	if !ok || reasonOf(e) != sessiontree.ReasonRestore {
		return e, false
	}
	m, _, _ := e.LeafMarker()
	back, came := marker(t, other)
	return e, m.From != "" && (other == m.From || came && back.Parent == m.From)
}

// marker finds the marker by which the leaf came to a place, if nothing was said since.
func marker(t *sessiontree.Tree, at entries.ID) (e entries.Entry, ok bool) {
	for e, err := range t.Ancestors(at) {
		if err != nil || e.Type.Conversation() {
			break
		}
		if _, moved, err := e.LeafMarker(); err != nil || moved {
			return e, err == nil
		}
	}
	return e, false
}

// reasonOf gives why a marker moved the leaf.
func reasonOf(e entries.Entry) sessiontree.MoveReason {
	m, _, _ := e.LeafMarker()
	return sessiontree.MoveReason(m.Reason)
}

// lastReturn tells whether the last thing that happened was an undo or a redo; "" where
// it was something else.
func (v *fileView) lastReturn(scope checkpoint.Scope) sessiontree.MoveReason {
	if scope != checkpoint.Code {
		e, _ := marker(v.t, v.t.Leaf())
		return reasonOf(e)
	}
	var last checkpoint.Step
	for s := range v.steps() {
		last = s
	}
	switch {
	case last.Undoes != "":
		return sessiontree.ReasonUndo
	case last.Redoes != "":
		return sessiontree.ReasonRedo
	}
	return ""
}

// nothingMore says so where there was something, which is taken back or brought back now.
func (v *fileView) nothingMore(err error, reason sessiontree.MoveReason, scope checkpoint.Scope) error {
	if !errors.Is(err, sessiontree.ErrNothingToUndo) || v.lastReturn(scope) != reason {
		return err
	}
	text := "nothing more to take back; redo brings back what was"
	if reason == sessiontree.ReasonRedo {
		text = "nothing more to bring back"
	}
	return &toldError{v.t.File() + ": " + text, err}
}
