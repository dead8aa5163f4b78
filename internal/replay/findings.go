package main

import (
	"fmt"
	"strings"
)

// findings are what the numbers say, one line each.
func (b *bench) findings(rows []row) []string {
	found := append([]string{b.own(rows)}, b.cheapest(rows)...)
	return append(found, b.masking(rows), b.again(rows), b.peaks(rows), b.uncached(rows), b.doubled(rows))
}

// cheapest names for each kind of trace the ways that cost least, of those that fit.
func (b *bench) cheapest(rows []row) (found []string) {
	for at := 0; at < len(rows); at += len(b.calls) {
		var each []string
		for _, r := range rows[at : at+len(b.calls)] {
			each = append(each, b.cheapestOf(r))
		}
		found = append(found, fmt.Sprintf("%s: of what fits the window, %s.", rows[at].trace.kind, strings.Join(each, "; ")))
	}
	return found
}

func (b *bench) cheapestOf(r row) string {
	best := -1
	for i, t := range r.took {
		if b.star(t) == "" && (best < 0 || b.costs.cost(t) < b.costs.cost(r.took[best])) {
			best = i
		}
	}
	if best < 0 {
		return fmt.Sprintf("nothing at %d calls", len(r.trace.steps))
	}
	return fmt.Sprintf("%s is cheapest at %d calls (%.2f of everything)", ways[best].name, len(r.trace.steps), b.ratio(r, ways[best]))
}

func (b *bench) ratio(r row, w way) float64 {
	return b.costs.cost(r.of(w)) / b.costs.cost(r.of(everything))
}

// span gives the least and the most of what rows come to.
func span(rows []row, f func(r row) float64) (least, most float64) {
	least, most = f(rows[0]), f(rows[0])
	for _, r := range rows {
		least, most = min(least, f(r)), max(most, f(r))
	}
	return least, most
}

func (b *bench) masking(rows []row) string {
	low, high := span(rows, func(r row) float64 { return b.ratio(r, masked) })
	stepLow, stepHigh := span(rows, func(r row) float64 { return b.ratio(r, inSteps) })
	return fmt.Sprintf("Masking one more result at each call costs %.2f to %.2f of everything, masking %d at once %.2f to %.2f.", low, high, b.terms.step, stepLow, stepHigh)
}

func (b *bench) peaks(rows []row) string {
	var parts []string
	for _, w := range []way{inSteps, rewound, both} {
		low, high := span(rows, func(r row) float64 { return float64(r.of(w).peak) / float64(r.of(everything).peak) })
		parts = append(parts, fmt.Sprintf("%s %.2f to %.2f", w.name, low, high))
	}
	return "The largest context, beside that of everything: " + strings.Join(parts, ", ") + "."
}

// own tells what it costs that checkpoint and rewind are called alone.
func (b *bench) own(rows []row) string {
	low, high := span(rows, func(r row) float64 {
		return (b.costs.cost(r.of(rewound)) - b.costs.cost(r.of(besides))) / float64(r.of(rewound).cuts)
	})
	return fmt.Sprintf("Calling checkpoint and rewind in answers of their own, instead of beside other calls, costs %.1f to %.1f thousand input tokens for each exploration.", low/1000, high/1000)
}

// uncached tells how it is without a cache.
func (b *bench) uncached(rows []row) string {
	var parts []string
	for _, w := range []way{masked, inSteps, compacted, rewound} {
		low, high := span(rows, func(r row) float64 {
			return b.costs.uncached().cost(r.of(w)) / b.costs.uncached().cost(r.of(everything))
		})
		parts = append(parts, fmt.Sprintf("%s %.2f to %.2f", w.name, low, high))
	}
	return "Without a cache, beside everything: " + strings.Join(parts, ", ") + "."
}

// again tells how many of the results that masking leaves out would have to be read again
// until it costs as much as rewinding.
func (b *bench) again(rows []row) string {
	var ahead []row
	for _, r := range rows {
		if b.costs.cost(r.of(inSteps)) < b.costs.cost(r.of(rewound)) {
			ahead = append(ahead, r)
		}
	}
	if len(ahead) == 0 {
		return "Masking in steps is nowhere cheaper than rewinding."
	}
	low, high := span(ahead, func(r row) float64 {
		t := r.of(inSteps)
		once := b.costs.read*float64(t.input())/float64(t.requests) + b.costs.write*exploredTokens
		return 100 * (b.costs.cost(r.of(rewound)) - b.costs.cost(t)) / once / float64(len(r.trace.steps))
	})
	return fmt.Sprintf("Masking in steps is cheaper than rewinding in %d of %d traces; reading %.0f to %.0f results again per 100 calls (a request and %s new tokens each) would even that out.", len(ahead), len(rows), low, high, thousands(exploredTokens))
}

// doubled tells where rewinds and compactions get into each other's way.
func (b *bench) doubled(rows []row) string {
	low, high := span(rows, func(r row) float64 {
		return b.costs.cost(r.of(both)) / min(b.costs.cost(r.of(compacted)), b.costs.cost(r.of(rewound)))
	})
	return fmt.Sprintf("Rewinds with compactions cost %.2f to %.2f of the better of the two alone.", low, high)
}
