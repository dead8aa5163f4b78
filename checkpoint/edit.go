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
	e := t.touched(&r, paths)
	for _, name := range e.paths {
		t.capture(&r, b, name)
	}
	t.captureBelow(&r, b, e.below)
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

// An editing is what an edit that began may touch.
type editing struct {
	paths []string
	// below are names below links. Nothing is there, as long as those are links.
	below []string
}

// touched finds what an edit touches. After it that is what it was before: the edit may
// have made a link of a path, or a path of a link, and what that leads to now it did not
// touch.
func (t *Tracker) touched(r *record, paths []string) (e editing) {
	key := strings.Join(append([]string{r.ToolCallID}, paths...), "\x00")
	if e, ok := t.begun[key]; ok && r.Phase == phaseAfter {
		delete(t.begun, key)
		return e
	}
	for _, name := range paths {
		list := t.ws.spots(name)
		for _, s := range list {
			if s.reason != "" {
				r.NotCovered = append(r.NotCovered, Uncovered{s.path, s.reason})
				continue
			}
			e.paths = append(e.paths, t.withParents(s.path)...)
		}
		if rel := t.ws.relative(name); rel != list[0].path && usable(rel) {
			e.below = append(e.below, rel)
		}
	}
	if r.Phase == phaseBefore {
		t.begun[key] = e
	}
	return e
}

// captureBelow reads what stands below directories that were links before an edit.
func (t *Tracker) captureBelow(r *record, b *batch, names []string) {
	for _, name := range names {
		if r.has(name) || r.Phase != phaseAfter {
			continue
		}
		if s := t.captured(b, name); s.Kind != Absent {
			r.Files = append(r.Files, fileRecord{Path: name, Before: &State{Kind: Absent}, State: &s})
		}
	}
}

func (r *record) has(name string) bool {
	return slices.ContainsFunc(r.Files, func(f fileRecord) bool { return f.Path == name })
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
		if was, ok := t.beforeTurn(h, f.Path, *f.State); ok {
			r.Files = append(r.Files, fileRecord{Path: f.Path, Before: &was, State: f.State})
		}
	}
	if len(r.Files) == 0 {
		return nil
	}
	return t.snapshot(ctx, r)
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
	if r.has(name) {
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
