package entries

import (
	"encoding/json"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// ParseUsage reads what a message, or a usage entry, says of tokens and cost. What is no
// sensible number counts as 0.
func ParseUsage(usage json.RawMessage) (t Tokens) {
	_ = jsonvalue.Spans(usage, func(key []byte, at, end int) {
		switch value := usage[at:end]; string(jsonvalue.Key(key)) {
		case "input":
			t.Input = amount(value)
		case "output":
			t.Output = amount(value)
		case "cacheRead":
			t.CacheRead = amount(value)
		case "cacheWrite":
			t.CacheWrite = amount(value)
		case "cost":
			t.Cost = amount(jsonvalue.Get(value, "total"))
		}
	})
	return t
}

// Add adds what another answer took.
func (t *Tokens) Add(other Tokens) {
	t.Input += other.Input
	t.Output += other.Output
	t.CacheRead += other.CacheRead
	t.CacheWrite += other.CacheWrite
	t.Cost += other.Cost
}

// Minus gives what is left without a part.
func (t Tokens) Minus(part Tokens) Tokens {
	return Tokens{t.Input - part.Input, t.Output - part.Output, t.CacheRead - part.CacheRead, t.CacheWrite - part.CacheWrite, t.Cost - part.Cost}
}

// amount reads a number that can be summed up: a log may hold any.
func amount(value []byte) float64 {
	const most = 1e15
	if f := jsonvalue.Number(value); f > 0 && f < most {
		return f
	}
	return 0
}
