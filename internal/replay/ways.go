package main

import (
	"slices"

	modelcontext "github.com/sessctl/sessctl/context"
)

// A way is a way of building the context.
type way struct {
	name string
	// masks leaves out all results but the last; inSteps does it for several at once.
	masks, inSteps bool
	compacts       bool
	rewinds        bool
	// beside calls checkpoint and rewind in answers that call something else anyway, so
	// that they take no requests of their own.
	beside bool
}

var (
	everything = way{name: "everything"}
	masked     = way{name: "masked", masks: true}
	inSteps    = way{name: "masked in steps", masks: true, inSteps: true}
	compacted  = way{name: "compaction", compacts: true}
	rewound    = way{name: "rewind", rewinds: true}
	besides    = way{name: "rewind beside calls", rewinds: true, beside: true}
	both       = way{name: "rewind and compaction", rewinds: true, compacts: true}
)

var ways = []way{everything, masked, inSteps, compacted, rewound, besides, both}

// sessions are ways that a session can be replayed for at once, by their places above.
var sessions = [][2]int{{0, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}}

// mask leaves out results. modelcontext.Policy masks by the user's turns, which does
// nothing inside a long one, so the policy is applied to the results that are old by their
// number. In steps the number that is masked is a multiple of the step, so that the cache is
// broken once in so many calls.
func (v *view) mask(t terms, c *modelcontext.Context) *modelcontext.Context {
	if !v.way.masks {
		return c
	}
	results := resultsOf(c)
	n := max(len(results)-t.keep, 0)
	if v.way.inSteps {
		n -= n % t.step
	}
	d := *c
	d.Messages = slices.Clone(c.Messages)
	for _, i := range results[:n] {
		d.Messages[i] = v.maskOne(c, i)
	}
	return &d
}

func resultsOf(c *modelcontext.Context) (results []int) {
	for i, m := range c.Messages {
		if m.Role == modelcontext.RoleToolResult {
			results = append(results, i)
		}
	}
	return results
}

// maskOne masks a result once: it looks the same ever after.
func (v *view) maskOne(c *modelcontext.Context, i int) modelcontext.Message {
	m := c.Messages[i]
	if known, ok := v.masked[m.Entry]; ok {
		return known
	}
	one := *c
	one.Messages = c.Messages[i : i+1]
	v.masked[m.Entry] = one.Apply(modelcontext.Policy{MaskResults: true}).Messages[0]
	return v.masked[m.Entry]
}
