package main

import (
	"bytes"

	modelcontext "github.com/sessctl/sessctl/context"
)

// A message is one of a request's.
type message struct {
	raw    []byte
	tokens int
}

// measured gives the messages of a request their sizes. What the request before had in
// the same place was measured then.
func measured(rendered []modelcontext.Message, before []message) []message {
	list := make([]message, len(rendered))
	for i, m := range rendered {
		if i < len(before) && bytes.Equal(before[i].raw, m.Raw) {
			list[i] = before[i]
			continue
		}
		list[i] = message{m.Raw, modelcontext.EstimateTokens(m)}
	}
	return list
}

func tokens(list []message) (n int) {
	for _, m := range list {
		n += m.tokens
	}
	return n
}

// shared counts the tokens of the whole messages that two requests have in common at
// their beginning.
func shared(a, b []message) (n int) {
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i].raw, b[i].raw) {
			break
		}
		n += a[i].tokens
	}
	return n
}

// textTokens is what a text takes in a message of its own.
func textTokens(parts ...string) int {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	return 4 + n/4
}

// totals are what a replay took.
type totals struct {
	requests      int
	cached, fresh int // input tokens, over all requests
	output        int // tokens of reports, summaries and what asks for them
	peak          int // tokens of the largest request
	cuts          int // rewinds and compactions
}

func (t totals) input() int { return t.cached + t.fresh }

// request counts a request of which so many tokens are in the cache.
func (t *totals) request(size, cached int) {
	t.requests++
	t.cached += cached
	t.fresh += size - cached
	t.peak = max(t.peak, size)
}

// behind gives the totals of a replay whose requests all have so many tokens more at
// their beginning.
func (t totals) behind(head int) totals {
	t.cached += head * (t.requests - 1)
	t.fresh += head
	t.peak += head
	return t
}

// prices are in units of an input token that no cache has to do with.
type prices struct{ read, write, output float64 }

func (p prices) cost(t totals) float64 {
	return p.read*float64(t.cached) + p.write*float64(t.fresh) + p.output*float64(t.output)
}

// uncached are the prices where nothing is cached.
func (p prices) uncached() prices { return prices{1, 1, p.output} }
