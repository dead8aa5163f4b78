package entries

import (
	"time"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// count is number for what is counted: a whole number that an int holds.
func count(value []byte) int { return whole(jsonvalue.Number(value)) }

// whole cuts off the fraction; what no real count comes to is the nearest bound,
// since converting it would give any number.
func whole(f float64) int {
	const bound = 1<<31 - 1
	return int(min(max(f, -bound), bound))
}

// ParseTime reads a timestamp as the header and entries carry it (RFC 3339, as
// JavaScript's toISOString writes it). Anything else is the zero time.
func ParseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
