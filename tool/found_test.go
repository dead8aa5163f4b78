package tool_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/tool"
)

// What was found by people who tried to break it: each with the right value.

// A result that no answer above it has called for is no reason to stop.
func TestOrphanResults(t *testing.T) {
	p := newPlay(t, nil, false)
	p.result("x", "read", "text")
	p.phase(tool.None)
	p.user("go")
	p.answer("", "r read", "q read")
	p.result("r", "read", "R")
	p.append(entries.Raw([]byte(`{"type":"reset_boundary"}`)))
	p.result("q", "read", "Q")
	p.phase(tool.None)
	p.answerAnd("c checkpoint", `{"goal":"g"}`)
	p.phase(tool.Active)
}

// The answer that called checkpoint may be damaged: what is said of it is an error at
// most.
func TestDamagedAnswer(t *testing.T) {
	p := newPlay(t, nil, false)
	p.explored()
	p.answerAnd("w rewind", `{"report":"R"}`)
	path := p.s.Path()
	p.must(p.s.Close())
	log, err := os.ReadFile(path)
	p.must(err)
	p.must(os.WriteFile(path, []byte(strings.ReplaceAll(string(log), `"role":"assistant"`, "\"role\":\"assist\x01nt\"")), 0o600))
	p.s, err = sessiontree.Open(path, nil)
	p.must(err)
	p.tools = tool.New(p.s, nil)
	if _, err := p.tools.Resume(ctx); err != nil {
		t.Logf("resume: %v", err)
	}
}

// Neither of the tools is copied with what is kept: a copy of a rewind would be pending
// again, a copy of a checkpoint open again.
func TestToolsAreNotKept(t *testing.T) {
	t.Run("two rewinds, the first cancelled", func(t *testing.T) {
		both(t, tool.Options{MaxDepth: 2}, func(p *play) {
			p.user("go")
			p.answerAnd("o checkpoint", `{"goal":"outer","label":"o"}`)
			p.answerAnd("i checkpoint", `{"goal":"inner"}`)
			p.answer("", "w1 rewind", "w2 rewind", "b bash")
			p.call("w1", "rewind", `{"report":"CANCELLED","checkpoint":"o"}`)
			p.must(p.tools.Cancel(ctx))
			p.call("w2", "rewind", `{"report":"inner done"}`)
			p.result("b", "bash", "B")
			if r := p.end(); r.Report != "inner done" {
				p.t.Fatalf("got %+v", r)
			}
			p.phase(tool.Active)
			p.wantRoles("user assistant/o toolResult/o assistant/i toolResult/i branchSummary custom assistant/b toolResult/b")
		})
	})
	t.Run("a checkpoint beside a rewind of the outer", func(t *testing.T) {
		both(t, tool.Options{MaxDepth: 2}, func(p *play) {
			p.user("go")
			p.answerAnd("o checkpoint", `{"goal":"outer","label":"o"}`)
			p.answer("", "i checkpoint", "w rewind")
			p.call("i", "checkpoint", `{"goal":"inner"}`)
			p.call("w", "rewind", `{"report":"R","checkpoint":"o"}`)
			p.end()
			p.phase(tool.Closed)
			p.wantRoles("user assistant/o toolResult/o branchSummary custom")
		})
	})
	t.Run("a call with the rewind's own id", func(t *testing.T) {
		both(t, tool.Options{}, func(p *play) {
			p.explored()
			p.answer("", "x rewind", "x bash")
			p.call("x", "rewind", `{"report":"R"}`)
			p.result("x", "bash", "OUT")
			p.end()
			p.wantRoles("user assistant/c1 toolResult/c1 branchSummary custom assistant/x toolResult/x")
		})
	})
}

// The checkpoint's answer keeps all its results, whatever came between them.
func TestGroupWithSomethingBetween(t *testing.T) {
	for _, order := range []string{"c u b", "b u c", "u c b", "c s b"} {
		t.Run(order, func(t *testing.T) {
			both(t, tool.Options{}, func(p *play) {
				p.user("go")
				p.answer("look", "c checkpoint", "b bash")
				for _, o := range strings.Fields(order) {
					switch o {
					case "c":
						p.call("c", "checkpoint", `{"goal":"g"}`)
					case "u":
						p.user("hurry")
					case "s":
						p.append(entries.SystemMessage(entries.System{Content: "a rule"}))
					case "b":
						p.result("b", "bash", "OUTPUT")
					}
				}
				before := p.context().Hash()
				p.answer("", "b read") // of a provider that counts its ids anew
				p.result("b", "read", "x")
				p.answerAnd("w rewind", `{"report":"R"}`)
				p.end()
				list := p.context().Messages
				head := *p.context()
				head.Messages = list[:len(list)-2]
				if head.Hash() != before {
					p.t.Errorf("the checkpoint's group is not as it was: %s", p.roles())
				}
			})
		})
	}
	p := newPlay(t, nil, false)
	p.user("go")
	call := []json.RawMessage{entries.ToolCallBlock("", "checkpoint", []byte("{}")), entries.TextBlock("after")}
	p.append(entries.AssistantMessage(entries.Assistant{Content: call, Provider: "acme", Model: "m", StopReason: "toolUse"}))
	p.call("", "checkpoint", `{"goal":"g"}`)
	p.answerAnd("w rewind", `{"report":"R"}`)
	p.end()
	p.wantRoles("user assistant/ toolResult branchSummary custom")
}

func reportOf(p *play) string {
	p.t.Helper()
	list := p.context().Messages
	i := slices.IndexFunc(list, func(m modelcontext.Message) bool { return m.Role == modelcontext.RoleCustom })
	if i < 0 {
		p.t.Fatal("no report")
	}
	return string(list[i].Raw)
}

// The report of an outer rewind tells again what those of the inner ones told: they
// leave the context with it.
func TestReportsOfNestedRewinds(t *testing.T) {
	both(t, tool.Options{MaxDepth: 3}, func(p *play) {
		p.user("go")
		p.answerAnd("1 checkpoint", `{"goal":"outer"}`)
		p.answerAnd("2 checkpoint", `{"goal":"middle"}`)
		p.answerAnd("3 checkpoint", `{"goal":"inner"}`)
		p.answer("TOLD", `e edit {"path":"inner.go"}`)
		p.result("e", "edit", "x")
		p.user("never touch main.go")
		for i, want := range []int{1, 1, 1} {
			p.answerAnd(fmt.Sprintf("w%d rewind", i), `{"report":"R"}`)
			p.end()
			told := reportOf(p)
			for _, s := range []string{"never touch main.go", "TOLD", `"modifiedFiles":["inner.go"]`} {
				if strings.Count(told, s) != want {
					p.t.Errorf("report %d: %q is not there once: %s", i, s, told)
				}
			}
		}
		p.phase(tool.Closed)
	})
}

// A summary that says it left what comes behind it leads nobody around in circles.
func TestSummaryOfItself(t *testing.T) {
	p := newPlay(t, nil, false)
	p.explored()
	id, err := p.s.NewID()
	p.must(err)
	p.append(entries.BranchSummaryDraft("later001", "odd", []byte(`{"startedAt":"2026-01-02T03:04:05.000Z","checkpoint":"nobody00"}`)).WithID(id))
	p.append(entries.UserMessage("x").WithID("later001"))
	p.answerAnd("c2 checkpoint", `{"goal":"g"}`)
	p.answerAnd("w rewind", `{"report":"R"}`)
	p.end()
	p.phase(tool.Closed)
}

// What was edited away in the context does not come back in the report.
func TestReportAfterEdits(t *testing.T) {
	both(t, tool.Options{}, func(p *play) {
		p.explored()
		secret := p.user("the password is HUNTER2")
		gone := p.user("and this is GONE")
		p.append(entries.Raw(fmt.Appendf(nil, `{"type":"context_edit","targetId":%q,"replacement":{"content":"[redacted]"}}`, secret)))
		p.append(entries.Raw(fmt.Appendf(nil, `{"type":"context_edit","targetId":%q,"replacement":null}`, gone)))
		p.answerAnd("w rewind", `{"report":"R"}`)
		p.end()
		if told := reportOf(p); strings.Contains(told, "HUNTER2") || strings.Contains(told, "GONE") || !strings.Contains(told, "[redacted]") {
			p.t.Errorf("got %s", told)
		}
	})
}

// What the harness set meanwhile stays in force, and what the user did is told.
func TestRewindKeepsWhatIsInForce(t *testing.T) {
	both(t, tool.Options{}, func(p *play) {
		p.append(entries.SystemMessage(entries.System{Content: "P"}))
		p.user("go")
		p.append(entries.ModelChangeDraft("acme", "m"))
		p.answerAnd("c checkpoint", `{"goal":"g"}`)
		p.append(entries.SystemMessage(entries.System{Content: "NEWRULE", ToolsAdded: []json.RawMessage{[]byte(`{"name":"deploy","description":"d","parameters":{}}`)}}))
		p.append(entries.MessageDraft([]byte(`{"role":"bashExecution","command":"rm -rf build","output":"ok","exitCode":0,"timestamp":1}`)))
		p.append(entries.MessageDraft([]byte(`{"role":"bashExecution","command":"cat secret","output":"ok","excludeFromContext":true,"timestamp":1}`)))
		p.append(entries.MessageDraft([]byte(`{"role":"user","content":[{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}],"timestamp":1}`)))
		calls := []json.RawMessage{entries.ToolCallBlock("w", "rewind", []byte("{}")), entries.ToolCallBlock("b", "bash", []byte("{}"))}
		p.append(entries.AssistantMessage(entries.Assistant{Content: calls, Provider: "acme", Model: "B", StopReason: "toolUse"}))
		p.call("w", "rewind", `{"report":"R"}`)
		p.result("b", "bash", "ok")
		p.append(entries.ModelChangeDraft("acme", "m"))
		before := p.context()
		p.end()
		after := p.context()
		if after.Model != before.Model || encode(after.System()) != encode(before.System()) {
			p.t.Errorf("got %+v %s, before %+v %s", after.Model, encode(after.System()), before.Model, encode(before.System()))
		}
		told := reportOf(p)
		if !strings.Contains(told, "rm -rf build") || !strings.Contains(told, "(an image)") || strings.Contains(told, "cat secret") {
			p.t.Errorf("got %s", told)
		}
	})
}

// Call decides and appends at one leaf: where it moves in between it looks again.
func TestLeafMovesDuringCall(t *testing.T) {
	p := newPlay(t, nil, false)
	u := p.user("go")
	p.answer("", "c checkpoint")
	moved := false
	tools := tool.New(p.s, &tool.Options{Now: func() time.Time {
		if !moved {
			moved = true
			_, err := p.s.MoveLeaf(ctx, u, sessiontree.ReasonCheckout)
			p.must(err)
		}
		return time.Now()
	}})
	if _, err := tools.Call(ctx, "checkpoint", "c", []byte(`{"goal":"g"}`)); err == nil || !strings.Contains(err.Error(), tool.ErrNoCall.Error()) {
		t.Errorf("got %v, want no call there", err)
	}
	p.phase(tool.None)
	p.wantRoles("user")
}

func TestLongGoal(t *testing.T) {
	p := newPlay(t, nil, false)
	p.user("go")
	p.refused(p.answerAnd("c checkpoint", `{"goal":"`+strings.Repeat("x", 10_001)+`"}`), "The goal is longer than 10000 characters")
}

// A fork does not have what its original left.
func TestUndoRewindInAFork(t *testing.T) {
	p := newPlay(t, nil, false)
	p.explored()
	p.answerAnd("w rewind", `{"report":"R"}`)
	p.end()
	tree, err := p.s.Tree()
	p.must(err)
	fork, err := sessiontree.Fork(ctx, tree, "", t.TempDir(), entries.Header{Cwd: "/w"}, nil)
	p.must(err)
	defer fork.Close()
	if _, err := tool.New(fork, nil).UndoRewind(ctx); err == nil || !strings.Contains(err.Error(), tool.ErrNothing.Error()) {
		t.Errorf("got %v", err)
	}
}
