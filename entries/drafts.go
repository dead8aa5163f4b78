package entries

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// MessageDraft is a message entry with a message object as a program has it. What is
// no object makes the draft fail: other programs stumble over it.
func MessageDraft(message json.RawMessage) Draft {
	b := (&builder{}).raw("message", message)
	if b.err == nil && !bytes.HasPrefix(b.buf, []byte(`,"message":{`)) {
		b.err = fmt.Errorf("%w: a message has to be an object", ErrDraft)
	}
	return b.draft(TypeMessage)
}

// UserMessage is what a user wrote.
func UserMessage(text string) Draft {
	m := (&builder{}).str("role", "user").raw("content", jsonvalue.Array(TextBlock(text)))
	return m.num("timestamp", nowMillis()).message()
}

// UserBlocks is what a user wrote with what comes with it: blocks of TextBlock and
// ImageBlock.
func UserBlocks(content ...json.RawMessage) Draft {
	m := (&builder{}).str("role", "user").raw("content", jsonvalue.Array(content...))
	return m.num("timestamp", nowMillis()).message()
}

// A System is a prompt and tools, or a change of them: see docs/format.md, "Messages".
type System struct {
	Content      string                     // of the first message the prompt, of later ones what is added to it
	Sections     map[string]json.RawMessage // named parts of the prompt: a JSON string sets one, null takes it away
	ToolsAdded   []json.RawMessage          // objects with name, description, parameters
	ToolsRemoved []string                   // by name
}

// SystemMessage tells a model its prompt and its tools.
func SystemMessage(s System) Draft { return s.build().message() }

// Empty tells that the message would say nothing.
func (s System) Empty() bool {
	return s.Content == "" && len(s.Sections) == 0 && len(s.ToolsAdded) == 0 && len(s.ToolsRemoved) == 0
}

func (s System) build() *builder {
	m := (&builder{}).str("role", "system").str("content", s.Content)
	if len(s.Sections) > 0 {
		sections := &builder{}
		for _, name := range slices.Sorted(maps.Keys(s.Sections)) {
			sections.raw(name, s.Sections[name])
		}
		m.raw("sections", sections.object())
		m.err = errors.Join(m.err, sections.err)
	}
	if len(s.ToolsAdded) > 0 {
		m.raw("toolsAdded", jsonvalue.Array(s.ToolsAdded...))
	}
	var removed []json.RawMessage
	for _, name := range s.ToolsRemoved {
		removed = append(removed, (&builder{}).str("name", name).object())
	}
	if len(removed) > 0 {
		m.raw("toolsRemoved", jsonvalue.Array(removed...))
	}
	return m.num("timestamp", nowMillis())
}

// ToolExecutionStart says that the tool of a call is about to run. It is on disk, in
// every sync mode, before a tool with effects starts: after a crash its absence then
// tells that the tool never ran, where the header promises it (Header.Records).
func ToolExecutionStart(callID, tool string) Draft {
	d := (&builder{}).str("toolCallId", callID).str("toolName", tool)
	d.str("startedAt", time.Now().UTC().Format("2006-01-02T15:04:05.000Z"))
	return CustomDraft(CustomToolExecutionStart, d.object())
}

// An Assistant is what a model answered.
type Assistant struct {
	Content              []json.RawMessage // of TextBlock, ThinkingBlock, ToolCallBlock, or as the provider's
	API, Provider, Model string
	Usage                Tokens
	StopReason           string // stop, length, toolUse, error, aborted
	Error                string // errorMessage, of a turn that failed
}

// Calls gives the tools that the model called, in its order.
func (a Assistant) Calls() []Block { return callsOf(jsonvalue.Array(a.Content...)) }

// Tokens is what an answer took, as pi records it. Cost is in US dollars.
type Tokens struct {
	Input, Output, CacheRead, CacheWrite float64
	Cost                                 float64
}

// AssistantMessage is a model's answer.
func AssistantMessage(a Assistant) Draft {
	m := (&builder{}).str("role", "assistant").raw("content", jsonvalue.Array(a.Content...))
	m.str("api", a.API).str("provider", a.Provider).str("model", a.Model).raw("usage", a.Usage.object())
	m.str("stopReason", a.StopReason).opt("errorMessage", a.Error)
	return m.num("timestamp", nowMillis()).message()
}

func (t Tokens) object() json.RawMessage {
	cost := (&builder{}).num("input", 0).num("output", 0).num("cacheRead", 0).num("cacheWrite", 0).num("total", t.Cost)
	u := (&builder{}).num("input", t.Input).num("output", t.Output).num("cacheRead", t.CacheRead).num("cacheWrite", t.CacheWrite)
	u.num("totalTokens", t.Input+t.Output+t.CacheRead+t.CacheWrite)
	return u.raw("cost", cost.object()).object()
}

// ToolResult is the result of a call. details may be nil.
func ToolResult(callID, tool string, content []json.RawMessage, isError bool, details json.RawMessage) Draft {
	m := (&builder{}).str("role", "toolResult").str("toolCallId", callID).str("toolName", tool).raw("content", jsonvalue.Array(content...))
	m.raw("details", details).boolean("isError", isError)
	return m.num("timestamp", nowMillis()).message()
}

// TextBlock is a block of text in a message's content.
func TextBlock(text string) json.RawMessage {
	return (&builder{}).str("type", "text").str("text", text).object()
}

// ImageBlock is a block with an image, as base64 without line breaks.
func ImageBlock(mimeType, data string) json.RawMessage {
	return (&builder{}).str("type", "image").str("data", data).str("mimeType", mimeType).object()
}

// ThinkingBlock is a block of thinking; signature may be empty.
func ThinkingBlock(thinking, signature string) json.RawMessage {
	return (&builder{}).str("type", "thinking").str("thinking", thinking).opt("thinkingSignature", signature).object()
}

// ToolCallBlock is a call. Arguments that are no JSON make the message's draft fail.
func ToolCallBlock(id, name string, arguments json.RawMessage) json.RawMessage {
	b := (&builder{}).str("type", "toolCall").str("id", id).str("name", name)
	b.key("arguments")
	b.buf = append(b.buf, arguments...)
	if jsonvalue.Check(arguments) != nil {
		// They come from a model, and must not end early and go on with fields.
		b.buf = append(b.buf, "\x00"...)
	}
	return b.object()
}

func nowMillis() float64 { return float64(time.Now().UnixMilli()) }

// BranchSummaryDraft tells, on the branch that goes on, what was left at the entry
// from. details may be nil.
func BranchSummaryDraft(from ID, summary string, details json.RawMessage) Draft {
	return (&builder{}).str("fromId", string(from)).str("summary", summary).raw("details", details).draft(TypeBranchSummary)
}

// CompactionDraft replaces what stands before firstKept on the path by a summary.
func CompactionDraft(summary string, firstKept ID, tokensBefore float64, details json.RawMessage) Draft {
	return CompactionWithSystem(summary, firstKept, tokensBefore, details, System{})
}

// CompactionWithSystem is a compaction that says the prompt and the tools in force: what
// stands before it, kept or not, does not say them any more (pi 1.x: systemMessage). An
// empty system is left out.
func CompactionWithSystem(summary string, firstKept ID, tokensBefore float64, details json.RawMessage, system System) Draft {
	b := (&builder{}).str("summary", summary).str("firstKeptEntryId", string(firstKept)).num("tokensBefore", tokensBefore)
	b.raw("details", details)
	if !system.Empty() {
		m := system.build()
		b.raw("systemMessage", m.object())
		b.err = errors.Join(b.err, m.err)
	}
	return b.draft(TypeCompaction)
}

// CustomDraft is a program's own record, which no model sees. data may be nil.
func CustomDraft(customType string, data json.RawMessage) Draft {
	d := (&builder{}).str("customType", customType).raw("data", data).draft(TypeCustom)
	d.custom = customType
	return d
}

// CustomMessageDraft is a program's own message to the model. display is about
// screens.
func CustomMessageDraft(customType string, content json.RawMessage, display bool, details json.RawMessage) Draft {
	b := (&builder{}).str("customType", customType).raw("content", content).boolean("display", display)
	return b.raw("details", details).draft(TypeCustomMessage)
}

// LabelDraft names an entry; an empty label takes its name away.
func LabelDraft(target ID, label string) Draft {
	return (&builder{}).str("targetId", string(target)).opt("label", label).draft(TypeLabel)
}

// SessionInfoDraft names the session; an empty name takes its name away.
func SessionInfoDraft(name string) Draft {
	return (&builder{}).str("name", name).draft(TypeSessionInfo)
}

// ModelChangeDraft says which model answers from here on.
func ModelChangeDraft(provider, model string) Draft {
	return (&builder{}).str("provider", provider).str("modelId", model).draft(TypeModelChange)
}

// ThinkingLevelDraft says how much the model thinks from here on.
func ThinkingLevelDraft(level string) Draft {
	return (&builder{}).str("thinkingLevel", level).draft(TypeThinkingLevelChange)
}

// LeafDraft is a leaf marker: appended under an entry, it moves the leaf there.
// from is the leaf that is left, "" where there is none.
func LeafDraft(from ID, reason string) Draft {
	b := &builder{}
	b.key("from")
	if from == "" {
		b.buf = append(b.buf, "null"...)
	} else {
		b.buf = jsonvalue.AppendString(b.buf, string(from))
	}
	return CustomDraft(CustomLeaf, b.str("reason", reason).object())
}
