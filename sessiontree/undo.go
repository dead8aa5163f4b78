package sessiontree

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/entries"
)

// A Return is a move of the leaf along the conversation, as a person asks for it: back
// to an earlier place, or forward again. It is only a plan; Session.Return does it.
type Return struct {
	Reason MoveReason // ReasonUndo or ReasonRedo
	From   entries.ID // the leaf that is left
	To     entries.ID // where the leaf goes; "" is before the first entry
	// Prompt is the user's message that is taken back, to be edited and sent again; it
	// has no ID where none is.
	Prompt entries.Entry
	// Entries and Turns are what leaves the path, or comes back to it; a turn is what a
	// user's message begins.
	Entries, Turns int
}

// ErrNothingToUndo: there is no turn to take back, or nothing was taken back that could
// come again.
var ErrNothingToUndo = errors.New("nothing to do")

// PlanUndo plans to take back the last turn: the leaf goes to before its prompt.
// ErrNothingToUndo where the path has none.
func (t *Tree) PlanUndo() (*Return, error) {
	for e, err := range t.Ancestors(t.Leaf()) {
		if err != nil {
			return nil, err
		}
		if isPrompt(e) {
			return t.PlanUndoTo(e.ID)
		}
	}
	return nil, fmt.Errorf("%s: %w: the path has no user's message that could be taken back", t.path, ErrNothingToUndo)
}

// PlanUndoTo plans to go back to an entry of the path. To a user's message means to
// before it: it is taken back. Answers keep their calls and results together: to a place
// among them means to the last of them, and a message that came among them is taken back
// with the answer. "" means to before the first entry.
func (t *Tree) PlanUndoTo(id entries.ID) (*Return, error) {
	r := &Return{Reason: ReasonUndo, From: t.Leaf(), To: id}
	path, err := t.downFrom(id)
	if err != nil {
		return nil, err
	}
	left := path
	switch {
	case len(path) > 0 && isPrompt(path[0]):
		r.Prompt, r.To = path[0], path[0].Parent
	case id != "":
		left = path[1:]
	}
	answer, n, err := t.parted(r.To, left)
	switch {
	case err != nil:
		return nil, err
	case n < 0:
	case r.Prompt.ID == "":
		r.To, left = left[n].ID, left[n+1:]
	default:
		r.To = answer.Parent
		if left, err = t.downFrom(answer.ID); err != nil {
			return nil, err
		}
	}
	r.count(left)
	return r, nil
}

// parted looks for the answer at or above a place whose results would be parted from it
// by going there: n is the last of them in what would be left, -1 where there is none.
func (t *Tree) parted(to entries.ID, left []entries.Entry) (answer entries.Entry, n int, err error) {
	answer, open, err := t.openCalls(to)
	if err != nil {
		return answer, -1, err
	}
	n = -1
	for i, e := range left {
		if e.Type != entries.TypeMessage {
			continue
		}
		m, err := e.Message()
		if err != nil {
			return answer, -1, err
		}
		switch {
		case m.Role == "assistant":
			return answer, n, nil
		case m.Role == "toolResult" && open[m.ToolCallID]:
			n = i
		}
	}
	return answer, n, nil
}

// openCalls gives the last answer of the path to a place, and its calls that have no
// results there.
func (t *Tree) openCalls(at entries.ID) (answer entries.Entry, open map[string]bool, err error) {
	answered := map[string]bool{}
	for e, err := range t.Ancestors(at) {
		if err != nil {
			return answer, nil, err
		}
		if e.Type != entries.TypeMessage {
			continue
		}
		m, err := e.Message()
		if err != nil {
			return answer, nil, err
		}
		switch m.Role {
		case "toolResult":
			answered[m.ToolCallID] = true
		case "assistant":
			return e, callsBut(m, answered), nil
		}
	}
	return answer, nil, nil
}

func callsBut(m entries.Message, answered map[string]bool) map[string]bool {
	calls := map[string]bool{}
	for _, b := range m.Calls() {
		calls[b.ID] = !answered[b.ID]
	}
	return calls
}

// downFrom gives the path from an entry down to the leaf, both included; from "" it is
// all of it.
func (t *Tree) downFrom(id entries.ID) (path []entries.Entry, err error) {
	for e, err := range t.Ancestors(t.Leaf()) {
		if err != nil {
			return nil, err
		}
		if path = append(path, e); e.ID == id {
			slices.Reverse(path)
			return path, nil
		}
	}
	if id == "" {
		slices.Reverse(path)
		return path, nil
	}
	return nil, fmt.Errorf("%s: entry %q is not on the path to the leaf: %w", t.path, id, ErrNotFound)
}

func (r *Return) count(path []entries.Entry) {
	r.Entries = len(path)
	for _, e := range path {
		if isPrompt(e) {
			r.Turns++
		}
	}
}

func isPrompt(e entries.Entry) bool { return e.Type == entries.TypeMessage && e.Role == "user" }

// PlanRedo plans to bring back what the last undo took back, as long as nothing was
// said since. ErrNothingToUndo where there is nothing.
func (t *Tree) PlanRedo() (*Return, error) {
	for e, err := range t.Ancestors(t.Leaf()) {
		if err != nil {
			return nil, err
		}
		m, marker, err := e.LeafMarker()
		if err != nil {
			return nil, err
		}
		switch {
		case marker && m.Reason == string(ReasonUndo) && m.From != "":
			return t.redoTo(m.From)
		case marker && m.Reason == string(ReasonRedo), !marker && !e.Type.Conversation():
		default:
			return nil, fmt.Errorf("%s: %w: there is no undo to bring back, or something was said since", t.path, ErrNothingToUndo)
		}
	}
	return nil, fmt.Errorf("%s: %w: there is no undo to bring back", t.path, ErrNothingToUndo)
}

func (t *Tree) redoTo(to entries.ID) (*Return, error) {
	r := &Return{Reason: ReasonRedo, From: t.Leaf(), To: to}
	at, ok, err := t.CommonAncestor(r.From, to)
	if err != nil {
		return nil, err
	}
	var path []entries.Entry
	for e, err := range t.Ancestors(to) {
		if err != nil {
			return nil, err
		}
		if ok && e.ID == at {
			break
		}
		path = append(path, e)
	}
	r.count(path)
	return r, nil
}
