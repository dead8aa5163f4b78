package sessiontree

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/lock"
)

// An Appended says what an append did.
type Appended struct {
	IDs []entries.ID // of the drafts, in their order
	// Leaf is the leaf after the append.
	Leaf entries.ID
	// Durable tells that the entries survive a crash of the machine.
	Durable bool
	// Repeated tells that all of them were in the log already, and nothing was
	// written.
	Repeated bool
}

// Append appends entries below the leaf, each below the one before it; the last one
// is the new leaf. They are one batch: in a native log either all of them are there
// after a crash, or none. When Append returns nil they are in the log and, by the
// session's SyncMode, durable.
//
// Drafts with ids that are in the log already are not appended again. Where another
// program wrote to the log or replaced it, nothing is written and the error is
// ErrConflict; Reload reads what is there now. After a failed write (a full disk,
// say) the log is as before and later appends may succeed; after a failed sync the
// error is ErrUnknown. ctx is looked at between the steps of a write, never inside
// one.
func (s *Session) Append(ctx context.Context, drafts ...entries.Draft) (Appended, error) {
	return s.append(ctx, appending{drafts: drafts})
}

// AppendIf is Append if the leaf is still the one given ("" for an empty session),
// and ErrConflict where it has moved.
func (s *Session) AppendIf(ctx context.Context, leaf entries.ID, drafts ...entries.Draft) (Appended, error) {
	return s.append(ctx, appending{drafts: drafts, expect: &leaf})
}

// AppendTo appends entries below another entry than the leaf, such as a result that
// came late, and leaves the leaf where it is: the batch ends in a leaf marker that
// returns. parent "" makes a root.
func (s *Session) AppendTo(ctx context.Context, parent entries.ID, drafts ...entries.Draft) (Appended, error) {
	return s.append(ctx, appending{drafts: drafts, parent: &parent, back: true})
}

// Branch appends entries below another entry than the leaf, as one batch, and stays
// there: the last of them is the new leaf, and what was left stays a branch. It is done
// if the leaf is still the one given, and ErrConflict where it has moved. parent ""
// makes a root.
func (s *Session) Branch(ctx context.Context, parent, leaf entries.ID, drafts ...entries.Draft) (Appended, error) {
	return s.append(ctx, appending{drafts: drafts, parent: &parent, expect: &leaf})
}

// A MoveReason says why the leaf is moved.
type MoveReason string

// The reasons of leaf markers.
const (
	ReasonCheckout MoveReason = "checkout"
	ReasonUndo     MoveReason = "undo"
	ReasonRedo     MoveReason = "redo"
	ReasonRestore  MoveReason = "restore"
	ReasonReturn   MoveReason = "return"
)

// MoveLeaf goes to another entry: it appends a marker below it, which is the leaf
// then, so that the next entry hangs there; "" goes to before the first entry.
// Nothing is deleted, and what was left stays a branch. Where the leaf is that entry
// already nothing is written, and Appended says Repeated. more goes with the move, in its
// batch and behind its marker.
func (s *Session) MoveLeaf(ctx context.Context, to entries.ID, reason MoveReason, more ...entries.Draft) (Appended, error) {
	return s.append(ctx, appending{parent: &to, mark: true, drafts: more, draftFrom: func(leaf entries.ID) entries.Draft {
		return entries.LeafDraft(leaf, string(reason))
	}})
}

// Return does what PlanUndo, PlanUndoTo or PlanRedo has planned, if the leaf is still
// where it was then, and fails with ErrConflict where it has moved. more goes with the
// move, in its batch and behind its marker.
func (s *Session) Return(ctx context.Context, r *Return, more ...entries.Draft) (Appended, error) {
	return s.append(ctx, appending{
		parent: &r.To, expect: &r.From, drafts: append([]entries.Draft{entries.LeafDraft(r.From, string(r.Reason))}, more...),
	})
}

// MoveLeafWithSummary moves the leaf and tells the model what was left: a branch
// summary takes the marker's place. more goes with the move, in its batch.
func (s *Session) MoveLeafWithSummary(ctx context.Context, to entries.ID, summary string, more ...entries.Draft) (Appended, error) {
	if summary == "" {
		return s.MoveLeaf(ctx, to, ReasonCheckout, more...)
	}
	return s.append(ctx, appending{parent: &to, drafts: more, draftFrom: func(leaf entries.ID) entries.Draft {
		return entries.BranchSummaryDraft(leaf, summary, nil)
	}})
}

// SetLabel names an entry; an empty label takes its name away.
func (s *Session) SetLabel(ctx context.Context, target entries.ID, label string) (Appended, error) {
	if err := s.exists(target); err != nil {
		return Appended{}, err
	}
	return s.Append(ctx, entries.LabelDraft(target, label))
}

// SetName names the session; an empty name takes its name away.
func (s *Session) SetName(ctx context.Context, name string) (Appended, error) {
	return s.Append(ctx, entries.SessionInfoDraft(name))
}

// An appending is one append on its way.
type appending struct {
	drafts    []entries.Draft
	draftFrom func(leaf entries.ID) entries.Draft // the first draft, which names the leaf that is left
	mark      bool                                // it only moves the leaf
	parent    *entries.ID                         // nil is the leaf
	expect    *entries.ID                         // what the leaf has to be
	back      bool                                // return to the leaf

	ctx   context.Context // of whoever waits for it
	ids   []entries.ID
	made  []entries.ID // of ids those that were not reserved
	lines []byte
	prev  uint32

	over bool // it was taken up, or refused
	done Appended
	err  error
}

// stays tells whether a move leads to where the leaf is.
func (a *appending) stays(leaf entries.ID) bool { return a.mark && *a.parent == leaf }

func (s *Session) append(ctx context.Context, a appending) (Appended, error) {
	done, err := s.appendLocked(ctx, &a)
	if err != nil {
		return done, err
	}
	if s.opt.Sync == SyncAlways || a.irrevocable() {
		if err := s.Sync(ctx); err != nil {
			return done, err
		}
		done.Durable = true
	}
	return done, nil
}

// keptScratch is the largest buffer that is kept for the lines of the next append.
const keptScratch = 1 << 20

// A waitingLine holds the appends that have come and were not taken up yet.
type waitingLine struct {
	mu   sync.Mutex
	list []*appending
}

func (w *waitingLine) add(a *appending) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, a)
}

func (w *waitingLine) take() []*appending {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.list
	w.list = nil
	return list
}

// appendLocked waits for its turn, in which it writes what it has to and what others
// wait with: appends that come together are one write, each of them a batch of its
// own in it.
func (s *Session) appendLocked(ctx context.Context, a *appending) (Appended, error) {
	a.ctx = ctx
	s.waiting.add(a)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !a.over {
		s.appendAll(s.waiting.take())
	}
	return a.done, a.err
}

// appendAll takes appends up one after the other, each upon the one before it, and
// writes them. Where that fails all is as it was, and none of them was done.
func (s *Session) appendAll(all []*appending) {
	end, prev, leaf := s.end, s.prev, s.leaf
	s.lines = s.scratch[:0]
	for _, a := range all {
		a.over = true
		a.err = s.prepare(a)
	}
	if cap(s.lines) <= keptScratch {
		s.scratch = s.lines // no store keeps what it was given
	}
	if len(s.lines) == 0 {
		return
	}
	err := s.write(end, s.lines)
	if err == nil {
		return
	}
	s.noteFailure(s.log, err)
	s.end, s.prev, s.leaf = end, prev, leaf
	for _, a := range all {
		s.undo(a, fmt.Errorf("%s: %w", s.path, err))
	}
}

// undo takes back what prepare took up.
func (s *Session) undo(a *appending, err error) {
	for _, id := range a.ids {
		if s.mine[id] = false; slices.Contains(a.made, id) {
			delete(s.mine, id)
		}
	}
	if a.err == nil {
		a.done, a.err = Appended{}, err
	}
}

// prepare judges an append and puts its lines behind those that are going to be
// written.
func (s *Session) prepare(a *appending) error {
	if err := a.ctx.Err(); err != nil {
		return err
	}
	if s.closed {
		return ErrClosed
	}
	if err := s.acquireTurn(); err != nil {
		return err
	}
	if a.stays(s.leaf) {
		a.done = Appended{Leaf: s.leaf, Repeated: true}
		return nil
	}
	if a.draftFrom != nil {
		a.drafts = append([]entries.Draft{a.draftFrom(s.leaf)}, a.drafts...)
	}
	repeated, err := s.judge(a)
	if err != nil || repeated {
		a.done = Appended{IDs: a.ids, Leaf: s.leaf, Repeated: repeated}
		a.ids = nil // they are not this append's
		return err
	}
	return s.takeUp(a)
}

// takeUp encodes an append and moves the session on, as if it were written.
func (s *Session) takeUp(a *appending) error {
	a.lines = s.lines
	if err := s.encode(a); err != nil {
		a.ids = nil
		return err
	}
	s.end += int64(len(a.lines) - len(s.lines))
	s.lines, s.prev, s.leaf = a.lines, a.prev, a.ids[len(a.ids)-1]
	for _, id := range a.ids {
		if _, reserved := s.mine[id]; !reserved {
			a.made = append(a.made, id)
		}
		s.mine[id] = true
	}
	a.done = Appended{IDs: a.ids[:len(a.drafts)], Leaf: s.leaf}
	return nil
}

// judge checks what is asked for, and tells whether it was done before.
func (s *Session) judge(a *appending) (repeated bool, err error) {
	if len(a.drafts) == 0 {
		return false, fmt.Errorf("%w: nothing to append", entries.ErrDraft)
	}
	there := 0
	for _, d := range a.drafts {
		if d.Err() != nil {
			return false, d.Err()
		}
		if d.ID() != "" && slices.Contains(a.ids, d.ID()) {
			return false, fmt.Errorf("%w: two have the id %q", entries.ErrDraft, d.ID())
		}
		a.ids = append(a.ids, d.ID())
		known, err := s.known(d.ID())
		if err != nil {
			return false, err
		}
		if known {
			there++
		}
	}
	switch {
	case there == len(a.drafts):
		return true, nil
	case there > 0:
		return false, fmt.Errorf("%w: %d of %d entries are in the log already", ErrConflict, there, len(a.drafts))
	case a.expect != nil && *a.expect != s.leaf:
		return false, fmt.Errorf("%w: the leaf is %s, not %s", ErrConflict, s.leaf.Short(), a.expect.Short())
	case a.parent != nil && *a.parent != "":
		return false, s.mustKnow(*a.parent)
	}
	return false, nil
}

// known tells whether an entry with this id is in the log. Ids that were reserved
// here cannot be, before they were appended; for others the log is asked.
func (s *Session) known(id entries.ID) (bool, error) {
	if id == "" {
		return false, nil
	}
	if appended, mine := s.mine[id]; mine {
		return appended, nil
	}
	_, err := s.before.Entry(id)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func (s *Session) mustKnow(id entries.ID) error {
	known, err := s.known(id)
	if err == nil && !known {
		err = fmt.Errorf("%s: entry %q: %w", s.path, id, ErrNotFound)
	}
	return err
}

func (s *Session) exists(id entries.ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mustKnow(id)
}

// encode makes the lines of the batch: each entry below the one before it.
func (s *Session) encode(a *appending) error {
	parent, drafts := s.leaf, a.drafts
	if a.parent != nil {
		parent = *a.parent
	}
	back := a.back && s.leaf != "" && parent != s.leaf
	a.prev = s.prev
	for i, d := range drafts {
		if a.ids[i] == "" {
			id, err := s.ids.New()
			if err != nil {
				return err
			}
			a.ids[i] = id
		}
		s.encodeOne(a, d, a.ids[i], parent, back || i < len(drafts)-1)
		parent = a.ids[i]
	}
	if !back {
		return nil
	}
	id, err := s.ids.New()
	if err != nil {
		return err
	}
	a.ids = append(a.ids, id)
	s.encodeOne(a, entries.LeafDraft(parent, string(ReasonReturn)), id, s.leaf, false)
	return nil
}

func (s *Session) encodeOne(a *appending, d entries.Draft, id, parent entries.ID, more bool) {
	start := len(a.lines)
	a.lines = d.Append(a.lines, id, parent, s.now())
	if s.head.Native {
		a.lines, a.prev = seal(a.lines, start, more, a.prev)
	} else {
		a.lines = append(a.lines, "}\n"...)
	}
}

// seal ends the line that begins at start with its sum and a newline, and gives what
// the next line's sum repeats.
func seal(lines []byte, start int, more bool, prev uint32) ([]byte, uint32) {
	lines, sum := entries.AppendSum(lines, start, more, prev)
	return append(lines, '\n'), sum.Self
}

// write appends lines to the log; to oh-my-pi's under its own lock.
func (s *Session) write(after int64, lines []byte) error {
	put := func() error {
		_, err := s.log.Append(context.Background(), after, lines) // several contexts wait for it
		return err
	}
	if s.head.Title == nil && !s.head.Header.Omp() || s.opt.unlocked {
		return put()
	}
	err := lock.Omp(s.path, put)
	if _, held := errors.AsType[*lock.HeldError](err); held {
		return &LockedError{Path: s.path}
	}
	return err
}

// irrevocable tells whether something will happen, relying on these entries, that
// cannot be taken back: they are then durable in every mode.
func (a *appending) irrevocable() bool {
	for _, d := range a.drafts {
		if d.Irrevocable() {
			return true
		}
	}
	return false
}
