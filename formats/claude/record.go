package claude

import (
	"github.com/sessctl/sessctl/formats/internal/transcript"
	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/internal/syntax"
)

type span = transcript.Span

// A record is where the fields of one object of a transcript stand in its line.
type record struct {
	known int // how many members are of a transcript

	kind, subtype, uuid, parent, logical, time  span
	session, cwd, agent, origin, promptSource   span
	attachment, metadata, leaf, title, sumText  span
	message, id, model, content, stop           span // the message and its members
	usage                                       transcript.Usage
	sourceCall                                  span
	started, models                             span // of a cost-state
	sidechain, meta, summary, apiError, aborted bool
	explicit                                    bool // of a last-prompt: the leaf was moved

	blocks []block // of a content that is an array: the first ones
	beyond int     // how many follow
}

// mostBlocks is how many blocks of a message are read, and fewAhead of one that is walked
// ahead, when many are held: each takes a hundred times the room of the shortest.
const (
	mostBlocks = 1 << 16
	fewAhead   = 16
)

// A block is where the fields of one part of a message's content stand.
type block struct {
	all                                  span
	kind, text, thinking, signature      span
	id, name, input, call, content, data span
	source                               span
	failed                               bool
}

// A walker finds the fields of records.
type walker struct {
	rec  record
	text *syntax.Text

	ahead bool // it is one of many: a message of many blocks is not for it
	line  []byte

	top, inMessage, inUsage, inBlock syntax.Visitor
	element                          func(at int) int
}

func newWalker() *walker {
	w := &walker{}
	w.top, w.inMessage, w.inUsage, w.inBlock, w.element = w.member, w.messageMember, w.usageMember, w.blockMember, w.blockAt
	return w
}

// Walk implements transcript.Walker.
func (w *walker) Walk(text *syntax.Text, line []byte, i int) (end int) {
	w.text, w.line = text, line
	w.rec = record{blocks: w.rec.blocks[:0]}
	return text.Object(i, w.top)
}

// Whole implements transcript.Walker.
func (w *walker) Whole() bool {
	r := &w.rec
	return !r.kind.None() && (!r.uuid.None() || !r.session.None() || !r.leaf.None())
}

// member visits a member of the record.
func (w *walker) member(key []byte, at int) (end int) {
	key = jsonvalue.Key(key)
	if string(key) == "message" && at < len(w.line) && w.line[at] == '{' {
		r := &w.rec
		r.id, r.model, r.content, r.stop, r.usage = span{}, span{}, span{}, span{}, transcript.Usage{}
		r.blocks, r.beyond = r.blocks[:0], 0
		if end = w.text.Object(at, w.inMessage); end >= 0 {
			r.message = span{At: at, End: end}
			r.known++
		}
		return end
	}
	if end = w.text.Value(at); end < 0 {
		return end
	}
	if field := w.field(key); field != nil {
		*field = span{At: at, End: end}
		w.rec.known++
	} else if flag := w.flag(key); flag != nil {
		*flag = jsonvalue.True(w.line[at:end])
		w.rec.known++
	}
	return end
}

// field tells where the value of a member is kept.
func (w *walker) field(key []byte) *span {
	r := &w.rec
	switch string(key) {
	case "type":
		return &r.kind
	case "uuid":
		return &r.uuid
	case "parentUuid":
		return &r.parent
	case "timestamp":
		return &r.time
	case "sessionId":
		return &r.session
	case "cwd":
		return &r.cwd
	case "subtype":
		return &r.subtype
	case "logicalParentUuid":
		return &r.logical
	case "agentId":
		return &r.agent
	case "sourceToolUseID":
		return &r.sourceCall
	case "promptSource":
		return &r.promptSource
	case "origin":
		return &r.origin
	case "attachment":
		return &r.attachment
	case "compactMetadata":
		return &r.metadata
	case "leafUuid":
		return &r.leaf
	case "summary":
		return &r.sumText
	case "customTitle", "aiTitle":
		return &r.title
	case "message":
		return &r.message
	case "startTime":
		return &r.started
	case "modelUsage":
		return &r.models
	}
	return nil
}

func (w *walker) flag(key []byte) *bool {
	r := &w.rec
	switch string(key) {
	case "isSidechain":
		return &r.sidechain
	case "isMeta":
		return &r.meta
	case "isCompactSummary":
		return &r.summary
	case "isApiErrorMessage":
		return &r.apiError
	case "isAbortedMidStream":
		return &r.aborted
	case "explicit":
		return &r.explicit
	}
	return nil
}

func (w *walker) messageMember(key []byte, at int) (end int) {
	r := &w.rec
	var field *span
	switch string(jsonvalue.Key(key)) {
	case "id":
		field = &r.id
	case "model":
		field = &r.model
	case "content":
		r.blocks, r.beyond = r.blocks[:0], 0
		r.content = span{}
		if at < len(w.line) && w.line[at] == '[' {
			if end = w.text.Array(at, w.element); end >= 0 {
				r.content = span{At: at, End: end}
			}
			return end
		}
		field = &r.content
	case "usage":
		r.usage = transcript.Usage{}
		if at < len(w.line) && w.line[at] == '{' {
			return w.text.Object(at, w.inUsage)
		}
	case "stop_reason":
		field = &r.stop
	}
	if end = w.text.Value(at); end >= 0 && field != nil {
		*field = span{At: at, End: end}
	}
	return end
}

func (w *walker) usageMember(key []byte, at int) (end int) {
	if end = w.text.Value(at); end < 0 {
		return end
	}
	u := &w.rec.usage
	switch value := w.line[at:end]; string(jsonvalue.Key(key)) {
	case "input_tokens":
		u.Input = jsonvalue.Number(value)
	case "output_tokens":
		u.Output = jsonvalue.Number(value)
	case "cache_read_input_tokens":
		u.CacheRead = jsonvalue.Number(value)
	case "cache_creation_input_tokens":
		u.CacheWrite = jsonvalue.Number(value)
	}
	return end
}

// blockAt reads an element of a message's content.
func (w *walker) blockAt(at int) (end int) {
	switch n := len(w.rec.blocks); {
	case n == fewAhead && w.ahead:
		return syntax.Fail(at)
	case n == mostBlocks:
		w.rec.beyond++
		return w.text.Value(at)
	}
	w.rec.blocks = append(w.rec.blocks, block{})
	if at < len(w.line) && w.line[at] == '{' {
		end = w.text.Object(at, w.inBlock)
	} else {
		end = w.text.Value(at)
	}
	if end >= 0 {
		w.rec.blocks[len(w.rec.blocks)-1].all = span{At: at, End: end}
	}
	return end
}

func (w *walker) blockMember(key []byte, at int) (end int) {
	if end = w.text.Value(at); end < 0 {
		return end
	}
	b := &w.rec.blocks[len(w.rec.blocks)-1]
	value := span{At: at, End: end}
	switch string(jsonvalue.Key(key)) {
	case "type":
		b.kind = value
	case "text":
		b.text = value
	case "thinking":
		b.thinking = value
	case "signature":
		b.signature = value
	case "data":
		b.data = value
	case "id":
		b.id = value
	case "name":
		b.name = value
	case "input":
		b.input = value
	case "tool_use_id":
		b.call = value
	case "content":
		b.content = value
	case "source":
		b.source = value
	case "is_error":
		b.failed = jsonvalue.True(value.Of(w.line))
	}
	return end
}

// str decodes a span that is a string; any other is "".
func (w *walker) str(s span) string {
	if s.None() {
		return ""
	}
	return jsonvalue.String(s.Of(w.line))
}

// is compares a span with a string that needs no escapes.
func (w *walker) is(s span, text string) bool {
	b := s.Of(w.line)
	if len(b) == len(text)+2 && b[0] == '"' {
		return string(b[1:len(b)-1]) == text
	}
	return len(b) > len(text)+2 && w.str(s) == text
}

// isString tells whether a span is a JSON string.
func (w *walker) isString(s span) bool { return !s.None() && w.line[s.At] == '"' }
