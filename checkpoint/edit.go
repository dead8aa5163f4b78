package checkpoint

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sessctl/sessctl/entries"
)

// BeforeEdit records what a tool is about to change: absolute paths, or paths relative to
// the root; a directory stands for all that is in it. It is called before anything is
// changed, with the id of the tool's call ("" where there is none). When it returns nil the
// contents are on disk, and so is the record that names them. What cannot be read, and what
// is left out, is recorded as unknown: it never stops an edit, and never counts as absent.
func (t *Tracker) BeforeEdit(ctx context.Context, callID string, paths ...string) error {
	return t.edit(ctx, phaseBefore, callID, paths)
}

// AfterEdit records what a tool has made of what BeforeEdit recorded, whether it
// succeeded or not, or was cancelled: so ctx may be over. It takes the same arguments.
func (t *Tracker) AfterEdit(ctx context.Context, callID string, paths ...string) error {
	return t.edit(context.WithoutCancel(ctx), phaseAfter, callID, paths)
}

func (t *Tracker) edit(ctx context.Context, ph phase, callID string, paths []string) error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.settle(ctx); err != nil {
		return err
	}
	t.editBeside(ph)
	r := record{Phase: ph, Source: ByTool, ToolCallID: callID, Turn: t.lastPrompt()}
	g := &gathering{Tracker: t, batch: t.st.batch(), states: map[string]State{}}
	for _, name := range paths {
		if found := t.begun[callID+"\x00"+name]; ph == phaseAfter && found != nil {
			g.again(found)
		} else {
			g.gather(name)
		}
	}
	if err := g.batch.commit(); err != nil {
		t.opt.Logger.Warn("contents of files cannot be stored; they will not be restored", "store", t.st.dir, "error", err)
		g.loseContents(err)
	}
	r.NotCovered = g.uncovered
	if ph == phaseBefore {
		r.Files = g.files(nil)
		t.begin(callID, paths, g)
		if err := t.tellMissed(ctx, r.Files); err != nil {
			return err
		}
	} else {
		r.Files = g.files(t.end(callID, paths))
	}
	if len(r.Files)+len(r.NotCovered) == 0 {
		return nil
	}
	return t.snapshot(ctx, r)
}

// begin remembers what an edit found, for its end.
func (t *Tracker) begin(callID string, paths []string, g *gathering) {
	for _, name := range paths {
		t.begun[callID+"\x00"+name] = g.states
	}
}

// end gives what the edits of paths found when they began, and forgets it.
func (t *Tracker) end(callID string, paths []string) map[string]State {
	found := map[string]State{}
	for _, name := range paths {
		maps.Copy(found, t.begun[callID+"\x00"+name])
		delete(t.begun, callID+"\x00"+name)
	}
	return found
}

// A gathering reads the paths that an edit is about.
type gathering struct {
	*Tracker
	batch     *batch
	states    map[string]State
	uncovered []Uncovered
	full      bool // there are more than are recorded
}

// gather reads what a tool means by a path: the file, the directories above it that are
// missing (to make the file makes them, and to take it back is to take them back), and what
// is below it; with links also what a link leads to, which may be what is changed.
func (g *gathering) gather(name string) {
	for _, s := range g.ws.spots(name) {
		if s.reason != "" {
			g.uncovered = append(g.uncovered, Uncovered{s.path, s.reason})
			continue
		}
		for dir := path.Dir(s.path); dir != "." && g.ws.state(dir, nil).Kind == Absent; dir = path.Dir(dir) {
			g.states[dir] = State{Kind: Absent}
		}
		g.read(s.path)
	}
	g.readLinksAbove(name)
}

// readLinksAbove reads the links that a path leads through, and the path itself, where
// nothing is as long as they are links: a tool may make directories of them.
func (g *gathering) readLinksAbove(name string) {
	rel := g.ws.relative(name)
	through := false
	for dir := path.Dir(rel); rel != "" && dir != "."; dir = path.Dir(dir) {
		if g.ws.state(dir, nil).Kind == Symlink {
			through = true
			g.read(dir)
		}
	}
	if through {
		g.read(rel)
	}
}

// isSeen tells whether a path was gathered already.
func (g *gathering) isSeen(name string) bool {
	_, ok := g.states[name]
	return ok
}

// read reads a path, and what is below it.
func (g *gathering) read(name string) {
	if g.isSeen(name) || !g.takes(name) {
		return
	}
	s := g.captured(g.batch, name)
	g.states[name] = s
	if s.Kind != Dir {
		return
	}
	fsys, done, err := g.ws.open(name)
	if err != nil {
		return
	}
	list, err := fsys.ReadDir(".")
	done()
	if err != nil {
		g.uncovered = append(g.uncovered, Uncovered{name + "/", reasonUnreadable})
	}
	for _, e := range list {
		g.read(name + "/" + e.Name())
	}
}

// takes tells whether a path is recorded. What is not, but for git's own, is told of.
func (g *gathering) takes(name string) bool {
	switch valid := utf8.ValidString(name); {
	case usable(name) && len(g.states) <= g.opt.MaxFiles:
		return true
	case !valid:
		g.uncovered = append(g.uncovered, Uncovered{strings.ToValidUTF8(name, "\uFFFD"), reasonNotUTF8})
	case usable(name) && !g.full:
		g.full = true
		g.uncovered = append(g.uncovered, Uncovered{name, fmt.Sprintf("%v: this one and those after it, of more than %d", errTooMany, g.opt.MaxFiles)})
	}
	return false
}

// again reads what was found when an edit began, and what is below it by now.
func (g *gathering) again(found map[string]State) {
	for _, name := range slices.Sorted(maps.Keys(found)) {
		g.read(name)
	}
}

// files lists what was read, with what it was before where that is known: below what was
// found missing, or was listed, nothing else was.
func (g *gathering) files(found map[string]State) (list []fileRecord) {
	for _, name := range slices.Sorted(maps.Keys(g.states)) {
		s := g.states[name].bare()
		s.Reason = g.states[name].Reason
		f := fileRecord{Path: name, State: &s}
		if was, ok := g.before(found, name); ok {
			f.Before = &was
		}
		list = append(list, f)
	}
	return list
}

// before gives what a path was, as an edit found it: below what was found missing, or was
// listed, or was no directory, nothing was, but what a command has removed in this turn.
func (g *gathering) before(found map[string]State, name string) (s State, ok bool) {
	if s, ok = found[name]; ok {
		return s, true
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if above, ok := found[dir]; ok {
			return g.beforeNew(name), above.Kind != Unknown
		}
	}
	return s, false
}

// beforeNew is what was at a path that an edit did not find.
func (g *gathering) beforeNew(name string) State {
	h, err := g.history()
	if err != nil {
		return unknown("%s", plain(err))
	}
	was, ok := h.last(name, len(h.ids))
	if !ok {
		was, ok = g.beforeTurn(name)
	}
	if !ok {
		return State{Kind: Absent}
	}
	return was.bare()
}

func (t *Tracker) captured(b *batch, name string) State {
	if !t.opt.Secrets && isSecret(name) {
		return unknown(reasonSecret)
	}
	return t.ws.state(name, b.put)
}

func sortFiles(files []fileRecord) {
	slices.SortFunc(files, func(a, b fileRecord) int { return strings.Compare(a.Path, b.Path) })
}

// loseContents makes files unknown whose contents are not in the store.
func (g *gathering) loseContents(err error) {
	for name, s := range g.states {
		if s.Kind == File {
			g.states[name] = unknown("its content could not be stored: %s", plain(err))
		}
	}
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
