package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// Errors that a caller may want to tell apart.
var (
	// ErrStale: what a plan depends on has changed since it was made. A *StaleError has a
	// fresh plan.
	ErrStale = errors.New("checkpoint: the plan is not what would be done any more")
	// ErrConflict: somebody's work would be lost. A *ConflictError has the paths.
	ErrConflict = errors.New("checkpoint: conflicts")
	// ErrAborted: a restore failed in the middle, and was taken back.
	ErrAborted = errors.New("checkpoint: the restore failed, and was taken back")
)

// A StaleError has the plan as it is now.
type StaleError struct{ Fresh *Plan }

func (e *StaleError) Error() string { return ErrStale.Error() + "; look at the fresh one" }

// Is makes errors.Is(err, ErrStale) hold.
func (e *StaleError) Is(target error) bool { return target == ErrStale }

// A ConflictError names the paths that kept a plan from being done.
type ConflictError struct{ Items []Item }

func (e *ConflictError) Error() string {
	const most = 5
	var b strings.Builder
	files := "files"
	if len(e.Items) == 1 {
		files = "file"
	}
	fmt.Fprintf(&b, "%v in %d %s; nothing was changed", ErrConflict, len(e.Items), files)
	for i, it := range e.Items {
		if i == most {
			fmt.Fprintf(&b, "; and %d more", len(e.Items)-most)
			break
		}
		fmt.Fprintf(&b, "; %s: %s", it.Path, it.Reason)
	}
	return b.String()
}

// Is makes errors.Is(err, ErrConflict) hold.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// CommitOptions say how a plan is done. Nil stands for the zero value: a conflict stops
// all of it.
type CommitOptions struct {
	// Force overwrites what is in conflict. What is overwritten is kept, and an undo brings
	// it back.
	Force bool
	// Overwrite names paths in conflict that are overwritten.
	Overwrite []string
	// Partial leaves what is in conflict as it is, and does the rest.
	Partial bool
	// Rewind is the entry of a rewind's result, where this is the rewind: the restore is
	// then finished after a crash by what finishes the rewind.
	Rewind entries.ID
	// Batch gives the entries that move the leaf, in the place of a leaf marker. They go
	// into one batch with the record of what was restored, which comes last.
	Batch func(*Done) []entries.Draft
}

// Done says what a commit did.
type Done struct {
	Begin, End entries.ID // the records of the restore; "" where no file had to change
	Leaf       entries.ID
	IDs        []entries.ID // of the entries that Batch gave
	Files      []Outcome
}

// An Outcome is what became of a path.
type Outcome struct {
	Path   string `json:"path"`
	Result Result `json:"result"`
	Reason string `json:"reason,omitempty"`
	State  State  `json:"state"` // what it is now

	source Source // whose work was kept
}

// Count tells how many paths have a result; of a nil Done none has.
func (d *Done) Count(r Result) (n int) {
	if d == nil {
		return 0
	}
	for _, f := range d.Files {
		if f.Result == r {
			n++
		}
	}
	return n
}

// Commit does exactly what was planned, if all that the plan depends on is as it was; else
// it changes nothing and fails with a *StaleError. Paths in conflict stop all of it, with a
// *ConflictError, unless opt says otherwise; paths that are unknown are left alone. The
// order is such that a crash at any point leaves a restore that can be finished: see
// docs/files.md.
func (t *Tracker) Commit(ctx context.Context, p *Plan, opt *CommitOptions) (*Done, error) {
	if opt == nil {
		opt = &CommitOptions{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := t.settle(ctx); err != nil {
		return nil, err
	}
	if p.Scope.files() && t.ws.replaced() {
		return nil, fmt.Errorf("%s: %w", t.ws.id.Path, errReplaced)
	}
	if t.pending != nil {
		return nil, fmt.Errorf("%w: the restore of a rewind was cut short; Tools.Resume finishes it", ErrConflict)
	}
	v, err := t.view()
	if err != nil {
		return nil, err
	}
	fresh, err := p.again(v)
	if err != nil {
		return nil, err
	}
	if fresh.ID != p.ID {
		return nil, &StaleError{fresh}
	}
	c := &commit{Tracker: t, plan: fresh, opt: opt, view: v}
	return c.run(ctx)
}

// A commit is a plan being done.
type commit struct {
	*Tracker
	plan  *Plan
	opt   *CommitOptions
	view  *View
	begin entries.ID
	leaf  entries.ID // which the last batch replaces
	does  []Item
	done  *Done
}

func (c *commit) run(ctx context.Context) (*Done, error) {
	if err := c.choose(); err != nil {
		return nil, err
	}
	c.done = &Done{Leaf: c.plan.From}
	if len(c.does) == 0 && (c.plan.Undoes == "" && c.plan.Redoes == "" || c.plan.Count(ActUnknown) > 0) {
		return c.moveOnly(ctx) // an undo that could do nothing is none
	}
	if err := c.save(); err != nil {
		return nil, err
	}
	if err := c.announce(ctx); err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx) // from here on it is finished or taken back
	defer c.restoreBeside()()
	a := c.applier(c.begin)
	if err := a.apply(c.does); err != nil {
		return nil, c.abort(ctx, a, err)
	}
	return c.done, c.finish(ctx)
}

// choose picks what is done, and refuses conflicts that nobody allowed.
func (c *commit) choose() error {
	if err := c.plan.Refused(c.opt); err != nil {
		return err
	}
	chosen := c.plan.chosen(c.opt)
	c.dropLost(chosen)
	c.does = c.plan.possible(c.ws, chosen)
	return nil
}

// dropLost leaves out the files whose content is in the store and damaged: to find that out
// while the files are written would stop all the others, each time anew. An error of the
// system may pass: it stops the restore later, which can be tried again.
func (c *commit) dropLost(chosen map[string]bool) {
	for i, it := range c.plan.Items {
		if !chosen[it.Path] || it.To.Kind != File || it.Disk.Kind == File && it.Disk.SHA256 == it.To.SHA256 {
			continue
		}
		if _, err := c.st.Get(it.To.SHA256); err != nil && !ofTheSystem(err) {
			c.plan.Items[i] = it.as(ActUnknown, "%v", err)
			delete(chosen, it.Path)
		}
	}
}

// ofTheSystem tells whether an error is one of reading, and not of what was read.
func ofTheSystem(err error) bool {
	_, path := errors.AsType[*fs.PathError](err)
	_, number := errors.AsType[syscall.Errno](err)
	return path || number
}

// chosen are the paths that are to be done: what is in conflict only where it is allowed.
func (p *Plan) chosen(opt *CommitOptions) map[string]bool {
	return p.choose(func(it Item) bool { return it.acts() || it.Action == ActConflict && opt.overwrites(it) })
}

// overwrites tells whether a path is overwritten where it is in conflict.
func (o *CommitOptions) overwrites(it Item) bool { return o.Force || covers(o.Overwrite, it.Path) }

// Refused gives the *ConflictError with which Commit would refuse a plan; nil where no
// conflict stops it.
func (p *Plan) Refused(opt *CommitOptions) error {
	if opt == nil {
		opt = &CommitOptions{}
	}
	var conflicts []Item
	chosen := p.chosen(opt)
	for _, it := range p.Items {
		if it.Action == ActConflict && !chosen[it.Path] {
			conflicts = append(conflicts, it)
		}
	}
	if len(conflicts) == 0 || opt.Partial {
		return nil
	}
	return &ConflictError{conflicts}
}

// save puts what is going to be overwritten into the store, so that an undo brings it
// back, and checks that it can.
func (c *commit) save() error {
	b := c.st.batch()
	disk := looker{ws: c.ws}
	defer disk.leave()
	for _, it := range c.does {
		if it.Disk.Kind != File {
			continue
		}
		if c.st.isSynced(it.Disk.SHA256) && c.st.touch(it.Disk.SHA256) == nil {
			continue
		}
		var full error
		s := disk.state(it.Path, func(sum string, data []byte) error {
			full = b.put(sum, data)
			return full
		})
		switch {
		case full != nil:
			b.drop()
			return fmt.Errorf("%s cannot be kept before it is overwritten: %w; nothing was changed", it.Path, full)
		case !s.Same(it.Disk):
			b.drop()
			return fmt.Errorf("%w: %s changed at this moment: %s", ErrStale, it.Path, s.Reason)
		}
	}
	return b.commit()
}

// announce writes down what is going to be done, durably, before it is done.
func (c *commit) announce(ctx context.Context) error {
	id, err := c.s.NewID()
	if err != nil {
		return err
	}
	p := c.plan
	r := record{Phase: phaseBegin, Plan: p.ID, To: &p.To, Scope: p.Scope, Rewind: c.opt.Rewind, Undoes: p.Undoes, Redoes: p.Redoes, Workspace: &c.ws.id}
	if p.Return != nil {
		r.Move = &move{p.Return.To, string(p.Return.Reason)}
	}
	does := c.doing()
	for _, it := range c.plan.Items {
		switch {
		case does[it.Path]:
			r.Files = append(r.Files, fileRecord{Path: it.Path, From: &it.Disk, To: &it.To})
		case it.Disk.Kind != Unknown && it.Disk.bare() != it.Known.bare(): // stays what somebody made of it
			r.Files = append(r.Files, fileRecord{Path: it.Path, From: &it.Disk, To: &it.Disk})
		}
	}
	d, err := r.draft(c.st)
	if err != nil {
		return err
	}
	if _, err := c.s.AppendIf(ctx, p.From, d.WithID(id)); err != nil {
		return err
	}
	c.begin, c.leaf, c.done.Begin = id, id, id
	return c.s.Sync(ctx)
}

// doing tells which paths are done.
func (c *commit) doing() map[string]bool {
	does := make(map[string]bool, len(c.does))
	for _, it := range c.does {
		does[it.Path] = true
	}
	return does
}

// outcomes says what became of every path of the plan.
func (c *commit) outcomes() (list []Outcome) {
	does := c.doing()
	for _, it := range c.plan.Items {
		o := Outcome{it.Path, Kept, it.Reason, it.Disk, it.Source}
		if it.beside {
			o.source = ByUser // as little this session's
		}
		switch {
		case does[it.Path]:
			o.Result, o.Reason, o.State, o.source = Restored, "", it.To, it.brings
			if it.To.Kind == Absent {
				o.Result = Removed
			}
		case it.Action == ActConflict:
			o.Result = Conflict
			if !it.Disk.Same(it.Known) {
				o.source = ByUser
			}
			if c.opt.overwrites(it) {
				o.Reason += ", and something else is in it or above it"
			}
		case it.Action == ActUnknown:
			o.Result = Failed
		case it.Disk.Same(it.To):
			o.Result = There
		}
		list = append(list, o)
	}
	return list
}

// finish writes the end, in one batch with what moves the leaf.
func (c *commit) finish(ctx context.Context) error {
	c.done.Files = c.outcomes()
	r := record{Phase: phaseEnd, Begin: c.begin, Outcome: outcomeDone, Undoes: c.plan.Undoes, Redoes: c.plan.Redoes}
	r.Files = endFiles(c.done.Files, c.before())
	return c.close(ctx, r)
}

// before gives what a path was on the path that the end stands on: where the leaf stays
// that is what it was just now, and where it moves what the path that it goes to says.
func (c *commit) before() func(path string) State {
	return func(path string) State {
		i, _ := slices.BinarySearchFunc(c.plan.Items, path, func(it Item, path string) int { return strings.Compare(it.Path, path) })
		switch it := c.plan.Items[i]; {
		case c.plan.Return == nil:
			return it.Disk
		case it.there.Kind != "":
			return it.there
		default:
			return it.To
		}
	}
}

// endFiles are the states that a restore left, where they differ from what was before.
func endFiles(list []Outcome, before func(path string) State) (files []fileRecord) {
	for _, o := range list {
		was := before(o.Path)
		files = append(files, fileRecord{Path: o.Path, State: &o.State, Before: &was, Result: o.Result, Source: o.source})
	}
	return files
}

// close appends the end of a restore: below the leaf that is reached.
func (c *commit) close(ctx context.Context, r record) error {
	for _, f := range r.Files {
		c.left[f.Path] = f.State.bare()
	}
	r.Workspace = &c.ws.id // the path that the leaf goes to may not say it
	end, err := r.draft(c.st)
	if err != nil {
		return err
	}
	done, err := c.move(ctx, c.leaf, end)
	if err != nil {
		c.unsure = true
		return fmt.Errorf("the files are restored, and the log could not be told: %w; opening the session anew finishes it", err)
	}
	c.done.End = done.IDs[len(done.IDs)-1]
	return nil
}

// move appends the last batch: what moves the leaf, and a record behind it.
func (c *commit) move(ctx context.Context, leaf entries.ID, last ...entries.Draft) (done sessiontree.Appended, err error) {
	r := c.plan.Return
	switch {
	case r == nil:
		done, err = c.s.AppendIf(ctx, leaf, last...)
	case c.opt.Batch != nil:
		drafts := c.opt.Batch(c.done)
		done, err = c.s.Branch(ctx, r.To, leaf, append(drafts, last...)...)
		if err == nil {
			c.done.IDs = done.IDs[:len(drafts)]
		}
	default:
		done, err = c.s.Branch(ctx, r.To, leaf, append([]entries.Draft{entries.LeafDraft(leaf, string(r.Reason))}, last...)...)
	}
	if err != nil {
		return done, err
	}
	c.done.Leaf, c.settled = done.Leaf, done.Leaf
	return done, c.s.Sync(ctx)
}

// moveOnly does a plan that changes no file: it moves the leaf, with the states that it
// carries along.
func (c *commit) moveOnly(ctx context.Context) (*Done, error) {
	c.done.Files = c.outcomes()
	if c.plan.Return == nil || c.plan.Return.From == c.plan.Return.To && c.opt.Batch == nil {
		return c.done, nil
	}
	d, ok, err := Carried(c.view.tree, c.plan.From, c.plan.Return.To, c.st)
	if err != nil {
		return nil, err
	}
	var last []entries.Draft
	if ok {
		last = append(last, d)
	}
	_, err = c.move(ctx, c.plan.From, last...)
	return c.done, err
}

// abort takes back what was done, and says so in the log; the leaf stays.
func (c *commit) abort(ctx context.Context, a *applier, failed error) error {
	left := a.takeBack()
	r := record{Phase: phaseEnd, Begin: c.begin, Outcome: outcomeAborted}
	for _, it := range c.does {
		o := Outcome{Path: it.Path, Result: Kept, State: c.ws.state(it.Path, nil)}
		r.Files = append(r.Files, fileRecord{Path: it.Path, State: &o.State, Before: &it.Disk, Result: o.Result})
	}
	err := fmt.Errorf("%w: %w", ErrAborted, failed)
	if left != nil {
		err = fmt.Errorf("%w; not all of it could be taken back: %w", err, left)
	}
	c.plan.Return = nil
	return errors.Join(err, c.close(ctx, r))
}
