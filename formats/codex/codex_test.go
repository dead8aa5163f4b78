package codex_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/formats"
	"github.com/sessctl/sessctl/formats/codex"
	"github.com/sessctl/sessctl/formats/internal/transcript/transcripttest"
	"github.com/sessctl/sessctl/sessiontree"
)

const thread = "01a22c42-3574-7be3-a8f1-3043a34a103d"

// A maker writes the lines of a rollout as Codex does, ten seconds apart.
type maker struct{ seconds int }

func (m *maker) line(kind, payload string) string {
	m.seconds += 10
	return fmt.Sprintf(`{"timestamp":"2026-01-01T00:%02d:%02d.000Z","type":"%s","payload":{%s}}`, m.seconds/60, m.seconds%60, kind, payload)
}

func (m *maker) meta(id, more string) string {
	if more != "" {
		more = "," + more
	}
	return m.line("session_meta", fmt.Sprintf(`"id":"%s","timestamp":"2026-01-01T00:00:%02d.000Z","cwd":"/home/u/proj","cli_version":"0.140.0","model_provider":"openai"%s`, id, m.seconds, more))
}

func (m *maker) message(role, text string) string {
	return m.line("response_item", fmt.Sprintf(`"type":"message","role":"%s","content":[{"type":"input_text","text":%q}]`, role, text))
}

func (m *maker) event(kind, more string) string {
	return m.line("event_msg", `"type":"`+kind+`",`+more)
}

// turn is a prompt and its answer, each told twice.
func (m *maker) turn(n int) []string {
	q, a := fmt.Sprintf("q%d", n), fmt.Sprintf("a%d", n)
	return []string{
		m.event("task_started", `"turn_id":"t"`), m.message("user", q), m.event("user_message", `"message":"`+q+`"`),
		m.message("assistant", a), m.event("agent_message", `"message":"`+a+`"`),
	}
}

func (m *maker) rollback(turns int) string {
	return m.event("thread_rolled_back", fmt.Sprintf(`"num_turns":%d`, turns))
}

func file(t testing.TB, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rollout.jsonl")
	write(t, path, lines...)
	return path
}

func write(t testing.TB, path string, lines ...string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) *sessiontree.Tree {
	t.Helper()
	return transcripttest.Read(t, path, codex.From)
}

// path gives the path to an entry as "role: text", or with its type.
func path(t testing.TB, tree *sessiontree.Tree, id entries.ID) string {
	t.Helper()
	var all []string
	for e, err := range tree.Path(id) {
		if err != nil {
			t.Fatal(err)
		}
		if s := say(t, e); s != "" {
			all = append(all, s)
		}
	}
	return strings.Join(all, ", ")
}

func say(t testing.TB, e entries.Entry) string {
	t.Helper()
	switch e.Type {
	case entries.TypeMessage:
		m, err := e.Message()
		if err != nil {
			t.Fatal(err)
		}
		s := e.Role + ": " + m.Text()
		for _, b := range m.Blocks() {
			switch b.Type {
			case "toolCall":
				s += fmt.Sprintf("[%s %s %s]", b.Name, b.ID, b.Arguments)
			case "thinking":
				s += "(" + b.Text + ")"
			}
		}
		if m.IsError {
			s += " failed"
		}
		return s
	case entries.TypeCompaction:
		c, err := e.Compaction()
		if err != nil {
			t.Fatal(err)
		}
		return "compaction: " + c.Summary
	case entries.TypeCustomMessage:
		c, err := e.CustomMessage()
		if err != nil {
			t.Fatal(err)
		}
		return c.CustomType + ": " + entries.Text(c.Content)
	}
	return ""
}

// branches gives the path of every branch, that of the active one behind a star.
func branches(t testing.TB, tree *sessiontree.Tree) string {
	t.Helper()
	all := transcripttest.Branches(t, tree, "* ", func(b sessiontree.Branch) string { return path(t, tree, b.Tip) })
	return strings.Join(all, "\n")
}

// damage gives the damage that is no note as "kind:line".
func damage(t testing.TB, tree *sessiontree.Tree) string {
	t.Helper()
	var all []string
	for _, d := range tree.Damage() {
		if !d.Note {
			all = append(all, fmt.Sprintf("%s:%d", d.Kind, d.Line))
		}
	}
	return strings.Join(all, " ")
}

// TestRollback: turns that were taken back are a branch, and the replay goes on before
// them; also where nothing follows, and across a compaction.
func TestRollback(t *testing.T) {
	m := &maker{}
	lines := []string{m.meta(thread, "")}
	for n := range 3 {
		lines = append(lines, m.turn(n+1)...)
	}
	back := append(lines, m.rollback(2))
	transcripttest.Expect(t, "at the end", branches(t, read(t, file(t, back...))),
		"user: q1, assistant: a1, user: q2, assistant: a2, user: q3, assistant: a3\n* user: q1, assistant: a1")
	on := append(back, m.turn(4)...)
	transcripttest.Expect(t, "and on", branches(t, read(t, file(t, on...))),
		"user: q1, assistant: a1, user: q2, assistant: a2, user: q3, assistant: a3\n* user: q1, assistant: a1, user: q4, assistant: a4")
	again := append(append(on, m.rollback(2)), m.turn(5)...)
	transcripttest.Expect(t, "and again", branches(t, read(t, file(t, again...))),
		"user: q1, assistant: a1, user: q2, assistant: a2, user: q3, assistant: a3\nuser: q1, assistant: a1, user: q4, assistant: a4\n* user: q5, assistant: a5")
	all := append(append(lines, m.rollback(99)), m.turn(6)...)
	transcripttest.Expect(t, "all turns", branches(t, read(t, file(t, all...))),
		"user: q1, assistant: a1, user: q2, assistant: a2, user: q3, assistant: a3\n* user: q6, assistant: a6")
	sum := append(lines, m.line("compacted", `"message":"we did it","replacement_history":[]`))
	sum = append(append(append(sum, m.turn(4)...), m.rollback(2)), m.turn(5)...)
	transcripttest.Expect(t, "across a compaction", branches(t, read(t, file(t, sum...))),
		"user: q1, assistant: a1, user: q2, assistant: a2, user: q3, assistant: a3, compaction: we did it, user: q4, assistant: a4\n"+
			"* user: q1, assistant: a1, user: q2, assistant: a2, user: q5, assistant: a5")
}

// TestTools: calls and results in all their forms, the blocks of an answer together, and
// what failed.
func TestTools(t *testing.T) {
	m := &maker{}
	item := func(payload string) string { return m.line("response_item", payload) }
	tree := read(t, file(t, m.meta(thread, ""),
		m.message("developer", "rules"), m.message("user", "<environment_context>\n<cwd>/</cwd>"), m.message("user", "do it"),
		item(`"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"`),
		item(`"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look"}]`),
		item(`"type":"function_call","name":"shell","arguments":"{\"cmd\": [\"ls\"]}","call_id":"c1"`),
		item(`"type":"custom_tool_call","name":"apply_patch","input":"*** Begin","call_id":"c2"`),
		m.event("exec_command_end", `"call_id":"c1","exit_code":2`),
		item(`"type":"function_call_output","call_id":"c1","output":"nope"`),
		item(`"type":"custom_tool_call_output","call_id":"c2","output":"Exit code: 0\nOutput:\nok"`),
		item(`"type":"reasoning","summary":[],"encrypted_content":"x"`),
		item(`"type":"local_shell_call","call_id":"c3","action":{"type":"exec"}`),
		item(`"type":"function_call_output","call_id":"c3","output":{"content":"bad","success":false}`),
		item(`"type":"function_call","name":"f","arguments":"not json","call_id":"c4"`),
		item(`"type":"function_call_output","call_id":"c4","output":"Process exited with code 7\nOutput:\n"`),
		item(`"type":"function_call_output","call_id":"c5","output":[{"type":"input_text","text":"seen"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]`)))
	transcripttest.Expect(t, "the path", path(t, tree, tree.Leaf()), strings.Join([]string{
		"codex:developer: rules", "codex:context: <environment_context>\n<cwd>/</cwd>", "user: do it",
		`assistant: I look(hm)[shell c1 {"cmd":["ls"]}][apply_patch c2 {"input":"*** Begin"}]`, "toolResult: nope failed", "toolResult: Exit code: 0\nOutput:\nok",
		`assistant: [local_shell c3 {"type":"exec"}]`, "toolResult: bad failed", `assistant: [f c4 {"input":"not json"}]`,
		"toolResult: Process exited with code 7\nOutput:\n failed", "toolResult: seen",
	}, ", "))
	e, err := tree.Entry(tree.Leaf())
	if err != nil {
		t.Fatal(err)
	}
	if r, err := e.Message(); err != nil || len(r.Blocks()) != 2 || r.Blocks()[1].MimeType != "image/png" || e.Line != 17 {
		t.Errorf("line %d with %+v (%v), want line 17 with a text and an image", e.Line, r.Blocks(), err)
	}
}

// TestTokens: a response's tokens are those of its message, told once.
func TestTokens(t *testing.T) {
	const a, b = `{"input_tokens":100,"cached_input_tokens":60,"output_tokens":5,"total_tokens":105}`, `{"input_tokens":200,"cached_input_tokens":150,"output_tokens":7,"total_tokens":207}`
	m := &maker{}
	count := func(last, total string) string {
		return m.event("token_count", `"info":{"last_token_usage":`+last+`,"total_token_usage":{"total_tokens":`+total+`}}`)
	}
	start := []string{m.meta(thread, ""), m.line("turn_context", `"model":"gpt-x","effort":"high"`), m.message("user", "q"),
		m.line("response_item", `"type":"function_call","name":"f","arguments":"{}","call_id":"c"`)}
	output, said := m.line("response_item", `"type":"function_call_output","call_id":"c","output":"ok"`), m.message("assistant", "done")
	record := func(u string) string { return m.line("token_usage_record", `"response_id":"r","usage":`+u) }
	for name, lines := range map[string][]string{
		"counted":           append(start, output, count(a, "105"), count(a, "105"), said, count(b, "312")),
		"counted at once":   append(start, count(a, "105"), output, said, count(b, "312"), m.event("token_count", `"info":null`)),
		"recorded, counted": append(start, record(a), output, count(a, "105"), said, record(b), count(b, "312")),
	} {
		tree := read(t, file(t, lines...))
		var got []string
		for e, err := range tree.Entries() {
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == entries.TypeMessage && e.Role == "assistant" {
				m, err := e.Message()
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprint(m.Model, m.ContextTokens()))
			}
			if e.Type == entries.TypeUsage {
				t.Errorf("%s: tokens of no message", name)
			}
		}
		transcripttest.Expect(t, name, strings.Join(got, " "), "gpt-x105 gpt-x207")
	}
}

// TestDialects: files of 2025 without records around the items, and files that have only
// events of some kind.
func TestDialects(t *testing.T) {
	m := &maker{}
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"bare items": {[]string{
			`{"id":"` + thread + `","timestamp":"2025-05-01T00:00:00.000Z","instructions":null}`, `{"record_type":"state"}`,
			`{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]}`, `{"type":"reasoning","summary":[]}`,
			`{"type":"function_call","name":"shell","arguments":"{}","call_id":"c"}`, `{"type":"function_call_output","call_id":"c","output":"{\"output\":\"x\",\"metadata\":{\"exit_code\":1}}"}`,
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}`,
		}, `user: q, assistant: [shell c {}], toolResult: {"output":"x","metadata":{"exit_code":1}} failed, assistant: a`},
		"events alone": {[]string{m.meta(thread, ""), m.event("user_message", `"message":"q"`), m.event("agent_reasoning", `"text":"hm"`), m.event("agent_message", `"message":"a"`)},
			"user: q, assistant: a(hm)"},
		"items completed alone": {[]string{m.meta(thread, ""), m.event("item_completed", `"item":{"type":"UserMessage","content":[{"type":"text","text":"q"}]}`),
			m.event("item_completed", `"item":{"type":"AgentMessage","content":[{"type":"Text","text":"a"}]}`)}, "user: q, assistant: a"},
		"without types": {[]string{m.meta(thread, ""), m.line("response_item", `"role":"user","content":"q"`), m.line("response_item", `"role":"assistant","content":"a"`)}, "user: q, assistant: a"},
		"a compaction without a message": {append(append([]string{m.meta(thread, "")}, m.turn(1)...), m.line("compacted",
			`"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"summed up"}]}]`)), "user: q1, assistant: a1, compaction: summed up"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := read(t, file(t, c.lines...))
			transcripttest.Expect(t, "the path", path(t, tree, tree.Leaf()), c.want)
			if h := tree.Header(); h.ID != thread {
				t.Errorf("the session is %s, want %s", h.ID, thread)
			}
			transcripttest.Expect(t, "damage", damage(t, tree), "")
		})
	}
}

// TestCopiedHistory: what a fork's file has of the thread that it was forked from is
// marked: by the times of its turns, else because it was written all at once.
func TestCopiedHistory(t *testing.T) {
	const fork = "01b22c42-3574-7be3-a8f1-3043a34a103d" // later than thread
	m := &maker{}
	copied := []string{m.meta(fork, `"forked_from_id":"`+thread+`"`)}
	turnOf := func(id string, n int) []string {
		lines := m.turn(n)
		lines[0] = m.event("task_started", `"turn_id":"`+id+`"`)
		return lines
	}
	copied = append(append(append(copied, m.meta(thread, "")), turnOf("01a32c42-3574-7be3-a8f1-3043a34a103d", 1)...), turnOf("01a42c42-3574-7be3-a8f1-3043a34a103d", 2)...)
	fast := func(lines []string) (list []string) { // at one time
		for _, l := range lines {
			i := strings.Index(l, `"timestamp":"`) + len(`"timestamp":"`)
			list = append(list, l[:i]+"2026-01-01T00:00:00.500Z"+l[i+24:])
		}
		return list
	}
	for name, lines := range map[string][]string{
		"by turns": append(copied, turnOf("01b32c42-3574-7be3-a8f1-3043a34a103d", 3)...),
		"by times": append(fast(append([]string{copied[0], m.meta(thread, "")}, append(m.turn(1), m.turn(2)...)...)), m.turn(3)...),
	} {
		tree := read(t, file(t, lines...))
		var got []string
		for e, err := range tree.Entries() {
			if err != nil {
				t.Fatal(err)
			}
			if s := say(t, e); s != "" {
				got = append(got, s+" "+formats.Copied(e))
			}
		}
		transcripttest.Expect(t, name, strings.Join(got, ", "), strings.ReplaceAll("user: q1 T, assistant: a1 T, user: q2 T, assistant: a2 T, user: q3 , assistant: a3 ", "T", thread))
		if h := tree.Header(); h.ID != fork || h.ParentSession != thread {
			t.Errorf("%s: header %+v, want %s of %s", name, h, fork, thread)
		}
	}
}
