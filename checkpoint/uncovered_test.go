package checkpoint_test

import (
	"os"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/entries"
)

// uncovered is what a plan says is not covered.
func (b *bench) uncovered(to entries.ID) string {
	b.Helper()
	var names []string
	for _, u := range b.plan(to, checkpoint.Code).NotCovered {
		names = append(names, u.Path)
	}
	return strings.Join(names, " ")
}

// TestUncoveredIsToldAtTheEndOfTheTurn: what a turn made, and no restore takes back, is in
// the plan at once, and not only after the next turn has begun.
func TestUncoveredIsToldAtTheEndOfTheTurn(t *testing.T) {
	for _, also := range []string{"", "made by a command"} {
		b := newBench(t, &checkpoint.TrackOptions{Scan: true})
		b.must(b.f.TurnStart(t.Context()))
		start := b.prompt("one")
		b.write(".env", "KEY=1")
		if also != "" {
			b.write(also, "x")
		}
		b.must(b.f.TurnEnd(t.Context()))
		if got := b.uncovered(start); got != ".env" {
			t.Errorf("not covered is %q, want .env", got)
		}
	}
}

// TestNothingIsUncoveredAnyMore: that is told too, and told once.
func TestNothingIsUncoveredAnyMore(t *testing.T) {
	b := newBench(t, &checkpoint.TrackOptions{Scan: true})
	b.write(".env", "KEY=1")
	b.must(b.f.TurnStart(t.Context()))
	start := b.prompt("one")
	b.must(b.f.TurnEnd(t.Context()))
	b.tool("a", func() { b.write("a", "x") })
	if got := b.uncovered(start); got != ".env" {
		t.Errorf("not covered is %q, want .env", got)
	}
	b.must(os.Remove(b.path(".env")))
	b.must(b.f.TurnStart(t.Context()))
	leaf := b.s.Leaf()
	if got := b.uncovered(start); got != "" {
		t.Errorf("not covered is %q, want nothing", got)
	}
	b.must(b.f.TurnEnd(t.Context()))
	b.must(b.f.TurnStart(t.Context()))
	if b.s.Leaf() != leaf {
		t.Error("a turn that changed nothing was recorded")
	}
}
