package stats_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sessctl/sessctl/stats"
)

// TestOneSessionInTwoFiles: a session that is found in two files, as a copy of it and a thread
// in segments are, is one, with its branches and entries, and no fork.
func TestOneSessionInTwoFiles(t *testing.T) {
	raw, err := os.ReadFile(story)
	if err != nil {
		t.Fatal(err)
	}
	once, twice := count(nil, read(t, story, nil)), count(nil, read(t, story, nil), read(t, write(t, string(raw)), nil))
	equal(t, "total", twice.Total(), once.Total())
	equal(t, "branches", len(twice.Branches()), len(once.Branches()))
	equal(t, "copied", twice.Copied(), 0)
}

// TestSessionsOfATime: a session counts where it has an entry, and so do its branches.
func TestSessionsOfATime(t *testing.T) {
	path := write(t, header+message(1, "2026-01-01T10:00:00Z", `{"role":"user","content":"one"}`))
	empty := write(t, `{"type":"session","version":3,"id":"s2","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/q"}`+"\n")
	for _, c := range []struct {
		since              time.Time
		sessions, branches int
	}{
		{time.Time{}, 2, 1},
		{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 1, 1},
		{time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), 0, 0},
	} {
		n := count(&stats.CounterOptions{Since: c.since, By: stats.ByCwd}, read(t, path, nil), read(t, empty, nil))
		inGroups := 0
		for _, g := range n.Groups() {
			inGroups += g.Sessions
		}
		equal(t, fmt.Sprint("since ", c.since), [3]int{n.Total().Sessions, inGroups, len(n.Branches())}, [3]int{c.sessions, c.sessions, c.branches})
	}
}

// TestUnpriced: sessions whose tokens nobody puts a price on are told apart from those that
// took none.
func TestUnpriced(t *testing.T) {
	priced := `{"role":"assistant","content":[],"model":"m","usage":{"output":1,"cost":{"total":2}}}`
	for object, want := range map[string]int{answer("m", 5): 1, answer("m", 0): 0, priced: 0, `{"role":"user","content":"x"}`: 0} {
		equal(t, object, count(nil, read(t, write(t, header+message(1, "2026-01-01T10:00:00Z", object)), nil)).Unpriced(), want)
	}
}

// claude reads a transcript of Claude Code.
func claude(t *testing.T, lines ...string) *stats.Session {
	t.Helper()
	text := ""
	for i, line := range lines {
		up := "null"
		if i > 0 {
			up = fmt.Sprintf(`"u%d"`, i-1)
		}
		text += fmt.Sprintf(`{"uuid":"u%d","parentUuid":%s,"sessionId":"c","timestamp":"2026-01-01T1%d:00:00.000Z",%s}`+"\n", i, up, i, line)
	}
	path := filepath.Join(t.TempDir(), "c.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return transcript(t, path, false)
}

// TestSyntheticAnswers: what Claude Code writes in a model's name took no model's time, and
// answers no prompt.
func TestSyntheticAnswers(t *testing.T) {
	c := count(&stats.CounterOptions{By: stats.ByModel}, claude(t,
		`"type":"user","message":{"content":"one"}`,
		`"type":"assistant","message":{"id":"a","model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}`,
		`"type":"user","message":{"content":"two"}`,
		`"type":"assistant","message":{"id":"b","model":"m","content":[{"type":"text","text":"yes"}],"usage":{"output_tokens":3}}`))
	equal(t, "time", c.Total().Time.Model, time.Hour)
	for _, g := range c.Groups() {
		if want := map[string]int{"anthropic/m": 2}[g.Key]; g.Prompts != want {
			t.Errorf("%d prompts are answered by %s, want %d", g.Prompts, g.Key, want)
		}
	}
}

// TestFailedCallsDoNothing: a call whose result says that it failed neither read a file nor
// changed one.
func TestFailedCallsDoNothing(t *testing.T) {
	call := func(id, name, path string) string {
		return fmt.Sprintf(`"type":"assistant","message":{"id":"m%s","model":"m","content":[{"type":"tool_use","id":"%s","name":"%s","input":{"file_path":"%s"}}]}`, id, id, name, path)
	}
	result := func(id string, failed bool) string {
		return fmt.Sprintf(`"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"%s","content":"x","is_error":%v}]}`, id, failed)
	}
	c := count(nil, claude(t,
		call("1", "Edit", "/a"), result("1", true), call("2", "Edit", "/a"), result("2", false),
		call("3", "Edit", "/b"), result("3", true), call("4", "Read", "/c"), result("4", true), call("5", "Read", "/d")))
	equal(t, "files", c.Files(), []stats.File{{Path: "/a", Edits: 1}, {Path: "/d", Reads: 1}})
	equal(t, "calls", c.Total().ToolCalls, 5)
}
