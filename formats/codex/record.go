package codex

import (
	"github.com/sessctl/sessctl/formats/internal/transcript"
	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/internal/syntax"
)

type span = transcript.Span

// Fields are where the members of a payload stand in its line; of an old record, which
// has no payload, those of the record.
type fields struct {
	all                                      span
	kind, role, content, id, name, call      span
	args, input, output, summary, action     span
	message, text, info, usage, item, turns  span
	model, effort, cwd, provider, base, fork span
	turn, exit, status, result, title, time  span
	history, instructions, tools, mode       span
	inTokens, outTokens                      span
	success                                  span
}

// A walker finds the fields of records.
type walker struct {
	text    *syntax.Text
	line    []byte
	kind    span // of the record
	time    span
	ordinal span
	payload fields
	wrapped bool // there is a payload

	top, inner syntax.Visitor
}

func newWalker() *walker {
	w := &walker{}
	w.top, w.inner = w.member, w.payloadMember
	return w
}

// Walk implements transcript.Walker.
func (w *walker) Walk(text *syntax.Text, line []byte, i int) (end int) {
	w.text, w.line = text, line
	w.kind, w.time, w.ordinal, w.payload, w.wrapped = span{}, span{}, span{}, fields{}, false
	if end = text.Object(i, w.top); end >= 0 && !w.wrapped {
		w.payload.all = span{At: i, End: end}
	}
	return end
}

// Whole implements transcript.Walker.
func (w *walker) Whole() bool { return w.wrapped && !w.kind.None() && !w.time.None() }

func (w *walker) member(key []byte, at int) (end int) {
	key = jsonvalue.Key(key)
	if string(key) == "payload" && at < len(w.line) && w.line[at] == '{' {
		w.payload, w.wrapped = fields{}, true
		end = w.text.Object(at, w.inner)
		w.payload.all = span{At: at, End: end}
		return end
	}
	if end = w.text.Value(at); end < 0 {
		return end
	}
	value := span{At: at, End: end}
	switch string(key) {
	case "type":
		w.kind = value
	case "timestamp":
		w.time = value
	case "ordinal":
		w.ordinal = value
	}
	if !w.wrapped {
		w.set(key, value)
	}
	return end
}

func (w *walker) payloadMember(key []byte, at int) (end int) {
	if end = w.text.Value(at); end >= 0 {
		w.set(jsonvalue.Key(key), span{At: at, End: end})
	}
	return end
}

func (w *walker) set(key []byte, value span) {
	if field := w.payload.doing(key); field != nil {
		*field = value
	} else if field := w.payload.about(key); field != nil {
		*field = value
	}
}

// doing are the members of what was said and done.
func (f *fields) doing(key []byte) *span {
	switch string(key) {
	case "type":
		return &f.kind
	case "role":
		return &f.role
	case "content":
		return &f.content
	case "id":
		return &f.id
	case "name", "tool":
		return &f.name
	case "call_id", "callId":
		return &f.call
	case "arguments":
		return &f.args
	case "input":
		return &f.input
	case "output":
		return &f.output
	case "summary":
		return &f.summary
	case "action":
		return &f.action
	case "message":
		return &f.message
	case "text":
		return &f.text
	case "item":
		return &f.item
	case "tools":
		return &f.tools
	case "exit_code":
		return &f.exit
	case "status":
		return &f.status
	case "success":
		return &f.success
	case "result":
		return &f.result
	}
	return nil
}

// about are the members of what is told about a thread.
func (f *fields) about(key []byte) *span {
	switch string(key) {
	case "info":
		return &f.info
	case "usage":
		return &f.usage
	case "input_tokens":
		return &f.inTokens
	case "output_tokens":
		return &f.outTokens
	case "num_turns":
		return &f.turns
	case "model":
		return &f.model
	case "effort":
		return &f.effort
	case "cwd":
		return &f.cwd
	case "model_provider":
		return &f.provider
	case "history_base":
		return &f.base
	case "history_mode":
		return &f.mode
	case "forked_from_id":
		return &f.fork
	case "turn_id":
		return &f.turn
	case "thread_name":
		return &f.title
	case "timestamp":
		return &f.time
	case "replacement_history":
		return &f.history
	case "instructions":
		return &f.instructions
	}
	return nil
}

// str decodes a span that is a string; any other is "".
func (w *walker) str(s span) string {
	if s.None() {
		return ""
	}
	return jsonvalue.String(s.Of(w.line))
}

func (w *walker) isString(s span) bool { return !s.None() && w.line[s.At] == '"' }

// get gives a member of a value, decoded where it is a string.
func (w *walker) get(s span, names ...string) []byte {
	value := s.Of(w.line)
	for _, name := range names {
		value = jsonvalue.Get(value, name)
	}
	return value
}
