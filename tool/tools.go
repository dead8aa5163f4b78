package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/sessctl/sessctl/checkpoint"
	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// Options say how the tools behave. Nil stands for the zero value.
type Options struct {
	// MaxDepth is how many checkpoints may be open at once, each in the exploration of
	// the one before; 0 stands for 1, as in oh-my-pi.
	MaxDepth int
	// MinSpanTokens is how many tokens a rewind has to drop, about, to be worth it; a
	// model that asks for less is told so. 0 asks for nothing.
	MinSpanTokens int
	// Window, where it is not 0, is how many tokens the model's context may have. A
	// rewind whose result would not fit is refused (it may go back behind a compaction,
	// and bring back what that had replaced).
	Window int
	// Subagent tells that the session is a subagent's. The tools are not available there
	// unless AllowSubagent is set.
	Subagent, AllowSubagent bool
	// Files follows the files of the session; nil where nothing does. With it a rewind can
	// take back what the session's tools did to files, and every rewind records what stays.
	Files *checkpoint.Tracker
	// FallbackToRoot lets a rewind whose checkpoint is not on the path go back to before
	// the first entry, as oh-my-pi does: the whole conversation leaves the context.
	FallbackToRoot bool
	// Estimator counts tokens; nil stands for modelcontext.EstimateTokens.
	Estimator modelcontext.Estimator
	// Logger gets warnings; nil stands for slog.Default().
	Logger *slog.Logger
	// Now gives the time; nil stands for time.Now.
	Now func() time.Time
}

// Tools are the two tools on one session.
type Tools struct {
	s   *sessiontree.Session
	opt Options

	mu    sync.Mutex
	known known
}

// New gives the tools on an open session.
func New(s *sessiontree.Session, opt *Options) *Tools {
	t := &Tools{s: s}
	if opt != nil {
		t.opt = *opt
	}
	if t.opt.MaxDepth == 0 {
		t.opt.MaxDepth = 1
	}
	if t.opt.Estimator == nil {
		t.opt.Estimator = modelcontext.EstimateTokens
	}
	if t.opt.Logger == nil {
		t.opt.Logger = slog.Default()
	}
	if t.opt.Now == nil {
		t.opt.Now = time.Now
	}
	return t
}

func (t *Tools) now() string { return t.opt.Now().UTC().Format("2006-01-02T15:04:05.000Z") }

// A Result is what a call comes to. It is in the log already, unless CallDetached made
// it.
type Result struct {
	Entry   entries.ID // of the toolResult
	Text    string     // what the model reads
	IsError bool
	Details json.RawMessage
}

// State reads what the path to the leaf says.
func (t *Tools) State() (State, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state()
}

func (t *Tools) state() (State, error) {
	tree, err := t.s.Tree()
	if err != nil {
		return State{}, err
	}
	return t.stateAt(tree, tree.Leaf())
}

// Call runs a tool, appends its result below the leaf, and gives it. name and callID are
// those of a call in the last answer on the path, args its arguments. What the model did
// wrong is a Result with IsError. A call that has its result in the log already is not
// run again: the answer is the one from before.
func (t *Tools) Call(ctx context.Context, name, callID string, args json.RawMessage) (r Result, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	err = t.settled(func(s State) error {
		r, err = t.call(ctx, s, name, callID, args)
		return err
	})
	return r, err
}

// settled looks at the state, and does something that appends where the leaf is then.
// Where it moved in between, since other tools append too, it looks again.
func (t *Tools) settled(do func(State) error) error {
	for {
		s, err := t.state()
		if err != nil {
			return err
		}
		if err = do(s); !errors.Is(err, sessiontree.ErrConflict) {
			return err
		}
		if now, e := t.state(); e != nil || now.Leaf == s.Leaf { // the log is another program's now
			return err
		}
	}
}

func (t *Tools) call(ctx context.Context, s State, name, callID string, args json.RawMessage) (Result, error) {
	f := t.known.fold
	r, err := t.run(s, name, args)
	if err != nil {
		return Result{}, err
	}
	if f.answered[callID] {
		return t.before(callID)
	}
	if _, ok := f.calls[callID]; !ok {
		return Result{}, fmt.Errorf("%w: no answer above the leaf has the call %q; append the answer first", ErrNoCall, callID)
	}
	drafts := []entries.Draft{
		entries.ToolResult(callID, name, []json.RawMessage{entries.TextBlock(r.Text)}, r.IsError, r.Details).WithID(r.Entry),
	}
	if label := text(r.Details, "label"); label != "" && !r.IsError {
		drafts = append(drafts, entries.LabelDraft(r.Entry, label))
	}
	if _, err = t.s.AppendIf(ctx, s.Leaf, drafts...); err == nil {
		err = t.s.Sync(ctx) // whatever the mode: a checkpoint that is announced is there
	}
	return r, err
}

// CallDetached is Call for protocols where the harness appends the result, and where
// the tool does not know its call's id: it only reserves the id of the result's entry,
// which is the checkpoint's. The harness appends the result with that id and with
// Details, or nothing happens.
func (t *Tools) CallDetached(name string, args json.RawMessage) (Result, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, err := t.state()
	if err != nil {
		return Result{}, err
	}
	return t.run(s, name, args)
}

// run makes a result, without appending it.
func (t *Tools) run(s State, name string, args json.RawMessage) (r Result, err error) {
	if !Is(name) {
		return Result{}, fmt.Errorf("%w: %q; there are %s and %s", ErrUnknownTool, name, NameCheckpoint, NameRewind)
	}
	id, err := t.s.NewID()
	if err != nil {
		return Result{}, err
	}
	if t.opt.Subagent && !t.opt.AllowSubagent {
		r = refuse("Checkpoint not available in subagents.")
	} else if name == NameCheckpoint {
		r = t.checkpoint(s, id, args)
	} else {
		r, err = t.rewind(s, args)
	}
	r.Entry = id
	return r, err
}

func refuse(format string, values ...any) Result {
	return Result{Text: fmt.Sprintf(format, values...), IsError: true}
}

// before finds the result that a call has in the log.
func (t *Tools) before(callID string) (Result, error) {
	tree, err := t.s.Tree()
	if err != nil {
		return Result{}, err
	}
	for e, err := range tree.Ancestors(tree.Leaf()) {
		if err != nil {
			return Result{}, err
		}
		if e.Type != entries.TypeMessage || e.Role != "toolResult" {
			continue
		}
		m, err := e.Message()
		if err != nil {
			return Result{}, err
		}
		if m.ToolCallID == callID {
			return Result{Entry: e.ID, Text: m.Text(), IsError: m.IsError, Details: m.Details}, nil
		}
	}
	return Result{}, fmt.Errorf("%w: %q", ErrNoCall, callID)
}
