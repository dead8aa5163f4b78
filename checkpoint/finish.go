package checkpoint

import (
	"context"
	"errors"
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
	custom, err := customs(tree)
	if err != nil {
		return nil, err
	}
	for _, e := range slices.Backward(custom) {
		kind, err := customType(e)
		if err != nil {
			return nil, err
		}
		if kind != entries.CustomFileRestore {
			continue
		}
		r, _, err := readRecord(e, st)
		if err != nil && !damaged(err) {
			return nil, err
		}
		if r.Phase == phaseBegin && err == nil { // what is damaged cannot be finished
			u = &unended{begin: e.ID, record: r}
		}
		if u != nil || r.Phase == phaseEnd {
			break // restores come one after the other
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
func (t *Tracker) finishCut(ctx context.Context, v *View) error {
	u, err := findUnended(v.tree, t.st)
	if err != nil || u == nil {
		return err
	}
	// A log may be anybody's: it changes no file by being opened, but where its restore began.
	u.spoken = u.spoken || u.record.Workspace == nil || !t.ws.is(u.record.Workspace)
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
	a := t.applier(u.begin)
	a.failed = map[string]error{}
	a.removeTemps(r.Files)
	if !u.spoken {
		defer t.restoreBeside()()
	}
	if err := a.apply(u.rest(a)); err != nil {
		return nil, err
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

// rest lists what is left to do: nothing where it is too late. What cannot be read has
// failed. A mode that was changed may not be certain, and is set again.
func (u *unended) rest(a *applier) (items []Item) {
	if u.spoken {
		return nil
	}
	for _, f := range u.record.Files {
		if f.From == nil || f.To == nil || !usable(f.Path) || f.From.Same(*f.To) {
			continue
		}
		it := Item{Path: f.Path, Disk: *f.From, To: *f.To}
		now := a.ws.state(f.Path, nil)
		switch {
		case now.Kind == Unknown:
			a.failed[f.Path] = errors.New(now.Reason)
		case now.Same(it.To) && it.Disk.Kind == File && it.Disk.SHA256 == it.To.SHA256,
			!now.Same(it.To) && it.ours(now):
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
			o.Result, o.Reason = Kept, "the restore was not finished: the conversation went on, or it began in another folder"
		default:
			o.Result, o.Reason, o.source = Conflict, "it was changed after the restore was cut short", ByUser
		}
		list = append(list, o)
	}
	return list
}

// before is what the paths were, as the place says where the end stands.
func (u *unended) before(moves bool) func(path string) State {
	states := map[string]State{}
	for _, f := range slices.Backward(u.record.Files) { // of a path that is there twice the first counts
		switch {
		case moves && f.To != nil:
			states[f.Path] = *f.To
		case !moves && f.From != nil:
			states[f.Path] = *f.From
		}
	}
	return func(path string) State { return states[path] }
}

// carryRest adds what a move of the leaf carries along besides the paths of the restore.
func (c *commit) carryRest(end *record) error {
	if c.plan.Return == nil {
		return nil
	}
	r, _, err := carried(c.view.tree, c.plan.From, c.plan.Return.To, c.st)
	restored := map[string]bool{}
	for _, f := range end.Files {
		restored[f.Path] = true
	}
	for _, f := range r.Files {
		if !restored[f.Path] {
			f.Result = Kept
			end.Files = append(end.Files, f)
		}
	}
	return err
}

// removeTemps removes the temporary files that a restore left where it was cut short. Its
// process died before it had synced what it did, which is all noted here to be synced: the
// end of the restore must not be more certain than the files.
func (a *applier) removeTemps(files []fileRecord) {
	for _, f := range files {
		if f.To == nil || !usable(f.Path) {
			continue
		}
		a.touch(f.Path, *f.To)
		for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
			a.touched[path.Dir(dir)] = true
		}
		fsys, done, err := a.ws.open(path.Dir(f.Path))
		if err != nil {
			continue
		}
		_ = fsys.Remove(restoreTemp(a.begin, f.Path)) // where it is
		done()
	}
}
