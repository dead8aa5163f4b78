package stats_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/stats"
)

const story = "../testdata/story.jsonl"

func read(t *testing.T, path string, opt *stats.Options) *stats.Session {
	t.Helper()
	tree, err := sessiontree.Read(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	s, err := stats.Read(tree, opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestReadWhatWasScanned: a session counts the same whether it was scanned before, when its
// messages are read one by one, or not, when they are read in passing.
func TestReadWhatWasScanned(t *testing.T) {
	paths, err := filepath.Glob("../testdata/*.jsonl")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		tree, err := sessiontree.Read(path, nil)
		if err != nil {
			continue // it is there to be no session
		}
		defer tree.Close()
		if err := tree.Scan(); err != nil {
			t.Fatal(err)
		}
		want, err := stats.Read(tree, nil)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, path, read(t, path, nil), want)
		equal(t, path, count(nil, read(t, path, nil)).Total(), count(nil, want).Total())
	}
}

func count(opt *stats.CounterOptions, sessions ...*stats.Session) *stats.Counter {
	c := stats.NewCounter(opt)
	for _, s := range sessions {
		c.Add(s)
	}
	return c
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
}

// perAnswer is what each answer of the story took.
var perAnswer = entries.Tokens{Input: 412, Output: 96, CacheRead: 8120, CacheWrite: 310, Cost: 0.0062745}

func times(n float64) entries.Tokens {
	return entries.Tokens{Input: n * perAnswer.Input, Output: n * perAnswer.Output, CacheRead: n * perAnswer.CacheRead, CacheWrite: n * perAnswer.CacheWrite}
}

func withoutCost(t entries.Tokens) entries.Tokens {
	t.Cost = 0
	return t
}

// TestStory: all that the session has that README shows, counted by hand.
func TestStory(t *testing.T) {
	c := count(nil, read(t, story, nil))
	total := c.Total()
	equal(t, "messages", total.Messages, map[string]int{"user": 3, "assistant": 7, "toolResult": 5})
	equal(t, "counts", [4]int{total.Sessions, total.Prompts, total.ToolCalls, total.ToolErrors}, [4]int{1, 3, 5, 1})
	equal(t, "tokens", withoutCost(total.Tokens), times(7))
	if cost := total.Tokens.Cost; cost < 0.0439 || cost > 0.044 {
		t.Errorf("cost: got %v, want 7 times %v", cost, perAnswer.Cost)
	}
	models := c.Models()
	equal(t, "models", []any{len(models), models[0].Model, models[0].Answers}, []any{1, "anthropic/claude-sonnet-5", 7})
	var tools []string
	for _, tool := range c.Tools() {
		tools = append(tools, fmt.Sprintf("%s %d %d %s", tool.Tool, tool.Calls, tool.Errors, tool.Time))
	}
	equal(t, "tools", strings.Join(tools, ", "), "bash 2 1 2s, checkpoint 1 0 1s, edit 1 0 1s, rewind 1 0 1s")
	equal(t, "files", c.Files(), []stats.File{{Path: "/home/u/parser/parser/quote.go", Edits: 1}})
	if w := c.Rewinds(); len(w) != 1 || w[0].DroppedEntries != 5 || w[0].Checkpoint.Short() != "XSAM68BR" {
		t.Errorf("rewinds: got %+v", w)
	}
	equal(t, "time", total.Time, stats.Time{Model: 7 * time.Second, Tools: 5 * time.Second})
}

// TestBranches: what each path took, and what of that only the branch has.
func TestBranches(t *testing.T) {
	var got []string
	for _, b := range read(t, story, nil).Branches {
		got = append(got, fmt.Sprintf("%s %v %d %.0f %.0f", b.Tip.Short(), b.Active, b.Turns, b.Tokens.Output/96, b.Own.Output/96))
	}
	equal(t, "branches", strings.Join(got, ", "), "1CQNBZYK false 1 3 2, 9HD5ASZB false 2 4 1, CBERM9FP true 2 4 1")
}

// TestOnePath: with a tip only what its path has.
func TestOnePath(t *testing.T) {
	s := read(t, story, nil)
	for _, b := range s.Branches {
		one := read(t, story, &stats.Options{Tip: b.Tip})
		c := count(nil, one)
		equal(t, "tokens of a path", withoutCost(c.Total().Tokens), withoutCost(b.Tokens))
		equal(t, "branches of a path", c.Branches(), []stats.Branch{b})
	}
}

// TestForkCountsOnce: what a fork copied is no second conversation.
func TestForkCountsOnce(t *testing.T) {
	tree, err := sessiontree.Read(story, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	fork, err := sessiontree.Fork(context.Background(), tree, "", t.TempDir(), entries.Header{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fork.Append(context.Background(), entries.UserMessage("go on")); err != nil {
		t.Fatal(err)
	}
	if err := fork.Close(); err != nil {
		t.Fatal(err)
	}
	first, second := read(t, story, nil), read(t, fork.Path(), nil)
	for _, c := range []*stats.Counter{count(nil, first, second), count(nil, second, first)} {
		total := c.Total()
		equal(t, "prompts", total.Prompts, 4)
		equal(t, "tokens", withoutCost(total.Tokens), times(7))
		equal(t, "rewinds", len(c.Rewinds()), 1)
		equal(t, "sessions", total.Sessions, 2)
		if c.Copied() == 0 {
			t.Error("no copied entries were noticed")
		}
	}
}

const header = `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}` + "\n"

func message(n int, at, object string) string {
	parent := "null"
	if n > 1 {
		parent = fmt.Sprintf(`"e%d"`, n-1)
	}
	return fmt.Sprintf(`{"type":"message","id":"e%d","parentId":%s,"timestamp":"%s","message":%s}`+"\n", n, parent, at, object)
}

func answer(model string, output int) string {
	return fmt.Sprintf(`{"role":"assistant","content":[],"provider":"p","model":"%s","usage":{"output":%d}}`, model, output)
}

// TestGroups: each entry is in one group, and prompts belong to the model that answers.
func TestGroups(t *testing.T) {
	path := write(t, header+
		message(1, "2026-01-01T10:00:00Z", `{"role":"user","content":"one"}`)+
		message(2, "2026-01-01T10:00:05Z", answer("a", 1))+
		message(3, "2026-01-01T23:30:00Z", `{"role":"user","content":"two"}`)+
		message(4, "2026-01-02T00:30:00Z", answer("b", 10))+
		`{"type":"usage","id":"e5","parentId":"e4","timestamp":"2026-01-02T00:31:00Z","kind":"x","model":"c","usage":{"output":100}}`+"\n"+
		message(6, "someday", `{"role":"user","content":"three"}`))
	for by, want := range map[stats.By]string{
		stats.ByDay: " 1 1 0, 2026-01-01 1 2 1, 2026-01-02 1 0 110", stats.ByModel: "c 1 0 100, p/a 1 1 1, p/b 1 2 10",
		stats.ByAgent: "pi 1 3 111", stats.ByCwd: "/p 1 3 111", "": "",
	} {
		var got []string
		for _, g := range count(&stats.CounterOptions{By: by}, read(t, path, nil)).Groups() {
			got = append(got, fmt.Sprintf("%s %d %d %.0f", g.Key, g.Sessions, g.Prompts, g.Tokens.Output))
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("by %s: got %q, want %q", by, s, want)
		}
	}
	east := time.FixedZone("", 3600)
	got := count(&stats.CounterOptions{By: stats.ByDay, Location: east}, read(t, path, nil)).Groups()
	if len(got) != 3 || got[2].Key != "2026-01-02" || got[2].Prompts != 1 {
		t.Errorf("in another zone: got %+v", got)
	}
}

// TestPrompts: what a person typed, and what a program wrote in a user's name.
func TestPrompts(t *testing.T) {
	for object, want := range map[string]int{
		`{"role":"user","content":"x"}`:                                            1,
		`{"role":"user","content":[{"type":"image","data":"AA"}]}`:                 1,
		`{"role":"user","content":"  "}`:                                           0,
		`{"role":"user"}`:                                                          0,
		`{"role":"user","content":"x","synthetic":true}`:                           0,
		`{"role":"user","content":"x","attribution":"agent"}`:                      0,
		`{"role":"user","content":"x","attribution":"user"}`:                       1,
		`{"role":"user","content":"<environment_context>x</environment_context>"}`: 0,
		`{"role":"toolResult","content":"x"}`:                                      0,
		`{"role":"branchSummary","summary":"x"}`:                                   0,
	} {
		if got := count(nil, read(t, write(t, header+message(1, "2026-01-01T10:00:00Z", object)), nil)).Total().Prompts; got != want {
			t.Errorf("%s: got %d prompts, want %d", object, got, want)
		}
	}
}

// TestFilesAreNamedOnce: relative and absolute, by tools that read and tools that change.
func TestFilesAreNamedOnce(t *testing.T) {
	call := func(tool, args string) string {
		return fmt.Sprintf(`{"type":"toolCall","id":"c","name":"%s","arguments":%s}`, tool, args)
	}
	content := strings.Join([]string{
		call("read", `{"path":"a/../b.go"}`), call("Edit", `{"file_path":"/p/b.go"}`), call("write", `{"path":"~/c"}`),
		call("bash", `{"path":"d"}`), call("view", `{"filePath":"e"}`), call("read", `{}`), call("read", `{"path":7}`), call("grep", `{"path":"f"}`),
	}, ",")
	path := write(t, header+message(1, "2026-01-01T10:00:00Z", `{"role":"assistant","content":[`+content+`]}`))
	c := count(nil, read(t, path, nil))
	equal(t, "files", c.Files(), []stats.File{{"/p/b.go", 1, 1}, {"~/c", 0, 1}, {"/p/e", 1, 0}})
	equal(t, "calls", c.Total().ToolCalls, 8)
}

// TestNumbersThatAreNone: a log may hold any, and none makes the sums senseless.
func TestNumbersThatAreNone(t *testing.T) {
	path := write(t, header+message(1, "2026-01-01T10:00:00Z",
		`{"role":"assistant","content":[],"usage":{"input":1e308,"output":-5,"cacheRead":"7","cacheWrite":null,"cost":{"total":1e400}}}`)+
		`{"type":"custom_message","id":"e2","parentId":"e1","customType":"rewind-report","content":"x","details":{"droppedEntries":1e300,"droppedTokens":-1}}`+"\n"+
		`{"type":"custom_message","id":"e3","parentId":"e2","customType":"rewind-report","content":"x"}`+"\n")
	c := count(nil, read(t, path, nil))
	equal(t, "tokens", c.Total().Tokens, entries.Tokens{})
	equal(t, "rewinds", c.Rewinds(), []stats.Rewind{{Session: "s1"}, {Session: "s1"}})
}

// TestFiles: sessions come in order; what is none comes with its error.
func TestFiles(t *testing.T) {
	one := write(t, header+message(1, "2026-01-01T10:00:00Z", `{"role":"user","content":"x"}`))
	junk := write(t, "junk\n")
	done := make(chan bool, 9)
	var got []string
	for s, err := range stats.Files(context.Background(), []string{one, junk, story, one}, &stats.FilesOptions{
		Done:   func() { done <- true },
		Match:  func(t *sessiontree.Tree) bool { return t.Header().Cwd == "/p" },
		Prompt: func(entries.Entry) bool { return false },
	}) {
		if err != nil {
			got = append(got, "error")
		} else {
			got = append(got, s.ID)
			equal(t, "prompts, where the caller knows better", count(nil, s).Total().Prompts, 0)
		}
	}
	equal(t, "sessions", strings.Join(got, " "), "s1 error s1")
	equal(t, "done", len(done), 4)
	for range stats.Files(context.Background(), []string{one, one, one}, nil) {
		break
	}
}
