package checkpoint

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// TrackOptions say how files are followed. Nil stands for the zero value.
type TrackOptions struct {
	// Scan lets TurnStart and TurnEnd look at the whole workspace, so that what commands and
	// people change is seen too.
	Scan bool
	// MaxFile is the largest file that is kept, in bytes; 0 stands for 32 MiB. A larger one
	// is unknown: it is never restored, and never taken for absent.
	MaxFile int64
	// MaxFiles is how many files a workspace may have for scans; 0 stands for 200,000.
	MaxFiles int
	// Budget is how long one scan may take; 0 stands for 30 seconds. What it did not reach
	// is unknown until a later scan reaches it.
	Budget time.Duration
	// Secrets are recorded like any other file, where this is set: files whose names say
	// that they may hold some (.env, keys, tokens) are left out otherwise.
	Secrets bool
	// Logger gets warnings; nil stands for slog.Default().
	Logger *slog.Logger
}

const (
	defaultMaxFile  = 32 << 20
	defaultMaxFiles = 200_000
	defaultBudget   = 30 * time.Second
)

func (o *TrackOptions) withDefaults() TrackOptions {
	var opt TrackOptions
	if o != nil {
		opt = *o
	}
	if opt.MaxFile == 0 {
		opt.MaxFile = defaultMaxFile
	}
	if opt.MaxFiles == 0 {
		opt.MaxFiles = defaultMaxFiles
	}
	if opt.Budget == 0 {
		opt.Budget = defaultBudget
	}
	if opt.Logger == nil {
		opt.Logger = slog.Default()
	}
	return opt
}

// A Tracker follows the files of one session in one workspace. It is safe for concurrent
// use; its records go to the session, durably, before what they tell of happens.
type Tracker struct {
	s   *sessiontree.Session
	ws  *workspace
	st  *Store
	opt TrackOptions

	mu        sync.Mutex
	finished  *Done               // what a restore that was cut short came to, by Track
	pending   *unended            // a restore that was cut short, and is not Track's to finish
	unsure    bool                // the log may lack the end of a restore
	named     *identity           // the workspace, as the last record of this process named it
	turn      *turn               // the turn that runs
	index     *index              // what the last scan saw
	made      map[string]bool     // directories that an edit found missing
	announced map[string][]string // paths that calls are changing, by the call's id
	settled   entries.ID          // the leaf at which carried states are known to be in order
	running   running             // what other sessions are told

	known     *history // the fold of the path to knownLeaf
	knownLeaf entries.ID
}

// Track follows the files of a session in the folder of root; st has their contents. It
// first finishes a restore that a crash cut short, unless that was a rewind's, and records
// what a program that knows nothing of file states has moved the leaf away from. A home
// directory and a whole disk are ErrRoot. Nothing is closed with a Tracker.
func Track(ctx context.Context, s *sessiontree.Session, root *os.Root, st *Store, opt *TrackOptions) (*Tracker, error) {
	o := opt.withDefaults()
	ws, err := newWorkspace(root, o.MaxFile)
	if err != nil {
		return nil, err
	}
	if err := ws.tooWide(); err != nil {
		return nil, err
	}
	if err := st.register(s.Path()); err != nil {
		return nil, err
	}
	return track(ctx, s, ws, st, o)
}

func track(ctx context.Context, s *sessiontree.Session, ws *workspace, st *Store, opt TrackOptions) (*Tracker, error) {
	t := &Tracker{s: s, ws: ws, st: st, opt: opt, made: map[string]bool{}, announced: map[string][]string{}}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unsure = true
	return t, t.settle(ctx)
}

// settle brings the log and the disk together, where something was cut short or a foreign
// program moved the leaf.
func (t *Tracker) settle(ctx context.Context) error {
	if t.unsure {
		if err := t.finishCut(ctx); err != nil {
			return fmt.Errorf("a restore was cut short, and cannot be finished: %w", err)
		}
		t.unsure = false
	}
	if t.pending != nil {
		return nil // what finishes it says what the files are
	}
	return t.carryOver(ctx)
}

// Finished tells what Track made of a restore that a crash had cut short; nil where there
// was none.
func (t *Tracker) Finished() *Done { return t.finished }

// view looks at the session as it is now.
func (t *Tracker) view() (*View, error) {
	tree, err := t.s.Tree()
	if err != nil {
		return nil, err
	}
	return &View{tree: tree, ws: t.ws, st: t.st}, nil
}

// Plan plans to go to any entry: see View.Plan.
func (t *Tracker) Plan(ctx context.Context, to entries.ID, scope Scope, opt *PlanOptions) (*Plan, error) {
	return t.planned(ctx, func(v *View) (*Plan, error) { return v.Plan(to, scope, opt) })
}

// Undo plans to take back the newest turn or restore on the path: see View.Undo.
func (t *Tracker) Undo(ctx context.Context, scope Scope, opt *PlanOptions) (*Plan, error) {
	return t.planned(ctx, func(v *View) (*Plan, error) { return v.Undo(scope, opt) })
}

// Redo plans to bring back what the last undo took back: see View.Redo.
func (t *Tracker) Redo(ctx context.Context, scope Scope, opt *PlanOptions) (*Plan, error) {
	return t.planned(ctx, func(v *View) (*Plan, error) { return v.Redo(scope, opt) })
}

func (t *Tracker) planned(ctx context.Context, make func(*View) (*Plan, error)) (*Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.settle(ctx); err != nil {
		return nil, err
	}
	v, err := t.view()
	if err != nil {
		return nil, err
	}
	return make(v)
}

// snapshot appends a record below the leaf. Where another goroutine appends meanwhile it
// stands above or below, which is the same to a fold.
func (t *Tracker) snapshot(ctx context.Context, r record) error {
	t.name(&r)
	d, err := r.draft(t.st)
	if err != nil {
		return err
	}
	done, err := t.s.Append(ctx, d)
	if err == nil {
		t.settled = done.Leaf
	}
	return err
}

// name puts the workspace into the first record of a process, and lets the others refer
// to it.
func (t *Tracker) name(r *record) {
	if t.named == nil {
		r.Workspace, t.named = &t.ws.id, &t.ws.id
	}
}

// carryOver appends what a foreign move of the leaf did not: a program that knows nothing
// of file states leaves the files as they are, and the path to the new leaf says otherwise.
func (t *Tracker) carryOver(ctx context.Context) error {
	tree, err := t.s.Tree()
	if err != nil || tree.Leaf() == t.settled {
		return err
	}
	r, ok, err := missingCarried(tree, t.settled, t.st)
	if err != nil {
		return err
	}
	if ok {
		return t.snapshot(ctx, r)
	}
	t.settled = tree.Leaf()
	return nil
}

// missingCarried makes the record that should have gone with the last move of the leaf,
// where it did not. What the log's last file record says is what the disk has. known is an
// entry at which nothing was missing.
func missingCarried(tree *sessiontree.Tree, known entries.ID, st *Store) (r record, ok bool, err error) {
	if known != "" {
		below, err := isBelow(tree, tree.Leaf(), known)
		if err != nil || below {
			return r, false, err
		}
	}
	last := entries.ID("")
	for e, err := range tree.Entries() {
		if err != nil {
			return r, false, err
		}
		if isRecord(e) {
			last = e.ID
		}
	}
	if last == "" {
		return r, false, nil
	}
	return carried(tree, last, tree.Leaf(), st)
}

// isBelow tells whether an entry is on the path to another one.
func isBelow(tree *sessiontree.Tree, leaf, id entries.ID) (bool, error) {
	for e, err := range tree.Ancestors(leaf) {
		if err != nil {
			return false, err
		}
		if e.ID == id {
			return true, nil
		}
	}
	return false, nil
}

// isRecord tells whether an entry is a file record.
func isRecord(e entries.Entry) bool {
	if e.Type != entries.TypeCustom {
		return false
	}
	kind, err := e.Field("customType")
	return err == nil && (kind == CustomSnapshot || kind == CustomRestore)
}
