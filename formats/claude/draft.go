package claude

import (
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/formats/internal/transcript"
	"github.com/sessctl/sessctl/internal/jsonl"
	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// A part is what becomes one entry of a record; a record has several where its content
// has several results, or a notice beside what was typed.
type part struct {
	kind  entries.Type
	draft transcript.Draft // of what follows the envelope, without the last brace
}

// prefix begins the customType of what pi has no type for, so that no record can be
// taken for one of our own.
const prefix = "claude:"

// name gives the words for a record of a type and a subtype.
func name(kind, subtype string) string {
	if subtype != "" {
		kind += "/" + subtype
	}
	if kind == "" {
		kind = "record"
	}
	return transcript.Cut(kind, 80) // a hostile file may have any type
}

// keep drafts a custom entry with a part of the line as its data.
func (t *translator) keep(what string, data span) {
	t.w.Begin()
	t.w.Text(`,"customType":`)
	t.w.String(prefix + what)
	t.w.Text(`,"data":`)
	t.w.Raw(data)
	t.add(entries.TypeCustom)
}

func (t *translator) add(kind entries.Type) {
	t.parts = append(transcript.Room(t.parts, t.w.LineStart(), t.size), part{kind, t.w.Draft()})
}

// user drafts what a user's record says.
func (t *translator) user(n *node) {
	r := &t.rec
	t.beyond(n)
	switch {
	case r.summary:
		t.compaction(n)
	case t.isString(r.content):
		t.said(n, r.content)
	default:
		t.results(n)
		t.saidBlocks(n)
	}
}

// byProgram tells that none of the record's texts was typed.
func (t *translator) byProgram() bool {
	if t.rec.meta || t.is(t.rec.promptSource, "system") {
		return true
	}
	if t.rec.origin.None() {
		return false
	}
	origin := t.rec.origin.Of(t.line)
	return jsonvalue.String(jsonvalue.Get(origin, "kind")) == "task-notification" || jsonvalue.Get(origin, "senderTaskId") != nil
}

// said drafts a content that is one string.
func (t *translator) said(n *node, text span) {
	if text.End-text.At == len(`""`) {
		return
	}
	who, typed, same := t.speaks(text)
	t.w.Begin()
	if who == program || t.byProgram() {
		t.notice(text)
		return
	}
	n.typed = !t.rec.sidechain
	t.w.Text(`,"message":{"role":"user","content":`)
	if same {
		t.w.Raw(text)
	} else {
		t.w.String(typed)
	}
	t.endMessage(n)
	t.add(entries.TypeMessage)
}

// speaks is speaks for a string of the line; same tells that what was typed is the
// string as it stands there. Most need no decoding to tell.
func (t *translator) speaks(text span) (who speaker, typed string, same bool) {
	if first := t.line[text.At+1]; first != '<' && first != '[' && first != 'C' && first != '\\' && first != ' ' {
		return person, "", true
	}
	decoded := t.str(text)
	who, typed = speaks(decoded)
	return who, typed, typed == strings.TrimSpace(decoded)
}

// notice drafts a string that a program put into the conversation.
func (t *translator) notice(text span) {
	t.w.Text(`,"customType":"` + prefix + `notice","content":`)
	t.w.Raw(text)
	t.w.Text(`,"display":false`)
	t.add(entries.TypeCustomMessage)
}

// endMessage closes a message object.
func (t *translator) endMessage(n *node) {
	if t.subagent {
		t.w.Text(`,"agent":true`) // another model wrote it
	}
	t.w.Text(`,"timestamp":`)
	t.w.Millis(n.time)
	t.w.Text("}")
}

// saidBlocks drafts the texts and images of a content that is an array: first what a
// program says there, then what was typed.
func (t *translator) saidBlocks(n *node) {
	all := t.byProgram()
	var typed []int
	for i := range t.rec.blocks {
		b := &t.rec.blocks[i]
		if t.is(b.kind, "tool_result") || b.all.None() {
			continue
		}
		if all || t.isString(b.text) && t.wroteProgram(b.text) {
			if t.full(n) {
				break
			}
			t.noticeBlock(b)
			continue
		}
		if t.line[b.all.At] == '{' {
			typed = append(typed, i)
		}
	}
	if len(typed) > 0 {
		t.typedBlocks(n, typed)
	}
}

func (t *translator) wroteProgram(text span) bool {
	who, _, _ := t.speaks(text)
	return who == program
}

func (t *translator) noticeBlock(b *block) {
	t.w.Begin()
	if t.isString(b.text) {
		t.notice(b.text)
	} else {
		t.w.Text(`,"customType":"` + prefix + `notice","content":[`)
		t.w.Block(b.all.Of(t.line))
		t.w.Text(`],"display":false`)
		t.add(entries.TypeCustomMessage)
	}
}

func (t *translator) typedBlocks(n *node, typed []int) {
	n.typed = !t.rec.sidechain
	t.w.Begin()
	t.w.Text(`,"message":{"role":"user","content":[`)
	for k, i := range typed {
		if k > 0 {
			t.w.Text(",")
		}
		t.typedBlock(&t.rec.blocks[i])
	}
	t.w.Text("]")
	t.endMessage(n)
	t.add(entries.TypeMessage)
}

func (t *translator) typedBlock(b *block) {
	if t.isString(b.text) {
		if _, typed, same := t.speaks(b.text); !same {
			t.w.Text(`{"type":"text","text":`)
			t.w.String(typed)
			t.w.Text("}")
			return
		}
	}
	t.w.Block(b.all.Of(t.line))
}

// full tells, also the reader, that a record's blocks are too many to be entries each.
func (t *translator) full(n *node) bool {
	if !t.w.Crowded() {
		return false
	}
	t.log.Notes.Note(jsonl.LeftOut, n.at, n.size, "blocks of a message, behind many others")
	return true
}

// beyond tells of the blocks that were not read.
func (t *translator) beyond(n *node) {
	if t.rec.beyond > 0 {
		t.log.Notes.Note(jsonl.LeftOut, n.at, n.size, "blocks of a message that has more than "+strconv.Itoa(mostBlocks))
	}
}

// results drafts a message for every tool result of a content.
func (t *translator) results(n *node) {
	for i := range t.rec.blocks {
		if b := &t.rec.blocks[i]; t.is(b.kind, "tool_result") {
			if t.full(n) {
				return
			}
			t.result(n, b)
		}
	}
}

func (t *translator) result(n *node, b *block) {
	call := b.call
	if call.None() {
		call = t.rec.sourceCall
	}
	id := transcript.Name(t.str(call))
	t.w.Begin()
	t.w.Result(id, t.tools[id], b.content.Of(t.line))
	if b.failed {
		t.w.Text(`,"isError":true`)
	} else {
		t.w.Text(`,"isError":false`)
	}
	t.endMessage(n)
	t.add(entries.TypeMessage)
}

// compaction drafts the summary that takes the place of what was before it. What it
// keeps is known when all records are.
func (t *translator) compaction(n *node) {
	t.w.Begin()
	t.w.Text(`,"summary":`)
	if t.isString(t.rec.content) {
		t.w.Raw(t.rec.content)
	} else {
		t.w.String(t.texts())
	}
	t.w.Text(`,"tokensBefore":`)
	t.w.Number(t.boundary.tokens)
	n.cut = &cut{logical: t.str(t.rec.logical), kept: t.boundary.head}
	t.boundary = boundary{}
	t.add(entries.TypeCompaction)
}

// texts joins the texts of a content that is an array.
func (t *translator) texts() string {
	var texts []string
	for i := range t.rec.blocks {
		if s := t.str(t.rec.blocks[i].text); s != "" {
			texts = append(texts, s)
		}
	}
	return strings.Join(texts, "\n")
}

// A boundary is what a compact_boundary says of the summary that follows it.
type boundary struct {
	tokens float64
	head   string // of the messages that are kept, the first
}

func (t *translator) seeBoundary() {
	m := t.rec.metadata.Of(t.line)
	t.boundary = boundary{
		tokens: jsonvalue.Number(jsonvalue.Get(m, "preTokens")),
		head:   jsonvalue.String(jsonvalue.Get(jsonvalue.Get(m, "preservedSegment"), "headUuid")),
	}
}

// attachment drafts what came with a prompt. A command that was queued while the model
// worked is a prompt, and its only record.
func (t *translator) attachment(n *node, whole span) {
	if t.rec.attachment.None() {
		t.keep("attachment", whole)
		return
	}
	a := t.rec.attachment.Of(t.line)
	kind := jsonvalue.String(jsonvalue.Get(a, "type"))
	if kind == "queued_command" && !t.rec.sidechain && t.queued(n, a) {
		return
	}
	t.keep(name("attachment", kind), t.rec.attachment)
}

func (t *translator) queued(n *node, a []byte) bool {
	prompt, origin := jsonvalue.Get(a, "prompt"), jsonvalue.Get(a, "origin")
	mode := jsonvalue.String(jsonvalue.Get(a, "commandMode"))
	kind := jsonvalue.String(jsonvalue.Get(origin, "kind"))
	if mode != "prompt" || kind != "" && kind != "human" || len(prompt) == 0 {
		return false
	}
	if prompt[0] == '"' {
		if who, _ := speaks(jsonvalue.String(prompt)); who == program {
			return false
		}
	}
	t.w.Begin()
	t.w.Text(`,"message":{"role":"user","content":`)
	t.w.Blocks(prompt)
	t.endMessage(n)
	t.add(entries.TypeMessage)
	return true
}
