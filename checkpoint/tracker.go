package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
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
	// MaxFile is the largest file that is kept, in bytes, at most 1 GiB; 0 stands for 32 MiB.
	// A larger one is unknown: it is never restored, and never taken for absent.
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
	opt.MaxFile = min(opt.MaxFile, largestBlob) // what is larger could be stored, and not read again
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
// use; its records go to the session, durably, before what they tell of happens. BeforeEdit,
// AfterEdit, TurnStart and TurnEnd of a nil Tracker do nothing, and it plans nothing.
type Tracker struct {
	s   *sessiontree.Session
	ws  *workspace
	st  *Store
	opt TrackOptions
	// owns tells that Close closes the workspace and the store.
	owns bool

	mu       sync.Mutex
	finished *Done                       // what a restore that was cut short came to, by Track
	pending  *unended                    // a restore that was cut short, and is not Track's to finish
	unsure   bool                        // the log may lack the end of a restore
	turn     *turn                       // the turn that runs
	index    *index                      // what the last scan saw
	left     map[string]State            // what restores have made of paths since then
	begun    map[string]map[string]State // what edits that are under way have found, by call and path
	settled  entries.ID                  // the leaf at which carried states are known to be in order
	running  running                     // what other sessions are told

	known     *history // the fold of the path to knownLeaf
	knownLeaf entries.ID
}

// Track follows the files of a session in the folder of root; st has their contents. It
// first finishes a restore that a crash cut short, unless that was a rewind's, and records
// what a program that knows nothing of file states has moved the leaf away from. A home
// directory and a whole disk are ErrRoot. root and st are not closed with a Tracker; see
// Follow.
func Track(ctx context.Context, s *sessiontree.Session, root *os.Root, st *Store, opt *TrackOptions) (*Tracker, error) {
	o := opt.withDefaults()
	ws, err := newWorkspace(root, o.MaxFile)
	if err != nil {
		return nil, err
	}
	if err := ws.tooWide(); err != nil {
		return nil, err
	}
	ws.keepOff(s.Path(), st)
	if err := st.register(s.Path()); err != nil {
		return nil, err
	}
	return track(ctx, s, ws, st, o)
}

func track(ctx context.Context, s *sessiontree.Session, ws *workspace, st *Store, opt TrackOptions) (*Tracker, error) {
	t := &Tracker{s: s, ws: ws, st: st, opt: opt, begun: map[string]map[string]State{}, left: map[string]State{}}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unsure = true
	if err := t.settle(ctx); err != nil {
		return nil, err
	}
	return t, nil
}

// settle brings the log and the disk together, where something was cut short or a foreign
// program moved the leaf.
func (t *Tracker) settle(ctx context.Context) error {
	v, err := t.view()
	if err != nil {
		return err
	}
	if t.unsure {
		if err := t.finishCut(ctx, v); err != nil {
			return fmt.Errorf("a restore was cut short, and cannot be finished: %w", err)
		}
		t.unsure = false
		if leaf := t.s.Leaf(); leaf != v.tree.Leaf() {
			if v, err = t.view(); err != nil {
				return err
			}
		}
	}
	if t.pending != nil {
		return nil // what finishes it says what the files are
	}
	return t.carryOver(ctx, v.tree)
}

// Store is where the contents are.
func (t *Tracker) Store() *Store { return t.st }

// Finished tells what Track made of a restore that a crash had cut short; nil where there
// was none.
func (t *Tracker) Finished() *Done {
	if t == nil {
		return nil
	}
	return t.finished
}

// view looks at the session as it is now.
func (t *Tracker) view() (*View, error) {
	tree, err := t.s.Tree()
	if err != nil {
		return nil, err
	}
	return &View{tree: tree, ws: t.ws, st: t.st, settled: tree.Leaf() == t.settled}, nil
}

// Plan plans to go to any entry: see View.Plan.
func (t *Tracker) Plan(ctx context.Context, to entries.ID, scope Scope, opt *PlanOptions) (*Plan, error) {
	return t.planned(ctx, func(v *View) (*Plan, error) { return v.Plan(to, scope, opt) })
}

// Return plans a move of the leaf that was planned already: see View.Return.
func (t *Tracker) Return(ctx context.Context, r *sessiontree.Return, scope Scope, opt *PlanOptions) (*Plan, error) {
	return t.planned(ctx, func(v *View) (*Plan, error) { return v.Return(r, scope, opt) })
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
	if t == nil {
		return nil, fmt.Errorf("%w: nothing follows the files of this session", ErrRoot)
	}
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

// name puts the workspace into a record, where the path does not say yet which it is.
func (t *Tracker) name(r *record) {
	if h, err := t.history(); err != nil || h.workspace == nil || *h.workspace != t.ws.id {
		r.Workspace = &t.ws.id
	}
}

// carryOver appends what a foreign move of the leaf did not: a program that knows nothing
// of file states leaves the files as they are, and the path to the new leaf says otherwise.
func (t *Tracker) carryOver(ctx context.Context, tree *sessiontree.Tree) error {
	if tree.Leaf() == t.settled {
		return nil
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
	last, err := lastRecord(tree)
	if err != nil || last == "" {
		return r, false, err
	}
	if below, err := isBelow(tree, tree.Leaf(), last); err != nil || below {
		return r, false, err // it is what the path says last, too
	}
	return carried(tree, last, tree.Leaf(), st)
}

// lastRecord gives the last file record of a log; "" where it has none.
func lastRecord(tree *sessiontree.Tree) (id entries.ID, err error) {
	custom, err := customs(tree)
	if err != nil {
		return "", err
	}
	for _, e := range slices.Backward(custom) {
		if is, err := isRecord(e); is || err != nil {
			return e.ID, err
		}
	}
	return "", nil
}

// customs lists the entries that may be file records, in file order. To tell which are is
// to read them, which is more than to know them: so whoever wants the last of them begins
// at the end.
func customs(tree *sessiontree.Tree) (list []entries.Entry, err error) {
	for e, err := range tree.Entries() {
		if err != nil {
			return nil, err
		}
		if e.Type == entries.TypeCustom {
			list = append(list, e)
		}
	}
	return list, nil
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
func isRecord(e entries.Entry) (bool, error) {
	kind, err := customType(e)
	return kind == entries.CustomFileSnapshot || kind == entries.CustomFileRestore, err
}

// customType gives the custom type of an entry, "" for one that has none.
func customType(e entries.Entry) (string, error) {
	if e.Type != entries.TypeCustom {
		return "", nil
	}
	kind, err := e.Field("customType")
	if errors.Is(err, entries.ErrBody) {
		return "", nil
	}
	return kind, err
}
