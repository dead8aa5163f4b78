package modelcontext_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// What providers demand of the messages of a request, checked on a list in pi's
// form. It was written from what providers and their users say, and not from this
// package's code, so that a mistake is not made twice.
//
// Sources, named in the comments below by the words in brackets:
//
//	[Tool calls]   Claude API Docs, "Handle tool calls"
//	[Thinking]     Claude API Docs, "Building with extended thinking", its parts
//	               "Preserving thinking blocks" and "Extended thinking with tool use"
//	[Messages]     Claude API Reference, "Create a Message"
//	[System]       Claude API Docs, "Mid-conversation system messages"
//	[Vision]       Claude API Docs, "Vision"
//	[Chat]         OpenAI API Reference, "Create chat completion"
//	[Functions]    OpenAI API Docs, "Function calling"
//	[Reasoning]    OpenAI API Docs, "Reasoning models", and the cookbook "Better
//	               performance from reasoning models using the Responses API"
//	[Gemini]       Gemini API Reference, "FunctionResponse"
//	[pi]           earendil-works/pi, transformMessages of its package ai
//
// Where the documentation says less than the server does, the comment quotes the
// server's own words, as issues of public repositories report them ("says:").
//
// The list is what a harness has before it renders: roles that it makes up count as
// the user messages that they become, and what it leaves out (see sentMessages) has
// no part in any rule.

// A violation is one breach of a rule, at a place in the list.
type violation struct {
	at           int
	rule, detail string
}

func (v violation) String() string { return fmt.Sprintf("%d: %s: %s", v.at, v.rule, v.detail) }

// checkProvider gives what a provider would reject, by place. original has the bytes
// of every signed block of the log (see signedSet); where it is nil, the signed
// blocks are not compared.
func checkProvider(list []json.RawMessage, original map[string]bool) []violation {
	messages, found := sentMessages(list)
	for _, check := range providerChecks {
		found = append(found, check(messages)...)
	}
	if original != nil {
		found = append(found, checkSignedBytes(messages, original)...)
	}
	return violationsByPlace(found)
}

var providerChecks = []func([]sentMessage) []violation{
	checkEncoding,
	checkFirst,
	checkFinished,
	checkPairs,
	checkCallIDs,
	checkCallNames,
	checkArguments,
	checkNotEmpty,
	checkBlankText,
	checkBlockTypes,
	checkImages,
	checkErrorResults,
	checkThinkingLast,
}

func violationsByPlace(found []violation) []violation {
	slices.SortStableFunc(found, func(a, b violation) int { return a.at - b.at })
	return found
}

type sentMessage struct {
	at     int
	role   string
	raw    json.RawMessage
	fields map[string]json.RawMessage
}

type sentBlock struct {
	raw    json.RawMessage
	kind   string
	fields map[string]json.RawMessage
}

// userRoles are those that a harness renders as what the user says.
var userRoles = map[string]bool{
	"user": true, "custom": true, "branchSummary": true, "compactionSummary": true,
	"bashExecution": true, "pythonExecution": true, "fileMention": true,
}

// otherRoles are the rest of those that are rendered.
var otherRoles = map[string]bool{
	"system": true, "developer": true, "assistant": true, "toolResult": true,
}

// sentMessages gives the messages that are sent. The rule json: a request is JSON, so
// each message must be, and it must be an object ([Messages], [Chat]). Executions
// that are excluded, and roles that a harness does not render, are not sent.
func sentMessages(list []json.RawMessage) (messages []sentMessage, found []violation) {
	for at, raw := range list {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
			found = append(found, violation{at, "json", fmt.Sprintf("no JSON object: %v", err)})
			continue
		}
		m := sentMessage{at, jsonText(fields["role"]), raw, fields}
		excluded := strings.HasSuffix(m.role, "Execution") && string(fields["excludeFromContext"]) == "true"
		if (userRoles[m.role] || otherRoles[m.role]) && !excluded {
			messages = append(messages, m)
		}
	}
	return messages, found
}

// jsonText gives a JSON string's text, "" where the value is not a string.
func jsonText(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}

func isJSONText(value json.RawMessage) bool { return len(value) > 0 && value[0] == '"' }

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }

// blocks gives the blocks of a message's content; nil where the content is not an
// array of objects. Text alone is none.
func (m sentMessage) blocks() []sentBlock {
	var raws []json.RawMessage
	if json.Unmarshal(m.fields["content"], &raws) != nil {
		return nil
	}
	blocks := []sentBlock{}
	for _, raw := range raws {
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(raw, &fields) // what is no object has no type
		blocks = append(blocks, sentBlock{raw, jsonText(fields["type"]), fields})
	}
	return blocks
}

func (m sentMessage) calls() []sentBlock {
	return slices.DeleteFunc(m.blocks(), func(b sentBlock) bool { return m.role != "assistant" || b.kind != "toolCall" })
}

// signed tells whether a block is a provider's own, to be sent back as it came: a
// thinking block with a signature ([Thinking]: signature), a redacted one, in either
// spelling ([Thinking]: redacted_thinking, data), or a reasoning item ([Reasoning]),
// which pi keeps in the signature.
func (b sentBlock) signed() bool {
	switch b.kind {
	case "thinking":
		return jsonText(b.fields["thinkingSignature"]) != "" || string(b.fields["redacted"]) == "true"
	case "redactedThinking":
		return true
	}
	return false
}

// sent tells whether a harness sends the block at all: it leaves out text and
// unsigned thinking without anything in it, and sends other unsigned thinking as text
// ([pi]), since a provider says "thinking.signature: Field required".
func (b sentBlock) sent() bool {
	switch b.kind {
	case "text":
		return !isBlank(jsonText(b.fields["text"]))
	case "thinking":
		return b.signed() || !isBlank(jsonText(b.fields["thinking"]))
	case "redactedThinking", "toolCall", "image":
		return true
	}
	return false
}

func (m sentMessage) sentBlocks() []sentBlock {
	return slices.DeleteFunc(m.blocks(), func(b sentBlock) bool { return !b.sent() })
}

// checkEncoding, rule encoding: what is sent is valid UTF-8, and no surrogate is
// alone. JSON is UTF-8 (RFC 8259, 8.1), and names lone surrogates as text that
// receivers do not agree on (8.2). Anthropic says: "The request body is not valid
// JSON: no low surrogate in string". Members that no harness sends (details, usage)
// may have what they like.
func checkEncoding(messages []sentMessage) (found []violation) {
	members := []string{
		"content", "sections", "toolsAdded", "toolsRemoved", "toolCallId", "toolName",
		"summary", "command", "output", "fullOutputPath", "code", "files",
	}
	for _, m := range messages {
		for _, name := range members {
			if why := badEncoding(m.fields[name]); why != "" {
				found = append(found, violation{m.at, "encoding", name + ": " + why})
			}
		}
	}
	return found
}

// badEncoding tells what is wrong with the text in valid JSON, "" where nothing is.
// A backslash stands nowhere but in strings there.
func badEncoding(value []byte) string {
	if !utf8.Valid(value) {
		return "invalid UTF-8"
	}
	for i := 0; i < len(value); i++ {
		if value[i] != '\\' {
			continue
		}
		unit := escapedUnit(value[i:])
		switch {
		case unit >= 0xd800 && unit < 0xdc00:
			low := escapedUnit(value[i+6:])
			if low < 0xdc00 || low > 0xdfff {
				return "high surrogate alone"
			}
			i += 11
		case unit >= 0xdc00 && unit < 0xe000:
			return "low surrogate alone"
		default:
			i++ // the escaped character, which may be a backslash
		}
	}
	return ""
}

// escapedUnit gives the UTF-16 unit of an escape at the start, -1 where none is.
func escapedUnit(value []byte) int {
	var unit int
	if len(value) < 6 || value[0] != '\\' || value[1] != 'u' {
		return -1
	}
	if _, err := fmt.Sscanf(string(value[2:6]), "%04x", &unit); err != nil {
		return -1
	}
	return unit
}

// checkFirst, rule first: a conversation begins with the user, apart from what is
// said before it. Anthropic says: "messages: first message must use the "user" role",
// Bedrock likewise.
func checkFirst(messages []sentMessage) []violation {
	for _, m := range messages {
		if m.role == "system" || m.role == "developer" {
			continue
		}
		if userRoles[m.role] {
			return nil
		}
		return []violation{{m.at, "first", "begins with " + m.role}}
	}
	return nil
}

// checkFinished, rule unfinished: what broke off is not replayed ([pi]: "incomplete
// turns that shouldn't be replayed"), since its calls, thinking, and signatures may be
// parts of some. OpenAI says of such: "Item of type 'reasoning' was provided without
// its required following item".
func checkFinished(messages []sentMessage) (found []violation) {
	for _, m := range messages {
		reason := jsonText(m.fields["stopReason"])
		if m.role == "assistant" && (reason == "error" || reason == "aborted") {
			found = append(found, violation{m.at, "unfinished", reason})
		}
	}
	return found
}
