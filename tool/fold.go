package tool

import (
	"maps"
	"slices"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/sessiontree"
)

// A fold is a path being read, from its root down: what it says so far.
type fold struct {
	open    []Checkpoint
	request *Request
	lapsed  *Request
	last    *Report
	closed  bool // by last; nothing was opened or given up since

	answer   entries.ID        // the last answer
	calls    map[string]string // its calls: tools by call id
	order    []string          // the ids of its calls, as they stand there
	answered map[string]bool   // its calls that have results
	summary  *Report           // a branch_summary of a rewind whose report has not come yet
}

// StateOf reads the state at a leaf of a log that is only read.
func StateOf(t *sessiontree.Tree, leaf entries.ID) (State, error) {
	return new(Tools).stateAt(t, leaf)
}

// stateAt reads the state at a leaf. Of a path whose beginning was read before only the
// rest is read.
func (t *Tools) stateAt(tree *sessiontree.Tree, leaf entries.ID) (State, error) {
	var below []entries.Entry
	f := &fold{}
	for e, err := range tree.Ancestors(leaf) {
		if err != nil {
			return State{}, err
		}
		if e.ID == t.known.leaf && t.known.fold != nil {
			f = t.known.fold.clone()
			break
		}
		below = append(below, e)
	}
	for _, e := range slices.Backward(below) {
		if err := f.see(e); err != nil {
			return State{}, err
		}
	}
	t.known = known{leaf, f}
	return f.state(leaf), nil
}

// A known is a fold that was made before: reading the whole path of a large session at
// every call would take too long.
type known struct {
	leaf entries.ID
	fold *fold
}

func (f *fold) clone() *fold {
	c := *f
	c.open = slices.Clone(f.open)
	c.answered = maps.Clone(f.answered)
	return &c
}

func (f *fold) state(leaf entries.ID) State {
	s := State{Leaf: leaf, Phase: None, Open: slices.Clone(f.open), Request: f.request, Lapsed: f.lapsed, Last: f.last}
	switch {
	case f.request != nil:
		s.Phase = Pending
	case len(f.open) > 0:
		s.Phase = Active
	case f.closed:
		s.Phase = Closed
	}
	return s
}

// see takes up one more entry of the path.
func (f *fold) see(e entries.Entry) error {
	switch e.Type {
	case entries.TypeMessage:
		return f.message(e)
	case entries.TypeBranchSummary:
		return f.branchSummary(e)
	case entries.TypeCustomMessage:
		return f.customMessage(e)
	case entries.TypeCustom:
		return f.custom(e)
	case entries.TypeResetBoundary:
		*f = fold{}
	case entries.TypeCompaction, entries.TypeContextEdit:
		f.lapse()
	}
	return nil // the rest is metadata
}

// lapse gives a pending rewind up: something came behind it that is no part of its turn.
func (f *fold) lapse() {
	if f.request != nil {
		f.request, f.lapsed = nil, f.request
	}
}

func (f *fold) message(e entries.Entry) error {
	switch e.Role {
	case "toolResult":
		return f.result(e)
	case "assistant":
		m, err := e.Message()
		if err != nil {
			return err
		}
		f.answer, f.calls, f.answered, f.order = e.ID, map[string]string{}, map[string]bool{}, nil
		for _, b := range m.Calls() {
			f.calls[b.ID], f.order = b.Name, append(f.order, b.ID)
		}
	}
	f.lapse()
	return nil
}

func (f *fold) result(e entries.Entry) error {
	m, err := e.Message()
	if err != nil {
		return err
	}
	_, own := f.calls[m.ToolCallID]
	if !own || f.request != nil && f.request.Answer != f.answer {
		f.lapse()
	}
	if own {
		f.answered[m.ToolCallID] = true
	}
	if m.IsError {
		return nil
	}
	switch details := m.Details; m.ToolName {
	case NameCheckpoint:
		f.checkpoint(e, details)
	case NameRewind:
		f.rewind(e, m.ToolCallID, details)
	}
	return nil
}

func text(object []byte, name string) string { return jsonvalue.String(jsonvalue.Get(object, name)) }

// checkpoint takes up a checkpoint's result: ours, or oh-my-pi's, which has only the
// goal and the time.
func (f *fold) checkpoint(e entries.Entry, details []byte) {
	if jsonvalue.Get(details, "startedAt") == nil {
		return
	}
	f.closed = false
	f.open = append(f.open, Checkpoint{
		ID: e.ID, Label: text(details, "label"), Goal: text(details, "goal"), StartedAt: text(details, "startedAt"), answer: f.answer,
	})
}

// rewind takes up a rewind's result. Without a checkpoint's id it is for the innermost.
func (f *fold) rewind(e entries.Entry, callID string, details []byte) {
	if string(jsonvalue.Get(details, "rewound")) != "true" {
		return
	}
	r := &Request{Report: text(details, "report"), Files: text(details, "files"), Result: e.ID, Answer: f.answer, CallID: callID}
	if r.Files == "" {
		r.Files = FilesKeep
	}
	id := entries.ID(text(details, "checkpoint"))
	for _, c := range f.open {
		if id == "" || c.ID == id {
			r.Checkpoint = c.ID
		}
	}
	if id == "" && len(f.open) == 0 && f.last != nil {
		return // oh-my-pi's result of an earlier cycle
	}
	f.request, f.lapsed = r, nil
}

// branchSummary takes up the first record of a rewind: one without a report behind it
// (a crash of oh-my-pi's in between) closes the checkpoint too.
func (f *fold) branchSummary(e entries.Entry) error {
	f.lapse()
	b, err := e.BranchSummary()
	if err != nil {
		return err
	}
	started := text(b.Details, "startedAt")
	if started == "" {
		return nil
	}
	f.summary = &Report{
		Checkpoint: entries.ID(text(b.Details, "checkpoint")), Report: b.Summary, StartedAt: started, Summary: e.ID, From: b.From,
	}
	f.close(f.summary)
	return nil
}

// close closes the checkpoint of a report, and all that were opened after it. A report
// that names none is for the one of its time, or the innermost.
func (f *fold) close(r *Report) {
	at := slices.IndexFunc(f.open, func(c Checkpoint) bool { return c.ID == r.Checkpoint })
	if at < 0 && r.Checkpoint == "" {
		at = slices.IndexFunc(f.open, func(c Checkpoint) bool { return c.StartedAt == r.StartedAt })
		if at < 0 {
			at = len(f.open) - 1
		}
	}
	if at >= 0 {
		r.Checkpoint = f.open[at].ID
		f.open = slices.Clone(f.open[:at])
	}
	f.last, f.closed, f.lapsed = r, true, nil
}

func (f *fold) customMessage(e entries.Entry) error {
	f.lapse()
	c, err := e.CustomMessage()
	if err != nil {
		return err
	}
	if c.CustomType != entries.CustomRewindReport {
		return nil
	}
	r := &Report{Checkpoint: entries.ID(text(c.Details, "checkpoint")), Report: text(c.Details, "report"), StartedAt: text(c.Details, "startedAt")}
	if f.summary != nil && (r.Checkpoint == "" || r.Checkpoint == f.summary.Checkpoint) {
		r, f.summary = f.summary, nil // closed already
	} else {
		f.close(r)
	}
	told := *r
	told.RewoundAt = text(c.Details, "rewoundAt")
	f.last = &told
	return nil
}

func (f *fold) custom(e entries.Entry) error {
	c, err := e.Custom()
	if err != nil {
		return err
	}
	switch c.CustomType {
	case entries.CustomLeaf:
		if m, ok := c.LeafMarker(); !ok || m.Reason != string(sessiontree.ReasonReturn) {
			f.lapse()
		}
	case entries.CustomCheckpointState:
		f.checkpointState(entries.ID(text(c.Data, "checkpoint")), text(c.Data, "state"))
	}
	return nil
}

// What a checkpoint-state record says of its checkpoint.
const (
	stateCancelled = "cancelled" // a pending rewind is not applied; the checkpoint is open
	stateReminded  = "reminded"
	stateAbandoned = "abandoned" // the model did not come back to it
	stateClosed    = "closed"    // by the harness
)

func (f *fold) checkpointState(id entries.ID, state string) {
	at := slices.IndexFunc(f.open, func(c Checkpoint) bool { return c.ID == id })
	switch {
	case state == stateCancelled:
		f.lapse()
	case at < 0:
	case state == stateReminded:
		f.open = slices.Clone(f.open)
		f.open[at].Reminded = true
	case state == stateAbandoned || state == stateClosed:
		f.request, f.lapsed, f.closed = nil, nil, false
		f.open = slices.Clone(f.open[:at])
	}
}
