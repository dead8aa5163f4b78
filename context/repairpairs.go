package modelcontext

import (
	"encoding/json"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// pair puts each call's result directly behind the answer, in the order of the
// calls, and makes ids unique; a call without a result gets one that says so.
// Results without a call go. (Anthropic: "tool_use ids were found without
// tool_result blocks immediately after"; OpenAI: "No tool output found".)
func (r *repairer) pair(list []Message) []Message {
	found := groups(list)
	ids := r.uniqueIDs(list, found)
	at := map[int]int{} // groups by the place of their answer
	answered := make([]bool, len(list))
	for n, g := range found {
		at[g.answer] = n
		for _, i := range g.results {
			if i >= 0 {
				answered[i] = true
			}
		}
	}
	out := make([]Message, 0, len(list))
	for i, m := range list {
		n, calls := at[i]
		switch {
		case calls:
			out = append(out, r.renamed(m, ids[n]))
			out = append(out, r.results(list, found[n], ids[n])...)
		case m.Role != RoleToolResult:
			out = append(out, m)
		case !answered[i]:
			r.note(m, DroppedResult, "no call before it has its id")
		}
	}
	return out
}

// uniqueIDs gives the id that each call of each group shall have.
func (r *repairer) uniqueIDs(list []Message, found []group) [][]string {
	taken, next := map[string]bool{}, map[string]int{}
	for _, g := range found { // a new id must not be one that comes later
		for _, call := range g.calls {
			taken[callID(call)] = true
		}
	}
	used := map[string]bool{}
	ids := make([][]string, len(found))
	for n, g := range found {
		for _, call := range g.calls {
			id := callID(call)
			if id == "" || used[id] {
				other := unusedID(id, taken, next)
				r.note(list[g.answer], RenamedCall, id+" is "+other)
				id, taken[other] = other, true
			}
			used[id] = true
			ids[n] = append(ids[n], id)
		}
	}
	return ids
}

// callID is a call's id; "" where it is none that can be sent.
func callID(call []byte) string {
	id := soundString(fieldOf(call, "id"))
	if isBlank(id) {
		return ""
	}
	return id
}

// renamed gives an answer whose calls have ids.
func (r *repairer) renamed(m Message, ids []string) Message {
	n, changed := 0, false
	var out []json.RawMessage
	for _, b := range blocks(m.Content()) {
		if kindOf(b) == "toolCall" {
			if callID(b) != ids[n] {
				b, changed = r.unsigned(m, jsonvalue.Set(b, "id", jsonvalue.AppendString(nil, ids[n]))), true // never nil: it is a call
			}
			n++
		}
		out = append(out, b)
	}
	if !changed {
		return m
	}
	return m.with("content", jsonvalue.Array(out...))
}

// results gives the results of a group, as they shall stand behind its answer.
func (r *repairer) results(list []Message, g group, ids []string) []Message {
	var out []Message
	next := g.answer + 1 // where the next result stands if nothing has to be moved
	at := list[g.answer].Field("timestamp")
	for n, i := range g.results {
		if i < 0 {
			m := r.missing(list[g.answer].Entry, at, g.calls[n], ids[n])
			r.note(m, AddedResult, ids[n])
			out = append(out, m)
			continue
		}
		m := list[i]
		if i != next {
			r.note(m, MovedResult, ids[n])
		}
		next++
		if soundString(m.Field("toolCallId")) != ids[n] {
			m = m.with("toolCallId", jsonvalue.AppendString(nil, ids[n]))
		}
		out = append(out, m)
	}
	return out
}

func (r *repairer) missing(answer entries.ID, timestamp, call []byte, id string) Message {
	state := r.ctx.call(answer, call).State
	o := new(object).raw("role", []byte(`"toolResult"`)).text("toolCallId", id)
	o.raw("toolName", fieldOf(call, "name")).raw("content", arrayOf(state.Result()))
	o.raw("isError", []byte("true")).raw("timestamp", timestamp)
	return Message{Role: RoleToolResult, Entry: answer, Raw: o.json(), made: true}
}
