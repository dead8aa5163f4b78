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

// LastForeign tells whether the last record of a log is alone on a line without a
// sum, and where that line starts: what a machine that went down may have left.
func LastForeign(src Source, head *Head, end *End) (offset int64, foreign bool, err error) {
	b := Backward(src, head, end, &Report{})
	r, err := b.Next()
	if r == nil || err != nil {
		return 0, false, err
	}
	return r.lineStart, r.State == NoSum && r.lineStart == r.Offset, nil
}
