package tool

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/sessiontree"
)

// files are what became of files in a rewind. The zero value is a rewind that leaves them
// alone.
type files struct {
	done *checkpoint.Done
	kept string // why they stay, where they were to be restored
	cwd  string // of the session
}

// restored lists the paths that were taken back.
func (f files) restored() (paths []string) {
	if f.done == nil {
		return nil
	}
	for _, o := range f.done.Files {
		if o.Result == checkpoint.Restored || o.Result == checkpoint.Removed {
			paths = append(paths, o.Path)
		}
	}
	return paths
}

// failed lists the paths that were to be taken back, and could not be.
func (f files) failed() (paths []string) {
	if f.done == nil {
		return nil
	}
	for _, o := range f.done.Files {
		if o.Result == checkpoint.Failed || o.Result == checkpoint.Conflict {
			paths = append(paths, o.Path+": "+o.Reason)
		}
	}
	return paths
}

// left gives what calls changed, but for what is what it was before.
func (f files) left(modified []string) (paths []string) {
	if f.done == nil {
		return modified
	}
	for _, name := range modified {
		rel := name
		if filepath.IsAbs(name) {
			rel, _ = filepath.Rel(f.cwd, name)
		}
		rel = filepath.ToSlash(filepath.Clean(rel))
		if !slices.ContainsFunc(f.done.Files, func(o checkpoint.Outcome) bool {
			return o.Path == rel && (o.Result == checkpoint.Restored || o.Result == checkpoint.Removed || o.Result == checkpoint.There)
		}) {
			paths = append(paths, name)
		}
	}
	return paths
}

// apply writes the batch of a rewind, with the files that it takes back, if it does.
func (t *Tools) apply(ctx context.Context, s State, d *detour) (*Rewound, error) {
	f := files{cwd: t.s.Header().Cwd}
	before, err := t.beforeBeside(s, d)
	if err != nil {
		return nil, err
	}
	d.kept = append(before, d.kept...)
	if s.Request.Files == FilesRestore {
		r, err := t.restore(ctx, s, d, &f)
		if r != nil || err != nil {
			return r, err
		}
	}
	leaf, err := t.stillPending(s)
	if err != nil {
		return nil, err
	}
	drafts := t.batch(s, d, f)
	if drafts, err = t.withCarried(drafts, leaf, d.target); err != nil {
		return nil, err
	}
	done, err := t.s.Branch(ctx, d.target, leaf, drafts...)
	if err != nil {
		return nil, err
	}
	return d.rewound(s, done.IDs, done.Leaf, f), t.s.Sync(ctx)
}

// withCarried adds what the files are, where the path that the leaf goes to says
// otherwise.
func (t *Tools) withCarried(drafts []entries.Draft, from, to entries.ID) ([]entries.Draft, error) {
	tree, err := t.s.Tree()
	if err != nil {
		return nil, err
	}
	var st *checkpoint.Store
	if t.opt.Files != nil {
		st = t.opt.Files.Store()
	}
	carried, ok, err := checkpoint.Carried(tree, from, to, st)
	if ok {
		drafts = append(drafts, carried)
	}
	return drafts, err
}

// restore does a rewind that takes files back. Where they cannot all go, they stay: the
// conversation goes back alone, and f says why.
func (t *Tools) restore(ctx context.Context, s State, d *detour, f *files) (*Rewound, error) {
	tracker := t.opt.Files
	if tracker == nil {
		f.kept = "nothing follows the files of this session any more."
		return nil, nil
	}
	batch := func(done *checkpoint.Done) []entries.Draft {
		f.done = done
		return t.batch(s, d, *f)
	}
	done, ok, err := tracker.FinishRewind(ctx, s.Request.Result, batch)
	if err == nil && !ok {
		done, err = t.restoreAnew(ctx, s, d, batch)
	}
	if errors.Is(err, checkpoint.ErrConflict) || errors.Is(err, checkpoint.ErrAborted) || errors.Is(err, checkpoint.ErrStale) || errors.Is(err, checkpoint.ErrNoBlob) {
		f.done, f.kept = nil, err.Error()+"."
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return d.rewound(s, done.IDs, done.Leaf, *f), nil
}

func (t *Tools) restoreAnew(ctx context.Context, s State, d *detour, batch func(*checkpoint.Done) []entries.Draft) (*checkpoint.Done, error) {
	plan, err := t.opt.Files.Plan(ctx, d.target, checkpoint.Both, &checkpoint.PlanOptions{ToolsOnly: true, Except: t.besideRewind(s, d)})
	if err != nil {
		return nil, err
	}
	if _, err := t.stillPending(s); err != nil {
		return nil, err
	}
	return t.opt.Files.Commit(ctx, plan, &checkpoint.CommitOptions{Rewind: s.Request.Result, Batch: batch})
}

// besideRewind lists the paths that calls beside rewind have touched: what they did stays,
// as their results do.
func (t *Tools) besideRewind(s State, d *detour) (paths []string) {
	at := slices.IndexFunc(d.left, func(e entries.Entry) bool { return e.ID == s.Request.Answer })
	if at < 0 || len(d.beside) == 0 || t.opt.Files == nil {
		return nil
	}
	for _, e := range d.left[at:] {
		call, touched, ok := checkpoint.Recorded(e, t.opt.Files.Store())
		if ok && checkpoint.IsSnapshot(e) && (d.beside[call] || call == "") {
			paths = append(paths, touched...)
		}
	}
	return paths
}

// beforeBeside makes the record of what the paths were that calls beside rewind touched,
// before they did: the copies of their records begin there, and not where the batch goes.
func (t *Tools) beforeBeside(s State, d *detour) (drafts []entries.Draft, err error) {
	paths := t.besideRewind(s, d)
	if len(paths) == 0 {
		return nil, nil
	}
	tree, err := t.s.Tree()
	if err != nil {
		return nil, err
	}
	answer, err := tree.Entry(s.Request.Answer)
	if err != nil {
		return nil, err
	}
	draft, ok, err := checkpoint.Carried(tree, answer.Parent, d.target, t.opt.Files.Store(), paths...)
	if ok {
		drafts = append(drafts, draft)
	}
	return drafts, err
}

// stillPending makes sure that a rewind is pending still, after file records were appended
// behind it, and gives the leaf.
func (t *Tools) stillPending(s State) (entries.ID, error) {
	now, err := t.state()
	if err == nil && (now.Phase != Pending || now.Request.Result != s.Request.Result) {
		err = sessiontree.ErrConflict
	}
	return now.Leaf, err
}

// returnTo takes a rewind back: the leaf goes to before it, and the files that it took back
// come again.
func (t *Tools) returnTo(ctx context.Context, r *sessiontree.Return, last *Report) (done sessiontree.Appended, err error) {
	tree, err := t.s.Tree()
	if err != nil {
		return done, err
	}
	paths, err := t.restoredBy(tree, last)
	if err != nil {
		return done, err
	}
	if t.opt.Files == nil || len(paths) == 0 {
		drafts, err := t.withCarried(nil, r.From, r.To)
		if err != nil {
			return done, err
		}
		return t.s.Return(ctx, r, drafts...)
	}
	plan, err := t.opt.Files.Return(ctx, r, checkpoint.Both, &checkpoint.PlanOptions{Only: paths})
	if err != nil {
		return done, err
	}
	restored, err := t.opt.Files.Commit(ctx, plan, nil)
	if err != nil {
		return done, err
	}
	return sessiontree.Appended{Leaf: restored.Leaf, Durable: true}, nil
}

// restoredBy lists the paths that a rewind took back, as its batch says.
func (t *Tools) restoredBy(tree *sessiontree.Tree, last *Report) ([]string, error) {
	var report entries.Entry
	for e, err := range tree.Ancestors(tree.Leaf()) {
		if err != nil {
			return nil, err
		}
		if e.ID == last.Summary {
			break
		}
		report = e
	}
	if report.Type != entries.TypeCustomMessage {
		return nil, nil
	}
	c, err := report.CustomMessage()
	if err != nil {
		return nil, err
	}
	var paths []string
	jsonvalue.Elements(jsonvalue.Get(c.Details, "restored"), func(value []byte) { paths = append(paths, jsonvalue.String(value)) })
	return paths, nil
}
