package modelcontext

import "github.com/sessctl/sessctl/entries"

// A Report says what became of the entries that a context could have come from.
type Report struct {
	// Entries counts the entries of the path that were read for the context: from
	// the leaf up to where it starts.
	Entries int
	// Dropped lists what would be a message, and is none, or is less than it was.
	// What a compaction's summary replaces is not listed: that is what it is for.
	Dropped []Dropped
	// Repaired lists what Repair changed.
	Repaired []Change
	// Spending tells what a policy cost; nil before Apply.
	Spending *Spending
}

// A Dropped entry, or a part of it, is not in the context.
type Dropped struct {
	Entry  entries.ID
	Reason Reason
	Detail string // what is missing, where the reason does not tell it
}

// A Reason tells why something is not in a context. The set is open.
type Reason string

// Reasons in every dialect.
const (
	KeptNotOnPath    Reason = "kept-not-on-path"  // the compaction's first kept entry is not above it: nothing is kept
	OlderCompaction  Reason = "older-compaction"  // in the kept range of a later one
	OlderSystem      Reason = "older-system"      // a kept system message; the compaction replays the prompt
	EditedAway       Reason = "edited-away"       // a context_edit took it out
	BadEdit          Reason = "bad-edit"          // a context_edit without a replacement
	NoSummary        Reason = "no-summary"        // a branch_summary without text: a mere leaf marker
	NotAMessage      Reason = "not-a-message"     // the record's message is no object
	Unreadable       Reason = "unreadable"        // the record's body is damaged
	Orphan           Reason = "orphan"            // the parent is not in the log: the path starts here
	CutCycle         Reason = "cycle"             // it is its own ancestor: the path starts here
	MissingBlob      Reason = "missing-blob"      // an image is a reference that could not be resolved
	LeftOutImages    Reason = "images-left-out"   // by policy
	LeftOutThinking  Reason = "thinking-left-out" // by policy
	ForeignSignature Reason = "foreign-signature" // by policy: another model signed it
	MaskedResult     Reason = "masked"            // by policy: an old tool result
	OverBudget       Reason = "over-budget"       // by policy: too old for the budget
)

// Reasons in oh-my-pi's dialect.
const (
	RetryRecovery Reason = "retry-recovery" // an answer that a retry replaced
	EmptyError    Reason = "empty-error"    // a failed turn without any content
	ModeContext   Reason = "mode-context"   // what a mode had said to the model
	BadContent    Reason = "bad-content"    // a custom message whose content is neither text nor blocks
	DanglingCall  Reason = "dangling-call"  // a call without a result
	FailedTurn    Reason = "failed-turn"    // an answer that ended in an error or was aborted
	FailedResult  Reason = "failed-result"  // the result of a call of such an answer
	RemoteHistory Reason = "remote-history" // kept entries that the provider's own compaction has
)

func (r *Report) drop(id entries.ID, reason Reason, detail string) {
	r.Dropped = append(r.Dropped, Dropped{id, reason, detail})
}
