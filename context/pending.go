package modelcontext

import (
	"encoding/json"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/sessiontree"
)

// A CallState tells what is known of a call without a result.
type CallState string

// The states of a call without a result.
const (
	// NeverStarted: the log promises to record the start of every tool with effects,
	// and has none of this one. It is not said where the record could be missing for
	// another reason: the leaf was moved since, the log is a fork made in the middle of a
	// turn, or its end is damaged.
	NeverStarted CallState = "never-started"
	// MayHaveRun: its start is recorded.
	MayHaveRun CallState = "may-have-run"
	// Interrupted: nothing is known.
	Interrupted CallState = "interrupted"
)

// Result is what a model is told in the place of the result that a call does not have.
func (s CallState) Result() string {
	switch s {
	case NeverStarted:
		return "[The session was interrupted before this call was started. It did not run.]"
	case MayHaveRun:
		return "[The session was interrupted while this call ran. It may have had effects; its result is not known.]"
	}
	return "[The session was interrupted. Whether this call ran is not known; it has no result.]"
}

// A Call is a tool call of a model.
type Call struct {
	Message   entries.ID // the answer that it stands in
	ID        string
	Name      string
	Arguments json.RawMessage
	State     CallState
}

// PendingCalls lists the calls of the path to leaf that have no result, in order, for
// a harness that resumes a session: each may still be answered, by appending a result.
// Calls of answers that failed or were aborted are not among them, since no such answer
// is sent to a model again; nor are those that a compaction has summarised.
func PendingCalls(t *sessiontree.Tree, leaf entries.ID) ([]Call, error) {
	b := &builder{t: t, ctx: &Context{Leaf: leaf}, opt: Options{Lookback: 1}, all: true}
	if err := b.build(); err != nil {
		return nil, err
	}
	c := b.ctx
	var pending []Call
	for _, g := range groups(c.Messages) {
		if failed(c.Messages[g.answer]) {
			continue
		}
		for i, call := range g.calls {
			if g.results[i] < 0 {
				pending = append(pending, c.call(c.Messages[g.answer].Entry, call))
			}
		}
	}
	return pending, nil
}

func (c *Context) call(message entries.ID, block []byte) Call {
	id := fieldOf(block, "id")
	return Call{
		Message: message, ID: jsonvalue.String(id), Name: jsonvalue.String(fieldOf(block, "name")),
		Arguments: fieldOf(block, "arguments"), State: c.callState(message, idText(id)),
	}
}

// callState tells what is known of a call. That something did not happen is only said
// where its record could not be anywhere else.
func (c *Context) callState(answer entries.ID, id string) CallState {
	switch {
	case c.started[id]:
		return MayHaveRun
	case c.promised && !c.started[""] && c.sure[answer]:
		return NeverStarted
	}
	return Interrupted
}
