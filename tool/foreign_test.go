package tool_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/tool"
)

// foreign appends a line as pi does, which knows no sums.
func (p *play) foreign(line string) {
	p.t.Helper()
	path := p.s.Path()
	p.must(p.s.Close())
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	p.must(err)
	_, err = f.WriteString(line + "\n")
	p.must(err)
	p.must(f.Close())
	p.s, err = sessiontree.Open(path, nil)
	p.must(err)
	p.tools = tool.New(p.s, p.opt)
}

// TestLapsedByPi: pi goes on with a session whose rewind is pending.
func TestLapsedByPi(t *testing.T) {
	p := newPlay(t, nil, false)
	p.explored()
	p.answerAnd("w rewind", `{"report":"r"}`)
	p.foreign(fmt.Sprintf(`{"type":"message","id":"abcdef01","parentId":%q,"timestamp":"2026-11-30T12:00:00.000Z","message":{"role":"user","content":"hello","timestamp":1}}`, p.state().Leaf))
	p.phase(tool.Active)
	if r, err := p.tools.Resume(ctx); r != nil || err != nil {
		t.Errorf("got %+v, %v, want nothing applied", r, err)
	}
}

// TestTwoCycles: a report belongs to its checkpoint, with a resume in between.
func TestTwoCycles(t *testing.T) {
	both(t, tool.Options{}, func(p *play) {
		p.explored()
		p.answerAnd("w1 rewind", `{"report":"first"}`)
		p.end()
		p.reopen()
		second := p.answerAnd("c2 checkpoint", `{"goal":"again"}`)
		p.phase(tool.Active)
		if s := p.state(); s.Request != nil || len(s.Open) != 1 || s.Open[0].ID != second.Entry {
			p.t.Fatalf("got %s", encode(s))
		}
		p.answer("", "r2 read")
		p.result("r2", "read", "x")
		if r := p.end(); r != nil {
			p.t.Fatalf("the first report was applied to the second checkpoint: %+v", r)
		}
		p.answerAnd("w2 rewind", `{"report":"second"}`)
		if r := p.end(); r.Report != "second" || r.Checkpoint.ID != second.Entry {
			p.t.Fatalf("got %+v", r)
		}
		p.wantRoles("user assistant/c1 toolResult/c1 branchSummary custom assistant/c2 toolResult/c2 branchSummary custom")
	})
}

// TestCheckpointsOfOtherBranches: one that was left is not offered any more.
func TestCheckpointsOfOtherBranches(t *testing.T) {
	both(t, tool.Options{}, func(p *play) {
		first := p.user("go")
		c := p.answerAnd("1 checkpoint", `{"goal":"x"}`)
		p.phase(tool.Active)
		_, err := p.s.MoveLeaf(ctx, first, sessiontree.ReasonCheckout)
		p.must(err)
		p.phase(tool.None)
		p.refused(p.answerAnd("2 rewind", `{"report":"r","checkpoint":"`+string(c.Entry)+`"}`), "no open checkpoint")
		_, err = p.s.MoveLeaf(ctx, c.Entry, sessiontree.ReasonCheckout)
		p.must(err)
		p.phase(tool.Active)
	})
}
