package modelcontext_test

import (
	"encoding/json"
	"fmt"
	"slices"
)

// checkPairs has four rules.
//
//   - unanswered: a call has a result, directly after its message. [Tool calls]: "Tool
//     result blocks must immediately follow their corresponding tool use blocks", and
//     nothing may stand between. Anthropic says: "`tool_use` ids were found without
//     `tool_result` blocks immediately after"; [Chat] says: "An assistant message with
//     'tool_calls' must be followed by tool messages responding to each
//     'tool_call_id'"; Responses: "No tool output found for function call".
//   - orphan: a result answers a call of the assistant message before its run.
//     Anthropic says: "unexpected `tool_use_id` found in `tool_result` blocks. Each
//     `tool_result` block must have a corresponding `tool_use` block in the previous
//     message"; [Chat]: "messages with role 'tool' must be a response to a preceeding
//     message with 'tool_calls'"; Responses: "No tool call found for function call
//     output with call_id".
//   - twice: a call has one result. Anthropic says: "each tool_use must have a single
//     result. Found multiple `tool_result` blocks with id"; [Chat]: "Duplicate value
//     for 'tool_call_id'".
//   - order: results are in the order of their calls. This is stricter than Anthropic
//     and OpenAI, which match by id; it is for those that match by position ([Gemini]
//     has results without ids).
func checkPairs(messages []sentMessage) (found []violation) {
	var turn callRun
	for _, m := range messages {
		if m.role == "toolResult" {
			found = append(found, turn.answer(m)...)
			continue
		}
		found = append(found, turn.unanswered()...)
		turn = newCallRun(m)
	}
	return append(found, turn.unanswered()...)
}

// A callRun is an assistant message's calls, with the results that follow it.
type callRun struct {
	at       int
	ids      []string
	answered map[string]bool
	last     int // the place in ids of the latest result
}

func newCallRun(m sentMessage) callRun {
	run := callRun{at: m.at, answered: map[string]bool{}, last: -1}
	for _, call := range m.calls() {
		run.ids = append(run.ids, jsonText(call.fields["id"]))
	}
	return run
}

func (r *callRun) answer(result sentMessage) []violation {
	id := jsonText(result.fields["toolCallId"])
	place := slices.Index(r.ids, id)
	switch {
	case place < 0:
		return []violation{{result.at, "orphan", id}}
	case r.answered[id]:
		return []violation{{result.at, "twice", id}}
	}
	r.answered[id] = true
	if place < r.last {
		return []violation{{result.at, "order", id}}
	}
	r.last = place
	return nil
}

func (r *callRun) unanswered() (found []violation) {
	for _, id := range r.ids {
		if !r.answered[id] {
			found = append(found, violation{r.at, "unanswered", id})
		}
	}
	return found
}

func checkCalls(messages []sentMessage, check func(call sentBlock) (rule, detail string)) (found []violation) {
	for _, m := range messages {
		for _, call := range m.calls() {
			if rule, detail := check(call); rule != "" {
				found = append(found, violation{m.at, rule, detail})
			}
		}
	}
	return found
}

// checkCallIDs, rule id: a call's id is one of its own in the whole list, and not
// empty. [Tool calls]: "id: A unique identifier for this particular tool use block".
// Anthropic says: "`tool_use` ids must be unique"; OpenAI: "Duplicate item found with
// id".
func checkCallIDs(messages []sentMessage) []violation {
	seen := map[string]bool{}
	return checkCalls(messages, func(call sentBlock) (rule, detail string) {
		id := jsonText(call.fields["id"])
		switch {
		case isBlank(id):
			return "id", "empty"
		case seen[id]:
			return "id", "again " + id
		}
		seen[id] = true
		return "", ""
	})
}

// checkCallNames, rule name: a call names its tool ([Tool calls]: "name: The name of
// the tool being used"; [Functions]).
func checkCallNames(messages []sentMessage) []violation {
	return checkCalls(messages, func(call sentBlock) (rule, detail string) {
		if isBlank(jsonText(call.fields["name"])) {
			return "name", "empty"
		}
		return "", ""
	})
}

// checkArguments, rule arguments: [Tool calls]: "input: An object". Anthropic says:
// "tool_use.input: Input should be a valid dictionary".
func checkArguments(messages []sentMessage) []violation {
	return checkCalls(messages, func(call sentBlock) (rule, detail string) {
		var object map[string]json.RawMessage
		value := call.fields["arguments"]
		if json.Unmarshal(value, &object) != nil || object == nil {
			return "arguments", fmt.Sprintf("no object: %s", value)
		}
		return "", ""
	})
}
