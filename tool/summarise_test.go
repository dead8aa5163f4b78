package tool_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/tool"
)

// count is a summariser that counts.
func count(_ context.Context, list []modelcontext.Message) (string, error) {
	return fmt.Sprintf("%d messages", len(list)), nil
}

func TestSummarise(t *testing.T) {
	both(t, tool.Options{}, func(p *play) {
		p.user("one")
		p.answer("", "a bash")
		a := p.result("a", "bash", "A")
		two := p.user("two")
		p.answer("done")
		leaf := p.state().Leaf
		for name, f := range map[string]func() error{
			"a failing summariser": func() error {
				_, err := p.tools.SummariseUpTo(ctx, two, func(context.Context, []modelcontext.Message) (string, error) { return "x", errors.New("down") })
				return err
			},
			"an empty summary": func() error {
				_, err := p.tools.SummariseFrom(ctx, two, func(context.Context, []modelcontext.Message) (string, error) { return " ", nil })
				return err
			},
			"an entry that is not there": func() error { _, err := p.tools.SummariseUpTo(ctx, "nobody", count); return err },
		} {
			if err := f(); err == nil || p.state().Leaf != leaf {
				p.t.Errorf("%s: got %v, want an error and the session as it was", name, err)
			}
		}
		_, err := p.tools.SummariseUpTo(ctx, two, count)
		p.must(err)
		p.wantRoles("compactionSummary user assistant")
		if c := p.context(); string(c.Messages[0].Field("summary")) != `"3 messages"` || !c.Complete || c.Model.ID != "m" {
			p.t.Errorf("got %s, %+v", c.Messages[0].Raw, c.Settings)
		}
		_, err = p.s.MoveLeaf(ctx, leaf, sessiontree.ReasonCheckout)
		p.must(err)
		_, err = p.tools.SummariseFrom(ctx, a, count) // a result: from its answer on
		p.must(err)
		p.wantRoles("user branchSummary")
		if s := string(p.context().Messages[1].Field("summary")); s != `"5 messages"` { // a user's first, for the provider
			p.t.Errorf("got %s", s)
		}
	})
}

// TestRewindsOfRandomLives tries checkpoints, rewinds, turns and moves at random. After
// each step the context of the live session is that of the log opened again, and what
// stands up to a rewind's target has the same bytes before and after it.
func TestRewindsOfRandomLives(t *testing.T) {
	seeds := uint64(8)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 41))
		o := tool.Options{}
		o.MaxDepth = 1 + int(seed%3)
		p := newPlay(t, &o, false)
		p.user("begin")
		for n := range 50 {
			id := fmt.Sprint("k", n)
			switch r.IntN(9) {
			case 0:
				p.user("go on")
			case 1, 2:
				p.answer("", id+" read {\"path\":\"a.go\"}")
				p.result(id, "read", "code")
			case 3:
				p.answer("", id+" checkpoint", id+"x bash")
				p.call(id, "checkpoint", `{"goal":"g"}`)
				p.result(id+"x", "bash", "x")
			case 4, 5:
				p.answer("so", id+"x bash", id+" rewind")
				p.result(id+"x", "bash", "x")
				p.call(id, "rewind", `{"report":"r"}`)
			case 6:
				p.append(entries.LabelDraft(p.state().Leaf, fmt.Sprint("l", n)))
			case 7:
				if p.state().Last != nil {
					_, _ = p.tools.UndoRewind(ctx)
				}
			default:
				p.append(entries.CompactionDraft("short", p.state().Leaf, 1, nil))
			}
			p.endLive()
			p.reopen()
		}
	}
}

// endLive ends a turn, and compares the prefix up to the target.
func (p *play) endLive() {
	p.t.Helper()
	r := p.end()
	if r == nil {
		return
	}
	tree, err := p.s.Tree()
	p.must(err)
	before, err := modelcontext.Build(tree, r.Target, nil)
	p.must(err)
	after := p.context()
	for i, m := range before.Messages {
		if string(m.Raw) != string(after.Messages[i].Raw) {
			p.t.Fatalf("message %d changed by the rewind", i)
		}
	}
	if after.Messages[len(before.Messages)].Role != modelcontext.RoleBranchSummary {
		p.t.Fatalf("got %s behind the target", after.Messages[len(before.Messages)].Raw)
	}
}

// Calls and their results stay together, also where something came between them.
func TestSummariseKeepsGroups(t *testing.T) {
	for at, want := range map[int][2]string{ // by entry: summarised from there on, and up to there
		2: {"user branchSummary", "compactionSummary assistant/a/b toolResult/a custom toolResult/b user assistant"},
		3: {"user branchSummary", "compactionSummary assistant/a/b toolResult/a custom toolResult/b user assistant"},
		4: {"user branchSummary", "compactionSummary assistant/a/b toolResult/a custom toolResult/b user assistant"},
		5: {"user assistant/a/b toolResult/a custom toolResult/b branchSummary", "compactionSummary user assistant"},
	} {
		for i, f := range []func(*play, entries.ID) error{
			func(p *play, id entries.ID) error { _, err := p.tools.SummariseFrom(ctx, id, count); return err },
			func(p *play, id entries.ID) error { _, err := p.tools.SummariseUpTo(ctx, id, count); return err },
		} {
			p := newPlay(t, nil, false)
			ids := []entries.ID{
				p.user("go"), p.answer("", "a read", "b bash"), p.result("a", "read", "A"),
				p.append(entries.CustomMessageDraft("hook", []byte(`"note"`), true, nil)), p.result("b", "bash", "B"),
				p.user("next"), p.answer("ok"),
			}
			p.must(f(p, ids[at]))
			if got := p.roles(); got != want[i] {
				t.Errorf("%d at %d: got %s, want %s", i, at, got, want[i])
			}
		}
	}
}

// Going back before a compaction would bring back what it has summarised.
func TestSummariseFromBeforeACompaction(t *testing.T) {
	p := newPlay(t, nil, false)
	p.user("old")
	p.answer("ok")
	kept := p.user("kept")
	p.answer("fine")
	c := p.append(entries.CompactionDraft("COMPACTED", kept, 100, nil))
	later := p.user("later")
	p.answer("done")
	before := p.roles()
	for _, from := range []entries.ID{kept, c} {
		if _, err := p.tools.SummariseFrom(ctx, from, count); err == nil || !strings.Contains(err.Error(), "choose a later one") {
			t.Errorf("from %s: got %v", from, err)
		}
	}
	p.wantRoles(before)
	_, err := p.tools.SummariseFrom(ctx, later, count)
	p.must(err)
	p.wantRoles("compactionSummary user assistant branchSummary")
}
