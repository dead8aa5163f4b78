package modelcontext

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// clean makes each message sound by itself: its text, its blocks, its calls.
func (r *repairer) clean(list []Message) []Message {
	out := make([]Message, len(list))
	for i, m := range list {
		if m = r.summary(r.images(r.content(m))); !sound(m.Raw) {
			r.note(m, ValidText, "")
			m.Raw = soundText(m.Raw)
		}
		out[i] = m
	}
	return out
}

// summary gives a summary that is text.
func (r *repairer) summary(m Message) Message {
	if m.Role != RoleBranchSummary && m.Role != RoleCompactionSummary {
		return m
	}
	stored := m.Field("summary")
	text := interpolated(stored)
	if isBlank(text) {
		text = "(no summary was written)"
	} else if isString(stored) {
		return m
	}
	r.note(m, FilledSummary, "")
	return m.with("summary", jsonvalue.AppendExact(nil, text))
}

// signatures are the members by which providers know their own blocks.
var signatures = []string{"thinkingSignature", "textSignature", "thoughtSignature"}

// unsigned gives a block that was changed, without the signature that no longer
// holds; nil for one that is nothing without it.
func (r *repairer) unsigned(m Message, block []byte) []byte {
	for _, name := range signatures {
		if fieldOf(block, name) != nil {
			r.note(m, UnsignedBlock, name)
		}
	}
	return unsigned(block)
}

func unsigned(block []byte) []byte {
	for _, name := range signatures {
		if fieldOf(block, name) != nil {
			block = jsonvalue.Set(block, name, nil)
		}
	}
	kind := kindOf(block)
	if kind == "redactedThinking" || kind == "thinking" && truthy(fieldOf(block, "redacted")) || emptyThought(block) {
		return nil
	}
	return block
}

// sound tells whether JSON is valid UTF-8 and has no half of a surrogate pair. (An
// escape that is one is rare: only texts with \ud are looked at closely.)
func sound(raw []byte) bool {
	if !bytes.Contains(raw, []byte(`\ud`)) && !bytes.Contains(raw, []byte(`\uD`)) {
		return utf8.Valid(raw)
	}
	return bytes.Equal(soundText(raw), raw)
}

// soundText puts U+FFFD in the place of what cannot be sent, in all strings of JSON,
// and changes nothing else.
func soundText(raw []byte) []byte {
	raw = jsonvalue.ValidUTF8(raw)
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		n := 1
		if raw[i] == '\\' {
			n = 2
		}
		if n == 2 && raw[i+1] == 'u' {
			n = 6
			if r := jsonvalue.Hex4(raw[i+2 : i+6]); utf16.IsSurrogate(r) {
				if n = pairLength(raw[i:], r); n == 6 {
					out, i = append(out, "\uFFFD"...), i+6
					continue
				}
			}
		}
		out = append(out, raw[i:i+n]...)
		i += n
	}
	return out
}

// soundString decodes a JSON string as it is once it can be sent.
func soundString(value []byte) string { return jsonvalue.String(soundText(value)) }

// pairLength is 12 where raw starts with the escapes of a surrogate pair, whose
// first half is r, else 6.
func pairLength(raw []byte, r rune) int {
	if len(raw) >= 12 && raw[6] == '\\' && raw[7] == 'u' && utf16.DecodeRune(r, jsonvalue.Hex4(raw[8:12])) != '\uFFFD' {
		return 12
	}
	return 6
}

// content gives a message whose blocks providers take.
func (r *repairer) content(m Message) Message {
	content := m.Content()
	if !isArray(content) {
		return m
	}
	before := blocks(content)
	var out []json.RawMessage
	for _, b := range before {
		if mended := r.block(m, b); mended != nil {
			out = append(out, mended)
		}
	}
	if m.Role == RoleAssistant {
		out = r.wholeThoughts(m, before, r.withoutLastThoughts(m, out))
	}
	if sameBlocks(before, out) {
		return m
	}
	return m.with("content", jsonvalue.Array(out...))
}

func sameBlocks(a, b []json.RawMessage) bool {
	return slices.EqualFunc(a, b, func(x, y json.RawMessage) bool { return bytes.Equal(x, y) })
}

// wholeThoughts keeps the signatures of an answer's thinking only where its signed
// blocks stand together and apart as the model wrote them: a sequence that has
// changed is refused. (Claude: "the entire sequence of consecutive thinking blocks
// must match".)
func (r *repairer) wholeThoughts(m Message, before, after []json.RawMessage) []json.RawMessage {
	if slices.Equal(signedRuns(before), signedRuns(after)) {
		return after
	}
	var out []json.RawMessage
	for _, b := range after {
		if isThought(b) && isSigned(b) {
			b = r.unsigned(m, b)
		}
		if b != nil {
			out = append(out, b)
		}
	}
	return r.withoutLastThoughts(m, out)
}

func isSigned(block []byte) bool {
	return kindOf(block) == "redactedThinking" || truthy(fieldOf(block, "thinkingSignature")) || truthy(fieldOf(block, "redacted"))
}

// signedRuns counts the signed blocks of each run of them.
func signedRuns(list []json.RawMessage) (runs []int) {
	together := false
	for _, b := range list {
		signed := isThought(b) && isSigned(b)
		if signed && !together {
			runs = append(runs, 0)
		}
		if together = signed; signed {
			runs[len(runs)-1]++
		}
	}
	return runs
}

// block gives a block as it can be sent; nil for one that is better left out.
func (r *repairer) block(m Message, b []byte) []byte {
	if !sound(b) {
		r.note(m, ValidText, "")
		if b = r.unsigned(m, soundText(b)); b == nil {
			return nil
		}
	}
	switch kind := kindOf(b); {
	case kind == "text" && isBlank(jsonvalue.String(fieldOf(b, "text"))):
		r.note(m, DroppedBlock, "text without text")
		return nil
	case emptyThought(b), kind == "redactedThinking" && jsonvalue.String(fieldOf(b, "data")) == "":
		r.note(m, DroppedBlock, "thinking without text")
		return nil
	case kind == "image":
		return r.image(m, b)
	case kind == "toolCall" && m.Role == RoleAssistant:
		return r.mended(m, b)
	case !isObject(b) || m.Role != RoleAssistant && kind != "text":
		r.note(m, DroppedBlock, kind)
		return nil
	}
	return b
}

// emptyThought tells whether a block is thinking with neither text nor a signature.
func emptyThought(block []byte) bool {
	return kindOf(block) == "thinking" && isBlank(jsonvalue.String(fieldOf(block, "thinking"))) && !isSigned(block)
}

// mended gives a call with a name, and with arguments that are an object.
func (r *repairer) mended(m Message, call []byte) []byte {
	out := call
	if isBlank(jsonvalue.String(fieldOf(call, "name"))) {
		out = jsonvalue.Set(out, "name", []byte(`"unknown"`))
		r.note(m, MendedCall, "no name")
	}
	if !isObject(fieldOf(call, "arguments")) {
		out = jsonvalue.Set(out, "arguments", []byte("{}"))
		r.note(m, MendedCall, "arguments that are no object")
	}
	if bytes.Equal(out, call) {
		return call
	}
	return r.unsigned(m, out)
}

// withoutLastThoughts takes out thinking that nothing follows: an answer may not end
// in it. (Anthropic: "the final block in an assistant message cannot be thinking".)
func (r *repairer) withoutLastThoughts(m Message, list []json.RawMessage) []json.RawMessage {
	end := len(list) // of what something follows, or what is no thinking
	for end > 0 && (isThought(list[end-1]) || !isKnown(list[end-1])) {
		end--
	}
	kept := slices.Clone(list[:end])
	for _, b := range list[end:] {
		if isThought(b) {
			r.note(m, DroppedBlock, "thinking that nothing follows")
		} else {
			kept = append(kept, b)
		}
	}
	return kept
}

// isKnown tells whether a block is of a kind that is sent to providers. Others, which
// some program has added to an answer, stay where they are and count for nothing.
func isKnown(block []byte) bool {
	switch kindOf(block) {
	case "text", "thinking", "redactedThinking", "toolCall", "image":
		return true
	}
	return false
}

func isThought(block []byte) bool {
	kind := kindOf(block)
	return kind == "thinking" || kind == "redactedThinking"
}
