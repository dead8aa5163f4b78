package claude_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/formats/claude"
	"github.com/sessctl/sessctl/formats/internal/transcript/transcripttest"
	"github.com/sessctl/sessctl/sessiontree"
)

// A maker writes the lines of a transcript as Claude Code does, a second apart.
type maker struct{ seconds int }

func (m *maker) time() string {
	m.seconds++
	return fmt.Sprintf("2026-01-01T00:%02d:%02d.000Z", m.seconds/60, m.seconds%60)
}

// line gives a record with a uuid, below a parent ("" is none), and more members.
func (m *maker) line(kind, id, parent, more string) string {
	up := "null"
	if parent != "" {
		up = `"` + parent + `"`
	}
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"cwd":"/home/u/proj","sessionId":"s1","version":"2.1.0","type":"%s","uuid":"%s","timestamp":"%s"%s}`,
		up, kind, id, m.time(), more)
}

func (m *maker) user(id, parent, text string) string {
	return m.line("user", id, parent, fmt.Sprintf(`"message":{"role":"user","content":%q}`, text))
}

func (m *maker) answer(id, parent, message, blocks string) string {
	return m.line("assistant", id, parent, fmt.Sprintf(
		`"message":{"id":"%s","type":"message","role":"assistant","model":"claude-x","content":[%s],"stop_reason":null,"usage":{"input_tokens":7,"output_tokens":1,"cache_read_input_tokens":3,"cache_creation_input_tokens":2}}`,
		message, blocks))
}

func (m *maker) says(id, parent, text string) string {
	return m.answer(id, parent, "msg_"+id, fmt.Sprintf(`{"type":"text","text":%q}`, text))
}

func (m *maker) calls(id, parent, message, call, tool string) string {
	return m.answer(id, parent, message, fmt.Sprintf(`{"type":"tool_use","id":"%s","name":"%s","input":{"a":1}}`, call, tool))
}

func (m *maker) result(id, parent, call, text string, failed bool) string {
	return m.line("user", id, parent, fmt.Sprintf(
		`"message":{"role":"user","content":[{"tool_use_id":"%s","type":"tool_result","content":%q,"is_error":%v}]},"toolUseResult":{"stdout":%q}`, call, text, failed, text))
}

// file writes a transcript of lines.
func file(t testing.TB, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t testing.TB, path string) *sessiontree.Tree {
	t.Helper()
	return transcripttest.Read(t, path, claude.From)
}

// list gives the entries as "role id<parent: text", or with their type where they are no
// messages; custom entries are left out.
func list(t testing.TB, tree *sessiontree.Tree) string {
	t.Helper()
	var all []string
	skipped := map[entries.ID]entries.ID{}
	for e, err := range tree.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		up := e.Parent
		for {
			above, ok := skipped[up]
			if !ok {
				break
			}
			up = above
		}
		if e.Type == entries.TypeCustom {
			skipped[e.ID] = up
			continue
		}
		all = append(all, fmt.Sprintf("%s %s<%s: %s", what(e), e.ID, up, text(t, e)))
	}
	return strings.Join(all, "\n")
}

func what(e entries.Entry) string {
	if e.Type == entries.TypeMessage {
		return e.Role
	}
	return string(e.Type)
}

func text(t testing.TB, e entries.Entry) string {
	t.Helper()
	switch e.Type {
	case entries.TypeMessage:
		m, err := e.Message()
		if err != nil {
			t.Fatal(err)
		}
		s := m.Text()
		for _, c := range m.Calls() {
			s += "[" + c.Name + " " + c.ID + "]"
		}
		return s
	case entries.TypeCompaction:
		c, err := e.Compaction()
		if err != nil {
			t.Fatal(err)
		}
		return c.Summary + " keeps " + string(c.FirstKept)
	case entries.TypeCustomMessage:
		c, err := e.CustomMessage()
		if err != nil {
			t.Fatal(err)
		}
		return entries.Text(c.Content)
	}
	name, err := e.Field("name")
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// damage gives what a tree was told of as "kind:line" or, of notes, "(kind:line count)".
func damage(t testing.TB, tree *sessiontree.Tree) string {
	t.Helper()
	if err := tree.Scan(); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, d := range tree.Damage() {
		s := fmt.Sprintf("%s:%d", d.Kind, d.Line)
		if d.Note {
			s = fmt.Sprintf("(%s:%d %d)", d.Kind, d.Line, d.Count)
		}
		all = append(all, s)
	}
	return strings.Join(all, " ")
}

// branches gives the branches as "tip<fork", the active one with a star.
func branches(t testing.TB, tree *sessiontree.Tree) string {
	t.Helper()
	all := transcripttest.Branches(t, tree, "*", func(b sessiontree.Branch) string { return fmt.Sprintf("%s<%s", b.Tip, b.ForkPoint) })
	return strings.Join(all, " ")
}
