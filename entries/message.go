package entries

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// A Message is the body of a message entry, as pi and oh-my-pi store it.
type Message struct {
	Role       string
	Content    json.RawMessage // a string or an array of blocks; may be missing in old files
	Provider   string          // assistant
	Model      string          // assistant
	StopReason string          // assistant
	Error      string          // assistant: errorMessage
	ToolCallID string          // toolResult
	ToolName   string          // toolResult
	IsError    bool            // toolResult
	Command    string          // bashExecution
	Output     string          // bashExecution
	CustomType string          // custom
	Usage      json.RawMessage // assistant; nil where none is recorded
	Details    json.RawMessage // toolResult, custom; nil where there are none
}

// Message reads a message entry.
func (e Entry) Message() (Message, error) {
	object, err := e.MessageObject()
	// A message that is no object stays empty: old and hand-edited files have such,
	// and their readers go on.
	m := ParseMessage(object)
	// The envelope knows better: version 2 calls a custom message hookMessage.
	if e.Role != "" {
		m.Role = e.Role
	}
	return m, err
}

// MessageObject gives the message of a message entry as it is stored; of several the
// last, nil where there is none.
func (e Entry) MessageObject() (object json.RawMessage, err error) {
	err = e.view(TypeMessage, func(name string, value []byte) {
		if name == "message" {
			object = value
		}
	})
	return object, err
}

// ParseMessage reads a message object. One that is no object is empty.
func ParseMessage(object json.RawMessage) (m Message) {
	_ = jsonvalue.Members(object, m.set)
	return m
}

// Failed tells of a tool that answered with an error, and of an answer of the model
// that broke off: by an error, or because the user aborted it.
func (m Message) Failed() bool {
	return m.IsError || m.Error != "" || m.StopReason == "error" || m.StopReason == "aborted"
}

func (m *Message) set(name string, value []byte) {
	switch name {
	case "role":
		m.Role = jsonvalue.String(value)
	case "content":
		m.Content = clone(value)
	case "provider":
		m.Provider = jsonvalue.String(value)
	case "model":
		m.Model = jsonvalue.String(value)
	case "stopReason":
		m.StopReason = jsonvalue.String(value)
	case "errorMessage":
		m.Error = jsonvalue.String(value)
	case "toolCallId":
		m.ToolCallID = jsonvalue.String(value)
	case "toolName":
		m.ToolName = jsonvalue.String(value)
	case "isError":
		m.IsError = jsonvalue.True(value)
	case "command":
		m.Command = jsonvalue.String(value)
	case "output":
		m.Output = jsonvalue.String(value)
	case "customType":
		m.CustomType = jsonvalue.String(value)
	case "usage":
		m.Usage = clone(value)
	case "details":
		m.Details = clone(value)
	}
}

// A Block is one part of a message's content.
type Block struct {
	Type      string // text, thinking, redactedThinking, image, toolCall, ...
	Text      string // of text and thinking
	ID, Name  string // of toolCall
	Arguments json.RawMessage
	MimeType  string // of image
	DataSize  int    // of image: characters of base64, or of the reference
	// Signature is by what the provider knows the block as its own: of thinking, text
	// or a call. "" where it has none.
	Signature string
	Raw       json.RawMessage // the block as it is stored, with image data and all
}

// Blocks gives the content as blocks; a content that is a string is one text block.
func (m Message) Blocks() []Block { return Blocks(m.Content) }

// Calls gives the tools that an answer calls, in its order.
func (m Message) Calls() []Block { return callsOf(m.Content) }

func callsOf(content []byte) []Block {
	return slices.DeleteFunc(Blocks(content), func(b Block) bool { return b.Type != "toolCall" })
}

// Blocks reads content as it stands in messages and custom messages.
func Blocks(content []byte) []Block {
	if len(content) > 0 && content[0] == '"' {
		return []Block{{Type: "text", Text: jsonvalue.String(content), Raw: TextBlock(jsonvalue.String(content))}}
	}
	var blocks []Block
	jsonvalue.Elements(content, func(value []byte) {
		b := Block{Raw: value}
		if jsonvalue.Members(value, b.set) == nil {
			blocks = append(blocks, b)
		}
	})
	return blocks
}

func (b *Block) set(name string, value []byte) {
	switch name {
	case "type":
		b.Type = jsonvalue.String(value)
	case "text", "thinking":
		b.Text = jsonvalue.String(value)
	case "id":
		b.ID = jsonvalue.String(value)
	case "name":
		b.Name = jsonvalue.String(value)
	case "arguments":
		b.Arguments = clone(value)
	case "mimeType":
		b.MimeType = jsonvalue.String(value)
	case "data":
		b.DataSize = max(len(value)-2, 0)
	case "thinkingSignature", "textSignature", "thoughtSignature":
		b.Signature = jsonvalue.String(value)
	}
}

// Text joins the text blocks of the content with newlines.
func (m Message) Text() string { return Text(m.Content) }

// Text joins the text blocks of content with newlines.
func Text(content []byte) string {
	if len(content) > 0 && content[0] == '"' {
		return jsonvalue.String(content)
	}
	var parts []string
	jsonvalue.Elements(content, func(value []byte) {
		if text := textOf(value); text != "" {
			parts = append(parts, text)
		}
	})
	return strings.Join(parts, "\n")
}

// textOf gives the text of a block of text; any other has none.
func textOf(block []byte) string {
	var kind, text []byte
	err := jsonvalue.Spans(block, func(key []byte, at, end int) {
		switch string(jsonvalue.Key(key)) {
		case "type":
			kind = block[at:end]
		case "text", "thinking":
			text = block[at:end]
		}
	})
	if err != nil || jsonvalue.String(kind) != "text" {
		return ""
	}
	return jsonvalue.String(text)
}

// ContextTokens is what an assistant message's usage says its context took, the
// answer included; 0 where none is recorded.
func (m Message) ContextTokens() int {
	var total, sum float64
	_ = jsonvalue.Members(m.Usage, func(name string, value []byte) {
		switch name {
		case "totalTokens":
			total = jsonvalue.Number(value)
		case "input", "output", "cacheRead", "cacheWrite":
			sum += jsonvalue.Number(value)
		}
	})
	if total == 0 {
		total = sum
	}
	return whole(max(total, 0))
}
