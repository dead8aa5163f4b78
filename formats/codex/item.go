package codex

import (
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/formats/internal/transcript"
)

// A class says what an item does to the conversation.
type class uint8

const (
	entry    class = iota // an entry as it is drafted
	prompt                // a user's message
	block                 // a part of a model's message
	result                // what came of a call
	tokens                // what the message before it took
	rollback              // turns are taken back
)

// A source says by which of two records something is told. What is told by both counts
// once, by the first; the second is used only in a file that has none of the first.
type source uint8

const (
	byItem source = iota
	byEvent
)

// A telling is a sort of thing that may be told twice.
type telling uint8

const (
	once telling = iota
	userSaid
	agentSaid
	agentThought
	toolCalled
	tokensUsed
	tellings
)

// An item is one thing that a rollout tells, in its order.
type item struct {
	class   class
	kind    entries.Type // of an entry
	telling telling
	source  source
	copied  bool // of the thread that this one was forked from
	call    bool // a block that calls a tool
	failed  bool // a result that is an error
	time    string
	at      transcript.Place
	size    int64
	ordinal int64 // -1 where there is none
	draft   transcript.Draft
	callID  string           // of a result
	model   int32            // of a block: index of what was set then
	usage   transcript.Usage // of tokens, and of the block that they are told of
	used    bool             // they were told of this block
	last    bool             // a block that ends its message
	turns   int              // that are taken back
}

// A rollout is one file.
type rollout struct {
	file  int32
	path  string
	id    string // of the segment, by the file's name
	tag   string // begins the ids of its entries
	size  int64
	meta  meta
	items []item
	told  [tellings]bool // by items
	fails map[string]bool
}

// A meta is what the first session_meta of a file says.
type meta struct {
	known          bool
	id, time, cwd  string
	provider, fork string
	base           string // the id of the segment that it continues
	end            int64  // where that is cut: a byte offset
	endOrdinal     int64
	paginated      bool
}

// A setting is a model and its provider.
type setting struct{ model, provider string }
