package entries_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/entries"
)

var draftTime = time.Date(2026, 11, 30, 12, 0, 0, 1_999_999, time.UTC)

// line gives the entry of a draft, without a sum.
func line(t *testing.T, d entries.Draft) string {
	t.Helper()
	if d.Err() != nil {
		t.Fatal(d.Err())
	}
	raw := string(d.Append(nil, "E1", "E0", draftTime)) + "}"
	if !json.Valid([]byte(raw)) {
		t.Fatalf("not JSON: %.300s", raw)
	}
	return raw
}

// written reads a draft's entry.
func written(t *testing.T, d entries.Draft) entries.Entry {
	t.Helper()
	return entry(d.Type(), line(t, d))
}

// seen is what a view gives.
func seen[V any](t *testing.T) func(v V, err error) V {
	return func(v V, err error) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

const odd = "a \"quote\" \\ and </script> \u2028 \U0001F600 \x00\x1f\x7f"

func TestDraftsAreReadBack(t *testing.T) {
	details := json.RawMessage(`{"n":1e400,"s":"\ud83d"}`)
	check := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", what, got, want)
		}
	}
	from := written(t, entries.BranchSummaryDraft("E5", odd, details))
	check("branch summary", seen[entries.BranchSummary](t)(from.BranchSummary()), entries.BranchSummary{From: "E5", Summary: odd, Details: details})
	kept := written(t, entries.CompactionDraft(odd, "E3", 1e21, nil))
	check("compaction", seen[entries.Compaction](t)(kept.Compaction()),
		entries.Compaction{Summary: odd, FirstKept: "E3", FirstKeptIndex: -1, TokensBefore: 1e21})
	own := written(t, entries.CustomDraft(odd, details))
	check("custom", seen[entries.Custom](t)(own.Custom()), entries.Custom{CustomType: odd, Data: details})
	hint := written(t, entries.CustomMessageDraft("hint", json.RawMessage(`"text"`), true, details))
	check("custom message", seen[entries.CustomMessage](t)(hint.CustomMessage()),
		entries.CustomMessage{CustomType: "hint", Content: json.RawMessage(`"text"`), Display: true, Details: details})
	label := written(t, entries.LabelDraft("E3", odd))
	check("label", seen[entries.Label](t)(label.Label()), entries.Label{Target: "E3", Label: odd})
	cleared := written(t, entries.LabelDraft("E3", ""))
	check("label, cleared", seen[entries.Label](t)(cleared.Label()), entries.Label{Target: "E3"})
	for _, f := range []struct {
		draft       entries.Draft
		name, value string
	}{
		{entries.SessionInfoDraft(odd), "name", odd},
		{entries.SessionInfoDraft(""), "name", ""},
		{entries.ModelChangeDraft("acme", "large"), "provider", "acme"},
		{entries.ModelChangeDraft("acme", "large"), "modelId", "large"},
		{entries.ThinkingLevelDraft("high"), "thinkingLevel", "high"},
	} {
		check(f.name, seen[string](t)(written(t, f.draft).Field(f.name)), f.value)
	}
	for _, left := range []entries.ID{"", "E7"} {
		c := seen[entries.Custom](t)(written(t, entries.LeafDraft(left, "undo")).Custom())
		m, ok := c.LeafMarker()
		check("leaf marker", m, entries.LeafMarker{From: left, Reason: "undo"})
		check("leaf marker", ok, true)
	}
}

func TestMessageDraftsAreReadBack(t *testing.T) {
	user := seen[entries.Message](t)(written(t, entries.UserMessage(odd)).Message())
	if user.Role != "user" || user.Text() != odd {
		t.Errorf("got %+v", user)
	}
	answer := entries.AssistantMessage(entries.Assistant{
		Content: []json.RawMessage{
			entries.ThinkingBlock("hm", "c2ln"), entries.TextBlock(odd), entries.ToolCallBlock("c1", "read", json.RawMessage(`{ "n": 10000000000000000001 }`)),
		},
		API: "api", Provider: "acme", Model: "large", StopReason: "error", Error: "overloaded",
		Usage: entries.Tokens{Input: 10, Output: 5, CacheRead: 2, CacheWrite: 1, Cost: 0.1},
	})
	m := seen[entries.Message](t)(written(t, answer).Message())
	if m.Role != "assistant" || m.Provider != "acme" || m.Model != "large" || m.StopReason != "error" || m.Error != "overloaded" || m.ContextTokens() != 18 {
		t.Errorf("got %+v", m)
	}
	blocks := m.Blocks()
	if len(blocks) != 3 || blocks[0].Text != "hm" || blocks[1].Text != odd || blocks[2].Name != "read" || string(blocks[2].Arguments) != `{"n":10000000000000000001}` {
		t.Errorf("got blocks %+v", blocks)
	}
	result := entries.ToolResult("c1", "read", []json.RawMessage{entries.TextBlock("none")}, true, json.RawMessage(`{"exit":1}`))
	r := seen[entries.Message](t)(written(t, result).Message())
	if r.Role != "toolResult" || r.ToolCallID != "c1" || r.ToolName != "read" || !r.IsError || r.Text() != "none" {
		t.Errorf("got %+v", r)
	}
	empty := seen[entries.Message](t)(written(t, entries.AssistantMessage(entries.Assistant{})).Message())
	if string(empty.Content) != "[]" {
		t.Errorf("got content %s, want an empty list", empty.Content)
	}
}

// TestEnvelope: the four leading fields in their order, and what a draft brings
// along of them.
func TestEnvelope(t *testing.T) {
	d := entries.SessionInfoDraft("n")
	for _, c := range []struct{ got, want string }{
		{line(t, d), `{"type":"session_info","id":"E1","parentId":"E0","timestamp":"2026-11-30T12:00:00.001Z","name":"n"}`},
		{string(d.Append(nil, "E1", "", draftTime)), `{"type":"session_info","id":"E1","parentId":null,"timestamp":"2026-11-30T12:00:00.001Z","name":"n"`},
		{line(t, d.WithTime(draftTime.Add(time.Hour).In(time.FixedZone("", 3600)))),
			`{"type":"session_info","id":"E1","parentId":"E0","timestamp":"2026-11-30T13:00:00.001Z","name":"n"}`},
		{line(t, entries.Raw([]byte(` { "a" : 1 , "type":"x","parentId":"E9","timestamp":"2026-01-01T00:00:00Z","id":"E8"}`))),
			`{"type":"x","id":"E1","parentId":"E0","timestamp":"2026-01-01T00:00:00.000Z","a":1}`},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
	if raw := entries.Raw([]byte(`{"type":"x","id":"E8"}`)); raw.ID() != "E8" || raw.WithID("E9").ID() != "E9" || raw.ID() != "E8" {
		t.Errorf("got id %s", raw.ID())
	}
	if string(d.Append([]byte("before "), "E1", "", draftTime))[:8] != "before {" {
		t.Error("what stood in dst is gone")
	}
}

// TestRawIsOnlyCompacted: nothing but white space between tokens goes.
func TestRawIsOnlyCompacted(t *testing.T) {
	deep := strings.Repeat(`[ {"a": `, 200_000) + "1" + strings.Repeat("} ]", 200_000)
	for _, c := range []string{
		`"a  b\t\u0041\/ \ud83d <&>"`, `12345678901234567890.10E+05`, `-0`, `1e400`, `{"a":1,"a":2,"":[ ]}`,
		"\"\u2028\xff\"", "\n[ 1 ,\t2 ,\r{ } ]", `{"__proto__": {"crc": "x", "more": true, "type": "session"}}`, `"\\"`, `"\\\""`, `null`, deep,
	} {
		d := entries.Raw([]byte(` {"type":"x", "k\u0065y": ` + c + "}\n"))
		if d.Err() != nil {
			t.Errorf("%.60s: %v", c, d.Err())
			continue
		}
		got := string(d.Append(nil, "E1", "", draftTime))
		want := squeeze(c)
		if i := strings.Index(got, `,"k\u0065y":`); i < 0 || got[i+12:] != want {
			t.Errorf("got %.200s, want %.100s", got, want)
		}
	}
}

// squeeze takes out white space, byte by byte and slowly.
func squeeze(s string) string {
	var out []byte
	inside := false
	for i := range len(s) {
		if s[i] == '"' && !escaped(s, i) {
			inside = !inside
		}
		if inside || !strings.ContainsRune(" \t\r\n", rune(s[i])) {
			out = append(out, s[i])
		}
	}
	return string(out)
}

func escaped(s string, i int) bool {
	n := 0
	for i > 0 && s[i-1] == '\\' {
		i, n = i-1, n+1
	}
	return n%2 == 1
}

func TestDraftsThatAreRefused(t *testing.T) {
	raw := func(s string) entries.Draft { return entries.Raw([]byte(s)) }
	call := func(arguments string) entries.Draft {
		return entries.AssistantMessage(entries.Assistant{Content: []json.RawMessage{entries.ToolCallBlock("c", "n", []byte(arguments))}})
	}
	for what, d := range map[string]entries.Draft{
		"no JSON":              raw(`{"type":"x"`),
		"nothing":              raw(""),
		"an array":             raw(`["type","x"]`),
		"a string":             raw(`"type"`),
		"null":                 raw(`null`),
		"two objects":          raw(`{"type":"x"}{"type":"x"}`),
		"a comma too much":     raw(`{"type":"x",}`),
		"no type":              raw(`{"id":"E1"}`),
		"a type that is none":  raw(`{"type":1}`),
		"a header":             raw(`{"type":"session","id":"s"}`),
		"an escaped header":    raw(`{"type":"ses\u0073ion","id":"s"}`),
		"crc":                  raw(`{"type":"x","crc":"0"}`),
		"crc, escaped":         raw(`{"type":"x","\u0063rc":"0"}`),
		"more":                 raw(`{"type":"x","more":true}`),
		"a doubled field":      raw(`{"type":"x","a":1,"a":1}`),
		"a doubled empty one":  raw(`{"type":"x","":1,"":1}`),
		"doubled by escaping":  raw(`{"type":"x","a":1,"\u0061":1}`),
		"a doubled type":       raw(`{"type":"x","type":"x"}`),
		"a raw newline":        raw("{\"type\":\"x\",\"a\":\"\n\"}"),
		"data":                 entries.CustomDraft("x", []byte(`{"a":1}}`)),
		"data that goes on":    entries.CustomDraft("x", []byte(`1,"crc":"0"`)),
		"empty data":           entries.CustomDraft("x", []byte{}),
		"details":              entries.BranchSummaryDraft("E1", "s", []byte(`{`)),
		"message":              entries.MessageDraft([]byte(`{"role":"user"`)),
		"message, none":        entries.MessageDraft(nil),
		"message, a string":    entries.MessageDraft([]byte(` "hello"`)),
		"arguments":            call(`{"a":`),
		"no arguments":         call(``),
		"arguments that go on": call(`{},"name":"rm"`),
		"arguments, a comment": call(`{} //`),
		"a result's details":   entries.ToolResult("c", "n", nil, false, []byte(`nul`)),
		"a block":              entries.ToolResult("c", "n", []json.RawMessage{[]byte(`{"type"}`)}, false, nil),
	} {
		if !errors.Is(d.Err(), entries.ErrDraft) {
			t.Errorf("%s: got %v, want ErrDraft", what, d.Err())
		}
	}
}

// TestHugeDraft: a body has no largest size.
func TestHugeDraft(t *testing.T) {
	text := strings.Repeat("all work and no play \\ \" \n", 1<<20)
	m := seen[entries.Message](t)(written(t, entries.UserMessage(text)).Message())
	if m.Text() != text {
		t.Errorf("got %d bytes back, want %d", len(m.Text()), len(text))
	}
}

// TestIrrevocable: in whatever way the draft is made.
func TestIrrevocable(t *testing.T) {
	for customType, want := range map[string]bool{
		"tool_execution_start": true, "file-snapshot": true, "file-restore": true, "checkpoint-state": true,
		"leaf": false, "note": false, "": false,
	} {
		for _, d := range []entries.Draft{
			entries.CustomDraft(customType, nil),
			entries.Raw(fmt.Appendf(nil, `{"type":"custom","data":{},"customType":%q}`, customType)),
			entries.Raw(fmt.Appendf(nil, `{"customType" : %q,"type":"custom"}`, customType)).WithID("E1"),
		} {
			if d.Irrevocable() != want {
				t.Errorf("%q: got %v, want %v", customType, d.Irrevocable(), want)
			}
		}
	}
	if !entries.BranchSummaryDraft("", "", nil).Irrevocable() || !entries.Raw([]byte(`{"type":"branch_summary"}`)).Irrevocable() {
		t.Error("a branch summary is irrevocable")
	}
	if entries.CustomMessageDraft("file-snapshot", []byte(`""`), false, nil).Irrevocable() {
		t.Error("a custom message is not")
	}
}

// TestDraftsKeepNothingOfTheCaller: the bytes that a draft is made of may change.
func TestDraftsKeepNothingOfTheCaller(t *testing.T) {
	data := []byte(`{"type":"x","a":[1]}`)
	drafts := []entries.Draft{entries.Raw(data), entries.CustomDraft("c", data), entries.MessageDraft(data)}
	var before []string
	for _, d := range drafts {
		before = append(before, line(t, d))
	}
	for i := range data {
		data[i] = '!'
	}
	for i, d := range drafts {
		if got := line(t, d); got != before[i] {
			t.Errorf("got %s, want %s", got, before[i])
		}
	}
}
