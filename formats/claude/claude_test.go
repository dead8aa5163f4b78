package claude_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/formats/claude"
	"github.com/sessctl/sessctl/formats/internal/transcript/transcripttest"
	"github.com/sessctl/sessctl/sessiontree"
)

// TestOneMessage: the lines of a message are one entry with the largest usage, and the
// results of parallel calls follow it, though each hangs below its own line.
func TestOneMessage(t *testing.T) {
	m := &maker{}
	big := strings.Replace(m.calls("a2", "a1", "msg", "t2", "Grep"), `"output_tokens":1`, `"output_tokens":40`, 1)
	tree := read(t, file(t,
		m.user("u1", "", "find it"), m.calls("a1", "u1", "msg", "t1", "Read"), big,
		m.result("r1", "a1", "t1", "one", false), m.result("r2", "a2", "t2", "no such file", true), m.says("a3", "r2", "found")))
	transcripttest.Expect(t, "entries", list(t, tree), `user u1<: find it
assistant a1<u1: [Read t1][Grep t2]
toolResult r1<a1: one
toolResult r2<r1: no such file
assistant a3<r2: found`)
	transcripttest.Expect(t, "branches", branches(t, tree), "*a3<")
	e, err := tree.Entry("a1")
	if err != nil {
		t.Fatal(err)
	}
	a, err := e.Message()
	if err != nil {
		t.Fatal(err)
	}
	transcripttest.Expect(t, "usage", string(a.Usage), `{"input":7,"output":40,"cacheRead":3,"cacheWrite":2,"totalTokens":52,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`)
	if a.StopReason != "toolUse" || a.Model != "claude-x" || e.Line != 2 {
		t.Errorf("stop reason %s, model %s, line %d; want toolUse, claude-x, 2", a.StopReason, a.Model, e.Line)
	}
	if e, err = tree.Entry("r2"); err != nil {
		t.Fatal(err)
	}
	if r, err := e.Message(); err != nil || !r.IsError || r.ToolName != "Grep" || e.Line != 5 {
		t.Errorf("result %+v on line %d (%v), want an error of Grep on line 5", r, e.Line, err)
	}
}

// TestRewind: what was taken back is a branch that is not active, and progress beside it
// is none.
func TestRewind(t *testing.T) {
	m := &maker{}
	lines := []string{
		m.user("u1", "", "first"), m.says("a1", "u1", "one"), m.line("system", "d1", "a1", `"subtype":"turn_duration"`),
		m.user("u2", "d1", "second"), m.line("progress", "p2", "u2", `"data":{"type":"hook_progress"}`), m.says("a2", "u2", "two"),
		m.user("u3", "d1", "instead"), m.says("a3", "u3", "three"),
	}
	tree := read(t, file(t, lines...))
	transcripttest.Expect(t, "branches", branches(t, tree), "a2<a1 *a3<a1")
	transcripttest.Expect(t, "damage", damage(t, tree), "")
	// A rewind that nothing followed is not in the file: the last-prompt names the leaf.
	back := append(lines, `{"type":"last-prompt","lastPrompt":"second","leafUuid":"a2","sessionId":"s1"}`)
	tree = read(t, file(t, back...))
	transcripttest.Expect(t, "branches with another leaf", branches(t, tree), "a3<a1 *a2~leaf<a1")
}

// TestRewindToStart: a prompt without a parent, behind which a rewind is noted, begins
// anew; any other goes on.
func TestRewindToStart(t *testing.T) {
	m := &maker{}
	lines := []string{m.user("u1", "", "first"), m.says("a1", "u1", "one"), m.user("u2", "", "instead"),
		`{"type":"last-prompt","leafUuid":"00000000-0000-0000-0000-000000000000","explicit":true,"sessionId":"s1"}`, m.says("a2", "u2", "two")}
	transcripttest.Expect(t, "branches", branches(t, read(t, file(t, lines...))), "a1< *a2<")
	lines[3] = strings.Replace(lines[3], "true", "false", 1)
	transcripttest.Expect(t, "branches without a rewind", branches(t, read(t, file(t, lines...))), "*a2<")
}

// TestNoBranch: forks that are no rewinds.
func TestNoBranch(t *testing.T) {
	for name, lines := range map[string]func(m *maker) []string{
		"hook beside an answer": func(m *maker) []string {
			return []string{m.user("u1", "", "q"), m.calls("a1", "u1", "msg", "t", "Bash"),
				m.line("progress", "p1", "a1", `"data":{"type":"bash_progress"}`), m.line("progress", "p2", "p1", ""),
				m.result("r1", "a1", "t", "ok", false), m.says("z", "r1", "done")}
		},
		"an interrupted answer": func(m *maker) []string {
			return []string{m.user("u1", "", "q"), m.says("a1", "u1", "half"), m.user("n", "a1", "[Request interrupted by user]"), m.user("z", "u1", "again")}
		},
		"a late result": func(m *maker) []string {
			return []string{m.user("u1", "", "q"), m.calls("a1", "u1", "msg", "t1", "Task"), m.calls("a2", "a1", "msg", "t2", "Task"),
				m.result("r2", "a2", "t2", "two", false), m.result("r1", "a1", "t1", "one", false), m.says("a3", "r2", "done"), m.user("z", "a3", "next")}
		},
		"a repetition": func(m *maker) []string {
			first := []string{m.user("u1", "", "q"), m.says("a1", "u1", "a"), m.user("u2", "a1", "more"), m.says("a2", "u2", "b")}
			return append(first, strings.ReplaceAll(first[2], "u2", "v2"),
				strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(first[3], `"u2"`, `"v2"`), `"a2"`, `"b2"`), "msg_b2", "msg_a2"), m.user("z", "b2", "goes on"))
		},
		"a subagent inside": func(m *maker) []string {
			side := strings.ReplaceAll(m.user("s1", "", "count files"), `"isSidechain":false`, `"isSidechain":true`)
			return []string{m.user("u1", "", "q"), m.calls("a1", "u1", "msg", "t", "Task"), side, m.result("r1", "a1", "t", "3", false), m.says("z", "r1", "done")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			list, err := read(t, file(t, lines(&maker{})...)).Branches()
			if err != nil || len(list) != 1 || list[0].Tip != "z" {
				t.Errorf("branches %+v (%v), want one that ends in z", list, err)
			}
		})
	}
}

// TestRepetition: what a resumed session writes again counts once, whatever its uuid.
func TestRepetition(t *testing.T) {
	m := &maker{}
	u1, a1 := m.user("u1", "", "q"), m.says("a1", "u1", "a")
	more := strings.Replace(strings.Replace(a1, `"output_tokens":1`, `"output_tokens":9`, 1), `"s1"`, `"s2"`, 1)
	tree := read(t, file(t, u1, a1, strings.Replace(u1, `"s1"`, `"s2"`, 1), more, m.user("u2", "a1", "on")))
	transcripttest.Expect(t, "entries", list(t, tree), "user u1<: q\nassistant a1<u1: a\nuser u2<a1: on")
	transcripttest.Expect(t, "damage", damage(t, tree), "(duplicate-id:3 2)")
	if b, err := tree.Branches(); err != nil || b[0].Tokens != 7+9+3+2 {
		t.Errorf("the answer took %d tokens (%v), want the largest count of both", b[0].Tokens, err)
	}
	tree = read(t, file(t, u1, a1, m.user("u1", "a1", "another")))
	transcripttest.Expect(t, "one uuid twice", list(t, tree), "user u1~0<: q\nassistant a1<u1~0: a\nuser u1<a1: another")
	transcripttest.Expect(t, "its damage", damage(t, tree), "duplicate-id:1")
}

// TestCompaction: a compaction is a root that follows its logical parent, and its summary
// is no prompt.
func TestCompaction(t *testing.T) {
	m := &maker{}
	boundary := func(logical, more string) string {
		return m.line("system", "cb", "", fmt.Sprintf(`"subtype":"compact_boundary","logicalParentUuid":"%s","compactMetadata":{"trigger":"auto","preTokens":150000%s}`, logical, more))
	}
	start := []string{m.user("u1", "", "q"), m.says("a1", "u1", "one"), m.user("u2", "a1", "taken back"), m.user("u3", "a1", "more"), m.says("a3", "u3", "two")}
	end := func() []string {
		return []string{m.line("user", "cs", "cb", `"isCompactSummary":true,"message":{"role":"user","content":"we did it"}`), m.user("u4", "cs", "go on"), m.says("a4", "u4", "three")}
	}
	tree := read(t, file(t, append(append(start, boundary("a3", "")), end()...)...))
	transcripttest.Expect(t, "entries", list(t, tree), `user u1<: q
assistant a1<u1: one
user u2<a1: taken back
user u3<a1: more
assistant a3<u3: two
compaction cs<a3: we did it keeps cs
user u4<cs: go on
assistant a4<u4: three`)
	transcripttest.Expect(t, "branches", branches(t, tree), "u2<a1 *a4<a1")
	c, err := modelcontext.Build(tree, tree.Leaf(), nil)
	if err != nil || len(c.Messages) != 3 {
		t.Errorf("%d messages in the context (%v), want the summary, a prompt and an answer", len(c.Messages), err)
	}

	tree = read(t, file(t, append(append(start, boundary("a3", `,"preservedSegment":{"headUuid":"u3","tailUuid":"a3"}`)), end()...)...))
	if got := list(t, tree); !strings.Contains(got, "we did it keeps u3") {
		t.Errorf("got\n%s\nwant a compaction that keeps u3", got)
	}
	// Of a file that another session's compaction begins, the logical parent is missing.
	tree = read(t, file(t, append([]string{m.user("u0", "", "before"), boundary("gone", "")}, end()...)...))
	transcripttest.Expect(t, "damage", damage(t, tree), "(missing-parent:2 1)")
	transcripttest.Expect(t, "branches", branches(t, tree), "*a4<")
	// In a fork's file it stands behind: the messages that were kept.
	kept := m.says("k", "cs", "kept")
	tree = read(t, file(t, append(append([]string{boundary("k", "")}, m.line("user", "cs", "cb", `"isCompactSummary":true,"message":{"role":"user","content":"sum"}`)), kept, m.user("u5", "k", "go"))...))
	transcripttest.Expect(t, "a fork", list(t, tree), "compaction cs<: sum keeps cs\nassistant k<cs: kept\nuser u5<k: go")
	transcripttest.Expect(t, "its damage", damage(t, tree), "")
}

// TestRoots: whatever begins anew follows what stands before it.
func TestRoots(t *testing.T) {
	m := &maker{}
	tree := read(t, file(t, m.line("progress", "h1", "", ""), m.user("u1", "h1", "q"), m.says("a1", "u1", "a"),
		m.line("progress", "h2", "phantom", ""), m.user("u2", "h2", "again"), m.says("a2", "u2", "b")))
	transcripttest.Expect(t, "branches", branches(t, tree), "*a2<")
	transcripttest.Expect(t, "damage", damage(t, tree), "missing-parent:4")
	transcripttest.Expect(t, "entries", list(t, tree), "user u1<: q\nassistant a1<u1: a\nuser u2<a1: again\nassistant a2<u2: b")
	roots, err := tree.Roots()
	if err != nil || len(roots) != 1 {
		t.Errorf("roots %v (%v), want one", roots, err)
	}
	// A cycle, and a parent behind its child.
	tree = read(t, file(t, m.user("x", "y", "one"), m.user("y", "x", "two"), m.says("z", "y", "end")))
	transcripttest.Expect(t, "damage of a cycle", damage(t, tree), "cycle:1")
	transcripttest.Expect(t, "entries of a cycle", list(t, tree), "user x<: one\nuser y<x: two\nassistant z<y: end")
	tree = read(t, file(t, m.user("c", "p", "child"), m.user("p", "", "parent")))
	transcripttest.Expect(t, "a parent behind its child", list(t, tree), "user p<: parent\nuser c<p: child")
}

// TestDamagedLines: every intact record is read, and what is not is named.
func TestDamagedLines(t *testing.T) {
	m := &maker{}
	u1, a1, u2 := m.user("u1", "", "q"), m.says("a1", "u1", "a"), m.user("u2", "a1", "on")
	want := "user u1<: q\nassistant a1<u1: a\nuser u2<a1: on"
	for name, c := range map[string]struct{ text, damage, entries string }{
		"two on a line":   {u1 + a1 + "\n" + u2 + "\n", "concatenated:1", want},
		"torn, then more": {u1 + "\n" + u2[:90] + a1 + "\n" + u2 + "\n", "not-json:2", want},
		"torn in a text":  {u1 + "\n" + u2[:len(u2)-40] + a1 + "\n" + u2 + "\n", "not-json:2", want},
		"torn tail":       {u1 + "\n" + a1 + "\n" + u2 + "\n" + m.user("u9", "u2", "lost")[:120], "torn-tail:4", want},
		"no last newline": {u1 + "\n" + a1 + "\n" + u2, "", want},
		"NULs":            {u1 + "\n\x00\x00\x00" + a1 + "\n" + u2 + "\n\x00\x00", "nul:2 nul:4", want},
		"no objects":      {u1 + "\n42\n\"x\"\n[1]\n" + a1 + "\n" + u2 + "\n", "not-object:2 not-object:3 not-object:4", want},
		"blank, CRLF":     {"\n" + u1 + "\r\n\r\n" + a1 + "\r\n" + u2 + "\r\n", "", want},
		"BOM":             {"\xEF\xBB\xBF" + u1 + "\n" + a1 + "\n" + u2 + "\n", "", want},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.jsonl")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			tree := read(t, path)
			transcripttest.Expect(t, "entries", list(t, tree), c.entries)
			transcripttest.Expect(t, "damage", damage(t, tree), c.damage)
		})
	}
}

// TestLongLines: a line of 900 KB, and one over several blocks, are lines like any other,
// and their bodies are those of the file.
func TestLongLines(t *testing.T) {
	m := &maker{}
	long, longer := strings.Repeat("long é ", 900<<10/8), strings.Repeat("0123456789", 500<<10)
	tree := read(t, file(t, m.user("u1", "", long), m.says("a1", "u1", longer), m.user("u2", "a1", "short")))
	for id, want := range map[string]string{"u1": long, "a1": longer, "u2": "short"} {
		e, err := tree.Entry(entries.ID(id))
		if err != nil {
			t.Fatal(err)
		}
		if text(t, e) != want {
			t.Errorf("%s is not what its line says", id)
		}
	}
}

// TestNames: a person's name for the session counts before a model's, and that before a
// summary; summaries of other sessions are told of.
func TestNames(t *testing.T) {
	m := &maker{}
	u1 := m.user("u1", "", "q")
	summary := func(name, leaf string) string {
		return fmt.Sprintf(`{"type":"summary","summary":"%s","leafUuid":"%s"}`, name, leaf)
	}
	ai, own := `{"type":"ai-title","aiTitle":"by a model","sessionId":"s1"}`, `{"type":"custom-title","customTitle":"by a person","sessionId":"s1"}`
	for name, c := range map[string]struct {
		lines  []string
		name   string
		damage string
	}{
		"other sessions'": {[]string{summary("x", "other"), summary("y", "others"), u1}, "", "(left-out:1 2)"},
		"its own":         {[]string{summary("x", "other"), summary("mine", "u1"), u1}, "mine", "(left-out:1 1)"},
		"a model's":       {[]string{u1, ai}, "by a model", ""},
		"a person's":      {[]string{u1, own, ai, summary("mine", "u1")}, "by a person", "(left-out:3 1) (left-out:4 1)"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := read(t, file(t, c.lines...))
			got, err := tree.Name()
			if err != nil {
				t.Fatal(err)
			}
			transcripttest.Expect(t, "name", got, c.name)
			transcripttest.Expect(t, "damage", damage(t, tree), c.damage)
			if tree.Leaf() != "u1" {
				t.Errorf("the leaf is %s, want u1", tree.Leaf())
			}
		})
	}
}

// TestPrompts: what stands in a user's record and was not typed is no user's message.
func TestPrompts(t *testing.T) {
	m := &maker{}
	blocks := func(id, parent, content, more string) string {
		return m.line("user", id, parent, `"message":{"role":"user","content":`+content+`}`+more)
	}
	tree := read(t, file(t,
		m.user("u1", "", "typed <b>this</b>"),
		blocks("m", "u1", `"what a skill says"`, `,"isMeta":true`),
		m.user("c", "m", "<command-name>/review</command-name>\n  <command-message>review</command-message>\n <command-args>  all </command-args>"),
		m.user("o", "c", "<local-command-stdout>Bye!</local-command-stdout>"),
		m.user("b", "o", "<bash-input>ls</bash-input>"),
		blocks("i", "b", `[{"type":"text","text":"<ide_opened_file>a.go</ide_opened_file>"},{"type":"text","text":"look at it"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]`, ""),
		blocks("t", "i", `"<task-notification>done</task-notification>"`, `,"origin":{"kind":"task-notification"},"promptSource":"system"`),
		m.line("attachment", "q", "t", `"attachment":{"type":"queued_command","prompt":"and this","commandMode":"prompt"}`),
		m.user("x", "q", "[Request interrupted by user for tool use]"),
		m.user("e", "x", "")))
	transcripttest.Expect(t, "entries", list(t, tree), `user u1<: typed <b>this</b>
custom_message m<u1: what a skill says
user c<m: /review all
custom_message o<c: <local-command-stdout>Bye!</local-command-stdout>
user b<o: !ls
custom_message i~1<b: <ide_opened_file>a.go</ide_opened_file>
user i<i~1: look at it
custom_message t<i: <task-notification>done</task-notification>
user q<t: and this
custom_message x<q: [Request interrupted by user for tool use]`)
	transcripttest.Expect(t, "damage", damage(t, tree), "(unknown-record:10 1)")
	e, err := tree.Entry("i")
	if err != nil {
		t.Fatal(err)
	}
	if m, err := e.Message(); err != nil || len(m.Blocks()) != 2 || m.Blocks()[1].MimeType != "image/png" {
		t.Errorf("blocks %+v (%v), want a text and an image", m.Blocks(), err)
	}
}

// TestAnswers: what a model's message can hold, and how it can end.
func TestAnswers(t *testing.T) {
	m := &maker{}
	refused := strings.Replace(m.says("a3", "a2", "API Error: 529"), `"uuid"`, `"isApiErrorMessage":true,"uuid"`, 1)
	long := strings.Replace(m.says("a4", "a3", "cut"), `"stop_reason":null`, `"stop_reason":"max_tokens"`, 1)
	tree := read(t, file(t, m.user("u1", "", "q"),
		m.answer("a1", "u1", "m1", `{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"redacted_thinking","data":"eA=="},{"type":"text","text":"hi"}`),
		m.answer("a2", "a1", "m2", `{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`), refused, long))
	for id, want := range map[string]string{
		"a1": `thinking:hm:c2ln thinking::eA== text:hi: stop `, "a2": `server_tool_use:: stop `, "a3": `text:API Error: 529: error API Error: 529`, "a4": `text:cut: length `,
	} {
		e, err := tree.Entry(entries.ID(id))
		if err != nil {
			t.Fatal(err)
		}
		m, err := e.Message()
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, b := range m.Blocks() {
			got += b.Type + ":" + b.Text + ":" + b.Signature + " "
		}
		transcripttest.Expect(t, id, got+m.StopReason+" "+m.Error, want)
	}
}

// TestBookkeeping: records beside the conversation are kept where they stand, or counted;
// none is the leaf, and none can pass for a record of our own.
func TestBookkeeping(t *testing.T) {
	m := &maker{}
	tree := read(t, file(t,
		`{"type":"mode","mode":"normal","sessionId":"s1"}`, `{"type":"file-history-snapshot","messageId":"u1","snapshot":{}}`, m.user("u1", "", "q"),
		`{"type":"api-request-blob","sessionId":"s1","message":{"role":"user","content":"q"}}`, `{"type":"api-request-blob","sessionId":"s1","message":{}}`,
		m.line("leaf", "l1", "u1", ""), m.says("a1", "u1", "a"), `{"type":"mode","mode":"plan","sessionId":"s1"}`, `{"type":"zzz","sessionId":"s1"}`, `{"type":"file-history-delta","messageId":"a1"}`))
	transcripttest.Expect(t, "damage", damage(t, tree), "(left-out:1 2) (left-out:4 2) (unknown-record:6 1) (unknown-record:9 1)")
	if tree.Leaf() != "a1" {
		t.Errorf("the leaf is %s, want a1", tree.Leaf())
	}
	var kinds []string
	for e, err := range tree.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == entries.TypeCustom {
			c, err := e.Custom()
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, fmt.Sprint(c.CustomType, ":", e.Line))
		}
	}
	transcripttest.Expect(t, "custom entries", strings.Join(kinds, " "), "claude:file-history-snapshot:2 claude:leaf:6 claude:zzz:9 claude:file-history-delta:10")
}

// TestSubagent: the file of a subagent is a session of its own, whose prompts no person
// typed.
func TestSubagent(t *testing.T) {
	m := &maker{}
	dir := filepath.Join(t.TempDir(), "s1", "subagents")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "agent-a1.jsonl")
	side := strings.NewReplacer(`"isSidechain":false`, `"isSidechain":true,"agentId":"a1"`)
	text := side.Replace(m.user("u1", "", "count files") + "\n" + m.says("a1", "u1", "3") + "\n")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tree := read(t, path)
	transcripttest.Expect(t, "entries", list(t, tree), "user u1<: count files\nassistant a1<u1: 3")
	if h := tree.Header(); h.ID != "agent-a1" || h.ParentSession != "s1" || h.Cwd != "/home/u/proj" {
		t.Errorf("header %+v, want agent-a1 of s1", h)
	}
}

// TestFork: a path of a transcript becomes a native session, which is sound and goes on.
func TestFork(t *testing.T) {
	m := &maker{}
	path := file(t, m.user("u1", "", "q"), m.calls("a1", "u1", "msg", "t1", "Read"), m.result("r1", "a1", "t1", strings.Repeat("x", 5000), false), m.says("a2", "r1", "done"))
	tree := read(t, path)
	s, err := sessiontree.Fork(t.Context(), tree, "", t.TempDir(), entries.Header{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Append(t.Context(), entries.UserMessage("go on")); err != nil {
		t.Fatal(err)
	}
	forked, err := sessiontree.Read(s.Path(), &sessiontree.ReadOptions{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer forked.Close()
	v, err := forked.Verify()
	if err != nil || !v.OK || v.Checksums != sessiontree.ChecksumsOK || len(v.Pairing) > 0 || v.Entries != 5 {
		t.Errorf("verdict %+v (%v), want a sound log of five entries", v, err)
	}
	if h := forked.Header(); h.ParentSession != path || h.Cwd != "/home/u/proj" {
		t.Errorf("header %+v, want the parent %s", h, path)
	}
}

// TestChangedFile: a transcript that was cut under its reader is an error, not garbage.
func TestChangedFile(t *testing.T) {
	m := &maker{}
	path := file(t, m.user("u1", "", strings.Repeat("long ", 1000)), m.says("a1", "u1", "a"))
	tree := read(t, path)
	if err := os.Truncate(path, 10); err != nil {
		t.Fatal(err)
	}
	e, err := tree.Entry("u1")
	if err == nil {
		_, err = e.Message()
	}
	if err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("error %v, want that the log changed", err)
	}
	if _, err := tree.Cursor(); err == nil {
		t.Error("a transcript can be followed, want an error")
	}
}

// TestSubagents: the subagents of a session, with the calls that started them.
func TestSubagents(t *testing.T) {
	path := file(t, (&maker{}).user("u1", "", "q"))
	if list, err := claude.Subagents(path); err != nil || list != nil {
		t.Errorf("%v (%v), want none", list, err)
	}
	dir := filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"agent-b.jsonl": "", "agent-a.jsonl": "", "agent-a.meta.json": `{"agentType":"Explore","description":"count","toolUseId":"toolu_1","spawnDepth":2}`, "agent-b.meta.json": "{", "x.jsonl": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := claude.Subagents(path)
	want := []claude.Subagent{
		{Path: filepath.Join(dir, "agent-a.jsonl"), ID: "agent-a", Type: "Explore", Title: "count", ToolCallID: "toolu_1", Depth: 2},
		{Path: filepath.Join(dir, "agent-b.jsonl"), ID: "agent-b"},
	}
	if err != nil || !slices.Equal(list, want) {
		t.Errorf("got %+v (%v), want %+v", list, err, want)
	}
}
