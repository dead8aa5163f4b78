package modelcontext

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"unicode/utf16"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// clean makes each message sound by itself: its text, its blocks, its calls.
func (r *repairer) clean(list []Message) []Message {
	out := make([]Message, len(list))
	for i, m := range list {
		out[i] = r.content(r.valid(m))
	}
	return out
}

// valid gives a message whose text can be sent. Its signed blocks keep their bytes
// here; content looks at them one by one.
func (r *repairer) valid(m Message) Message {
	if sound(m.Raw) {
		return m
	}
	r.note(m, ValidText, "")
	var kept []json.RawMessage
	for _, b := range blocks(m.Content()) {
		if !sound(b) {
			b = r.unsigned(m, soundText(b))
		}
		if b != nil {
			kept = append(kept, b)
		}
	}
	if isArray(m.Content()) {
		m = m.with("content", jsonvalue.Array(kept...))
	}
	m.Raw = soundText(m.Raw)
	return m
}

// unsigned gives a block that was changed, without the signature that no longer
// holds; nil for one that is nothing without it.
func (r *repairer) unsigned(m Message, block []byte) []byte {
	out := block
	for _, name := range []string{"thinkingSignature", "textSignature", "thoughtSignature"} {
		if fieldOf(block, name) != nil {
			r.note(m, UnsignedBlock, name)
			out = jsonvalue.Set(out, name, nil)
		}
	}
	if kindOf(block) == "redactedThinking" || truthy(fieldOf(block, "redacted")) {
		return nil
	}
	return out
}

// sound tells whether JSON is valid UTF-8 and has no half of a surrogate pair. (An
// escape that is one is rare: only texts with \ud are looked at closely.)
func sound(raw []byte) bool {
	if !bytes.Contains(raw, []byte(`\ud`)) && !bytes.Contains(raw, []byte(`\uD`)) {
		return len(jsonvalue.ValidUTF8(raw)) == len(raw) && bytes.Equal(jsonvalue.ValidUTF8(raw), raw)
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
			if r := jsonvalue.Hex4(raw[i+2:]); utf16.IsSurrogate(r) {
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

// pairLength is 12 where raw starts with the escapes of a surrogate pair, whose
// first half is r, else 6.
func pairLength(raw []byte, r rune) int {
	if len(raw) >= 12 && raw[6] == '\\' && raw[7] == 'u' && utf16.DecodeRune(r, jsonvalue.Hex4(raw[8:])) != '\uFFFD' {
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
	var out []json.RawMessage
	changed := false
	for _, b := range blocks(content) {
		mended := r.block(m, b)
		changed = changed || !bytes.Equal(mended, b)
		if mended != nil {
			out = append(out, mended)
		}
	}
	if m.Role == RoleAssistant {
		n := len(out)
		out = r.withoutLastThoughts(m, out)
		changed = changed || len(out) != n
	}
	if !changed {
		return m
	}
	return m.with("content", jsonvalue.Array(out...))
}

// block gives a block as it can be sent; nil for one that is better left out.
func (r *repairer) block(m Message, b []byte) []byte {
	switch kind := kindOf(b); {
	case kind == "text" && isBlank(jsonvalue.String(fieldOf(b, "text"))):
		r.note(m, DroppedBlock, "text without text")
		return nil
	case kind == "thinking" && isBlank(jsonvalue.String(fieldOf(b, "thinking"))) && !truthy(fieldOf(b, "thinkingSignature")):
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

// mended gives a call with a name, and with arguments that are an object.
func (r *repairer) mended(m Message, call []byte) []byte {
	out := call
	if jsonvalue.String(fieldOf(call, "name")) == "" {
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
	for len(list) > 0 && isThought(list[len(list)-1]) {
		list = list[:len(list)-1]
		r.note(m, DroppedBlock, "thinking that nothing follows")
	}
	return list
}

func isThought(block []byte) bool {
	kind := kindOf(block)
	return kind == "thinking" || kind == "redactedThinking"
}

// image gives an image that providers take: of a type that they know, which its
// bytes are too; else a text that says that it is missing.
func (r *repairer) image(m Message, b []byte) []byte {
	stated := jsonvalue.String(fieldOf(b, "mimeType"))
	data, err := base64.StdEncoding.DecodeString(jsonvalue.String(fieldOf(b, "data")))
	actual := http.DetectContentType(data)
	if m.Role != RoleAssistant && err == nil && isImageType(actual) {
		if stated == actual {
			return b
		}
		r.note(m, ReplacedImage, "it is "+actual+" and not "+stated)
		return jsonvalue.Set(b, "mimeType", jsonvalue.AppendString(nil, actual))
	}
	r.note(m, ReplacedImage, "no image that can be sent")
	return textBlock("[an image that is not available]")
}

// isImageType tells whether a type is one that every provider takes.
func isImageType(mime string) bool {
	switch mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}
