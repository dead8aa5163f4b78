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
	// and has none of this one.
	NeverStarted CallState = "never-started"
	// MayHaveRun: its start is recorded.
	MayHaveRun CallState = "may-have-run"
	// Interrupted: nothing is known.
	Interrupted CallState = "interrupted"
)

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
	c, err := Build(t, leaf, &Options{Dialect: Pi, Lookback: 1})
	if err != nil {
		return nil, err
	}
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
	id := idText(fieldOf(block, "id"))
	return Call{
		Message: message, ID: id, Name: jsonvalue.String(fieldOf(block, "name")),
		Arguments: fieldOf(block, "arguments"), State: c.callState(id),
	}
}

func (c *Context) callState(id string) CallState {
	switch {
	case c.started[id]:
		return MayHaveRun
	case c.promised && !c.started[""]:
		return NeverStarted
	}
	return Interrupted
}
