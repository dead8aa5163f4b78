package checkpoint

import (
	"context"
	"path"
	"slices"
	"time"

	"github.com/sessctl/sessctl/entries"
)

// A turn is what runs between TurnStart and TurnEnd.
type turn struct {
	start time.Time
	index *index // what the workspace was when it began; nil without scans
}

// TurnStart is called before a turn, best before its prompt is appended. With scans it
// looks at the workspace: what changed since the last turn is recorded as a person's work.
// It never keeps a turn from starting: what could not be looked at is not covered, and
// only a log that cannot be written is an error.
func (t *Tracker) TurnStart(ctx context.Context) error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.settle(ctx); err != nil {
		return err
	}
	clear(t.begun)
	t.turn = &turn{start: time.Now()}
	t.beginBeside(t.turn.start)
	if !t.opt.Scan {
		return nil
	}
	h, err := t.history()
	if err != nil {
		return err
	}
	old, own := t.index, t.index != nil
	if old == nil {
		old = t.loadIndex()
	}
	s, err := t.look(ctx, old, false)
	if err != nil {
		return t.note(ctx, h, []Uncovered{{".", "not looked at: " + err.Error()}})
	}
	t.turn.index = t.index
	r := record{Phase: phaseAfter, Source: ByUser}
	if r.Files, err = t.byHand(h, s, own); err != nil {
		t.opt.Logger.Warn("what a person changed cannot be stored", "store", t.st.dir, "error", err)
		r.Files = nil // a restore finds it in conflict
	}
	return t.tell(ctx, h, r, s.uncovered)
}

// look scans, and remembers what was seen.
func (t *Tracker) look(ctx context.Context, old *index, during bool) (*scan, error) {
	s, err := t.scan(ctx, old, during)
	if err != nil {
		t.opt.Logger.Warn("the workspace could not be looked at; what commands change in this turn is not covered", "workspace", t.ws.id.Path, "error", err)
		return nil, err
	}
	if old == nil || len(s.changes) > 0 || len(s.now.dirs) != len(old.dirs) || s.reread.Load() {
		t.saveIndex(s.now)
	}
	t.index = s.now
	s.changes = t.notRestored(s.changes)
	clear(t.left)
	return s, nil
}

// notRestored takes away what restores have done since the last scan. On a branch that says
// nothing of these paths it would look like somebody else's work.
func (t *Tracker) notRestored(list []changed) []changed {
	return slices.DeleteFunc(list, func(c changed) bool {
		left, ok := t.left[c.path]
		return ok && left.Same(c.after)
	})
}

// beforeTurn gives what a path was when the turn began, or what a restore in it has made of
// it; ok is false where that is not known.
func (t *Tracker) beforeTurn(name string) (s State, ok bool) {
	if s, ok = t.left[name]; ok {
		return s, true
	}
	if t.turn == nil || t.turn.index == nil {
		return s, false
	}
	return t.turn.index.state(name)
}

// note records what is left out.
func (t *Tracker) note(ctx context.Context, h *history, uncovered []Uncovered) error {
	return t.tell(ctx, h, record{Source: ByScan}, uncovered)
}

// tell records changes that a scan found, and what it left out where that is not what the
// log says already.
func (t *Tracker) tell(ctx context.Context, h *history, r record, uncovered []Uncovered) error {
	if !slices.Equal(uncovered, h.uncovered) {
		r.NotCovered = append([]Uncovered{}, uncovered...) // not nil, which says nothing
	}
	if len(r.Files) == 0 {
		r.Phase = phaseBefore // it tells of no change
	}
	if len(r.Files) == 0 && r.NotCovered == nil {
		return nil
	}
	return t.snapshot(ctx, r)
}

// byHand lists what was done while no turn ran: to paths that the session has touched, and
// where the last scan was this session's too, to any.
func (t *Tracker) byHand(h *history, s *scan, own bool) (files []fileRecord, err error) {
	if files, err = t.notAsKnown(h, s); err != nil {
		return nil, err
	}
	if own {
		for _, c := range s.changes {
			if _, touched := h.paths[c.path]; !touched {
				files = append(files, fileRecord{Path: c.path, Before: &c.before, State: &c.after})
			}
		}
	}
	sortFiles(files)
	return files, nil
}

// notAsKnown lists the paths that the log knows, and that are something else.
func (t *Tracker) notAsKnown(h *history, s *scan) (files []fileRecord, err error) {
	b := t.st.batch()
	for name := range h.paths {
		known, _ := h.last(name, len(h.ids))
		now, ok := s.now.state(name)
		if !ok || s.now.stale[path.Dir(name)] {
			now = t.captured(b, name)
		}
		if now.Kind != Unknown && now.bare() != known.bare() {
			files = append(files, fileRecord{Path: name, Before: &known, State: new(now.bare())})
		}
	}
	return files, b.commit()
}

// TurnEnd is called after a turn. With scans it looks at the workspace again: what changed
// during the turn, and no tool told of, is recorded as such. ctx may be over, as it is where
// the turn was interrupted: a turn that is not recorded would look like a person's work.
func (t *Tracker) TurnEnd(ctx context.Context) error {
	if t == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.turn == nil {
		return nil
	}
	beside := t.endBeside(t.turn.start)
	turn := t.turn
	t.turn = nil
	if turn.index == nil {
		return nil
	}
	if err := t.settle(ctx); err != nil {
		return err
	}
	h, err := t.history()
	if err != nil {
		return err
	}
	s, err := t.look(ctx, turn.index, true)
	if err != nil {
		return t.note(ctx, h, []Uncovered{{".", "not looked at: " + err.Error()}})
	}
	r := record{Phase: phaseAfter, Source: ByScan, Turn: t.lastPrompt(), Beside: beside}
	if r.Files, err = t.untold(h, s); err != nil {
		t.opt.Logger.Warn("what the turn changed cannot be stored", "store", t.st.dir, "error", err)
		r.Files = nil // a restore finds it in conflict
	}
	return t.tell(ctx, h, r, s.uncovered)
}

// untold lists what no tool told of: paths that the log knows, and that are not what it
// says, and what else changed. A tool's file that a command removed in the same turn is one
// of the first: it changed, and is as it was when the turn began.
func (t *Tracker) untold(h *history, s *scan) (files []fileRecord, err error) {
	if files, err = t.notAsKnown(h, s); err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, f := range files {
		known[f.Path] = true
	}
	for _, c := range s.changes {
		if last, ok := h.last(c.path, len(h.ids)); !ok || last.Kind == Unknown && !known[c.path] {
			files = append(files, fileRecord{Path: c.path, Before: &c.before, State: &c.after})
		}
	}
	sortFiles(files)
	return files, nil
}

// missed gives what a path was before something changed it in this turn that no tool told
// of: a tool that touches it now finds a state that is not the one before.
func (t *Tracker) missed(h *history, name string, now State) (was State, ok bool) {
	if was, ok = h.last(name, len(h.ids)); !ok || was.Kind == Unknown {
		was, ok = t.beforeTurn(name)
	}
	return was, ok && was.Kind != Unknown && was.bare() != now.bare()
}

// history folds the path to the leaf; what was folded before is not read again.
func (t *Tracker) history() (*history, error) {
	tree, err := t.s.Tree()
	if err != nil {
		return nil, err
	}
	var below []entries.Entry
	h := newHistory()
	for e, err := range tree.Ancestors(tree.Leaf()) {
		if err != nil {
			return nil, err
		}
		if t.known != nil && e.ID == t.knownLeaf {
			h = t.known
			break
		}
		below = append(below, e)
	}
	slices.Reverse(below)
	for _, e := range below {
		if err := h.extend(e, t.st); err != nil {
			t.known = nil // a part of it was folded
			return nil, err
		}
	}
	t.known, t.knownLeaf = h, tree.Leaf()
	return h, nil
}
