package checkpoint

import (
	"maps"
	"slices"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// An event is what one record says of one path.
type event struct {
	entry  entries.ID
	at     int // the record's place on its path
	turn   entries.ID
	phase  phase
	source Source
	callID string
	beside bool // another session's turn ran at the same time
	before *State
	after  State
	result Result
}

// settles tells of an event after which the state of its path is what somebody decided:
// what was lost or kept by it was known then, and is no news to a later restore.
func (e *event) settles() bool { return e.phase == phaseCarried || e.phase == phaseEnd }

// A history is what a path of the tree says about files, from the root down: the events
// of each path in their order. The state at an entry is what the last event above it says.
type history struct {
	ids       []entries.ID // of the tree's path
	paths     map[string][]event
	workspace *identity // the last that was recorded
	uncovered []Uncovered
	unread    []string   // records that could not be read, and why
	turn      entries.ID // the last prompt
}

// readHistory folds the path down to an entry.
func readHistory(t *sessiontree.Tree, leaf entries.ID, st *Store) (*history, error) {
	h := &history{paths: map[string][]event{}}
	var path []entries.Entry
	for e, err := range t.Path(leaf) {
		if err != nil {
			return nil, err
		}
		path = append(path, e)
	}
	h.extend(path, st)
	return h, nil
}

// extend folds more entries.
func (h *history) extend(path []entries.Entry, st *Store) {
	for _, e := range path {
		if isPrompt(e) {
			h.turn = e.ID
		}
		h.ids = append(h.ids, e.ID)
		r, ok, err := readRecord(e, st)
		if err != nil {
			h.unread = append(h.unread, err.Error())
		}
		if ok {
			h.take(e, r)
		}
	}
}

func isPrompt(e entries.Entry) bool { return e.Type == entries.TypeMessage && e.Role == "user" }

// take takes up one record.
func (h *history) take(e entries.Entry, r record) {
	if r.Workspace != nil {
		h.workspace = r.Workspace
	}
	if r.NotCovered != nil {
		h.uncovered = r.NotCovered
	}
	if r.Turn == "" {
		r.Turn = h.turn
	}
	for _, f := range r.Files {
		ev := event{
			entry: e.ID, at: len(h.ids) - 1, turn: r.Turn, phase: r.Phase, source: r.Source, callID: r.ToolCallID,
			beside: len(r.Beside) > 0, before: f.Before, result: f.Result,
		}
		if f.Source != "" {
			ev.source = f.Source
		}
		switch {
		case f.State != nil:
			ev.after = *f.State
		case f.From != nil:
			ev.after = *f.From
		default:
			ev.after = unknown("its record does not say what it was")
		}
		if usable(f.Path) {
			h.paths[f.Path] = append(h.paths[f.Path], ev)
		}
	}
}

// last is the state of a path at a place of the tree's path: what the last event before
// that place says. ok is false where none says anything.
func (h *history) last(path string, before int) (s State, ok bool) {
	for _, ev := range slices.Backward(h.paths[path]) {
		if ev.at < before {
			return ev.after, true
		}
	}
	return s, false
}

// A trail is what happened to a path from a place of the tree's path on.
type trail struct {
	any    bool
	first  State // before all of it
	last   State
	tool   bool // what became of it is the work of tools
	scan   bool // or of something that no tool told of
	user   bool // or of a person
	beside bool // or perhaps of another session
	unsaid bool // a tool began to change it, and never said that it had
	calls  []string
}

// trail follows a path from a place on. A state that is not the one before it was made
// by somebody in between. What was decided by a restore, or when the leaf moved, starts
// it anew.
func (h *history) trail(path string, from int) (t trail) {
	prev, known := h.last(path, from)
	for _, ev := range h.paths[path] {
		if ev.at < from {
			continue
		}
		before := ev.was(prev, known)
		if !t.any {
			t.any, t.first = true, before
		}
		if ev.settles() {
			t.tool, t.scan, t.user, t.beside, t.unsaid = false, false, false, false, false
		} else if known && !prev.Same(before) {
			t.user = true
		}
		t.by(ev)
		prev, known, t.last = ev.after, true, ev.after
	}
	return t
}

// was is what an event found: a look found what it says, and a change that does not say
// it what was known.
func (ev *event) was(prev State, known bool) State {
	switch {
	case ev.before != nil:
		return *ev.before
	case ev.phase == phaseBefore || ev.phase == phaseBegin:
		return ev.after
	case known:
		return prev
	}
	return unknown("nothing says what it was before the session changed it")
}

func (t *trail) by(ev event) {
	if ev.callID != "" && !slices.Contains(t.calls, ev.callID) {
		t.calls = append(t.calls, ev.callID)
	}
	t.unsaid = ev.phase == phaseBefore
	if ev.phase == phaseBefore || ev.phase == phaseBegin {
		return // a look, which changes nothing
	}
	t.tool = t.tool || ev.source == ByTool
	t.scan = t.scan || ev.source == ByScan
	t.user = t.user || ev.source == ByUser
	t.beside = t.beside || ev.beside && ev.source == ByScan
}

// A fork is two places of the tree, and where their paths part.
type fork struct {
	here, there *history
	at          int // the first place that they do not share
}

// forkOf reads the paths to two entries.
func forkOf(t *sessiontree.Tree, here, there entries.ID, st *Store) (f fork, err error) {
	if f.here, err = readHistory(t, here, st); err != nil {
		return f, err
	}
	if f.there, err = readHistory(t, there, st); err != nil {
		return f, err
	}
	for f.at < min(len(f.here.ids), len(f.there.ids)) && f.here.ids[f.at] == f.there.ids[f.at] {
		f.at++
	}
	return f, nil
}

// paths lists the paths that something happened to on either side.
func (f fork) paths() []string {
	touched := map[string]bool{}
	for _, h := range []*history{f.here, f.there} {
		for path, events := range h.paths {
			if events[len(events)-1].at >= f.at {
				touched[path] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(touched))
}

// states gives what a path was on both sides: its last state there, or where that side
// says nothing, what it was before the other side touched it.
func (f fork) states(path string) (here, there State) {
	return f.side(path, f.here, f.there), f.side(path, f.there, f.here)
}

func (f fork) side(path string, own, other *history) State {
	if s, ok := own.last(path, len(own.ids)); ok {
		return s
	}
	return other.trail(path, f.at).first
}

// onlyByHand tells whether all that would be taken back of a path is a person's: what the
// session did itself was taken back already, and what it found is there.
func (f fork) onlyByHand(path string, t trail, there State) bool {
	if f.there.trail(path, f.at).any {
		return false
	}
	return t.user && !t.tool && !t.scan || t.any && t.first.Same(t.last) && !t.first.Same(there)
}
