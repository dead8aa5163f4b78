package modelcontext

import (
	"slices"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// pi selects as pi 1.6.0 does (session-manager.js, buildSessionProjection): the
// latest compaction's summary, with the system message that it replays; what it
// keeps of the path above it, without system messages; and what follows it. Edits
// are applied to all of these.
func (b *builder) pi() error {
	if b.cut == nil {
		return b.piMessages(nil, nil, b.up)
	}
	return b.piMessages(b.compacted(), b.kept(), b.after(b.cut.at))
}

// compacted gives the messages that the latest compaction becomes.
func (b *builder) compacted() (list []Message) {
	id := b.up[b.cut.at].ID
	if system := b.cut.rec["systemMessage"]; truthy(system) {
		if isObject(system) {
			list = append(list, Message{Role: roleOf(system), Entry: id, Raw: system})
		} else {
			b.ctx.Report.drop(id, NotAMessage, "systemMessage")
		}
	}
	list = append(list, b.cut.rec.compactionSummary(id))
	// A variant of pi's format of the middle of 2026 has the kept messages in the
	// compaction itself, and names no entry (reference: docs/context.md).
	if b.cut.rec["firstKeptEntryId"] == nil {
		for _, m := range blocks(b.cut.rec["retainedTail"]) {
			if isObject(m) {
				list = append(list, Message{Role: roleOf(m), Entry: id, Raw: m})
			}
		}
	}
	return list
}

func roleOf(message []byte) string { return jsonvalue.String(jsonvalue.Get(message, "role")) }

// kept gives the entries that the latest compaction keeps; the lowest first.
func (b *builder) kept() []entries.Entry {
	switch {
	case b.cut.kept == "":
		return nil
	case b.cut.from < 0:
		b.ctx.Report.drop(b.up[b.cut.at].ID, KeptNotOnPath, string(b.cut.kept))
		return nil
	}
	return b.between(b.cut.from)
}

// piMessages reads what the selected entries become, and applies the edits.
func (b *builder) piMessages(first []Message, kept, after []entries.Entry) error {
	old, err := b.read(kept, keptMessage)
	if err != nil {
		return err
	}
	rest, err := b.read(after, piMessage)
	if err != nil {
		return err
	}
	list := joinMessages(first, outdated(old.messages), rest.messages)
	b.ctx.Messages = b.edited(list, append(old.edits, rest.edits...))
	return nil
}

// joinMessages avoids a copy where only the last part has messages.
func joinMessages(first, kept, rest []Message) []Message {
	if len(first)+len(kept) == 0 {
		return rest
	}
	return slices.Concat(first, kept, rest)
}

// keptMessage is piMessage for what a compaction keeps: the system messages there are
// replayed by the compaction itself.
func keptMessage(e entries.Entry, raw []byte) reading {
	if e.Type == entries.TypeMessage && e.Role == RoleSystem {
		return reading{reason: OlderSystem}
	}
	return piMessage(e, raw)
}

// outdated marks messages of before a compaction: what their usage counted is gone.
func outdated(list []Message) []Message {
	for i := range list {
		list[i].old = true
	}
	return list
}

// piMessage reads one entry.
func piMessage(e entries.Entry, raw []byte) reading {
	switch e.Type {
	case entries.TypeMessage:
		return storedMessage(e, raw)
	case entries.TypeCompaction:
		return reading{reason: OlderCompaction}
	}
	rec, err := readRecord(raw)
	if err != nil {
		return reading{reason: Unreadable, detail: err.Error()}
	}
	switch e.Type {
	case entries.TypeCustomMessage:
		return reading{message: rec.customMessage(e.ID)}
	case entries.TypeBranchSummary:
		if !truthy(rec["summary"]) {
			return reading{reason: NoSummary}
		}
		return reading{message: rec.branchSummary(e.ID)}
	case entries.TypeContextEdit:
		return reading{edit: &edit{e.ID, jsonvalue.String(rec["targetId"]), rec["replacement"]}}
	}
	return reading{}
}

// storedMessage gives the message of an entry. Old and hand-edited logs have
// messages without content; pi reads that as empty.
func storedMessage(e entries.Entry, raw []byte) reading {
	r := storedRaw(e, raw)
	if r.message.Raw == nil || !jsonvalue.Null(r.content) {
		return r
	}
	switch r.message.Role {
	case RoleSystem:
		r.message = r.message.with("content", []byte(`""`))
	case RoleUser, RoleAssistant, RoleToolResult:
		r.message = r.message.with("content", []byte("[]"))
	}
	return r
}

// storedRaw gives the message object of an entry as it is in the log.
func storedRaw(e entries.Entry, raw []byte) reading {
	object, content, err := messageObject(raw)
	switch {
	case err != nil:
		return reading{reason: Unreadable, detail: err.Error()}
	case object == nil:
		return reading{reason: NotAMessage}
	}
	m := Message{Role: e.Role, Entry: e.ID, Raw: object}
	if e.Role == RoleCustom {
		m = modern(m)
	}
	return reading{message: m, content: content}
}

// modern gives a custom message of version 2 the role that version 3 has for it.
func modern(m Message) Message {
	if roleOf(m.Raw) == "hookMessage" {
		return m.with("role", []byte(`"custom"`))
	}
	return m
}
