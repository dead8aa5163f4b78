package main

import (
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
)

type block = anthropic.ContentBlockParamUnion

// encode writes a context, which was repaired before, as a request. What comes out
// depends on nothing else: what two contexts have in common they are sent alike, and the
// provider's prompt cache holds.
func encode(c *modelcontext.Context) (p anthropic.MessageNewParams) {
	p.CacheControl = anthropic.NewCacheControlEphemeralParam() // of all there is so far
	system := c.System()
	p.System = []anthropic.TextBlockParam{{Text: system.Text()}}
	for _, t := range system.Tools {
		p.Tools = append(p.Tools, encodeTool(t))
	}
	for _, m := range c.Render() {
		switch blocks := encodeBlocks(m.Blocks()); m.Role {
		case modelcontext.RoleSystem: // is in the fields above
		case modelcontext.RoleAssistant:
			p.Messages = join(p.Messages, anthropic.MessageParamRoleAssistant, blocks)
		case modelcontext.RoleToolResult:
			p.Messages = join(p.Messages, anthropic.MessageParamRoleUser, encodeResult(m, blocks))
		default:
			p.Messages = join(p.Messages, anthropic.MessageParamRoleUser, blocks)
		}
	}
	return p
}

// join appends a message. The API wants roles to alternate, and all results of an answer
// in one message: neighbours of one role become one. Repair has put the results directly
// behind their answer, so that they stand before any text, which the API wants, too.
func join(list []anthropic.MessageParam, role anthropic.MessageParamRole, blocks []block) []anthropic.MessageParam {
	n := len(list)
	switch {
	case len(blocks) == 0:
	case n > 0 && list[n-1].Role == role:
		list[n-1].Content = append(list[n-1].Content, blocks...)
	default:
		list = append(list, anthropic.MessageParam{Role: role, Content: blocks})
	}
	return list
}

func encodeResult(m modelcontext.Message, blocks []block) []block {
	stored := entries.ParseMessage(m.Raw)
	result := &anthropic.ToolResultBlockParam{ToolUseID: stored.ToolCallID, IsError: anthropic.Bool(stored.IsError)}
	for _, b := range blocks {
		result.Content = append(result.Content, anthropic.ToolResultBlockParamContentUnion{OfText: b.OfText, OfImage: b.OfImage})
	}
	return []block{{OfToolResult: result}}
}

// encodeBlocks leaves out what this API does not know, and thinking that nobody signed,
// which it does not take.
func encodeBlocks(stored []entries.Block) (list []block) {
	for _, b := range stored {
		var more struct { // that only the stored bytes have
			Data     string
			Redacted bool
		}
		_ = json.Unmarshal(b.Raw, &more)
		switch {
		case b.Type == "text":
			list = append(list, anthropic.NewTextBlock(b.Text))
		case b.Type == "image":
			list = append(list, anthropic.NewImageBlockBase64(b.MimeType, more.Data))
		case b.Type == "toolCall":
			list = append(list, anthropic.NewToolUseBlock(b.ID, b.Arguments, b.Name))
		case b.Type == "thinking" && more.Redacted:
			list = append(list, anthropic.NewRedactedThinkingBlock(b.Signature))
		case b.Type == "thinking" && b.Signature != "":
			list = append(list, anthropic.NewThinkingBlock(b.Signature, b.Text))
		}
	}
	return list
}

// encodeTool writes a tool as the log has it, its schema byte for byte.
func encodeTool(raw json.RawMessage) anthropic.ToolUnionParam {
	var t struct {
		Name, Description string
		Parameters        json.RawMessage
	}
	_ = json.Unmarshal(raw, &t)
	u := anthropic.ToolUnionParamOfTool(param.Override[anthropic.ToolInputSchemaParam](t.Parameters), t.Name)
	u.OfTool.Description = anthropic.String(t.Description)
	return u
}
