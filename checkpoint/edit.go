package checkpoint

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/entries"
)

// BeforeEdit records what a tool is about to change: absolute paths, or paths relative to
// the root. It is called before anything is changed, with the id of the tool's call ("" where
// there is none). When it returns nil the contents are on disk, and so is the record that
// names them. What cannot be read, and what is left out, is recorded as unknown: it never
// stops an edit, and never counts as absent.
func (t *Tracker) BeforeEdit(ctx context.Context, callID string, paths ...string) error {
	return t.edit(ctx, phaseBefore, callID, paths)
}

// AfterEdit records what a tool has made of what BeforeEdit recorded, whether it
// succeeded or not. It takes the same arguments.
func (t *Tracker) AfterEdit(ctx context.Context, callID string, paths ...string) error {
	return t.edit(ctx, phaseAfter, callID, paths)
}

func (t *Tracker) edit(ctx context.Context, ph phase, callID string, paths []string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.settle(ctx); err != nil {
		return err
	}
	r := record{Phase: ph, Source: ByTool, ToolCallID: callID, Turn: t.lastPrompt()}
	b := t.st.batch()
	if ph == phaseAfter {
		t.captureAnnounced(&r, b, callID)
	}
	for _, name := range paths {
		t.captureSpots(&r, b, name)
	}
	if ph == phaseBefore {
		t.announce(callID, r.Files)
	} else if err := t.tellUnannounced(&r); err != nil {
		b.drop()
		return err
	}
	if err := b.commit(); err != nil {
		t.opt.Logger.Warn("contents of files cannot be stored; they will not be restored", "store", t.st.dir, "error", err)
		r.loseContents(err)
	}
	if len(r.Files)+len(r.NotCovered) == 0 {
		return nil
	}
	if ph == phaseBefore {
		if err := t.tellMissed(ctx, r.Files); err != nil {
			return err
		}
	}
	return t.snapshot(ctx, r)
}

// tellMissed records what a turn did to paths, and no tool told of, before a tool touches
// them: the tool finds a state that is not the turn's first.
func (t *Tracker) tellMissed(ctx context.Context, files []fileRecord) error {
	if t.turn == nil || t.turn.index == nil {
		return nil
	}
	h, err := t.history()
	if err != nil {
		return err
	}
	r := record{Phase: phaseAfter, Source: ByScan, Turn: t.lastPrompt()}
	for _, f := range files {
		if was, ok := t.missed(h, f.Path, *f.State); ok {
			r.Files = append(r.Files, fileRecord{Path: f.Path, Before: &was, State: f.State})
		}
	}
	if len(r.Files) == 0 {
		return nil
	}
	return t.snapshot(ctx, r)
}

// captureSpots reads what a tool means by a path.
func (t *Tracker) captureSpots(r *record, b *batch, name string) {
	for _, s := range t.ws.spots(name) {
		if s.reason != "" {
			r.NotCovered = append(r.NotCovered, Uncovered{s.path, s.reason})
			continue
		}
		for _, name := range t.withParents(s.path) {
			t.capture(r, b, name)
		}
	}
}

// announce remembers what a call is about to change, whatever its paths mean afterwards.
func (t *Tracker) announce(callID string, files []fileRecord) {
	for _, f := range files {
		t.announced[callID] = append(t.announced[callID], f.Path)
	}
}

func (t *Tracker) captureAnnounced(r *record, b *batch, callID string) {
	for _, name := range t.announced[callID] {
		t.capture(r, b, name)
	}
	delete(t.announced, callID)
}

// tellUnannounced sorts out what BeforeEdit did not see, since the same path meant something
// else then: where a link became a directory, what is below it is new. What a new link
// leads to was not touched through it.
func (t *Tracker) tellUnannounced(r *record) error {
	h, err := t.history()
	if err != nil {
		return err
	}
	var files []fileRecord
	for _, f := range r.Files {
		list, below := h.newAbove(f.Path, r.Files)
		if len(h.paths[f.Path]) == 0 {
			if !below {
				continue
			}
			f.Before = t.beforeNew(h, f.Path)
		}
		for _, dir := range list {
			if s := t.ws.state(dir, nil); !contains(r.Files, dir) && !contains(files, dir) {
				files = append(files, fileRecord{Path: dir, Before: t.beforeNew(h, dir), State: &s})
			}
		}
		files = append(files, f)
	}
	r.Files = files
	return nil
}

// newAbove gives the directories between a path and what the same call made a directory of,
// where that is above it: below says so.
func (h *history) newAbove(name string, call []fileRecord) (list []string, below bool) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		s, known := h.last(dir, len(h.ids))
		switch {
		case known && (s.Kind == Dir || s.Kind == Unknown):
			return nil, false
		case known && contains(call, dir):
			slices.Reverse(list)
			return list, true
		}
		list = append(list, dir)
	}
	return nil, false
}

// beforeNew is what was at a path below something that was no directory: nothing, or what
// a command has removed in this turn.
func (t *Tracker) beforeNew(h *history, name string) *State {
	was, ok := h.last(name, len(h.ids))
	if !ok && t.turn != nil && t.turn.index != nil {
		was, ok = t.turn.index.state(name)
	}
	if !ok {
		was = State{Kind: Absent}
	}
	return new(was.bare())
}

// withParents gives a path and, before it, the directories above it that do not exist:
// making the file makes them, and to take it back is to take them back.
func (t *Tracker) withParents(name string) (list []string) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if t.made[dir] || t.ws.state(dir, nil).Kind == Absent {
			list = append(list, dir)
		}
	}
	slices.Reverse(list)
	return append(list, name)
}

// capture reads a path into a record.
func (t *Tracker) capture(r *record, b *batch, name string) {
	if contains(r.Files, name) {
		return
	}
	s := t.captured(b, name)
	if r.Phase == phaseBefore && s.Kind == Absent {
		t.made[name] = true
	} else if r.Phase == phaseAfter && s.Kind != Absent {
		delete(t.made, name)
	}
	r.Files = append(r.Files, fileRecord{Path: name, State: &s})
}

func (t *Tracker) captured(b *batch, name string) State {
	if !t.opt.Secrets && isSecret(name) {
		return unknown(reasonSecret)
	}
	keep := func(data []byte) (err error) {
		if b == nil {
			_, err = t.st.Put(data)
		} else {
			_, err = b.put(data)
		}
		return err
	}
	return t.ws.state(name, keep)
}

func contains(files []fileRecord, name string) bool {
	return slices.ContainsFunc(files, func(f fileRecord) bool { return f.Path == name })
}

func sortFiles(files []fileRecord) {
	slices.SortFunc(files, func(a, b fileRecord) int { return strings.Compare(a.Path, b.Path) })
}

// loseContents makes files unknown whose contents are not in the store.
func (r *record) loseContents(err error) {
	for i, f := range r.Files {
		if f.State != nil && f.State.Kind == File {
			s := unknown("its content could not be stored: %s", plain(err))
			r.Files[i].State = &s
		}
	}
}

// lastPrompt is the turn that records belong to; "" where there is none, or where it
// cannot be read, which a fold can do without.
func (t *Tracker) lastPrompt() entries.ID {
	tree, err := t.s.Tree()
	if err != nil {
		return ""
	}
	for e, err := range tree.Ancestors(tree.Leaf()) {
		if err != nil {
			break
		}
		if isPrompt(e) {
			return e.ID
		}
	}
	return ""
}
