package modelcontext_test

import (
	"encoding/json"
	"strings"
	"testing"

	modelcontext "github.com/sessctl/sessctl/context"
)

const (
	png    = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
	signed = `{"type":"thinking","thinking":"hm","thinkingSignature":"c2ln"}`
	hi     = `{"type":"text","text":"hi"}`
)

// repaired gives the repaired list in short, and what was changed.
func repaired(c *modelcontext.Context) (list, changes string) {
	fixed := c.Repair()
	var kinds []string
	for _, r := range fixed.Report.Repaired {
		kinds = append(kinds, string(r.Kind))
	}
	var parts []string
	for _, m := range fixed.Messages {
		part := m.Role
		if id := m.Field("toolCallId"); id != nil {
			part += strings.Trim(string(id), `"`)
		}
		for _, b := range blocksOf(m) {
			part += "/" + b
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " "), strings.Join(kinds, " ")
}

// blocksOf names the blocks of an answer: calls by their ids.
func blocksOf(m modelcontext.Message) (list []string) {
	var content []struct{ Type, ID string }
	if m.Role != modelcontext.RoleAssistant || json.Unmarshal(m.Content(), &content) != nil {
		return nil
	}
	for _, b := range content {
		list = append(list, b.Type+b.ID)
	}
	return list
}

func TestRepair(t *testing.T) {
	image := func(id, parent, fields string) string {
		return entry("message", id, parent, `"message":{"role":"user","content":[`+hi+`,{"type":"image",`+fields+`}]}`)
	}
	for _, c := range []struct {
		name          string
		lines         []string
		list, changes string
	}{
		{"nothing to do", []string{user("a", "", "1"), assistant("b", "a", signed+","+call("1"), "toolUse"), result("c", "b", "1", "x")},
			"user assistant/thinking/toolCall1 toolResult1", ""},
		{"a call without a result", []string{user("a", "", "1"), assistant("b", "a", call("1")+","+call("2"), "toolUse"), result("c", "b", "2", "x")},
			"user assistant/toolCall1/toolCall2 toolResult1 toolResult2", "added-result"},
		{"results out of order, and late", []string{user("a", "", "1"), assistant("b", "a", call("1")+","+call("2"), "toolUse"), result("c", "b", "2", "x"), user("d", "c", "2"), result("e", "d", "1", "x")},
			"user assistant/toolCall1/toolCall2 toolResult1 toolResult2 user", "moved-result moved-result"},
		{"results without a call, and a second one", []string{user("a", "", "1"), result("x", "a", "9", "x"), assistant("b", "x", call("1"), "toolUse"), result("c", "b", "1", "x"), result("d", "c", "1", "y")},
			"user assistant/toolCall1 toolResult1", "dropped-result dropped-result"},
		{"an id that is used again", []string{user("a", "", "1"), assistant("b", "a", call("1"), "toolUse"), result("c", "b", "1", "x"), assistant("d", "c", call("1")+","+call("1_2"), "toolUse"), result("e", "d", "1", "y"), result("f", "e", "1_2", "z")},
			"user assistant/toolCall1 toolResult1 assistant/toolCall1_3/toolCall1_2 toolResult1_3 toolResult1_2", "renamed-call"},
		{"calls without an id, a name, an object", []string{user("a", "", "1"), assistant("b", "a", `{"type":"toolCall","id":"","name":"","arguments":"x"}`, "toolUse")},
			"user assistant/toolCallcall_2 toolResultcall_2", "renamed-call added-result mended-call mended-call"},
		{"failed answers", []string{user("a", "", "1"), assistant("b", "a", hi, "aborted"), assistant("c", "b", call("1"), "error"), result("d", "c", "1", "x"), user("e", "d", "2")},
			"user custom user", "dropped-failed dropped-failed dropped-result noted-failed"},
		{"empty messages, blocks, results", []string{user("a", "", "1"), user("b", "a", "  "), assistant("c", "b", `{"type":"text","text":""},`+call("1"), "toolUse"),
			entry("message", "d", "c", `"message":{"role":"toolResult","toolCallId":"1","toolName":"bash","content":[]}`), assistant("e", "d", `{"type":"text","text":" "}`, "stop")},
			"user assistant/toolCall1 toolResult1", "dropped-block dropped-block dropped-empty filled-result dropped-empty"},
		{"thinking at the end, and alone", []string{user("a", "", "1"), assistant("b", "a", hi+","+signed, "stop"), user("c", "b", "2"), assistant("d", "c", signed, "length")},
			"user assistant/text user", "dropped-block dropped-block dropped-empty"},
		{"an empty text between signed thoughts", []string{user("a", "", "1"), assistant("b", "a", signed+`,{"type":"text","text":""},`+signed+","+hi, "stop")},
			"user assistant/thinking/thinking/text", "dropped-block unsigned-block unsigned-block"},
		{"an answer first", []string{assistant("b", "", hi, "stop")}, "user assistant/text", "added-first"},
		{"images", []string{image("a", "", `"data":"`+png+`","mimeType":"image/png"`), image("b", "a", `"data":"`+png+`","mimeType":"image/webp"`), image("c", "b", `"data":"blob:sha256:00","mimeType":"image/png"`)},
			"user user user", "replaced-image replaced-image"},
		{"half a pair", []string{entry("message", "a", "", `"message":{"role":"user","content":"\ud83d and \ud83d\ude00"}`)}, "user", "valid-text"},
		{"a role that no model is sent", []string{user("a", "", "1"), entry("message", "b", "a", `"message":{"role":"unheard-of"}`)}, "user", "dropped-unknown"},
		{"a summary that is none", []string{entry("compaction", "a", "", `"summary":7,"firstKeptEntryId":"a"`)}, "compactionSummary", "filled-summary"},
	} {
		got := contextOf(t, nil, append([]string{piHeader}, c.lines...)...)
		list, changes := repaired(got)
		if list != c.list || changes != c.changes {
			t.Errorf("%s: got %s (%s), want %s (%s)", c.name, list, changes, c.list, c.changes)
		}
		checkRepaired(t, c.name, got)
	}
}

// TestRepairTellsWhatIsKnown: the result that a call gets says whether it may have
// run, and a failed answer whose calls never started leaves no note.
func TestRepairTellsWhatIsKnown(t *testing.T) {
	promising := strings.Replace(piHeader, `"cwd"`, `"format":"sessiontree/1","records":["tool_execution_start"],"cwd"`, 1)
	for _, c := range []struct {
		header, start string
		text          string
		noted         bool
	}{
		{piHeader, "", "Whether this call ran is not known", true},
		{promising, "", "It did not run", false},
		{promising, `{"toolCallId":"1"}`, "It may have had effects", true},
	} {
		lines := []string{c.header, user("a", "", "1"), assistant("b", "a", call("1"), "toolUse")}
		failing := []string{c.header, user("a", "", "1"), assistant("b", "a", call("1"), "aborted")}
		if c.start != "" {
			start := entry("custom", "c", "b", `"customType":"tool_execution_start","data":`+c.start)
			lines, failing = append(lines, start), append(failing, start)
		}
		fixed := contextOf(t, nil, lines...).Repair()
		if got := string(fixed.Messages[2].Raw); !strings.Contains(got, c.text) || !strings.Contains(got, `"isError":true`) {
			t.Errorf("got %s, want %q", got, c.text)
		}
		fixed = contextOf(t, nil, failing...).Repair()
		if noted := len(fixed.Messages) == 2 && strings.Contains(string(fixed.Messages[1].Raw), "bash"); noted != c.noted {
			t.Errorf("%s, %q: a note is there: %v, want %v", c.header, c.start, noted, c.noted)
		}
	}
}
