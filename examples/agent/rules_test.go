package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// refuse tells, in the API's words where they are known, what is wrong with a request;
// "" where it is in order.
func (f *fake) refuse(r request) string {
	if words := f.refuseFields(r); words != "" {
		return words
	}
	if words := refuseRoles(r.Messages); words != "" {
		return words
	}
	for i, m := range r.Messages {
		for n, b := range m.Content {
			if words := refuseBlock(m.Role, b); words != "" {
				return fmt.Sprintf("messages.%d.content.%d: %s", i, n, words)
			}
		}
	}
	if words := refusePairs(r.Messages); words != "" {
		return words
	}
	return f.refuseThinking(r.Messages)
}

// refuseFields also holds what is no rule of the API but of its prompt cache: what stands
// in front of the messages does not change.
func (f *fake) refuseFields(r request) string {
	switch {
	case r.MaxTokens <= 0:
		return "max_tokens: Field required"
	case r.Model == "":
		return "model: Field required"
	case strings.Contains(string(r.System), `"text":""`):
		return "system: text content blocks must be non-empty"
	case len(f.seen) > 0 && (string(r.Tools) != string(f.seen[0].Tools) || string(r.System) != string(f.seen[0].System)):
		return "the tools or the system prompt are not those of the first request: no cache holds"
	case !strings.Contains(string(r.Tools), `"rewind"`):
		return "a request without the tools"
	}
	return ""
}

func refuseRoles(list []wireMessage) string {
	if len(list) == 0 {
		return "messages: at least one message is required"
	}
	if list[0].Role != "user" {
		return `messages: first message must use the "user" role`
	}
	for i, m := range list {
		if i > 0 && m.Role == list[i-1].Role {
			return fmt.Sprintf(`messages: roles must alternate between "user" and "assistant", but found multiple %q roles in a row`, m.Role)
		}
		if len(m.Content) == 0 {
			return fmt.Sprintf("messages.%d: all messages must have non-empty content except for the optional final assistant message", i)
		}
	}
	if list[len(list)-1].Role != "user" {
		return "This model does not support assistant message prefill. The conversation must end with a user message."
	}
	return ""
}

var toolID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

func refuseBlock(role string, b wireBlock) string {
	switch b.Type {
	case "text":
		if strings.TrimSpace(b.Text) == "" {
			return "text content blocks must contain non-whitespace text"
		}
	case "tool_use":
		if role != "assistant" {
			return "`tool_use` blocks can only be in `assistant` messages"
		}
		if !toolID.MatchString(b.ID) || b.Name == "" {
			return "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
		}
		if !strings.HasPrefix(string(b.Input), "{") {
			return "tool_use.input: Input should be a valid dictionary"
		}
	case "tool_result":
		if role != "user" {
			return "`tool_result` blocks can only be in `user` messages"
		}
		return refuseResult(b)
	case "image":
		if b.Source.Data == "" {
			return "image.source.base64: Field required"
		}
	case "thinking", "redacted_thinking":
		if role != "assistant" {
			return "`thinking` blocks can only be in `assistant` messages"
		}
	default:
		return fmt.Sprintf("Input tag %q found using 'type' does not match any of the expected tags", b.Type)
	}
	return ""
}

func refuseResult(b wireBlock) string {
	for _, part := range b.Content {
		if part.Type != "text" && (part.Type != "image" || b.IsError) {
			return "all content must be type text if `is_error` is true"
		}
		if words := refuseBlock("user", part); words != "" {
			return words
		}
	}
	return ""
}

func ofType(blocks []wireBlock, kind string) []wireBlock {
	return slices.DeleteFunc(slices.Clone(blocks), func(b wireBlock) bool { return b.Type != kind })
}

// refusePairs: each call has one result, in the message after it and before any text, and
// no result is without its call.
func refusePairs(list []wireMessage) string {
	ids := map[string]bool{}
	var open []string
	for i, m := range list {
		for _, b := range ofType(m.Content, "tool_result") {
			at := slices.Index(open, b.ToolUseID)
			if at < 0 {
				return fmt.Sprintf("messages.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s, or a second result for it", i, b.ToolUseID)
			}
			open = slices.Delete(open, at, at+1)
		}
		if len(open) > 0 {
			return fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s", i-1, strings.Join(open, ", "))
		}
		if n := len(ofType(m.Content, "tool_result")); len(ofType(m.Content[:n], "tool_result")) != n {
			return fmt.Sprintf("messages.%d: `tool_result` blocks must come first", i)
		}
		for _, b := range ofType(m.Content, "tool_use") {
			if ids[b.ID] {
				return fmt.Sprintf("messages.%d: `tool_use` ids must be unique", i)
			}
			ids[b.ID] = true
			open = append(open, b.ID)
		}
	}
	return ""
}

func thoughts(blocks []wireBlock) []wireBlock {
	return slices.DeleteFunc(slices.Clone(blocks), func(b wireBlock) bool { return !strings.HasSuffix(b.Type, "thinking") })
}

// refuseThinking: thinking comes back as it was given, all that an answer had or none of
// it, and no answer ends in it.
func (f *fake) refuseThinking(list []wireMessage) string {
	for i, m := range list {
		if m.Role != "assistant" {
			continue
		}
		if strings.HasSuffix(m.Content[len(m.Content)-1].Type, "thinking") {
			return fmt.Sprintf("messages.%d: The final block in an assistant message cannot be `thinking`.", i)
		}
		for sent := thoughts(m.Content); len(sent) > 0; {
			n := f.whole(sent)
			if n == 0 {
				return fmt.Sprintf("messages.%d: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.", i)
			}
			sent = sent[n:]
		}
	}
	return ""
}

// whole tells how many of the blocks are the thinking of one answer, 0 for none.
func (f *fake) whole(sent []wireBlock) int {
	same := func(a, b wireBlock) bool {
		return a.Type == b.Type && a.Thinking == b.Thinking && a.Signature == b.Signature && a.Data == b.Data
	}
	for _, given := range f.given {
		if n := len(given); n > 0 && n <= len(sent) && slices.EqualFunc(given, sent[:n], same) {
			return n
		}
	}
	return 0
}

// The rules are of no use where they refuse nothing.
func TestRulesRefuse(t *testing.T) {
	call, result := wireBlock{Type: "tool_use", ID: "a", Name: "read", Input: []byte("{}")}, wireBlock{Type: "tool_result", ToolUseID: "a"}
	hi, thought := wireBlock{Type: "text", Text: "hi"}, wireBlock{Type: "thinking", Thinking: "hm", Signature: "c2ln"}
	user := func(b ...wireBlock) wireMessage { return wireMessage{"user", b} }
	assistant := func(b ...wireBlock) wireMessage { return wireMessage{"assistant", b} }
	for want, list := range map[string][]wireMessage{
		"":                            {user(hi), assistant(thought, call), user(result, hi)},
		"at least one":                {},
		"first message":               {assistant(hi), user(hi)},
		"alternate":                   {user(hi), user(hi)},
		"prefill":                     {user(hi), assistant(hi)},
		"non-empty content":           {user()},
		"non-whitespace":              {user(wireBlock{Type: "text", Text: " "})},
		"immediately after":           {user(hi), assistant(call), user(hi)},
		"unexpected `tool_use_id`":    {user(result)},
		"a second result":             {user(hi), assistant(call), user(result, result)},
		"must come first":             {user(hi), assistant(call), user(hi, result)},
		"must be unique":              {user(hi), assistant(call), user(result), assistant(call), user(result)},
		"cannot be modified":          {user(hi), assistant(wireBlock{Type: "thinking", Thinking: "hn", Signature: "c2ln"}, hi), user(hi)},
		"cannot be `thinking`":        {user(hi), assistant(hi, thought), user(hi)},
		"only be in `user` messages":  {user(hi), assistant(result), user(hi)},
		"should match pattern":        {user(hi), assistant(wireBlock{Type: "tool_use", ID: "a|b", Name: "read"}), user(hi)},
		"does not match any of the e": {user(wireBlock{Type: "toolCall"})},
	} {
		f := &fake{t: t, given: [][]wireBlock{{thought}}}
		got := f.refuse(request{MaxTokens: 1, Model: "m", Tools: []byte(`["rewind"]`), Messages: list})
		if !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
