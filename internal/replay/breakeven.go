package main

import (
	"fmt"
	"slices"
	"sort"
)

// A point is a place where an exploration may be rewound: so much is in the context
// before it, and so many calls follow.
type point struct {
	before, later int
	way           way
	uncached      bool // nothing is cached
	// calls is how many an exploration has to have to pay, 0 where none did that was
	// tried; drops is what they brought into the context, in tokens.
	calls, drops int
}

// contexts are how much is there before an exploration.
var contexts = []int{10_000, 50_000, 100_000}

// points are in the order of the table: line by line.
func (c *config) points() (list []point) {
	for _, before := range contexts {
		for _, later := range c.laters {
			for _, uncached := range []bool{false, true} {
				list = append(list, point{before: before, later: later, way: rewound, uncached: uncached},
					point{before: before, later: later, way: besides, uncached: uncached})
			}
		}
	}
	return list
}

// breakEvens finds the smallest exploration that pays at each point. A larger one pays
// too: it drops more for the same report.
func (d *detours) breakEvens() []point {
	list := d.points()
	for i := range list {
		p := &list[i]
		n := sort.Search(d.explored, func(i int) bool { return d.gain(*p, i+1) > 0 })
		if n < d.explored {
			p.calls, p.drops = n+1, dropped(newDice(d.seed, 0).detour(n+1, 0))
		}
	}
	return list
}

// dropped is what explorations bring into the context, in tokens.
func dropped(t trace) (n int) {
	for _, s := range t.steps {
		if s.explores != 0 {
			n += textTokens(s.text, s.call.name, s.call.args) + textTokens(s.call.result)
		}
	}
	return n
}

// A detour is an exploration of so many calls in some way.
type detour struct {
	way   string
	calls int
}

// detours replays each detour once. What is in the context before it is put there later,
// and how the work goes on is looked at in several places.
type detours struct {
	*bench
	known map[detour][]totals // for each of config.laters
	err   error
}

func newDetours(b *bench) *detours { return &detours{bench: b, known: map[detour][]totals{}} }

// stays tells how much of an exploration's tokens each later request still has: what it
// would have, less what it has less than everything.
func (d *detours) stays(calls int) string {
	more := func(w way) (each int) {
		took := d.play(w, calls)
		if d.err != nil {
			return 0
		}
		last := len(took) - 1
		return (took[last].input() - took[last-1].input()) / (d.laters[last] - d.laters[last-1])
	}
	all := dropped(newDice(d.seed, 0).detour(calls, 0))
	left := all - more(everything) + more(rewound)
	return fmt.Sprintf("Of an exploration of %d calls, %s tokens, %s are in each later request: the report (%s), what the harness adds to it, the call of checkpoint, and the definitions of the two tools.",
		calls, thousands(all), thousands(left), thousands(d.terms.report))
}

// gain is what rewinding saves where an exploration has so many calls.
func (d *detours) gain(p point, calls int) float64 {
	at := slices.Index(d.laters, p.later)
	all, with := d.play(everything, calls), d.play(p.way, calls)
	if d.err != nil {
		return 0
	}
	costs := d.costs
	if p.uncached {
		costs = costs.uncached()
	}
	return costs.cost(all[at].behind(p.before)) - costs.cost(with[at].behind(p.before))
}

func (d *detours) play(w way, calls int) []totals {
	key := detour{w.name, calls}
	if took, ok := d.known[key]; ok || d.err != nil {
		return took
	}
	set := d.terms
	set.head = 0
	p, err := newPlayer(d.dir, set, w)
	if err != nil {
		d.err = err
		return nil
	}
	var took []totals
	p.after = func(i int, t totals) {
		if slices.Contains(d.laters, i-calls) {
			took = append(took, t)
		}
	}
	d.err = p.play(newDice(d.seed, 0).detour(calls, slices.Max(d.laters)))
	d.known[key] = took
	return took
}
