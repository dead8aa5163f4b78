package formats_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/formats"
	"github.com/sessctl/sessctl/formats/internal/transcript/transcripttest"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	claudeLine = `{"parentUuid":null,"isSidechain":false,"cwd":"/c","sessionId":"s1","type":"user","message":{"role":"user","content":"q"},"uuid":"u1","timestamp":"2026-01-01T00:00:00.000Z"}` + "\n"
	claudeSaid = `{"parentUuid":"u1","isSidechain":false,"cwd":"/c","sessionId":"s1","type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"a"}]},"uuid":"a1","timestamp":"2026-01-01T00:00:01.000Z"}` + "\n"
	codexMeta  = `{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"t1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/x"}}` + "\n"
	codexSaid  = `{"timestamp":"2026-01-01T00:00:02.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]}}` + "\n"
	piHeader   = `{"type":"session","version":3,"id":"p1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}` + "\n"
	piSaid     = `{"type":"message","id":"e1","parentId":null,"timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"user","content":"q"}}` + "\n"
)

// TestAgents: whose session a file is shows in its first lines, whatever stands before
// the one that tells, and also where that line is longer than what is looked at.
func TestAgents(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	for name, c := range map[string]struct {
		text  string
		agent sessiontree.Agent
		id    string
	}{
		"claude":               {claudeLine, "claude", "s1"},
		"claude, summaries":    {`{"type":"summary","summary":"x","leafUuid":"z"}` + "\n" + claudeLine, "claude", "s1"},
		"claude, snapshots":    {`{"type":"file-history-snapshot","messageId":"u1","snapshot":{}}` + "\n" + claudeLine, "claude", "s1"},
		"claude, damage first": {"\x00\x00\n{\"par\n42\n" + claudeLine, "claude", "s1"},
		"claude, long":         {strings.Replace(claudeLine, `"content":"q"`, `"content":"`+long+`"`, 1), "claude", "s1"},
		"claude, BOM":          {"\xEF\xBB\xBF" + claudeLine, "claude", "s1"},
		"codex":                {codexMeta + codexSaid, "codex", "t1"},
		"codex, long":          {strings.Replace(codexMeta, `"cwd"`, `"base_instructions":"`+long+`","cwd"`, 1), "codex", "t1"},
		"codex of 2025":        {`{"id":"t1","timestamp":"2025-05-01T00:00:00.000Z","instructions":null}` + "\n" + `{"type":"message","role":"user","content":[]}` + "\n", "codex", "t1"},
		"pi":                   {piHeader + piSaid, "pi", "p1"},
		"pi without a header":  {piSaid, "pi", ""},
		"sessctl":              {strings.Replace(piHeader, `"cwd"`, `"format":"sessiontree/1","cwd"`, 1), "sessctl", "p1"},
	} {
		t.Run(name, func(t *testing.T) {
			path := file(t, "s1.jsonl", c.text)
			tree := open(t, path)
			if tree.Agent() != c.agent || tree.HeaderAgent() != c.agent || tree.Header().ID != c.id {
				t.Errorf("a session %s of %s, want %s of %s", tree.Header().ID, tree.Agent(), c.id, c.agent)
			}
			if info := formats.Describe(path); info.Err != nil || info.Agent != c.agent || info.ID != c.id {
				t.Errorf("described as %+v, want %s of %s", info, c.id, c.agent)
			}
		})
	}
}

// TestNoSession: what is no session is told as that.
func TestNoSession(t *testing.T) {
	const ofNobody = "not a session of any program that is known (pi, oh-my-pi, sessctl, Claude Code, Codex)"
	for text, said := range map[string]string{
		"hello\n": ofNobody, `{"a":1}` + "\n": ofNobody, "{}": ofNobody, `{"type":"zzz","payload":{}}` + "\n": ofNobody, "[]\n": ofNobody,
		"\x89PNG\r\n\x1a\n\x00\x00": ofNobody, " \n\n": ofNobody, "": "not a session: it is empty",
	} {
		path := file(t, "x.jsonl", text)
		want := path + ": " + said
		if tree, err := formats.Read(path, nil); !errors.Is(err, sessiontree.ErrNoSession) || err.Error() != want {
			t.Errorf("%q: %v (%v), want %s", text, err, tree, want)
		}
		if info := formats.Describe(path); !errors.Is(info.Err, sessiontree.ErrNoSession) || info.Err.Error() != want {
			t.Errorf("%q is described as %+v, want %s", text, info, want)
		}
	}
	if _, err := formats.Read(filepath.Join(t.TempDir(), "none.jsonl"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want that there is no such file", err)
	}
}

// TestDescribe: what the beginning and the end of a file tell, of files of any size.
func TestDescribe(t *testing.T) {
	filler := strings.Repeat(strings.Replace(claudeSaid, `"text":"a"`, `"text":"`+strings.Repeat("long ", 400)+`"`, 1), 600)
	late := strings.Replace(claudeSaid, "00:00:01", "09:00:01", 1) + `{"type":"custom-title","customTitle":"named","sessionId":"s1"}` + "\n"
	info := formats.Describe(file(t, "s1.jsonl", claudeLine+filler+late))
	want := sessiontree.Info{
		Path: info.Path, ID: "s1", Agent: "claude", Cwd: "/c", Name: "named", NameKnown: true, FirstPrompt: "q",
		Created: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Modified: time.Date(2026, 1, 1, 9, 0, 1, 0, time.UTC), Size: info.Size,
	}
	if info != want || info.Size < 1<<20 {
		t.Errorf("described as\n%+v, want\n%+v", info, want)
	}
	info = formats.Describe(file(t, "s1.jsonl", claudeLine+filler+claudeSaid))
	if info.NameKnown || info.Name != "" {
		t.Errorf("the name is %q (known: %v), want that it may stand in the middle", info.Name, info.NameKnown)
	}
	info = formats.Describe(file(t, "s1.jsonl", strings.Replace(claudeLine, `"q"`, `"/clear"`, 1)+claudeLine))
	if info.FirstPrompt != "q" {
		t.Errorf("the first prompt is %q, want the one behind /clear", info.FirstPrompt)
	}
	info = formats.Describe(file(t, "rollout.jsonl", codexMeta+codexSaid))
	if info.FirstPrompt != "q" || info.Cwd != "/x" || !info.NameKnown || info.Modified.Second() != 2 {
		t.Errorf("described as %+v, want the prompt and the directory of a rollout", info)
	}
}

// TestArchive: a transcript is read out of its archive as well.
func TestArchive(t *testing.T) {
	archive := filepath.Join(t.TempDir(), "s1.jsonl"+store.ArchiveSuffix)
	out, err := os.Create(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := store.CreateArchive(out, transcripttest.Source{Reader: bytes.NewReader([]byte(claudeLine + claudeSaid))}, nil); err != nil {
		t.Fatal(err)
	}
	if n, err := open(t, archive).Len(); err != nil || n != 2 {
		t.Errorf("%d entries (%v), want 2", n, err)
	}
	if info := formats.Describe(archive); info.Err != nil || info.ID != "s1" {
		t.Errorf("described as %+v, want s1", info)
	}
}

// TestPrompt: a person's prompts are told from what a program or another model says.
func TestPrompt(t *testing.T) {
	notice := strings.NewReplacer(`"content":"q"`, `"content":"<system-reminder>x</system-reminder>"`, `"u1"`, `"u2"`, `null`, `"u1"`).Replace(claudeLine)
	for name, c := range map[string]struct {
		file, text string
		want       int
	}{
		"claude":     {"s1.jsonl", claudeLine + claudeSaid + notice, 1},
		"a subagent": {"agent-1.jsonl", strings.Replace(claudeLine, `"isSidechain":false`, `"isSidechain":true`, 1), 0},
		"codex":      {"r.jsonl", codexMeta + codexSaid + strings.Replace(codexSaid, `"text":"q"`, `"text":"<environment_context>"`, 1), 1},
		"pi":         {"p.jsonl", piHeader + piSaid, 1},
	} {
		prompts := 0
		for e, err := range open(t, file(t, c.file, c.text)).Entries() {
			if err != nil {
				t.Fatal(err)
			}
			if formats.Prompt(e) {
				prompts++
			}
		}
		if prompts != c.want {
			t.Errorf("%s: %d prompts, want %d", name, prompts, c.want)
		}
	}
	if formats.Prompt(entries.Entry{}) {
		t.Error("no entry is a prompt")
	}
}

// FuzzDetect: whatever the bytes, detection ends, and agrees with what is then read.
func FuzzDetect(f *testing.F) {
	for _, s := range []string{claudeLine + claudeSaid, codexMeta + codexSaid, piHeader + piSaid, "{\"type\":\n\x00[]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := formats.From(transcripttest.Source{Reader: bytes.NewReader([]byte(text))}, "x.jsonl", nil)
		if err != nil {
			return
		}
		if _, err := tree.Branches(); err != nil {
			t.Fatal(err)
		}
	})
}
