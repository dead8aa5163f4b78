package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/tool"
)

var ctx = context.Background()

// A play is a harness with a model whose answers a test makes up.
type play struct {
	t     *testing.T
	s     *sessiontree.Session
	tools *tool.Tools
	opt   *tool.Options
	// restart opens the session anew before every step.
	restart bool
}

var clock = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func newPlay(t *testing.T, opt *tool.Options, restart bool) *play {
	t.Helper()
	s, err := sessiontree.Create(t.TempDir(), entries.Header{Cwd: "/p"}, &sessiontree.Options{Sync: sessiontree.SyncNever})
	if err != nil {
		t.Fatal(err)
	}
	if opt == nil {
		opt = &tool.Options{}
	}
	opt.Now = func() time.Time { return clock }
	p := &play{t: t, s: s, opt: opt, restart: restart}
	p.tools = tool.New(s, opt)
	t.Cleanup(func() { p.s.Close() })
	return p
}

// step is called before each step.
func (p *play) step() {
	p.t.Helper()
	if p.restart {
		p.reopen()
	}
}

// reopen ends the process, as it were, and goes on in another one: state and context
// are what they were.
func (p *play) reopen() {
	p.t.Helper()
	before, hash := p.state(), p.context().Hash()
	path := p.s.Path()
	p.must(p.s.Close())
	s, err := sessiontree.Open(path, &sessiontree.Options{Sync: sessiontree.SyncNever})
	p.must(err)
	p.s, p.tools = s, tool.New(s, p.opt)
	if after := p.state(); !sameState(before, after) || hash != p.context().Hash() {
		p.t.Fatalf("after opening again the state is %s, before it was %s", encode(after), encode(before))
	}
}

func encode(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func sameState(a, b tool.State) bool { return encode(a) == encode(b) }

func (p *play) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *play) append(d ...entries.Draft) entries.ID {
	p.t.Helper()
	p.step()
	done, err := p.s.Append(ctx, d...)
	p.must(err)
	return done.Leaf
}

func (p *play) user(text string) entries.ID { p.t.Helper(); return p.append(entries.UserMessage(text)) }

// answer is what the model says, with calls "id name".
func (p *play) answer(text string, calls ...string) entries.ID {
	p.t.Helper()
	var content []json.RawMessage
	if text != "" {
		content = append(content, entries.TextBlock(text))
	}
	stop := "stop"
	for _, c := range calls {
		id, name, _ := strings.Cut(c, " ")
		name, args, _ := strings.Cut(name, " ")
		if args == "" {
			args = "{}"
		}
		content, stop = append(content, entries.ToolCallBlock(id, name, json.RawMessage(args))), "toolUse"
	}
	return p.append(entries.AssistantMessage(entries.Assistant{Content: content, Provider: "acme", Model: "m", StopReason: stop}))
}

// result is what another tool says.
func (p *play) result(id, name, text string) entries.ID {
	p.t.Helper()
	return p.append(entries.ToolResult(id, name, []json.RawMessage{entries.TextBlock(text)}, false, nil))
}

// call runs one of the two tools.
func (p *play) call(id, name, args string) tool.Result {
	p.t.Helper()
	p.step()
	r, err := p.tools.Call(ctx, name, id, json.RawMessage(args))
	p.must(err)
	return r
}

func (p *play) end() *tool.Rewound {
	p.t.Helper()
	p.step()
	r, err := p.tools.EndTurn(ctx)
	p.must(err)
	return r
}

func (p *play) state() tool.State {
	p.t.Helper()
	s, err := p.tools.State()
	p.must(err)
	return s
}

func (p *play) phase(want tool.Phase) {
	p.t.Helper()
	if s := p.state(); s.Phase != want {
		p.t.Fatalf("got phase %s, want %s: %s", s.Phase, want, encode(s))
	}
}

func (p *play) context() *modelcontext.Context {
	p.t.Helper()
	tree, err := p.s.Tree()
	p.must(err)
	c, err := modelcontext.Build(tree, tree.Leaf(), nil)
	p.must(err)
	return c
}

// roles names the messages of the context: roles, calls by name, results by call.
func (p *play) roles() string {
	p.t.Helper()
	var list []string
	for _, m := range p.context().Messages {
		body := entries.ParseMessage(m.Raw)
		name := m.Role
		for _, b := range body.Blocks() {
			if b.Type == "toolCall" {
				name += "/" + b.ID
			}
		}
		if body.ToolCallID != "" {
			name += "/" + body.ToolCallID
		}
		list = append(list, name)
	}
	return strings.Join(list, " ")
}

func (p *play) wantRoles(want string) {
	p.t.Helper()
	if got := p.roles(); got != want {
		p.t.Fatalf("got the context\n%s, want\n%s", got, want)
	}
}

// wants demands an error of the model's, in its words.
func (p *play) refused(r tool.Result, words string) {
	p.t.Helper()
	if !r.IsError || !strings.Contains(r.Text, words) {
		p.t.Fatalf("got %+v, want an error with %q", r, words)
	}
}

// both runs a play in one process, and with the process restarted before every step.
func both(t *testing.T, opt tool.Options, script func(p *play)) {
	t.Helper()
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprintf("restart=%v", restart), func(t *testing.T) {
			o := opt
			script(newPlay(t, &o, restart))
		})
	}
}

// explored is a user's turn with a checkpoint and an exploration.
func (p *play) explored() tool.Result {
	p.t.Helper()
	p.user("why does it fail?")
	p.answer("I look around.", "c1 checkpoint")
	r := p.call("c1", "checkpoint", `{"goal":"find the cause"}`)
	p.answer("", "r1 read {\"path\":\"a.go\"}")
	p.result("r1", "read", strings.Repeat("code ", 100))
	return r
}

func TestRewind(t *testing.T) {
	both(t, tool.Options{}, func(p *play) {
		p.phase(tool.None)
		c := p.explored()
		p.phase(tool.Active)
		if s := p.state(); s.Open[0].ID != c.Entry || s.Open[0].Goal != "find the cause" || !strings.Contains(c.Text, string(c.Entry)) {
			p.t.Fatalf("got %s of %+v", encode(s), c)
		}
		left := p.answer("It is in a.go.", "w1 rewind")
		p.call("w1", "rewind", `{"report":"  a.go:3 is wrong  "}`)
		p.phase(tool.Pending)
		before := p.state().Leaf
		r := p.end()
		p.phase(tool.Closed)
		p.wantRoles("user assistant/c1 toolResult/c1 branchSummary custom")
		if r.Report != "a.go:3 is wrong" || r.Checkpoint.ID != c.Entry || r.From != before || r.Target != c.Entry || r.DroppedEntries != 4 {
			p.t.Fatalf("got %+v", r)
		}
		if !slices.Equal(r.ForgottenReads, []string{"a.go"}) || r.DroppedTokens < 100 {
			p.t.Fatalf("got reads %q, %d tokens", r.ForgottenReads, r.DroppedTokens)
		}
		list := p.context().Messages
		if s := string(list[3].Raw); strings.Count(s, "a.go:3 is wrong") != 1 {
			p.t.Errorf("got the summary %s", s)
		}
		if s := list[4]; strings.Contains(string(s.Content()), "a.go:3 is wrong") || !strings.Contains(string(s.Raw), "It is in a.go.") || !strings.Contains(string(s.Raw), `"display":false`) {
			p.t.Errorf("got the report %s", s.Raw)
		}
		if again := p.end(); again != nil {
			p.t.Errorf("the end of the turn again: got %+v, want nothing", again)
		}
		p.refused(p.answerAnd("w2 rewind", `{"report":"x"}`), "rewound already")
		_ = left
	})
}

// answerAnd is an answer with one call of a tool of ours.
func (p *play) answerAnd(call, args string) tool.Result {
	p.t.Helper()
	id, name, _ := strings.Cut(call, " ")
	p.answer("", call)
	return p.call(id, name, args)
}

func TestErrorsOfTheModel(t *testing.T) {
	both(t, tool.Options{}, func(p *play) {
		p.user("go")
		p.refused(p.answerAnd("1 rewind", `{"report":"x"}`), "No active checkpoint. Create a checkpoint before calling rewind.")
		p.refused(p.answerAnd("2 checkpoint", `[]`), "arguments are wrong")
		c := p.answerAnd("3 checkpoint", `{"goal":"","label":"start"}`)
		p.refused(p.answerAnd("4 checkpoint", `{"goal":"again"}`), "Checkpoint already active.")
		p.refused(p.answerAnd("5 rewind", `{"report":" \n "}`), "Report cannot be empty.")
		p.refused(p.answerAnd("6 rewind", `{"report":"x","checkpoint":"nobody"}`), "no open checkpoint \"nobody\". Open: "+string(c.Entry)+" (start).")
		p.refused(p.answerAnd("7 rewind", `{"report":"x","files":"delete"}`), "files is")
		p.refused(p.answerAnd("8 rewind", `{"report":"x","files":"restore"}`), "No file states are recorded")
		p.refused(p.answerAnd("9 rewind", `{"report":"`+strings.Repeat("😀", 250_001)+`"}`), "longer than")
		p.phase(tool.Active)
		p.answer("", "a rewind", "b rewind", "c checkpoint")
		if r := p.call("a", "rewind", `{"report":"x","checkpoint":"start"}`); r.IsError {
			p.t.Fatal(r.Text)
		}
		p.refused(p.call("b", "rewind", `{"report":"y"}`), "pending already")
		p.refused(p.call("c", "checkpoint", `{"goal":"z"}`), "A rewind is pending")
		if r := p.end(); r.Report != "x" || r.Checkpoint.Label != "start" {
			p.t.Fatalf("got %+v", r)
		}
		p.refused(p.answerAnd("d rewind", `{"report":"x","checkpoint":"`+string(c.Entry)+`"}`), "rewound already")
	})
}

func TestErrorsOfTheHarness(t *testing.T) {
	p := newPlay(t, nil, false)
	p.user("go")
	if _, err := p.tools.Call(ctx, "bash", "1", nil); !errors.Is(err, tool.ErrUnknownTool) {
		t.Errorf("another tool: got %v", err)
	}
	if _, err := p.tools.Call(ctx, "checkpoint", "1", []byte(`{"goal":"x"}`)); !errors.Is(err, tool.ErrNoCall) {
		t.Errorf("a call that is not in the log: got %v", err)
	}
	for what, err := range map[string]error{"cancel": p.tools.Cancel(ctx), "close": p.tools.Close(ctx)} {
		if !errors.Is(err, tool.ErrNothing) {
			t.Errorf("%s: got %v, want ErrNothing", what, err)
		}
	}
	if _, err := p.tools.UndoRewind(ctx); !errors.Is(err, tool.ErrNothing) {
		t.Errorf("undo: got %v, want ErrNothing", err)
	}
	p.explored()
	p.answer("", "w1 rewind", "b1 bash")
	p.call("w1", "rewind", `{"report":"x"}`)
	leaf := p.state().Leaf
	if _, err := p.tools.EndTurn(ctx); !errors.Is(err, tool.ErrOpenCalls) || !strings.Contains(err.Error(), "b1 (bash)") || p.state().Leaf != leaf {
		t.Errorf("with an open call: got %v", err)
	}
}

// TestCallAgain: a harness that did not learn the outcome may call again.
func TestCallAgain(t *testing.T) {
	both(t, tool.Options{}, func(p *play) {
		p.user("go")
		p.answer("", "1 checkpoint")
		first := p.call("1", "checkpoint", `{"goal":"x"}`)
		again := p.call("1", "checkpoint", `{"goal":"x"}`)
		if encode(first) != encode(again) || len(p.state().Open) != 1 {
			p.t.Errorf("got %+v, then %+v", first, again)
		}
	})
}

// TestSiblings: what ran beside checkpoint stays with it; what ran beside rewind is
// kept.
func TestSiblings(t *testing.T) {
	both(t, tool.Options{}, func(p *play) {
		p.user("go")
		p.answer("", "a read", "b checkpoint", "c read")
		p.result("a", "read", "A")
		p.call("b", "checkpoint", `{"goal":"x"}`)
		p.result("c", "read", "C")
		p.answer("", "d read")
		p.result("d", "read", "D")
		p.answer("said", "e bash", "f rewind", "g edit")
		p.result("e", "bash", "E")
		p.call("f", "rewind", `{"report":"found"}`)
		p.append(entries.CustomDraft("file-snapshot", json.RawMessage(`{"n":1}`)))
		p.result("g", "edit", "G")
		p.end()
		p.wantRoles("user assistant/a/b/c toolResult/a toolResult/b toolResult/c branchSummary custom assistant/e/g toolResult/e toolResult/g")
		copied := p.context().Messages[7]
		if s := string(copied.Raw); strings.Contains(s, "said") || !strings.Contains(s, `"copyOf"`) || !strings.Contains(s, `"totalTokens":0`) {
			p.t.Errorf("got the copy %s", s)
		}
	})
}

// TestOneBatch: several of our calls in one answer.
func TestOneBatch(t *testing.T) {
	both(t, tool.Options{}, func(p *play) {
		p.user("go")
		p.answer("", "a checkpoint", "b rewind", "c bash")
		p.call("a", "checkpoint", `{"goal":"x"}`)
		p.call("b", "rewind", `{"report":"at once"}`)
		p.result("c", "bash", "C")
		r := p.end()
		p.wantRoles("user assistant/a/b/c toolResult/a toolResult/b toolResult/c branchSummary custom")
		if r.DroppedEntries != 0 {
			p.t.Errorf("got %+v, want nothing dropped", r)
		}
		p.phase(tool.Closed)
	})
	both(t, tool.Options{}, func(p *play) {
		p.user("go")
		p.answer("", "a checkpoint", "b checkpoint")
		p.call("a", "checkpoint", `{"goal":"x"}`)
		p.refused(p.call("b", "checkpoint", `{"goal":"y"}`), "already active")
		p.answer("", "c rewind")
		p.call("c", "rewind", `{"report":"r"}`)
		p.end()
		p.wantRoles("user assistant/a/b toolResult/a toolResult/b branchSummary custom")
	})
}

// TestLapsed: something behind the rewind's result that is no part of its turn.
func TestLapsed(t *testing.T) {
	for name, behind := range map[string]func(p *play){
		"a user's turn":            func(p *play) { p.user("wait") },
		"an answer":                func(p *play) { p.answer("more") },
		"a custom message":         func(p *play) { p.append(entries.CustomMessageDraft("n", json.RawMessage(`"x"`), true, nil)) },
		"a branch summary":         func(p *play) { p.append(entries.BranchSummaryDraft("x", "s", nil)) },
		"a compaction":             func(p *play) { p.append(entries.CompactionDraft("s", p.state().Open[0].ID, 1, nil)) },
		"a leaf marker":            func(p *play) { p.append(entries.LeafDraft("x", "checkout")) },
		"a result of another call": func(p *play) { p.result("z", "bash", "x") },
		"a record of cancellation": func(p *play) { p.must(p.tools.Cancel(ctx)) },
	} {
		t.Run(name, func(t *testing.T) {
			both(t, tool.Options{}, func(p *play) {
				p.explored()
				p.answerAnd("w rewind", `{"report":"r"}`)
				behind(p)
				p.phase(tool.Active)
				if r := p.end(); r != nil {
					p.t.Errorf("got %+v, want nothing applied", r)
				}
				p.answerAnd("v rewind", `{"report":"later"}`)
				if r := p.end(); r == nil || r.Report != "later" {
					p.t.Errorf("got %+v, want the later report", r)
				}
			})
		})
	}
	both(t, tool.Options{}, func(p *play) { // what does not count
		p.explored()
		p.answerAnd("w rewind", `{"report":"r"}`)
		p.append(entries.LabelDraft(p.state().Leaf, "x"), entries.SessionInfoDraft("n"), entries.ModelChangeDraft("a", "b"), entries.ThinkingLevelDraft("high"))
		p.append(entries.CustomDraft("note", json.RawMessage("1")), entries.CustomDraft("file-snapshot", nil), entries.LeafDraft("x", "return"))
		p.phase(tool.Pending)
		p.end()
		p.wantRoles("user assistant/c1 toolResult/c1 branchSummary custom")
		if c := p.context(); c.Model.ID != "b" || c.Thinking != "high" {
			p.t.Errorf("got %+v, want the settings that were in force", c.Settings)
		}
	})
}
