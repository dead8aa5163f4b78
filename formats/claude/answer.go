package claude

import (
	"github.com/sessctl/sessctl/formats/internal/transcript"
)

// An answer is one line of a model's message: most messages have one a block, with the
// usage as it was known then.
type answer struct {
	id, model, stop string
	blocks          transcript.Draft
	usage           transcript.Usage
	calls, failed   bool
	aborted         bool
	errorText       string
}

// answer drafts a line of a model's message.
func (t *translator) answer(n *node) {
	r := &t.rec
	t.beyond(n)
	a := answer{id: t.str(r.id), model: transcript.Name(t.word(r.model)), stop: t.word(r.stop), failed: r.apiError, aborted: r.aborted, usage: r.usage}
	t.w.Begin()
	if t.isString(r.content) {
		t.w.Block(r.content.Of(t.line))
	}
	for i := range r.blocks {
		if i > 0 {
			t.w.Text(",")
		}
		a.calls = t.answerBlock(&r.blocks[i]) || a.calls
	}
	a.blocks = t.w.Draft()
	if a.failed {
		a.errorText = t.texts()
	}
	n.answer = int32(len(t.answers))
	t.answers = append(transcript.Room(t.answers, n.at.Offset, t.size), a)
}

// answerBlock drafts one block of a model's message, and tells whether it calls a tool.
func (t *translator) answerBlock(b *block) (call bool) {
	switch {
	case t.is(b.kind, "thinking") && t.isString(b.thinking):
		t.w.Text(`{"type":"thinking","thinking":`)
		t.w.Raw(b.thinking)
		t.signature(b.signature)
	case t.is(b.kind, "redacted_thinking") && t.isString(b.data):
		t.w.Text(`{"type":"thinking","thinking":"","redacted":true`)
		t.signature(b.data)
	case t.is(b.kind, "tool_use"):
		t.call(b)
		return true
	default:
		t.w.Block(b.all.Of(t.line))
	}
	return false
}

func (t *translator) signature(s span) {
	if t.isString(s) {
		t.w.Text(`,"thinkingSignature":`)
		t.w.Raw(s)
	}
	t.w.Text("}")
}

func (t *translator) call(b *block) {
	id, tool := transcript.Name(t.str(b.id)), transcript.Name(t.word(b.name))
	t.tools[id] = tool
	t.w.Call(id, tool)
	if !b.input.None() && t.line[b.input.At] == '{' {
		t.w.Object(b.input)
	} else {
		t.w.Text("{}")
	}
	t.w.Text("}")
}

// stopReason says in pi's words why a message ended.
func (a *answer) stopReason() string {
	switch {
	case a.failed:
		return "error"
	case a.aborted:
		return "aborted"
	case a.stop == "max_tokens" || a.stop == "model_context_window_exceeded":
		return "length"
	case a.calls:
		return "toolUse"
	}
	return "stop"
}

// put writes the message that several lines make.
func (t *translator) put(lines []int32, time string) {
	a := t.answers[lines[0]]
	t.log.Text(`,"message":{"role":"assistant","content":[`)
	said := false
	for i, at := range lines {
		line := &t.answers[at]
		if said && !line.blocks.Empty() {
			t.log.Text(",")
		}
		t.log.Put(line.blocks)
		said = said || !line.blocks.Empty()
		if i > 0 {
			a.join(line)
		}
	}
	t.log.Text(`],"api":"anthropic-messages","provider":"anthropic"`)
	t.log.Member("model", a.model)
	t.log.Usage(a.usage)
	t.log.Member("stopReason", a.stopReason())
	if a.failed {
		t.log.Member("errorMessage", a.errorText)
	}
	t.log.Number("timestamp", transcript.Millis(time))
	t.log.Text("}")
}

// join adds what a further line says of the message.
func (a *answer) join(b *answer) {
	a.usage = a.usage.Most(b.usage)
	a.calls, a.failed, a.aborted = a.calls || b.calls, a.failed || b.failed, a.aborted || b.aborted
	if b.stop != "" {
		a.stop = b.stop
	}
	if a.errorText == "" {
		a.errorText = b.errorText
	}
}
