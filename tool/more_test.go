package tool_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/tool"
)

func TestNested(t *testing.T) {
	both(t, tool.Options{MaxDepth: 3}, func(p *play) {
		p.user("go")
		outer := p.answerAnd("1 checkpoint", `{"goal":"outer","label":"o"}`)
		p.refused(p.answerAnd("x checkpoint", `{"goal":"g","label":"o"}`), "label \"o\" is taken")
		p.answerAnd("2 checkpoint", `{"goal":"inner"}`)
		p.answerAnd("3 checkpoint", `{"goal":"innermost"}`)
		p.refused(p.answerAnd("4 checkpoint", `{"goal":"too deep"}`), "already active")
		p.answerAnd("5 rewind", `{"report":"innermost is done"}`)
		if r := p.end(); r.Checkpoint.Goal != "innermost" {
			p.t.Fatalf("got %+v", r)
		}
		p.phase(tool.Active)
		if s := p.state(); len(s.Open) != 2 || s.Last.Report != "innermost is done" {
			p.t.Fatalf("got %s", encode(s))
		}
		p.answerAnd("6 rewind", `{"report":"all is done","checkpoint":"o"}`)
		if r := p.end(); r.Checkpoint.ID != outer.Entry {
			p.t.Fatalf("got %+v", r)
		}
		p.phase(tool.Closed)
		p.wantRoles("user assistant/1 toolResult/1 branchSummary custom")
	})
}

func TestUndoRewind(t *testing.T) {
	both(t, tool.Options{}, func(p *play) {
		p.explored()
		before := p.roles()
		p.answerAnd("w rewind", `{"report":"first"}`)
		p.end()
		p.user("no, look again")
		p.step()
		if _, err := p.tools.UndoRewind(ctx); err != nil {
			p.t.Fatal(err)
		}
		p.phase(tool.Active)
		p.wantRoles(before)
		if r := p.end(); r != nil {
			p.t.Errorf("the taken-back rewind was applied again: %+v", r)
		}
		p.answerAnd("v rewind", `{"report":"second"}`)
		if r := p.end(); r.Report != "second" {
			p.t.Errorf("got %+v", r)
		}
		p.wantRoles("user assistant/c1 toolResult/c1 branchSummary custom")
	})
}

func TestReminder(t *testing.T) {
	both(t, tool.Options{}, func(p *play) {
		note := func() string {
			p.step()
			s, err := p.tools.PendingReminder(ctx)
			p.must(err)
			return s
		}
		p.user("go")
		if got := note(); got != "" {
			p.t.Errorf("without a checkpoint: got %q", got)
		}
		c := p.answerAnd("1 checkpoint", `{"goal":"x"}`)
		before := p.roles()
		if got := note(); !strings.Contains(got, string(c.Entry)) {
			p.t.Errorf("got %q, want the checkpoint named", got)
		}
		p.wantRoles(before)
		p.answer("done")
		if got := note(); got != "" {
			p.t.Errorf("the second time: got %q, want nothing", got)
		}
		p.phase(tool.None)
		p.refused(p.answerAnd("2 rewind", `{"report":"x"}`), "No active checkpoint")
		p.answerAnd("3 checkpoint", `{"goal":"another"}`)
		p.must(p.tools.Close(ctx))
		p.phase(tool.None)
	})
}

func TestSubagents(t *testing.T) {
	p := newPlay(t, &tool.Options{Subagent: true}, false)
	p.user("go")
	p.refused(p.answerAnd("1 checkpoint", `{"goal":"x"}`), "Checkpoint not available in subagents.")
	p = newPlay(t, &tool.Options{Subagent: true, AllowSubagent: true}, false)
	p.user("go")
	if r := p.answerAnd("1 checkpoint", `{"goal":"x"}`); r.IsError {
		t.Error(r.Text)
	}
}

func TestDefinitionsNeverChange(t *testing.T) {
	p := newPlay(t, nil, false)
	before := encode(p.tools.Definitions())
	p.explored()
	p.answerAnd("w rewind", `{"report":"r"}`)
	p.end()
	if after := encode(p.tools.Definitions()); after != before {
		t.Errorf("got %s, before %s", after, before)
	}
	for _, d := range p.tools.Definitions() {
		if !json.Valid(d.InputSchema) || d.Description == "" {
			t.Errorf("got %+v", d)
		}
		if strings.Contains(strings.ToLower(d.Description), "never call") {
			t.Errorf("%s: a model may take that for a general ban: %s", d.Name, d.Description)
		}
	}
}

func TestSmallAndLargeDetours(t *testing.T) {
	p := newPlay(t, &tool.Options{MinSpanTokens: 1000}, false)
	p.explored()
	p.refused(p.answerAnd("w rewind", `{"report":"r"}`), "nothing worth dropping")
	p.phase(tool.Active)
	p.answer("", "r2 read")
	p.result("r2", "read", strings.Repeat("code ", 2000))
	if r := p.answerAnd("v rewind", `{"report":"r"}`); r.IsError {
		t.Error(r.Text)
	}

	p = newPlay(t, &tool.Options{Window: 2000}, false)
	p.user(strings.Repeat("a long story ", 1500))
	p.explored()
	p.append(entries.CompactionDraft("short", p.state().Leaf, 1, nil))
	p.refused(p.answerAnd("w rewind", `{"report":"r"}`), "more than the 2000 that fit")
}

// TestCompactionInBetween: the rewind follows the path, behind the compaction.
func TestCompactionInBetween(t *testing.T) {
	both(t, tool.Options{}, func(p *play) {
		p.explored()
		p.append(entries.CompactionDraft("so far", p.state().Leaf, 1, nil))
		p.phase(tool.Active)
		p.answerAnd("w rewind", `{"report":"r"}`)
		p.end()
		p.wantRoles("user assistant/c1 toolResult/c1 branchSummary custom")
	})
}

// TestResume: a crash between the rewind's result and the end of the turn, with a call
// beside it that has no result.
func TestResume(t *testing.T) {
	both(t, tool.Options{}, func(p *play) {
		p.step()
		if r, err := p.tools.Resume(ctx); r != nil || err != nil {
			p.t.Fatalf("with nothing pending: got %+v, %v", r, err)
		}
		p.explored()
		p.answer("", "w rewind", "b bash")
		p.call("w", "rewind", `{"report":"r"}`)
		p.reopen()
		p.phase(tool.Pending)
		r, err := p.tools.Resume(ctx)
		p.must(err)
		if r == nil || r.Report != "r" {
			p.t.Fatalf("got %+v", r)
		}
		p.wantRoles("user assistant/c1 toolResult/c1 branchSummary custom assistant/b toolResult/b")
		last := p.context().Messages[6]
		if !strings.Contains(string(last.Raw), "interrupted") || !strings.Contains(string(last.Raw), `"isError":true`) {
			p.t.Errorf("got %s", last.Raw)
		}
	})
}

// TestCheckpointIsGone: the record of the checkpoint was damaged.
func TestCheckpointIsGone(t *testing.T) {
	p := newPlay(t, nil, false)
	c := p.explored()
	p.answerAnd("w rewind", `{"report":"r"}`)
	p.must(p.s.Close())
	log, err := os.ReadFile(p.s.Path())
	p.must(err)
	var kept []byte
	for line := range bytes.Lines(log) {
		if !bytes.Contains(line, []byte(`"id":"`+string(c.Entry)+`"`)) {
			kept = append(kept, line...)
		}
	}
	path := filepath.Join(t.TempDir(), "s.jsonl")
	p.must(os.WriteFile(path, kept, 0o600))
	old := time.Now().Add(-time.Hour)
	p.must(os.Chtimes(path, old, old))
	p.s, err = sessiontree.Open(path, nil)
	p.must(err)
	p.tools = tool.New(p.s, p.opt)
	leaf := p.state().Leaf
	if _, err := p.tools.EndTurn(ctx); !errors.Is(err, tool.ErrNoCheckpoint) || p.state().Leaf != leaf {
		t.Fatalf("got %v, want ErrNoCheckpoint and the session as it was", err)
	}
	p.opt.FallbackToRoot, p.opt.Logger = true, slog.New(slog.NewTextHandler(io.Discard, nil))
	p.tools = tool.New(p.s, p.opt)
	p.end()
	p.wantRoles("branchSummary custom")
	if report := string(p.context().Messages[1].Raw); !strings.Contains(report, "the whole conversation before it was left too") {
		t.Errorf("got %s", report)
	}
}

// TestCrashInside cuts the log at every byte of the rewind's batch: the rewind is still
// pending, or it was applied.
func TestCrashInside(t *testing.T) {
	p := newPlay(t, nil, false)
	p.explored()
	p.answer("", "w rewind", "b bash")
	p.call("w", "rewind", `{"report":"r"}`)
	p.result("b", "bash", "B")
	start, err := os.Stat(p.s.Path())
	p.must(err)
	pendingHash := p.context().Hash()
	p.end()
	doneHash := p.context().Hash()
	p.must(p.s.Close())
	log, err := os.ReadFile(p.s.Path())
	p.must(err)
	whole := int64(len(log)) - 1 // the last newline may be missing
	for cut := start.Size(); cut <= int64(len(log)); cut++ {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		p.must(os.WriteFile(path, log[:cut], 0o600))
		phase, hash := readState(t, path)
		if wantPhase, wantHash := tool.Pending, pendingHash; cut >= whole {
			if wantPhase, wantHash = tool.Closed, doneHash; phase != wantPhase || hash != wantHash {
				t.Fatalf("cut at %d of %d: got %s", cut, len(log), phase)
			}
		} else if phase != wantPhase || hash != wantHash {
			t.Fatalf("cut at %d of %d: got %s, want it void", cut, len(log), phase)
		}
		if cut%301 == 0 || cut == start.Size() {
			p.resumeFrom(path, cut < whole, pendingHash)
		}
	}
}

// readState reads a log as it is.
func readState(t *testing.T, path string) (tool.Phase, string) {
	t.Helper()
	tree, err := sessiontree.Read(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	s, err := tool.StateOf(tree, tree.Leaf())
	if err != nil {
		t.Fatal(err)
	}
	c, err := modelcontext.Build(tree, tree.Leaf(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s.Phase, c.Hash()
}

// resumeFrom opens a log that a crash left, and resumes.
func (p *play) resumeFrom(path string, pending bool, hash string) {
	p.t.Helper()
	old := time.Now().Add(-time.Hour)
	p.must(os.Chtimes(path, old, old))
	var err error
	p.s, err = sessiontree.Open(path, &sessiontree.Options{Sync: sessiontree.SyncNever})
	p.must(err)
	p.tools = tool.New(p.s, p.opt)
	r, err := p.tools.Resume(ctx)
	if err != nil || pending != (r != nil) || p.context().Hash() == hash {
		p.t.Fatalf("%s: got %+v, %v", path, r, err)
	}
	p.must(p.s.Close())
}

// TestWhatTheReportTells: what users wrote during the detour is told, verbatim; a long story
// to the user by its size and its beginning.
func TestWhatTheReportTells(t *testing.T) {
	p := newPlay(t, nil, false)
	p.explored()
	p.user("by the way:\nuse tabs </user-message>")
	p.answer(strings.Repeat("It is like this. ", 300), "e edit {\"path\":\"b.go\"}", "x bash {\"command\":\"go test ./...\\nrm x\"}", "y search {\"q\":\"z\"}")
	for _, c := range []string{"e edit", "x bash", "y search"} {
		id, name, _ := strings.Cut(c, " ")
		p.result(id, name, "ok")
	}
	p.answerAnd("w rewind", `{"report":"r"}`)
	r := p.end()
	list := p.context().Messages
	var text string
	p.must(json.Unmarshal(list[len(list)-1].Content(), &text))
	for _, want := range []string{"by the way:\nuse tabs", "(5099 bytes, of which this is the beginning)", "a.go", "b.go", "go test ./... …", "search", "find the cause", "set a new checkpoint"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the report:\n%s", want, text)
		}
	}
	if len(r.ModifiedFiles) != 1 || r.ModifiedFiles[0] != "b.go" {
		t.Errorf("got %+v", r)
	}
	var details struct {
		Report, Checkpoint, StartedAt, RewoundAt string
		DroppedEntries                           int
		ReadFiles, ModifiedFiles, Restored       []string
	}
	p.must(json.Unmarshal(list[len(list)-1].Field("details"), &details))
	if details.Report != "r" || details.StartedAt == "" || details.RewoundAt == "" || details.DroppedEntries != r.DroppedEntries || details.Restored == nil {
		t.Errorf("got %+v", details)
	}
}

func TestDetached(t *testing.T) {
	p := newPlay(t, nil, false)
	p.user("go")
	p.answer("", "1 checkpoint")
	r, err := p.tools.CallDetached("checkpoint", []byte(`{"goal":"x"}`))
	p.must(err)
	p.phase(tool.None) // nothing happened yet
	p.append(entries.ToolResult("1", "checkpoint", []json.RawMessage{entries.TextBlock(r.Text)}, r.IsError, r.Details).WithID(r.Entry))
	p.phase(tool.Active)
	if got := p.state().Open[0].ID; got != r.Entry {
		t.Errorf("got %s, want %s", got, r.Entry)
	}
}
