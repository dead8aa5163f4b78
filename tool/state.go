package tool

import (
	"github.com/sessctl/sessctl/entries"
)

// A Phase is where the state machine stands: see docs/rewind.md.
type Phase string

// The phases.
const (
	None    Phase = "none"    // no checkpoint on the path
	Active  Phase = "active"  // a checkpoint is open
	Pending Phase = "pending" // rewind was called; it is applied at the end of the turn
	Closed  Phase = "closed"  // the last checkpoint was rewound, and none was set or given up since
)

// A Checkpoint is where an exploration starts: the result of a checkpoint call.
type Checkpoint struct {
	ID        entries.ID // of the result's entry
	Label     string
	Goal      string
	StartedAt string // RFC 3339, as the result says it
	Reminded  bool   // a reminder was given; see Tools.PendingReminder

	answer entries.ID // the answer that called checkpoint; "" where the path has none
}

// A Request is a rewind that waits for the end of the turn.
type Request struct {
	Checkpoint entries.ID // "" where the path has no such checkpoint
	Report     string
	Files      string     // keep, or restore
	Result     entries.ID // the entry of the rewind's result
	Answer     entries.ID // the answer that called rewind
	CallID     string
}

// A Report is the last rewind on the path that was applied.
type Report struct {
	Checkpoint entries.ID
	Report     string
	StartedAt  string
	RewoundAt  string
	Summary    entries.ID // the branch_summary
	From       entries.ID // the leaf that was left
}

// A State is what the path to the leaf says.
type State struct {
	Leaf    entries.ID
	Phase   Phase
	Open    []Checkpoint // the innermost last
	Request *Request     // in phase pending
	// Lapsed is a rewind that will not be applied, while the checkpoints that it was for
	// are open: something came behind it before the end of its turn, or it was cancelled.
	// The model has been told that its report is captured; PendingReminder corrects that.
	Lapsed *Request
	Last   *Report // the last rewind on the path; nil where there was none
}

// Innermost gives the innermost open checkpoint; ok is false where none is open.
func (s State) Innermost() (c Checkpoint, ok bool) {
	if len(s.Open) == 0 {
		return c, false
	}
	return s.Open[len(s.Open)-1], true
}
