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
// before it: it is taken back. Answers keep their calls and results together: to one of
// them means to the last of them.
func (t *Tree) PlanUndoTo(id entries.ID) (*Return, error) {
	r := &Return{Reason: ReasonUndo, From: t.Leaf(), To: id}
	path, err := t.downFrom(id)
	if err != nil {
		return nil, err
	}
	if first := path[0]; isPrompt(first) {
		r.Prompt, r.To = first, first.Parent
	} else {
		n, err := lastOfGroup(t, path)
		if err != nil {
			return nil, err
		}
		r.To, path = path[n].ID, path[n+1:]
	}
	r.count(path)
	return r, nil
}

// downFrom gives the path from an entry down to the leaf, both included.
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

// lastOfGroup finds, on a path that starts with an answer or with one of its results,
// the last of its results; of any other entry itself.
func lastOfGroup(t *Tree, path []entries.Entry) (last int, err error) {
	if path[0].Type != entries.TypeMessage || path[0].Role != "assistant" && path[0].Role != "toolResult" {
		return 0, nil
	}
	calls, err := t.callsOf(path[0])
	if err != nil {
		return 0, err
	}
	for i, e := range path[1:] {
		if e.Type != entries.TypeMessage {
			continue
		}
		m, err := e.Message()
		if err != nil || m.Role != "toolResult" || !calls[m.ToolCallID] {
			return last, err
		}
		last = i + 1
	}
	return last, nil
}

// callsOf gives the calls of an answer, or of the answer that a result belongs to.
func (t *Tree) callsOf(e entries.Entry) (map[string]bool, error) {
	for e, err := range t.Ancestors(e.ID) {
		if err != nil {
			return nil, err
		}
		if e.Type != entries.TypeMessage || e.Role == "toolResult" {
			continue
		}
		m, err := e.Message()
		if err != nil {
			return nil, err
		}
		calls := map[string]bool{}
		for _, b := range m.Blocks() {
			if b.Type == "toolCall" {
				calls[b.ID] = true
			}
		}
		return calls, nil
	}
	return nil, nil
}

// PlanRedo plans to bring back what the last undo took back, as long as nothing was
// said since. ErrNothingToUndo where there is nothing.
func (t *Tree) PlanRedo() (*Return, error) {
	for e, err := range t.Ancestors(t.Leaf()) {
		if err != nil {
			return nil, err
		}
		m, marker, err := markerOf(e)
		if err != nil {
			return nil, err
		}
		switch {
		case marker && m.Reason == string(ReasonUndo) && m.From != "":
			return t.redoTo(m.From)
		case marker && m.Reason == string(ReasonRedo), e.Type.Housekeeping():
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

func markerOf(e entries.Entry) (m entries.LeafMarker, ok bool, err error) {
	if e.Type != entries.TypeCustom {
		return m, false, nil
	}
	c, err := e.Custom()
	if err != nil {
		return m, false, err
	}
	m, ok = c.LeafMarker()
	return m, ok, nil
}
