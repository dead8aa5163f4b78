package entries

import (
	"encoding/json"
	"strings"
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
}

// Message reads a message entry.
func (e Entry) Message() (Message, error) {
	var m Message
	err := e.view(TypeMessage, func(name string, value []byte) {
		if name == "message" {
			m = Message{}
			// A message that is no object stays empty: old and hand-edited files
			// have such, and their readers go on.
			_ = members(value, m.set)
		}
	})
	// The envelope knows better: version 2 calls a custom message hookMessage.
	if e.Role != "" {
		m.Role = e.Role
	}
	return m, err
}

func (m *Message) set(name string, value []byte) {
	switch name {
	case "role":
		m.Role = text(value)
	case "content":
		m.Content = clone(value)
	case "provider":
		m.Provider = text(value)
	case "model":
		m.Model = text(value)
	case "stopReason":
		m.StopReason = text(value)
	case "errorMessage":
		m.Error = text(value)
	case "toolCallId":
		m.ToolCallID = text(value)
	case "toolName":
		m.ToolName = text(value)
	case "isError":
		m.IsError = truth(value)
	case "command":
		m.Command = text(value)
	case "output":
		m.Output = text(value)
	case "customType":
		m.CustomType = text(value)
	case "usage":
		m.Usage = clone(value)
	}
}

// A Block is one part of a message's content.
type Block struct {
	Type      string // text, thinking, image, toolCall, ...
	Text      string // of text and thinking
	ID, Name  string // of toolCall
	Arguments json.RawMessage
	MimeType  string // of image
	DataSize  int    // of image: characters of base64, or of the reference
}

// Blocks gives the content as blocks; a content that is a string is one text block.
func (m Message) Blocks() []Block { return Blocks(m.Content) }

// Blocks reads content as it stands in messages and custom messages.
func Blocks(content []byte) []Block {
	if len(content) > 0 && content[0] == '"' {
		return []Block{{Type: "text", Text: text(content)}}
	}
	var blocks []Block
	elements(content, func(value []byte) {
		var b Block
		if members(value, b.set) == nil {
			blocks = append(blocks, b)
		}
	})
	return blocks
}

func (b *Block) set(name string, value []byte) {
	switch name {
	case "type":
		b.Type = text(value)
	case "text", "thinking":
		b.Text = text(value)
	case "id":
		b.ID = text(value)
	case "name":
		b.Name = text(value)
	case "arguments":
		b.Arguments = clone(value)
	case "mimeType":
		b.MimeType = text(value)
	case "data":
		b.DataSize = max(len(value)-2, 0)
	}
}

// Text joins the text blocks of the content with newlines.
func (m Message) Text() string { return Text(m.Content) }

// Text joins the text blocks of content with newlines.
func Text(content []byte) string {
	var parts []string
	for _, b := range Blocks(content) {
		if b.Type == "text" && b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// ContextTokens is what an assistant message's usage says its context took, the
// answer included; 0 where none is recorded.
func (m Message) ContextTokens() int {
	var total, sum float64
	_ = members(m.Usage, func(name string, value []byte) {
		switch name {
		case "totalTokens":
			total = number(value)
		case "input", "output", "cacheRead", "cacheWrite":
			sum += number(value)
		}
	})
	if total == 0 {
		total = sum
	}
	return whole(max(total, 0))
}
