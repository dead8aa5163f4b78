package stats_test

import (
	"testing"
	"time"

	"github.com/sessctl/sessctl/stats"
)

// TestSpent: a session that goes on with the sum of another one costs what came after it.
func TestSpent(t *testing.T) {
	log := func(spent string) *stats.Session {
		return read(t, write(t, `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/p","spent":`+spent+"}\n"), nil)
	}
	first := log(`[{"run":"1","model":"m","cost":2},{"run":"1","model":"n","cost":4},{"run":"1","model":"n","cost":-1}]`)
	fork := log(`[{"run":"1","model":"m","cost":3},{"run":"2","model":"m","cost":8}]`)
	for _, c := range []*stats.Counter{count(nil, first, fork, first), count(nil, fork, first)} {
		equal(t, "cost", c.Total().Tokens.Cost, 15.0)
		equal(t, "models", c.Models()[0].Tokens.Cost, 11.0)
	}
	c := count(&stats.CounterOptions{By: stats.ByCwd}, first, fork)
	equal(t, "group", c.Groups()[0].Tokens.Cost, 15.0)
	equal(t, "days", len(count(&stats.CounterOptions{By: stats.ByDay}, first).Groups()), 0)
	equal(t, "since", count(&stats.CounterOptions{Since: time.Unix(1, 0)}, first).Total().Tokens.Cost, 0.0)
}
