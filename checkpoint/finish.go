package checkpoint

import (
	"context"
	"path"
	"slices"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// An unended is a restore that was cut short: its begin is in the log, and no end.
type unended struct {
	begin  entries.ID
	record record
	spoken bool // messages follow it, or it is on another branch: it is not finished any more
}

// findUnended finds the last restore of a log that has no end.
func findUnended(tree *sessiontree.Tree, st *Store) (u *unended, err error) {
	for e, err := range tree.Entries() {
		if err != nil {
			return nil, err
		}
		if e.Type != entries.TypeCustom {
			continue
		}
		if kind, err := e.Field("customType"); err != nil || kind != CustomRestore {
			continue
		}
		r, _, err := readRecord(e, st)
		if err != nil {
			continue // what is damaged cannot be finished
		}
		switch r.Phase {
		case phaseBegin:
			u = &unended{begin: e.ID, record: r}
		case phaseEnd:
			u = nil // restores come one after the other
		}
	}
	if u != nil {
		u.spoken, err = isSpoken(tree, u.begin)
	}
	return u, err
}

// isSpoken tells whether more than metadata follows an entry, on the path to the leaf or
// elsewhere.
func isSpoken(tree *sessiontree.Tree, begin entries.ID) (bool, error) {
	for e, err := range tree.Ancestors(tree.Leaf()) {
		switch {
		case err != nil:
			return false, err
		case e.ID == begin:
			return false, nil
		case e.Type.Conversation():
			return true, nil
		}
		if _, moved, err := e.LeafMarker(); err != nil || moved {
			return true, err
		}
	}
	return true, nil
}

// finishCut finishes a restore that was cut short, or closes it where that is too late.
func (t *Tracker) finishCut(ctx context.Context) error {
	v, err := t.view()
	if err != nil {
		return err
	}
	u, err := findUnended(v.tree, t.st)
	if err != nil || u == nil {
		return err
	}
	if u.record.Rewind != "" && !u.spoken {
		t.pending = u
		return nil
	}
	t.finished, err = t.resume(ctx, v, u, &CommitOptions{})
	return err
}

// FinishRewind finishes a restore of a rewind that was cut short; ok is false where there
// is none of this rewind. batch is that of CommitOptions. It is for what applies rewinds.
func (t *Tracker) FinishRewind(ctx context.Context, rewind entries.ID, batch func(*Done) []entries.Draft) (done *Done, ok bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.settle(ctx); err != nil {
		return nil, false, err
	}
	u := t.pending
	if u == nil || u.record.Rewind != rewind {
		return nil, false, nil
	}
	v, err := t.view()
	if err != nil {
		return nil, false, err
	}
	if done, err = t.resume(ctx, v, u, &CommitOptions{Rewind: rewind, Batch: batch}); err == nil {
		t.pending = nil
	}
	return done, true, err
}

// DropRewind gives up a restore of a rewind that was cut short, where the rewind is not
// applied any more: what is on disk stays, and the log says what it is.
func (t *Tracker) DropRewind(ctx context.Context) (*Done, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.settle(ctx); err != nil || t.pending == nil {
		return nil, err
	}
	v, err := t.view()
	if err != nil {
		return nil, err
	}
	u := *t.pending
	u.spoken = true
	done, err := t.resume(ctx, v, &u, &CommitOptions{})
	if err == nil {
		t.pending = nil
	}
	return done, err
}

// resume goes on with a restore where it was cut short. What is still as before is done;
// what is neither that nor as planned is somebody's, and left alone.
func (t *Tracker) resume(ctx context.Context, v *View, u *unended, opt *CommitOptions) (*Done, error) {
	r := u.record
	p := &Plan{Scope: r.Scope, From: v.tree.Leaf(), Undoes: r.Undoes, Redoes: r.Redoes}
	if r.Move != nil && !u.spoken {
		p.Return = &sessiontree.Return{Reason: sessiontree.MoveReason(r.Move.Reason), From: p.From, To: r.Move.To}
	}
	c := &commit{Tracker: t, plan: p, opt: opt, view: v, begin: u.begin, leaf: p.From, done: &Done{Begin: u.begin, Leaf: p.From}}
	a := &applier{ws: t.ws, st: t.st, begin: u.begin, failed: map[string]error{}}
	rest := u.rest(t.ws)
	a.removeTemps(r.Files)
	if !u.spoken {
		defer t.restoreBeside()()
		if err := a.apply(rest); err != nil {
			return nil, err
		}
	}
	c.done.Files = u.outcomes(t.ws, a.failed)
	end := record{Phase: phaseEnd, Begin: u.begin, Outcome: outcomeDone, Undoes: r.Undoes, Redoes: r.Redoes}
	if u.spoken {
		end.Outcome, end.Undoes, end.Redoes = outcomeAborted, "", ""
	}
	end.Files = endFiles(c.done.Files, u.before(p.Return != nil))
	if err := c.carryRest(&end); err != nil {
		return nil, err
	}
	return c.done, c.close(ctx, end)
}

// rest lists what is left to do.
func (u *unended) rest(ws *workspace) (items []Item) {
	for _, f := range u.record.Files {
		if f.From == nil || f.To == nil || !usable(f.Path) {
			continue
		}
		it := Item{Path: f.Path, Disk: *f.From, To: *f.To}
		now := ws.state(f.Path, nil)
		if !now.Same(it.To) && (now.Same(it.Disk) || now.Kind == Absent && goes(it)) {
			it.Disk = now
			items = append(items, it)
		}
	}
	return items
}

// outcomes says what every path of the restore has come to.
func (u *unended) outcomes(ws *workspace, failed map[string]error) (list []Outcome) {
	for _, f := range u.record.Files {
		if f.From == nil || f.To == nil || !usable(f.Path) || f.From.Same(*f.To) {
			continue
		}
		o := Outcome{Path: f.Path, Result: Restored, State: ws.state(f.Path, nil)}
		switch {
		case failed[f.Path] != nil:
			o.Result, o.Reason, o.source = Failed, failed[f.Path].Error(), ByUser
		case o.State.Same(*f.To) && f.To.Kind == Absent:
			o.Result = Removed
		case o.State.Same(*f.To):
		case o.State.Same(*f.From):
			o.Result, o.Reason = Kept, "the conversation went on before the restore was finished"
		default:
			o.Result, o.Reason, o.source = Conflict, "it was changed after the restore was cut short", ByUser
		}
		list = append(list, o)
	}
	return list
}

// before is what the paths were, as the place says where the end stands.
func (u *unended) before(moves bool) func(path string) State {
	return func(path string) State {
		i := slices.IndexFunc(u.record.Files, func(f fileRecord) bool { return f.Path == path })
		if f := u.record.Files[i]; moves {
			return *f.To
		} else {
			return *f.From
		}
	}
}

// carryRest adds what a move of the leaf carries along besides the paths of the restore.
func (c *commit) carryRest(end *record) error {
	if c.plan.Return == nil {
		return nil
	}
	r, _, err := carried(c.view.tree, c.plan.From, c.plan.Return.To, c.st)
	for _, f := range r.Files {
		if !contains(end.Files, f.Path) {
			f.Result = Kept
			end.Files = append(end.Files, f)
		}
	}
	return err
}

// removeTemps removes the temporary files that a restore left where it was cut short.
func (a *applier) removeTemps(files []fileRecord) {
	for _, f := range files {
		if !usable(f.Path) {
			continue
		}
		fsys, done, err := a.ws.open(path.Dir(f.Path))
		if err != nil {
			continue
		}
		_ = fsys.Remove(restoreTemp(a.begin, f.Path)) // where it is
		done()
	}
}
