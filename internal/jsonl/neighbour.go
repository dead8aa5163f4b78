package jsonl

import "github.com/sessctl/sessctl/entries"

// Neighbour gives what the sum of a line that is appended at limit has to repeat of
// the line before it: the first half of its sum, where that is right, else the
// CRC-32C of its bytes. A log without lines has none: 0.
func Neighbour(src Source, head *Head, limit int64) (uint32, error) {
	c := newChunk(head, Options{})
	for at := limit; at > 0; at = c.base {
		if err := c.loadBackward(src, at, headBlock); err != nil {
			return 0, err
		}
		c.parse()
		for i := len(c.recs) - 1; i >= 0; i-- {
			r := &c.recs[i]
			switch {
			case r.Fault == BlankLines:
			case r.Fault == "" && r.State == GoodSum:
				return r.Sum.Self, nil
			default:
				return entries.Checksum(r.line), nil
			}
		}
	}
	return 0, nil
}
