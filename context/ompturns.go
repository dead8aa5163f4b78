package modelcontext

import (
	"encoding/json"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// withoutDangling takes out the calls that have no result anywhere in the list. An
// answer that loses one keeps its thinking only as plain text: signed blocks of an
// answer that was changed are refused by providers. An answer of nothing else goes.
func (b *builder) withoutDangling(list []Message) []Message {
	paired := map[string]bool{}
	for _, m := range list {
		if m.Role == RoleToolResult {
			paired[idText(m.Field("toolCallId"))] = true
		}
	}
	out := list[:0]
	for _, m := range list {
		if m.Role != RoleAssistant {
			out = append(out, m)
			continue
		}
		if m, ok := b.answered(m, paired); ok {
			out = append(out, m)
		}
	}
	return out
}

// answered gives an answer without its calls that have no result; ok is false where
// nothing is left of it.
func (b *builder) answered(m Message, paired map[string]bool) (_ Message, ok bool) {
	content := blocks(m.Content())
	dangling := func(block []byte) bool {
		return kindOf(block) == "toolCall" && !paired[idText(fieldOf(block, "id"))]
	}
	var kept []json.RawMessage
	dropped := 0
	for _, block := range content {
		switch {
		case dangling(block):
			dropped++
			b.ctx.Report.drop(m.Entry, DanglingCall, interpolated(fieldOf(block, "id")))
		case kindOf(block) != "redactedThinking":
			kept = append(kept, block)
		}
	}
	if dropped == 0 {
		return m, true
	}
	for i, block := range kept {
		if kindOf(block) == "thinking" && truthy(fieldOf(block, "thinkingSignature")) {
			kept[i] = jsonvalue.Set(block, "thinkingSignature", nil)
		}
	}
	return m.with("content", jsonvalue.Array(kept...)), len(kept) > 0
}

// idText is a call's id as a key: of a string its text, of any other value its JSON.
func idText(value []byte) string {
	if isString(value) {
		return jsonvalue.Exact(value)
	}
	return "\x00" + string(value)
}

// withoutFailed takes out answers that ended in an error or were aborted, with the
// results of their calls. One that the note about its interrupted thinking follows
// stays: rendering takes the unsafe part from it.
func (b *builder) withoutFailed(list []Message) []Message {
	f := &failing{list: list, gone: make([]bool, len(list)), results: map[string][]int{}}
	for i := len(list) - 1; i >= 0; i-- {
		switch m := list[i]; {
		case f.gone[i]:
		case m.Role == RoleAssistant && f.failed(i):
			b.ctx.Report.drop(m.Entry, FailedTurn, m.text("stopReason"))
			f.gone[i] = true
			b.withoutResults(f, i)
		case m.Role == RoleToolResult:
			id := idText(m.Field("toolCallId"))
			f.results[id] = append(f.results[id], i)
		}
		if !f.gone[i] {
			f.kept = append(f.kept, i)
		}
	}
	out := list[:0]
	for i, m := range list {
		if !f.gone[i] {
			out = append(out, m)
		}
	}
	return out
}

// A failing is the list on the way from its end up.
type failing struct {
	list    []Message
	gone    []bool
	kept    []int            // places that stay so far, the nearest last
	results map[string][]int // places of results so far, by call
}

// failed tells whether the answer at i is one that is not to be replayed.
func (f *failing) failed(i int) bool {
	if !failed(f.list[i]) {
		return false
	}
	for n := len(f.kept); n > 0 && f.gone[f.kept[n-1]]; n-- {
		f.kept = f.kept[:n-1]
	}
	if len(f.kept) == 0 {
		return true
	}
	next := f.list[f.kept[len(f.kept)-1]]
	return next.Role != RoleCustom || next.text("customType") != interruptedThinking
}

// interruptedThinking is the customType of the note that follows an answer which the
// user interrupted while it thought.
const interruptedThinking = "interrupted-thinking"

func (b *builder) withoutResults(f *failing, i int) {
	for _, block := range blocks(f.list[i].Content()) {
		if kindOf(block) != "toolCall" {
			continue
		}
		id := idText(fieldOf(block, "id"))
		for _, at := range f.results[id] {
			f.gone[at] = true
			b.ctx.Report.drop(f.list[at].Entry, FailedResult, interpolated(fieldOf(block, "id")))
		}
		delete(f.results, id)
	}
}

// arrayOrNone joins blocks; nil where there are none.
func arrayOrNone(list []json.RawMessage) []byte {
	if len(list) == 0 {
		return nil
	}
	return jsonvalue.Array(list...)
}
