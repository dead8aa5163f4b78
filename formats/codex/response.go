package codex

import (
	"strings"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/formats/internal/transcript"
	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// responseItem takes what went to a model and came from it, and reports false where it
// is none of that.
func (t *translator) responseItem(kind string) bool {
	switch kind {
	case "message":
		t.message()
	case "reasoning":
		t.reasoning()
	case "function_call", "custom_tool_call", "local_shell_call", "tool_search_call":
		t.call(kind)
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output":
		t.output()
	case "agent_message":
		t.notice("agent", t.payload.content)
	case "web_search_call", "image_generation_call", "ghost_snapshot", "compaction", "compaction_summary", "additional_tools":
		t.keep(kind)
	case "":
		if t.payload.role.None() {
			t.unknown(kind)
			break
		}
		t.message()
	default:
		if !t.wrapped {
			return false
		}
		t.unknown(kind)
	}
	return true
}

// message takes a message by its role.
func (t *translator) message() {
	switch t.str(t.payload.role) {
	case "assistant":
		t.said(t.payload.content, agentSaid, byItem)
	case "user":
		t.userMessage()
	default:
		t.notice("developer", t.payload.content)
	}
}

// userMessage parts what a person typed from what Codex adds to it.
func (t *translator) userMessage() {
	content := t.payload.content
	if t.isString(content) {
		if noticed(t.str(content)) {
			t.notice("context", content)
		} else {
			t.typed([][]byte{content.Of(t.line)}, userSaid, byItem)
		}
		return
	}
	var typed [][]byte
	t.elements(content.Of(t.line), func(element []byte) {
		if text := jsonvalue.Get(element, "text"); len(text) > 0 && noticed(jsonvalue.String(text)) {
			t.w.Begin()
			t.w.Text(`,"customType":"` + prefix + `context","content":`)
			t.w.Part(text)
			t.w.Text(`,"display":false`)
			t.add(entry, entries.TypeCustomMessage)
			return
		}
		typed = append(typed, element)
	})
	if len(typed) > 0 {
		t.typed(typed, userSaid, byItem)
	}
}

// typed drafts a prompt of elements of the line.
func (t *translator) typed(elements [][]byte, what telling, by source) {
	t.w.Begin()
	t.w.Text(`,"message":{"role":"user","content":[`)
	for i, element := range elements {
		if i > 0 {
			t.w.Text(",")
		}
		t.w.Block(element)
	}
	t.w.Text(`],"timestamp":`)
	t.w.Millis(t.now.time)
	t.w.Text("}")
	t.tell(t.add(prompt, entries.TypeMessage), what, by)
}

// tell notes by which sort of record something is told.
func (t *translator) tell(i *item, what telling, by source) {
	i.telling, i.source = what, by
	if by == byItem {
		t.r.told[what] = true
	}
}

// notice drafts what a program says to the model.
func (t *translator) notice(what string, content span) {
	t.w.Begin()
	t.w.Text(`,"customType":"` + prefix + what + `","content":`)
	if t.isString(content) {
		t.w.Raw(content)
	} else {
		t.w.Blocks(content.Of(t.line))
	}
	t.w.Text(`,"display":false`)
	t.add(entry, entries.TypeCustomMessage)
}

// said drafts what a model said, a block each.
func (t *translator) said(content span, what telling, by source) {
	each := func(element []byte) {
		t.w.Begin()
		t.w.Block(element)
		t.tell(t.add(block, ""), what, by)
	}
	if t.isString(content) {
		each(content.Of(t.line))
		return
	}
	t.elements(content.Of(t.line), each)
}

// mostElements is how many elements of a message are read: in memory they take a hundred
// times the room of the shortest.
const mostElements = 1 << 16

// elements visits those of a message's content, as long as there is room for them.
func (t *translator) elements(content []byte, visit func(element []byte)) {
	n, left := 0, false
	jsonvalue.Elements(content, func(element []byte) {
		if n++; n > mostElements || t.w.Crowded() {
			left = true
			return
		}
		visit(element)
	})
	if left {
		t.leave("elements of a message, behind many others")
	}
}

// reasoning drafts a model's thoughts, as far as they can be read.
func (t *translator) reasoning() {
	var texts []string
	for _, s := range []span{t.payload.summary, t.payload.content} {
		jsonvalue.Elements(s.Of(t.line), func(element []byte) {
			if text := jsonvalue.String(jsonvalue.Get(element, "text")); text != "" {
				texts = append(texts, text)
			}
		})
	}
	if len(texts) == 0 {
		t.leave("reasoning: encrypted, without a summary")
		return
	}
	t.thought(strings.Join(texts, "\n\n"), byItem)
}

func (t *translator) thought(text string, by source) {
	t.w.Begin()
	t.w.Text(`{"type":"thinking","thinking":`)
	t.w.String(text)
	t.w.Text("}")
	t.tell(t.add(block, ""), agentThought, by)
}

// call drafts the call of a tool.
func (t *translator) call(kind string) {
	p := &t.payload
	tool := t.str(p.name)
	switch kind {
	case "local_shell_call":
		tool = "local_shell"
	case "tool_search_call":
		tool = "tool_search"
	}
	id := t.str(p.call)
	if id == "" {
		id = t.str(p.id)
	}
	t.callBlock(id, tool, byItem)
}

func (t *translator) callBlock(id, tool string, by source) {
	tool = transcript.Name(tool)
	t.tools[id] = tool
	t.w.Begin()
	t.w.Call(id, tool)
	t.arguments()
	t.w.Text("}")
	i := t.add(block, "")
	i.call = true
	t.tell(i, toolCalled, by)
}

// arguments drafts what a tool is called with, as an object: Codex has it as text that
// is JSON, as text that is none, or as an object.
func (t *translator) arguments() {
	p := &t.payload
	for _, s := range []span{p.args, p.action, p.input} {
		if s.None() {
			continue
		}
		value := s.Of(t.line)
		if value[0] == '{' {
			t.w.Object(s)
			return
		}
		if value[0] != '"' {
			continue
		}
		if text := []byte(jsonvalue.String(value)); len(text) > 0 && text[0] == '{' && jsonvalue.Check(text) == nil {
			t.w.Text(string(jsonvalue.Compact(nil, text)))
			return
		}
		t.w.Text(`{"input":`)
		t.w.Raw(s)
		t.w.Text("}")
		return
	}
	t.w.Text("{}")
}

// output drafts what came of a call.
func (t *translator) output() {
	p := &t.payload
	output, failed := p.output.Of(t.line), false
	if len(output) > 0 && output[0] == '{' {
		failed = string(jsonvalue.Get(output, "success")) == "false"
		output = jsonvalue.Get(output, "content")
	}
	if output == nil && !p.tools.None() {
		output = p.tools.Of(t.line)
	}
	id := t.str(p.call)
	t.w.Begin()
	t.w.Result(id, t.tools[id], output)
	i := t.add(result, entries.TypeMessage)
	i.callID, i.failed = id, failed || saysFailed(output)
}

// saysFailed tells whether an output begins by saying that its program failed.
func saysFailed(output []byte) bool {
	head := output[:min(len(output), 400)]
	for _, words := range []string{`"Exit code: `, `Process exited with code `, `\"exit_code\":`} {
		_, rest, ok := strings.Cut(string(head), words)
		if !ok || words[0] == '"' && !strings.HasPrefix(string(head), words) {
			continue
		}
		if c := strings.TrimLeft(rest, " "); c != "" && (c[0] >= '1' && c[0] <= '9' || c[0] == '-') {
			return true
		}
	}
	return false
}
