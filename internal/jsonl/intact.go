package jsonl

// Intact gives the offset up to which the lines from from on, the start of a line,
// are as a native writer left them, one behind the other, and the kind of what is
// wrong there. Where a machine goes down, any of what was not synced may be missing,
// with zeros or bytes of other files in its place, and whole lines behind it: what
// ReadEnd sees of the end of a log does not tell.
func Intact(src Source, head *Head, from, limit int64) (at int64, kind Kind, err error) {
	prev, err := Neighbour(src, head, from)
	if err != nil {
		return 0, "", err
	}
	c := newChunk(head, Options{})
	for ; from < limit; from = c.end() {
		if err := c.loadForward(src, from, limit, backwardBlock); err != nil {
			return 0, "", err
		}
		c.parse()
		for i := range c.recs {
			r := &c.recs[i]
			if kind := r.follows(prev); kind != "" {
				return r.lineStart, kind, nil
			}
			prev = r.Sum.Self
		}
	}
	return limit, "", nil
}

// follows tells why a record is not what was written behind the line with a sum.
func (r *Record) follows(prev uint32) Kind {
	switch {
	case r.Fault != "":
		return r.Fault
	case r.State == NoSum:
		return ForeignLine
	case r.State == BadSum:
		return BadChecksum
	case r.Sum.Prev != prev:
		return Order
	}
	return ""
}
