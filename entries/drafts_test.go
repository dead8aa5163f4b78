package entries_test

import (
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/entries"
)

var (
	nowIsh  = regexp.MustCompile(`"timestamp":\d{13}\}`)
	startIs = regexp.MustCompile(`"startedAt":"([^"]+)"`)
)

// body gives what a draft's line has behind the envelope, with fixed times.
func body(t *testing.T, d entries.Draft) string {
	t.Helper()
	_, fields, ok := strings.Cut(line(t, d), `"timestamp":"2026-11-30T12:00:00.001Z",`)
	if !ok {
		t.Fatal("no envelope")
	}
	fields = nowIsh.ReplaceAllString(strings.TrimSuffix(fields, "}"), `"timestamp":0}`)
	return startIs.ReplaceAllString(fields, `"startedAt":"T"`)
}

func raws(values ...string) (list []json.RawMessage) {
	for _, v := range values {
		list = append(list, json.RawMessage(v))
	}
	return list
}

// TestDraftShapes: the records are those that docs/format.md shows, fields in order.
func TestDraftShapes(t *testing.T) {
	const tool = `{"name":"read","description":"Reads a file.","parameters":{"type":"object"}}`
	for what, c := range map[string]struct {
		draft entries.Draft
		want  string
	}{
		"a first prompt": {
			entries.SystemMessage(entries.System{
				Content:    "Be brief.",
				Sections:   map[string]json.RawMessage{"style": json.RawMessage(` "tabs" `), "files": json.RawMessage(`"a.go"`)},
				ToolsAdded: raws(`{ "name":"read","description":"Reads a file.","parameters":{"type":"object"} }`, `{"name":"bash"}`),
			}),
			`"message":{"role":"system","content":"Be brief.","sections":{"files":"a.go","style":"tabs"},"toolsAdded":[` + tool + `,{"name":"bash"}],"timestamp":0}`,
		},
		"a change of it": {
			entries.SystemMessage(entries.System{Sections: map[string]json.RawMessage{"style": json.RawMessage(`null`)}, ToolsRemoved: []string{"read", odd}}),
			`"message":{"role":"system","content":"","sections":{"style":null},"toolsRemoved":[{"name":"read"},{"name":` + quoted(odd) + `}],"timestamp":0}`,
		},
		"a prompt alone": {entries.SystemMessage(entries.System{Content: odd}), `"message":{"role":"system","content":` + quoted(odd) + `,"timestamp":0}`},
		"a section with an odd name": {
			entries.SystemMessage(entries.System{Sections: map[string]json.RawMessage{`a":1,"b`: json.RawMessage(`"x"`)}}),
			`"message":{"role":"system","content":"","sections":{"a\":1,\"b":"x"},"timestamp":0}`,
		},
		"text and an image": {
			entries.UserBlocks(entries.TextBlock("see"), entries.ImageBlock("image/png", "iVBORw0KGgo=")),
			`"message":{"role":"user","content":[{"type":"text","text":"see"},{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}],"timestamp":0}`,
		},
		"no blocks": {entries.UserBlocks(), `"message":{"role":"user","content":[],"timestamp":0}`},
		"the start of a tool": {
			entries.ToolExecutionStart("call_1|"+odd, "bash"),
			`"customType":"tool_execution_start","data":{"toolCallId":` + quoted("call_1|"+odd) + `,"toolName":"bash","startedAt":"T"}`,
		},
	} {
		if got := body(t, c.draft); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", what, got, c.want)
		}
	}
}

// quoted is text as drafts write it.
func quoted(text string) string {
	block := string(entries.TextBlock(text))
	return strings.TrimSuffix(strings.TrimPrefix(block, `{"type":"text","text":`), "}")
}

// TestNewDraftsAreReadBack: by the views, with what is not written left empty.
func TestNewDraftsAreReadBack(t *testing.T) {
	user := seen[entries.Message](t)(written(t, entries.UserBlocks(entries.TextBlock(odd), entries.ImageBlock("image/png", "QUJD"))).Message())
	blocks := user.Blocks()
	if len(blocks) != 2 || blocks[0].Text != odd || blocks[1].MimeType != "image/png" || blocks[1].DataSize != 4 || string(blocks[1].Raw) != string(entries.ImageBlock("image/png", "QUJD")) {
		t.Errorf("got %+v", blocks)
	}
	system := seen[entries.Message](t)(written(t, entries.SystemMessage(entries.System{Content: odd})).Message())
	if system.Role != "system" || system.Text() != odd {
		t.Errorf("got %+v", system)
	}
	result := entries.ToolResult("c1", "read", nil, false, json.RawMessage(`{ "exit": 1e400 }`))
	if m := seen[entries.Message](t)(written(t, result).Message()); string(m.Details) != `{"exit":1e400}` || string(m.Content) != "[]" {
		t.Errorf("got details %s and content %s", m.Details, m.Content)
	}
	before := time.Now().Add(-time.Second)
	started := entries.ToolExecutionStart("c1", "bash")
	custom := seen[entries.Custom](t)(written(t, started).Custom())
	found := startIs.FindSubmatch(custom.Data)
	if found == nil || custom.CustomType != entries.CustomToolExecutionStart || !started.Irrevocable() {
		t.Fatalf("got %+v, irrevocable %v", custom, started.Irrevocable())
	}
	if at := entries.ParseTime(string(found[1])); at.Before(before) || at.After(time.Now()) {
		t.Errorf("got startedAt %s, want now", found[1])
	}
}

// TestMessageDraftsThatAreRefused: JSON of a caller's, or of a model's, is one value and
// cannot end early and go on with fields.
func TestMessageDraftsThatAreRefused(t *testing.T) {
	section := func(value string) entries.Draft {
		return entries.SystemMessage(entries.System{Sections: map[string]json.RawMessage{"good": json.RawMessage(`"x"`), "bad": json.RawMessage(value)}})
	}
	tools := func(values ...string) entries.Draft {
		return entries.SystemMessage(entries.System{ToolsAdded: raws(values...)})
	}
	for what, d := range map[string]entries.Draft{
		"a section":               section(`"x`),
		"an empty section":        section(``),
		"a section that goes on":  section(`"x"},"role":"user","y":{"z":1`),
		"a tool":                  tools(`{"name":"read"}`, `{"name"}`),
		"no tool":                 tools(`{}`, ``),
		"a tool that goes on":     tools(`{}],"role":"user","x":[{}`),
		"a block":                 entries.UserBlocks(entries.TextBlock("a"), json.RawMessage(`{"type":"image"`)),
		"no block":                entries.UserBlocks(nil, entries.TextBlock("a")),
		"a block that goes on":    entries.UserBlocks(json.RawMessage(`{}],"role":"system","x":[{}`)),
		"a block with a bad call": entries.UserBlocks(entries.ToolCallBlock("c", "n", json.RawMessage(`{`))),
		"a block, then a comment": entries.UserBlocks(json.RawMessage(`{"type":"text","text":"a"} //`)),
	} {
		if !errors.Is(d.Err(), entries.ErrDraft) {
			t.Errorf("%s: got %v, want ErrDraft", what, d.Err())
		}
	}
}

// TestBlocksAreWhole: a block has its signature, and the bytes as they are stored.
func TestBlocksAreWhole(t *testing.T) {
	content := raws(`{"type":"thinking","thinking":"hm","thinkingSignature":"c2ln"}`, `{"type":"text","text":"a","textSignature":"dGV4dA"}`,
		`{"type":"toolCall","id":"c","name":"n","arguments":{},"thoughtSignature":"Y2FsbA"}`, `{"type":"redactedThinking","data":"eA==","x":1e400}`,
		`{"type":"text","text":"b","textSignature":{"v":1}}`)
	var signatures []string
	blocks := entries.Blocks([]byte("[" + strings.Join([]string{string(content[0]), " " + string(content[1]), string(content[2]), string(content[3]), string(content[4])}, ",") + "]"))
	for i, b := range blocks {
		signatures = append(signatures, b.Signature)
		if string(b.Raw) != string(content[i]) {
			t.Errorf("got %s, want %s", b.Raw, content[i])
		}
	}
	if got := strings.Join(signatures, " "); got != "c2ln dGV4dA Y2FsbA  " {
		t.Errorf("got signatures %q", got)
	}
	if b := entries.Blocks([]byte(`"a \u0041"`)); len(b) != 1 || b[0].Text != "a A" || string(b[0].Raw) != `{"type":"text","text":"a A"}` {
		t.Errorf("got %+v, want one block of text", b)
	}
}

// rolesAndBlocks reads the tables of the section Messages of docs/format.md: what a row
// is about, and its fields.
func rolesAndBlocks(t *testing.T) (section string, rows map[string]string) {
	t.Helper()
	page, err := os.ReadFile("../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ = strings.Cut(string(page), "\n## Messages\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows = map[string]string{}
	for row := range strings.Lines(section) {
		if cells := strings.Split(row, " | "); strings.HasPrefix(row, "| `") {
			rows[strings.Trim(cells[0], "| `")] = cells[1]
		}
	}
	return section, rows
}

// TestMessagesAreDocumented: docs/format.md lists the fields of what drafts write, and
// its examples are messages.
func TestMessagesAreDocumented(t *testing.T) {
	section, rows := rolesAndBlocks(t)
	check := func(about string, object []byte, given ...string) {
		t.Helper()
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(object, &fields); err != nil {
			t.Fatalf("%s: %v", object, err)
		}
		for _, name := range given {
			delete(fields, name)
		}
		for name := range fields {
			if !regexp.MustCompile("`" + name + "\\??`").MatchString(rows[about]) {
				t.Errorf("docs/format.md does not list %s of %s", name, about)
			}
		}
	}
	checkMessage := func(object []byte) {
		t.Helper()
		m := entries.ParseMessage(object)
		check(m.Role, object, "role", "timestamp")
		if len(m.Content) > 0 && m.Content[0] == '[' {
			for _, b := range m.Blocks() {
				check(b.Type, b.Raw, "type")
			}
		}
	}
	call := entries.ToolCallBlock("c", "n", json.RawMessage(`{}`))
	for _, d := range []entries.Draft{
		entries.SystemMessage(entries.System{Sections: map[string]json.RawMessage{"a": json.RawMessage("null")}, ToolsAdded: raws("{}"), ToolsRemoved: []string{"x"}}),
		entries.UserBlocks(entries.TextBlock("a"), entries.ImageBlock("image/png", "QUJD")), entries.ToolResult("c", "n", nil, true, json.RawMessage(`{}`)),
		entries.AssistantMessage(entries.Assistant{Content: []json.RawMessage{entries.ThinkingBlock("a", "s"), call}, StopReason: "error", Error: "overloaded"}),
	} {
		checkMessage([]byte(strings.TrimPrefix(body(t, d), `"message":`)))
	}
	examples := regexp.MustCompile(`(?m)^\{.*\}$`).FindAllString(section, -1)
	if len(examples) < 7 || len(rows) < 11 {
		t.Errorf("found only %d examples and %d rows", len(examples), len(rows))
	}
	for _, e := range examples {
		checkMessage([]byte(e))
	}
}
