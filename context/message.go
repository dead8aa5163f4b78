package modelcontext

import (
	"encoding/json"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// The roles of messages that the log stores, and of those that are made up for a
// context. The set is open: a message of another role is kept, and not rendered.
const (
	RoleSystem            = "system"    // pi
	RoleDeveloper         = "developer" // oh-my-pi
	RoleUser              = "user"
	RoleAssistant         = "assistant"
	RoleToolResult        = "toolResult"
	RoleBashExecution     = "bashExecution"
	RolePythonExecution   = "pythonExecution" // oh-my-pi
	RoleFileMention       = "fileMention"     // oh-my-pi
	RoleCustom            = "custom"
	RoleBranchSummary     = "branchSummary"
	RoleCompactionSummary = "compactionSummary"
)

// A Message is one message of a context.
type Message struct {
	Role string // "" where the object has none
	// Entry is the entry that the message comes from; "" where it stands for none.
	Entry entries.ID
	// Raw is the message object: the stored bytes, or what was made of them.
	Raw json.RawMessage

	made bool // by Repair: it tells something that must not be masked
	old  bool // it stands in front of the latest compaction: its usage counts what is gone
}

// Field gives a member of the message object, nil where it has none.
func (m Message) Field(name string) json.RawMessage { return jsonvalue.Get(m.Raw, name) }

// Content gives the message's content: a string or an array of blocks.
func (m Message) Content() json.RawMessage { return m.Field("content") }

// Blocks gives the content as typed blocks, one for each object in an array; a content
// that is a string is one block of text.
func (m Message) Blocks() []entries.Block { return entries.Blocks(m.Content()) }

// text decodes a member that is a string; any other is "".
func (m Message) text(name string) string { return jsonvalue.String(m.Field(name)) }

// with gives the message with a member set, or with nil taken away.
func (m Message) with(name string, value []byte) Message {
	m.Raw = jsonvalue.Set(m.Raw, name, value)
	return m
}

// blocks gives the elements of a content that is an array.
func blocks(content []byte) (list []json.RawMessage) {
	jsonvalue.Elements(content, func(value []byte) { list = append(list, value) })
	return list
}

// kindOf gives the type of a block.
func kindOf(block []byte) string { return jsonvalue.String(jsonvalue.Get(block, "type")) }
