package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/checkpoint"
	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// Rewound tells what a rewind did.
type Rewound struct {
	Checkpoint Checkpoint
	Report     string
	From       entries.ID   // the leaf that was left
	Target     entries.ID   // the entry that the batch hangs below; "" is the root
	Entries    []entries.ID // of the batch: the summary, the report, and what was kept
	Leaf       entries.ID

	DroppedEntries int
	DroppedTokens  int // about
	// ForgottenReads are the files whose contents have left the context: a harness that
	// remembers what the model has read has to forget them.
	ForgottenReads []string
	ModifiedFiles  []string // changed on disk by the exploration, as far as calls tell, and left so
	// Files tells what became of each file, where files were to be restored and were; nil
	// otherwise. FilesKept says why they stayed where they were to be restored.
	Files     *checkpoint.Done
	FilesKept string
}

// EndTurn applies a pending rewind; nil where none is pending, also where one has lapsed
// (State.Lapsed), because something was appended behind it. It is called when all
// calls of the answer have results, and fails with ErrOpenCalls where some have none.
// On return the leaf is below the checkpoint, on disk; a crash before leaves the rewind
// pending, a crash inside does too (in native logs: in those of pi and oh-my-pi a part
// of the batch may be there, which closes the checkpoint).
func (t *Tools) EndTurn(ctx context.Context) (*Rewound, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.endTurn(ctx)
}

func (t *Tools) endTurn(ctx context.Context) (*Rewound, error) {
	s, err := t.state()
	if err != nil || s.Phase != Pending {
		return nil, err
	}
	if open := t.known.fold.openCalls(); len(open) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrOpenCalls, strings.Join(open, ", "))
	}
	d, err := t.detour(s)
	if err != nil {
		return nil, err
	}
	return t.apply(ctx, s, d)
}

// openCalls lists the calls of the last answer that have no results, in no order that
// would matter.
func (f *fold) openCalls() (open []string) {
	for id, name := range f.calls {
		if !f.answered[id] {
			open = append(open, fmt.Sprintf("%s (%s)", id, name))
		}
	}
	slices.Sort(open)
	return open
}

// Resume is called after a session was opened: where a crash left a rewind pending, it
// gives the calls beside it that have no results an error that says so, and applies the
// rewind. nil where none was pending.
func (t *Tools) Resume(ctx context.Context) (*Rewound, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, err := t.state()
	if err != nil || s.Phase != Pending {
		return nil, err
	}
	drafts, err := t.missing(s)
	if err != nil {
		return nil, err
	}
	if len(drafts) > 0 {
		if _, err := t.s.AppendIf(ctx, s.Leaf, drafts...); err != nil {
			return nil, err
		}
	}
	return t.endTurn(ctx)
}

// missing makes the results that the last answer's calls do not have: what is known of
// them.
func (t *Tools) missing(s State) (drafts []entries.Draft, err error) {
	tree, err := t.s.Tree()
	if err != nil {
		return nil, err
	}
	pending, err := modelcontext.PendingCalls(tree, s.Leaf)
	if err != nil {
		return nil, err
	}
	f := t.known.fold
	for _, call := range f.order {
		if f.answered[call] {
			continue
		}
		state := modelcontext.Interrupted
		for _, p := range pending {
			if p.ID == call && p.Message == f.answer {
				state = p.State
			}
		}
		drafts = append(drafts, entries.ToolResult(call, f.calls[call], blocksOf(state.Result()), true, nil))
	}
	return drafts, nil
}

// Cancel gives a pending rewind up: the checkpoint is open again. ErrNothing where none
// is pending.
func (t *Tools) Cancel(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.settled(func(s State) error {
		if s.Phase != Pending {
			return fmt.Errorf("%w: no rewind is pending", ErrNothing)
		}
		return t.mark(ctx, s, s.Request.Checkpoint, stateCancelled)
	})
	if err == nil && t.opt.Files != nil {
		_, err = t.opt.Files.DropRewind(ctx)
	}
	return err
}

// Close ends the innermost open checkpoint without a rewind, and tells no model.
// ErrNothing where none is open.
func (t *Tools) Close(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.settled(func(s State) error {
		c, ok := s.Innermost()
		if !ok {
			return fmt.Errorf("%w: no checkpoint is open", ErrNothing)
		}
		return t.mark(ctx, s, c.ID, stateClosed)
	})
}

// mark writes a checkpoint-state record.
func (t *Tools) mark(ctx context.Context, s State, id entries.ID, state string) error {
	_, err := t.s.AppendIf(ctx, s.Leaf, entries.CustomDraft(entries.CustomCheckpointState, encode(map[string]any{"checkpoint": id, "state": state})))
	return err
}

// PendingReminder is called where the model ends its turn without calling a tool. With
// an open checkpoint it gives, once, a note for the model; it is no part of the log's
// context: the harness appends it to the request, or lets the turn end. Where the model
// ends its turn a second time the checkpoint is closed as abandoned, and there is no
// note: nobody is held in a loop. "" where there is nothing to say. A harness that asks
// the model again with the note does best to append it as a custom_message: otherwise
// the log has two answers in a row, and the provider's cache ends before the first. A
// rewind leaves the note behind.
func (t *Tools) PendingReminder(ctx context.Context) (note string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	err = t.settled(func(s State) error {
		note, err = t.remind(ctx, s)
		return err
	})
	return note, err
}

func (t *Tools) remind(ctx context.Context, s State) (note string, err error) {
	c, ok := s.Innermost()
	if s.Phase != Active || !ok {
		return "", nil
	}
	if c.Reminded {
		return "", t.mark(ctx, s, c.ID, stateAbandoned)
	}
	if err := t.mark(ctx, s, c.ID, stateReminded); err != nil {
		return "", err
	}
	lead := ""
	if s.Lapsed != nil {
		lead = "Your rewind was not applied. "
	}
	return lead + fmt.Sprintf("The checkpoint %s is still open. If the exploration is done, call rewind with a report; if its details are still needed, just answer.", c.ID), nil
}

// UndoRewind takes back the last rewind on the path: the leaf goes to the entry before
// the answer that called rewind, where the checkpoint is open and the exploration is in
// the context again. What ran beside the rewind and all that came after it, turns of the
// user's among it, leaves the context and stays a branch, to which Tree.PlanRedo leads
// back; its effects stay too, and nobody tells the model. Files that the rewind took back
// become again what they were, with what was done to them since; where somebody's work
// would be lost by that, the error is checkpoint.ErrConflict and nothing is done. ErrNothing
// where there was no rewind, or where its record does not say what was left (oh-my-pi's do
// not).
func (t *Tools) UndoRewind(ctx context.Context) (done sessiontree.Appended, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	err = t.settled(func(s State) error {
		to, err := t.beforeRewind(s)
		if err == nil {
			done, err = t.returnTo(ctx, &sessiontree.Return{Reason: sessiontree.ReasonUndo, From: s.Leaf, To: to}, s.Last)
		}
		return err
	})
	return done, err
}

// beforeRewind is the entry before the answer that called the last rewind.
func (t *Tools) beforeRewind(s State) (entries.ID, error) {
	if s.Last == nil {
		return "", fmt.Errorf("%w: no rewind on the path", ErrNothing)
	}
	tree, err := t.s.Tree()
	if err != nil {
		return "", err
	}
	left, err := t.stateAt(tree, s.Last.From)
	if err != nil && !errors.Is(err, sessiontree.ErrNotFound) {
		return "", err
	}
	if err != nil || left.Request == nil || left.Request.Answer == "" {
		return "", fmt.Errorf("%w: the log does not have what the last rewind left", ErrNothing)
	}
	answer, err := tree.Entry(left.Request.Answer)
	return answer.Parent, err
}
