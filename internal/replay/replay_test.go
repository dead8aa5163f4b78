package main

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	modelcontext "github.com/sessctl/sessctl/context"
)

func small(t *testing.T, args ...string) *bench {
	t.Helper()
	c, err := parse(args)
	if err != nil {
		t.Fatal(err)
	}
	c.calls, c.laters, c.explored = []int{30}, []int{2, 4, 9, 14}, 4
	return &bench{config: c, dir: t.TempDir()}
}

func played(t *testing.T, b *bench, w way, tr trace) (totals, *player) {
	t.Helper()
	p, err := newPlayer(b.dir, b.terms, w)
	if err == nil {
		err = p.play(tr)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p.main().totals, p
}

// TestNothingExplored: where nothing is explored and nothing is too large, all ways send
// the same; those that rewind also the definitions of their tools.
func TestNothingExplored(t *testing.T) {
	b := small(t, "-keep", "1000")
	tr := newDice(1, 1).trace(kind{"work", 0, 4, 8}, 40)
	want, _ := played(t, b, everything, tr)
	for _, w := range ways[1:] {
		got, p := played(t, b, w, tr)
		if more := p.head - b.terms.head; got != want.behind(more) || w.rewinds != (more > 0) {
			t.Errorf("%s: got %+v, want %+v and %d more in each request", w.name, got, want, more)
		}
	}
}

// TestEverythingIsCachedOnce: sending everything writes each message to the cache once,
// and the last request is the largest.
func TestEverythingIsCachedOnce(t *testing.T) {
	b := small(t)
	got, p := played(t, b, everything, newDice(1, 1).trace(kinds[1], 30))
	if last := p.head + tokens(p.main().before); got.fresh != last || got.peak != last {
		t.Errorf("got %+v, want a peak of %d, and as many tokens that are not cached", got, last)
	}
}

// TestTotalsAddUp counts again what a way sent, request by request.
func TestTotalsAddUp(t *testing.T) {
	b := small(t, "-window", "40000")
	tr := newDice(3, 1).trace(kind{"both", 0.5, 4, 8}, 60)
	for _, w := range ways {
		got, p := played(t, b, w, tr)
		if got.cached <= 0 || got.fresh < got.peak || got.input() <= got.peak || got.requests <= len(tr.steps) {
			t.Errorf("%s: got %+v", w.name, got)
		}
		want := 0.1*float64(got.cached) + 1.25*float64(got.fresh) + 5*float64(got.output)
		if cost := b.costs.cost(got); math.Abs(cost-want) > 1e-6 {
			t.Errorf("%s: got a cost of %f, want %f", w.name, cost, want)
		}
		if (got.cuts > 0) != (w.rewinds || w.compacts) || (got.output > 0) != (got.cuts > 0) {
			t.Errorf("%s: got %+v", w.name, got)
		}
		checkRequests(t, w, tr, got, p)
	}
}

// checkRequests: a request for each call and each end of a turn, and what the way adds.
func checkRequests(t *testing.T, w way, tr trace, got totals, p *player) {
	t.Helper()
	want := len(tr.steps)
	for _, s := range tr.steps {
		if s.prompt != "" {
			want++
		}
	}
	switch {
	case w.beside:
		return // where an answer is free it takes none
	case w.compacts:
		want += got.cuts - p.rewinds
	}
	if want += 2 * p.rewinds; got.requests != want {
		t.Errorf("%s: got %d requests, want %d", w.name, got.requests, want)
	}
}

// TestRewindKeepsTheCache: what a rewind writes to the cache again is what it adds.
func TestRewindKeepsTheCache(t *testing.T) {
	b := small(t)
	tr := newDice(1, 0).detour(12, 20)
	all, _ := played(t, b, everything, tr)
	for _, w := range []way{rewound, besides} {
		got, p := played(t, b, w, tr)
		added := p.head - b.terms.head
		if more := got.fresh - all.fresh - added; more < 0 || more > b.terms.report+1500 {
			t.Errorf("%s: %d more tokens are not cached, want the report and what comes with it", w.name, more)
		}
		if dropped := all.peak - tokens(p.main().before) - p.head; dropped < 10*exploredTokens || got.cuts != 1 {
			t.Errorf("%s: the last request has %d tokens less, want the exploration out of it; %+v", w.name, dropped, got)
		}
	}
}

func TestMask(t *testing.T) {
	b := small(t, "-keep", "5", "-step", "4")
	tr := newDice(1, 0).detour(16, 1)
	for w, want := range map[way]int{masked: 18 - 5, inSteps: 12} {
		_, p := played(t, b, w, tr)
		if got := leftOut(p.main().before); got != want {
			t.Errorf("%s: %d of 18 results are left out, want %d", w.name, got, want)
		}
	}
}

func leftOut(list []message) (n int) {
	for _, m := range list {
		n += bytes.Count(m.raw, []byte("[result left out: "))
	}
	return n
}

func TestShared(t *testing.T) {
	a := []message{{[]byte("a"), 1}, {[]byte("b"), 2}, {[]byte("c"), 4}}
	b := []message{{[]byte("a"), 1}, {[]byte("x"), 2}, {[]byte("c"), 4}}
	if shared(a, b) != 1 || shared(a, a[:2]) != 3 || shared(nil, a) != 0 || shared(a, a) != 7 {
		t.Error("want the whole messages up to the first that differs")
	}
	rendered := []modelcontext.Message{{Role: "user", Raw: []byte(`{"role":"user","content":"` + strings.Repeat("x", 40) + `"}`)}}
	if got := measured(rendered, nil); got[0].tokens != 14 || tokens(measured(rendered, got)) != 14 {
		t.Errorf("got %+v, want 14 tokens", got)
	}
}

// TestTraces: explorations are as large as their kind says, stand apart, and are made
// alike by a seed.
func TestTraces(t *testing.T) {
	for _, k := range kinds {
		for _, n := range []int{50, 150, 500} {
			tr := newDice(7, 1).trace(k, n)
			if again := newDice(7, 1).trace(k, n); fmt.Sprint(again) != fmt.Sprint(tr) {
				t.Errorf("%s: two traces of one seed differ", tr.name())
			}
			checkTrace(t, k, tr, n)
		}
	}
}

func checkTrace(t *testing.T, k kind, tr trace, n int) {
	t.Helper()
	explored, begun := 0, 0
	for i, s := range tr.steps {
		if s.explores != 0 {
			explored++
		}
		if tr.begins(i) {
			begun++
			if i == 0 || tr.steps[i-1].explores != 0 {
				t.Errorf("%s: call %d begins an exploration beside another, or the trace", tr.name(), i+1)
			}
		}
	}
	least := int(k.share*float64(n)) - max(k.min-1, 0)
	if len(tr.steps) != n || explored < least || float64(explored) > k.share*float64(n) || begun == 0 || tr.steps[0].prompt == "" {
		t.Errorf("%s: %d of %d calls explore, in %d explorations", tr.name(), explored, len(tr.steps), begun)
	}
}

// TestRun prints the same tables twice.
func TestRun(t *testing.T) {
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if err := small(t).run(out); err != nil {
			t.Fatal(err)
		}
	}
	if first.String() != second.String() {
		t.Error("two runs print different tables")
	}
	for _, k := range kinds {
		if n := strings.Count(first.String(), "| "+k.name+", 30 calls "); n != 1+len(ways) {
			t.Errorf("%s: %d lines, want one and one for each way", k.name, n)
		}
	}
	if t.Failed() {
		t.Log(first.String())
	}
}

func TestFlags(t *testing.T) {
	for _, args := range []string{"-report 0", "-full 1.5", "-read -1", "more", "-window x"} {
		if _, err := parse(strings.Fields(args)); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}
