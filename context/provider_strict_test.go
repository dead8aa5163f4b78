package modelcontext_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
)

// checkStrict has the rules that a sound list in pi's form may break: a harness's
// adapter for a provider takes care of them, or they depend on the model. They are
// for what is made up here (ids, names, notes), and for lists on their way to a
// provider that is not the one they came from.
func checkStrict(list []json.RawMessage) []violation {
	messages, found := sentMessages(list)
	for _, check := range strictChecks {
		found = append(found, check(messages)...)
	}
	return violationsByPlace(found)
}

var strictChecks = []func([]sentMessage) []violation{
	checkIDForm, checkNameForm, checkResultNames, checkErrorImages, checkSystemPlace, checkEnd,
}

// portableName is what every provider takes for ids and names.
var portableName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// checkIDForm, rule id-form: Anthropic says: "tool_use.id: String should match pattern
// '^[a-zA-Z0-9_-]+$'"; Responses: "Invalid 'input[].call_id': string too long. Expected
// a string with maximum length 64". pi stores the ids of Responses as two with a bar
// between, and takes them apart when it sends them.
func checkIDForm(messages []sentMessage) []violation {
	return checkCalls(messages, func(call sentBlock) (rule, detail string) {
		if id := jsonText(call.fields["id"]); !portableName.MatchString(id) {
			return "id-form", id
		}
		return "", ""
	})
}

// checkNameForm, rule name-form: [Functions] has names of letters, digits, underscores
// and dashes, 64 at most; Bedrock the same; Anthropic 128. A model may call a tool
// that is not there, by a name that is not allowed, and the log then has it.
func checkNameForm(messages []sentMessage) []violation {
	return checkCalls(messages, func(call sentBlock) (rule, detail string) {
		if name := jsonText(call.fields["name"]); !portableName.MatchString(name) {
			return "name-form", name
		}
		return "", ""
	})
}

// checkResultNames, rule result-name: [Gemini]: a result has the name of its call.
func checkResultNames(messages []sentMessage) (found []violation) {
	names := map[string]string{}
	for _, m := range messages {
		for _, call := range m.calls() {
			names[jsonText(call.fields["id"])] = jsonText(call.fields["name"])
		}
		want, known := names[jsonText(m.fields["toolCallId"])]
		if got := jsonText(m.fields["toolName"]); m.role == "toolResult" && known && got != want {
			found = append(found, violation{m.at, "result-name", fmt.Sprintf("%q answers %q", got, want)})
		}
	}
	return found
}

// checkErrorImages, rule error-image: an error has text only. Anthropic says: "all
// content must be type "text" if "is_error" is true" (from memory; no thread was found
// that has it).
func checkErrorImages(messages []sentMessage) (found []violation) {
	for _, m := range messages {
		isImage := func(b sentBlock) bool { return b.kind == "image" }
		if m.role == "toolResult" && string(m.fields["isError"]) == "true" && slices.ContainsFunc(m.blocks(), isImage) {
			found = append(found, violation{m.at, "error-image", "an image in an error"})
		}
	}
	return found
}

// checkSystemPlace, rule system-place: [System], "Limitations": after the beginning, a
// system message follows what the user says (results are that), is not beside another,
// and is last or before the assistant. Older models take none there at all.
func checkSystemPlace(messages []sentMessage) (found []violation) {
	begun := false
	for i, m := range messages {
		if m.role != "system" {
			begun = true
			continue
		}
		if !begun {
			continue
		}
		before := messages[i-1].role
		if !userRoles[before] && before != "toolResult" && before != "developer" {
			found = append(found, violation{m.at, "system-place", "after " + before})
		}
		if i+1 < len(messages) && messages[i+1].role != "assistant" {
			found = append(found, violation{m.at, "system-place", "before " + messages[i+1].role})
		}
	}
	return found
}

// checkEnd, rule end: the user has the last word. Anthropic says: "This model does not
// support assistant message prefill. The conversation must end with a user message";
// where a model supports it: "final assistant content cannot end with trailing
// whitespace". A context ends with the assistant wherever a session waits for the
// user, whose words are then added.
func checkEnd(messages []sentMessage) []violation {
	if len(messages) == 0 {
		return []violation{{0, "end", "no message"}}
	}
	if m := messages[len(messages)-1]; m.role == "assistant" {
		return []violation{{m.at, "end", "ends with the assistant"}}
	}
	return nil
}
