package modelcontext_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/sessiontree"
)

const (
	piHeader  = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/p"}`
	v1Header  = `{"type":"session","id":"s","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/p"}`
	ompHeader = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/p","title":"t","titleSource":"auto"}`
	at        = `"timestamp":"2026-01-05T09:00:01.000Z"`
)

// entry writes a record of a log: id and parent, then its fields.
func entry(kind, id, parent, fields string) string {
	up := "null"
	if parent != "" {
		up = `"` + parent + `"`
	}
	return fmt.Sprintf(`{"type":%q,"id":%q,"parentId":%s,%s,%s}`, kind, id, up, at, fields)
}

func user(id, parent, text string) string {
	return entry("message", id, parent, fmt.Sprintf(`"message":{"role":"user","content":%q,"timestamp":1}`, text))
}

func assistant(id, parent, blocks, stop string) string {
	return entry("message", id, parent, fmt.Sprintf(`"message":{"role":"assistant","content":[%s],"provider":"acme","model":"m","stopReason":%q,"timestamp":1}`, blocks, stop))
}

func call(id string) string {
	return fmt.Sprintf(`{"type":"toolCall","id":%q,"name":"bash","arguments":{"command":"ls"}}`, id)
}

func result(id, parent, callID, text string) string {
	return entry("message", id, parent, fmt.Sprintf(`"message":{"role":"toolResult","toolCallId":%q,"toolName":"bash","content":[{"type":"text","text":%q}],"isError":false,"timestamp":1}`, callID, text))
}

func logOf(lines ...string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }

// contextOf builds the context at the leaf.
func contextOf(t *testing.T, opt *modelcontext.Options, lines ...string) *modelcontext.Context {
	t.Helper()
	tree := readLog(t, logOf(lines...))
	c, err := modelcontext.Build(tree, tree.Leaf(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// shape is a context in short: the entry and role of each message.
func shape(c *modelcontext.Context) string {
	var parts []string
	for _, m := range c.Messages {
		parts = append(parts, string(m.Entry)+":"+m.Role)
	}
	return strings.Join(parts, " ")
}

func reasons(c *modelcontext.Context) string {
	var parts []string
	for _, d := range c.Report.Dropped {
		parts = append(parts, string(d.Entry)+":"+string(d.Reason))
	}
	return strings.Join(parts, " ")
}

// TestSelection: what is in a context, and what is reported not to be. Each case is
// also one of docs/context.md.
func TestSelection(t *testing.T) {
	compaction := func(id, parent, kept, more string) string {
		return entry("compaction", id, parent, `"summary":"so far","firstKeptEntryId":"`+kept+`","tokensBefore":9`+more)
	}
	for _, c := range []struct {
		name           string
		opt            *modelcontext.Options
		lines          []string
		shape, reasons string
	}{
		{"the path alone", nil, []string{piHeader, user("a", "", "1"), user("x", "a", "left"), user("b", "a", "2")}, "a:user b:user", ""},
		{"a compaction keeps the rest of its path", nil,
			[]string{piHeader, user("a", "", "1"), user("b", "a", "2"), compaction("c", "b", "b", ""), user("d", "c", "3")},
			"c:compactionSummary b:user d:user", ""},
		{"one that keeps itself keeps nothing", nil,
			[]string{piHeader, user("a", "", "1"), compaction("c", "a", "c", ""), user("d", "c", "3")}, "c:compactionSummary d:user", ""},
		{"one whose first kept entry is elsewhere", nil,
			[]string{piHeader, user("a", "", "1"), user("x", "a", "off"), compaction("c", "a", "x", ""), user("d", "c", "3")},
			"c:compactionSummary d:user", "c:kept-not-on-path"},
		{"an older one in the kept range", nil,
			[]string{piHeader, user("a", "", "1"), compaction("c", "a", "a", ""), user("b", "c", "2"), compaction("d", "b", "a", "")},
			"d:compactionSummary a:user b:user", "c:older-compaction"},
		{"a kept system message, and the replayed one", nil,
			[]string{piHeader, entry("message", "s1", "", `"message":{"role":"system","content":"be brief"}`), user("a", "s1", "1"),
				compaction("c", "a", "s1", `,"systemMessage":{"role":"system","content":"be brief"}`)},
			"c:system c:compactionSummary a:user", "s1:older-system"},
		{"a compaction that has what it keeps", nil,
			[]string{piHeader, user("a", "", "1"), entry("compaction", "c", "a", `"summary":"so far","tokensBefore":9,"retainedTail":[{"role":"user","content":"1"},7]`)},
			"c:compactionSummary c:user", ""},
		{"edits", nil,
			[]string{piHeader, user("a", "", "1"), user("b", "a", "2"), entry("context_edit", "e", "b", `"targetId":"a","replacement":null`),
				entry("context_edit", "f", "e", `"targetId":"b","replacement":{"content":"other"}`), entry("context_edit", "g", "f", `"targetId":"b"`)},
			"b:user", "a:edited-away g:bad-edit"},
		{"summaries and custom messages, shown or not", nil,
			[]string{piHeader, user("a", "", "1"), entry("branch_summary", "b", "a", `"summary":"left","fromId":"x"`),
				entry("branch_summary", "m", "b", `"summary":"","fromId":"x"`), entry("custom_message", "h", "m", `"customType":"n","content":"hint","display":false`),
				entry("custom", "n", "h", `"customType":"n","data":1`), entry("label", "l", "n", `"targetId":"a","label":"x"`)},
			"a:user b:branchSummary h:custom", "m:no-summary"},
		{"messages that are none", nil,
			[]string{piHeader, entry("message", "a", "", `"message":null`), entry("message", "b", "a", `"x":1`), entry("message", "c", "b", `"message":"text"`), user("d", "c", "1")},
			"d:user", "a:not-a-message b:not-a-message c:not-a-message"},
		{"an orphan", nil, []string{piHeader, user("b", "gone", "1")}, "b:user", "b:orphan"},
		{"a cycle", nil, []string{piHeader, user("a", "b", "1"), user("b", "a", "2")}, "a:user b:user", "a:cycle"},
		{"version 1 counts positions", nil,
			[]string{v1Header, `{"type":"message",` + at + `,"message":{"role":"user","content":"1"}}`, `{"type":"message",` + at + `,"message":{"role":"user","content":"2"}}`,
				`{"type":"compaction",` + at + `,"summary":"so far","firstKeptEntryIndex":2,"tokensBefore":9}`},
			"v1-274:compactionSummary v1-176:user", ""},
		{"omp: a reset", nil,
			[]string{ompHeader, user("a", "", "1"), entry("reset_boundary", "r", "a", `"x":1`), user("b", "r", "2")}, "b:user", ""},
		{"omp: failed answers, dangling calls", nil,
			[]string{ompHeader, user("a", "", "1"), assistant("b", "a", call("1"), "aborted"), result("c", "b", "1", "x"),
				assistant("d", "c", `{"type":"text","text":"t"},`+call("2"), "toolUse"), assistant("e", "d", "", "error")},
			"a:user d:assistant", "b:failed-turn c:failed-result d:dangling-call e:empty-error"},
		{"omp: what modes said, and unusable content", nil,
			[]string{ompHeader, user("a", "", "1"), entry("custom_message", "b", "a", `"customType":"vibe-mode-context","content":"x","display":false`),
				entry("custom_message", "c", "b", `"customType":"n","content":7,"display":false`)},
			"a:user", "b:mode-context c:bad-content"},
		{"the dialect can be forced", &modelcontext.Options{Dialect: modelcontext.Omp},
			[]string{piHeader, user("a", "", "1"), assistant("b", "a", call("1"), "toolUse")}, "a:user", "b:dangling-call"},
	} {
		got := contextOf(t, c.opt, c.lines...)
		if shape(got) != c.shape || reasons(got) != c.reasons {
			t.Errorf("%s: got %s (%s), want %s (%s)", c.name, shape(got), reasons(got), c.shape, c.reasons)
		}
	}
}

func TestLeaves(t *testing.T) {
	tree := readLog(t, logOf(piHeader, user("a", "", "1"), user("b", "a", "2")))
	if c, err := modelcontext.Build(tree, "", nil); err != nil || len(c.Messages) != 0 || c.Thinking != "off" {
		t.Errorf("before the first entry: got %+v (%v), want nothing, and thinking off", c, err)
	}
	if _, err := modelcontext.Build(tree, "nobody", nil); !errors.Is(err, sessiontree.ErrNotFound) {
		t.Errorf("an unknown leaf: got %v, want ErrNotFound", err)
	}
	if _, err := modelcontext.Build(tree, "a", &modelcontext.Options{Dialect: "claude"}); err == nil {
		t.Error("an unknown dialect: got no error")
	}
}

// TestStoredBytes: what is not touched keeps its bytes.
func TestStoredBytes(t *testing.T) {
	message := `{"role":"user", "content":"\ud83d and \u00e9", "n":12345678901234567890, "n":1e400}`
	c := contextOf(t, nil, piHeader, entry("message", "a", "", `"message":`+message), entry("label", "b", "a", `"targetId":"a"`))
	if got := string(c.Messages[0].Raw); got != message {
		t.Errorf("got %s, want %s", got, message)
	}
}

func TestSettings(t *testing.T) {
	lines := []string{
		piHeader, entry("thinking_level_change", "t", "", `"thinkingLevel":"high"`), entry("model_change", "m", "t", `"provider":"acme","modelId":"big"`),
		user("a", "m", strings.Repeat("x", 300)), assistant("b", "a", `{"type":"text","text":"hi"}`, "stop"),
		entry("compaction", "c", "b", `"summary":"s","firstKeptEntryId":"c","tokensBefore":1`), user("d", "c", "2"),
	}
	c := contextOf(t, nil, lines...)
	if c.Thinking != "high" || c.Model != (modelcontext.Model{Provider: "acme", ID: "m"}) || !c.Complete {
		t.Errorf("got %+v, want high, the answer's model, complete", c.Settings)
	}
	c = contextOf(t, &modelcontext.Options{Lookback: 1}, lines...)
	if c.Thinking != "" || c.Complete {
		t.Errorf("without looking back: got %+v, want the thinking level unknown", c.Settings)
	}
}

// TestNativeCompactionTellsSettings: nobody goes behind it, whatever stands there.
func TestNativeCompactionTellsSettings(t *testing.T) {
	native := strings.Replace(piHeader, `"cwd"`, `"format":"sessiontree/1","records":[],"cwd"`, 1)
	c := contextOf(t, nil, native, entry("thinking_level_change", "t", "", `"thinkingLevel":"high"`),
		entry("compaction", "c", "t", `"summary":"s","firstKeptEntryId":"c","tokensBefore":1,"details":{"settings":{"model":{"provider":"acme","modelId":"big"},"thinkingLevel":"low"}}`),
		user("d", "c", "2"))
	if c.Thinking != "low" || c.Model.ID != "big" || !c.Complete {
		t.Errorf("got %+v, want low and big, complete", c.Settings)
	}
}

func TestPendingCalls(t *testing.T) {
	header := strings.Replace(piHeader, `"cwd"`, `"format":"sessiontree/1","records":["tool_execution_start"],"cwd"`, 1)
	lines := []string{
		header, user("a", "", "1"), assistant("b", "a", call("1")+","+call("2")+","+call("3"), "toolUse"),
		entry("custom", "c", "b", `"customType":"tool_execution_start","data":{"toolCallId":"2"}`), result("d", "c", "1", "done"),
	}
	tree := readLog(t, logOf(lines...))
	pending, err := modelcontext.PendingCalls(tree, tree.Leaf())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range pending {
		got = append(got, p.ID+" "+p.Name+" "+string(p.State)+" "+string(p.Message)+" "+string(p.Arguments))
	}
	want := []string{`2 bash may-have-run b {"command":"ls"}`, `3 bash never-started b {"command":"ls"}`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	// A start that names no call leaves open which one it was.
	unnamed := append(slices.Clone(lines), entry("custom", "e", "d", `"customType":"tool_execution_start","data":{"id":"3"}`))
	tree = readLog(t, logOf(unnamed...))
	if pending, err = modelcontext.PendingCalls(tree, tree.Leaf()); err != nil || pending[1].State != modelcontext.Interrupted {
		t.Errorf("with a start that names no call: got %+v (%v), want interrupted", pending, err)
	}
	// Nobody answers the calls of an answer that failed.
	tree = readLog(t, logOf(header, user("a", "", "1"), assistant("b", "a", call("1"), "aborted")))
	if pending, err = modelcontext.PendingCalls(tree, tree.Leaf()); err != nil || len(pending) != 0 {
		t.Errorf("of an aborted answer: got %+v (%v), want none", pending, err)
	}
	lines[0] = piHeader
	tree = readLog(t, logOf(lines...))
	if pending, err = modelcontext.PendingCalls(tree, tree.Leaf()); err != nil || pending[1].State != modelcontext.Interrupted {
		t.Errorf("without a promise: got %+v (%v), want interrupted", pending, err)
	}
}

func TestHash(t *testing.T) {
	one := contextOf(t, nil, piHeader, user("a", "", "1"), user("b", "a", "2"))
	other := contextOf(t, nil, piHeader, user("x", "", "1"), entry("label", "l", "x", `"targetId":"x"`), user("y", "l", "2"))
	if one.Hash() != other.Hash() {
		t.Error("contexts of the same bytes have two hashes")
	}
	if other = contextOf(t, nil, piHeader, user("a", "", "12")); one.Hash() == other.Hash() {
		t.Error("contexts of other bytes have one hash")
	}
}

func TestSystem(t *testing.T) {
	system := func(id, parent, fields string) string {
		return entry("message", id, parent, `"message":{"role":"system",`+fields+`}`)
	}
	c := contextOf(t, nil, piHeader,
		system("a", "", `"content":"Be brief.","sections":{"files":"a.go","style":"tabs"},"toolsAdded":[{"name":"read"},{"name":"bash","v":1}]`),
		system("b", "a", `"content":[{"type":"text","text":"And kind."}],"sections":{"files":null,"style":"spaces"},"toolsRemoved":[{"name":"read"}],"toolsAdded":[{"name":"bash","v":2}]`))
	s := c.System()
	if s.Content != "Be brief.\n\nAnd kind." || !slices.Equal(s.Sections, []modelcontext.Section{{Name: "style", Text: "spaces"}}) {
		t.Errorf("got %+v", s)
	}
	if s.Text() != "Be brief.\n\nAnd kind.\n\nspaces" {
		t.Errorf("got the text %q", s.Text())
	}
	if len(s.Tools) != 1 || string(s.Tools[0]) != `{"name":"bash","v":2}` {
		t.Errorf("got tools %s", s.Tools)
	}
}

func TestRenderOfPi(t *testing.T) {
	c := contextOf(t, nil, piHeader, user("a", "", "1"),
		entry("message", "b", "a", `"message":{"role":"bashExecution","command":"ls","output":"","exitCode":2,"timestamp":5}`),
		entry("message", "x", "b", `"message":{"role":"bashExecution","command":"secret","output":"","excludeFromContext":true}`),
		entry("branch_summary", "s", "x", `"summary":"left \ud83d","fromId":"x"`), entry("message", "u", "s", `"message":{"role":"unheard-of"}`))
	var got []string
	for _, m := range c.Render() {
		got = append(got, string(m.Raw))
	}
	want := []string{
		`{"role":"user","content":"1","timestamp":1}`,
		"{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Ran `ls`\\n(no output)\\n\\nCommand exited with code 2\"}],\"timestamp\":5}",
		`{"role":"user","content":[{"type":"text","text":"The following is a summary of a branch that this conversation came back from:\n\n<summary>\nleft \ud83d</summary>"}],"timestamp":1767603601000}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestBlobs(t *testing.T) {
	const sum = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" // of hello
	image := entry("message", "a", "", `"message":{"role":"user","content":[{"type":"text","text":"\"data\":\"blob:sha256:`+sum+`\""},{"type":"image","data":"blob:sha256:`+sum+`","mimeType":"image/png"}]}`)
	for _, c := range []struct {
		blob    func(string) ([]byte, error)
		data    string
		reasons string
	}{
		{nil, "blob:sha256:" + sum, "a:missing-blob"},
		{func(string) ([]byte, error) { return nil, errors.New("gone") }, "blob:sha256:" + sum, "a:missing-blob"},
		{func(string) ([]byte, error) { return []byte("other"), nil }, "blob:sha256:" + sum, "a:missing-blob"},
		{func(s string) ([]byte, error) { return []byte("hello"), map[bool]error{false: errors.New(s)}[s == sum] }, "aGVsbG8=", ""},
	} {
		got := contextOf(t, &modelcontext.Options{Blob: c.blob}, ompHeader, image)
		var m struct{ Content []struct{ Text, Data string } }
		if err := json.Unmarshal(got.Messages[0].Raw, &m); err != nil {
			t.Fatal(err)
		}
		if m.Content[1].Data != c.data || reasons(got) != c.reasons || !strings.Contains(m.Content[0].Text, sum) {
			t.Errorf("got %+v (%s), want %s (%s), and the text as it is", m, reasons(got), c.data, c.reasons)
		}
	}
}
