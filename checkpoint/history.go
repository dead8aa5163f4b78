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
	workspace *identity   // the last that was recorded
	uncovered []Uncovered // by the last scan
	apart     []apart
	unread    []string   // records that could not be read, and why
	turn      entries.ID // the last prompt
}

// An apart is a path that a tool's edit may have changed, and that is left out.
type apart struct {
	at int // the record's place
	Uncovered
}

func newHistory() *history { return &history{paths: map[string][]event{}} }

// clone makes a history that can be extended in another way.
func (h *history) clone() *history {
	c := *h
	c.ids, c.unread, c.apart = slices.Clip(h.ids), slices.Clip(h.unread), slices.Clip(h.apart)
	c.paths = make(map[string][]event, len(h.paths))
	for path, events := range h.paths {
		c.paths[path] = slices.Clip(events)
	}
	return &c
}

// extend folds one more entry. What is damaged is told of, and what cannot be read ends it:
// a fold with holes would be taken for the state of the disk.
func (h *history) extend(e entries.Entry, st *Store) error {
	if isPrompt(e) {
		h.turn = e.ID
	}
	h.ids = append(h.ids, e.ID)
	r, ok, err := readRecord(e, st)
	if err != nil && !damaged(err) {
		return err
	}
	if err != nil {
		h.unread = append(h.unread, err.Error())
	}
	if ok {
		h.take(e, r)
	}
	return nil
}

func isPrompt(e entries.Entry) bool { return e.Type == entries.TypeMessage && e.Role == "user" }

// take takes up one record.
func (h *history) take(e entries.Entry, r record) {
	if r.Workspace != nil {
		h.workspace = r.Workspace
	}
	switch {
	case r.Source == ByTool:
		for _, u := range r.NotCovered {
			h.apart = append(h.apart, apart{len(h.ids) - 1, u})
		}
	case r.NotCovered != nil:
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
		if r.Outcome == outcomeAborted && ev.source == "" {
			ev.phase = phaseBegin // nothing was decided: what was by hand before still is
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
	any   bool
	first State // before all of it
	last  State
	calls []string
	makers
}

// Makers are those whose work a state is.
type makers struct {
	tool   bool // tools of the session
	scan   bool // something that no tool told of
	user   bool // a person
	beside bool // perhaps another session
	unsaid bool // a tool began to change it, and never said that it had
}

// A made state is one, and whose work it is.
type made struct {
	State
	makers
}

// trail follows a path from a place on. A state that is not the one before it was made
// by somebody in between.
func (h *history) trail(path string, from int) (t trail) {
	prev, known := h.last(path, from)
	var seen []made
	for _, ev := range h.paths[path] {
		if ev.at < from {
			continue
		}
		before := ev.was(prev, known)
		if !t.any {
			t.any, t.first = true, before
			seen = append(seen, made{State: before})
		}
		if ev.settles() {
			t.makers = ev.settled(seen, t.makers)
		} else {
			t.user = t.user || known && ev.looked() && differ(prev, before)
			t.by(&ev)
		}
		t.called(ev.callID)
		prev, known, t.last = ev.after, true, ev.after
		seen = append(seen, made{ev.after, t.makers})
	}
	return t
}

// settled tells whose work a state is that a restore or a move left. One that was there
// before is whose it was then; else it is somebody's who worked elsewhere, which the event
// says, and where files were carried along it is built on what is here.
func (ev *event) settled(seen []made, here makers) makers {
	for _, was := range slices.Backward(seen) {
		if was.Same(ev.after) {
			was.unsaid = false
			return was.makers
		}
	}
	if ev.phase != phaseCarried {
		here = makers{}
	}
	here.by(ev)
	return here
}

// differ tells whether somebody changed a path in between. Where nothing is known of it
// before and after that, nobody has been seen.
func differ(a, b State) bool { return !a.Same(b) && (a.Kind != Unknown || b.Kind != Unknown) }

// looked tells whether an event says itself what it found.
func (ev *event) looked() bool {
	return ev.before != nil || ev.phase == phaseBefore || ev.phase == phaseBegin
}

// was is what an event found: a look found what it says, and a change that does not say
// it what was known.
func (ev *event) was(prev State, known bool) State {
	switch {
	case ev.before != nil:
		return *ev.before
	case ev.looked():
		return ev.after
	case known:
		return prev
	}
	return unknown("nothing says what it was before the session changed it")
}

// by adds who made a change; a look changes nothing.
func (m *makers) by(ev *event) {
	if m.unsaid = ev.phase == phaseBefore; m.unsaid || ev.phase == phaseBegin {
		return
	}
	m.tool = m.tool || ev.source == ByTool
	m.scan = m.scan || ev.source == ByScan
	m.user = m.user || ev.source == ByUser
	m.beside = m.beside || ev.beside && ev.source == ByScan
}

func (t *trail) called(id string) {
	if id != "" && !slices.Contains(t.calls, id) {
		t.calls = append(t.calls, id)
	}
}

// A fork is two places of the tree, and where their paths part.
type fork struct {
	here, there *history
	at          int // the first place that they do not share
}

// forkOf reads the paths to two entries. What they share is folded once: most of it is, as
// a rule.
func forkOf(t *sessiontree.Tree, here, there entries.ID, st *Store) (f fork, err error) {
	shared, err := lastShared(t, here, there)
	if err != nil {
		return f, err
	}
	f.here, f.there = newHistory(), newHistory()
	for e, err := range t.Path(here) {
		if err != nil {
			return f, err
		}
		if err := f.here.extend(e, st); err != nil {
			return f, err
		}
		if e.ID == shared {
			f.there, f.at = f.here.clone(), len(f.here.ids)
		}
	}
	n := 0
	for e, err := range t.Path(there) {
		if err != nil {
			return f, err
		}
		if n++; n > f.at {
			err = f.there.extend(e, st)
		}
		if err != nil {
			return f, err
		}
	}
	return f, nil
}

// lastShared gives the last entry that is on two paths; "" where none is.
func lastShared(t *sessiontree.Tree, a, b entries.ID) (entries.ID, error) {
	if err := t.Scan(); err != nil { // quicker than to walk up two paths
		return "", err
	}
	if a == "" || b == "" {
		return "", nil
	}
	id, _, err := t.CommonAncestor(a, b)
	return id, err
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

// notCovered lists what may have changed on this side and is left out.
func (f fork) notCovered() []Uncovered {
	list := append([]Uncovered{}, f.here.uncovered...)
	for _, a := range f.here.apart {
		if a.at >= f.at && !slices.Contains(list, a.Uncovered) {
			list = append(list, a.Uncovered)
		}
	}
	return list
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
