package jsonl

import "fmt"

// An End says where the records of a log end that count.
type End struct {
	// Limit is the offset up to which the log is read: its size, or the start of
	// what a crash left behind.
	Limit int64
	// InLine tells that Limit is not the start of a line.
	InLine bool
	// Damage is what stands from Limit on, in the order of the file; its lines are
	// numbered from 1 at Limit's own.
	Damage []Damage
}

// ReadEnd judges the end of a log of size bytes. Two things count for nothing
// there: a torn last line (unreadable, or in native logs with a wrong sum), and
// the lines of a native batch whose last line is missing.
func ReadEnd(src Source, size int64, head *Head) (*End, error) {
	e := &ending{head: head, limit: size}
	c := newChunk(head, Options{})
	defer c.release()
	block := lastBlock
	for end := size; end > 0 && !e.done; end = c.base {
		if err := c.loadBackward(src, end, block); err != nil {
			return nil, err
		}
		c.parse()
		block = headBlock
		e.seeAll(c)
	}
	return e.result(src, size)
}

// An ending is the state of ReadEnd, which sees the records from the last one up.
type ending struct {
	head   *Head
	done   bool
	limit  int64
	torn   bool // the last line was judged torn
	tornAt int64
	sawIt  bool // the last line was seen
	batch  bool // inside a batch without an end
	first  int64
	count  int
}

func (e *ending) seeAll(c *chunk) {
	for i := len(c.recs) - 1; i >= 0 && !e.done; i-- {
		e.see(&c.recs[i])
	}
}

func (e *ending) see(r *Record) {
	switch {
	case r.Fault == BlankLines || r.Fault == NUL || r.Offset == 0 && e.head.Title != nil:
	case !e.sawIt:
		e.sawIt = true
		if e.torn = e.isTorn(r); e.torn {
			e.limit, e.tornAt = r.Offset, r.Offset
		} else {
			e.seeWhole(r)
		}
	default:
		e.seeWhole(r)
	}
}

// isTorn judges the last line of a log.
func (e *ending) isTorn(r *Record) bool {
	if r.Fault == NotJSON || r.Fault == BadChecksum {
		return !r.Ended || r.Fault == BadChecksum && !e.head.Rewritten()
	}
	// A header is nothing that a crash explains: without it no session is left.
	return r.Fault == "" && e.head.Native && !e.head.Rewritten() && r.State == BadSum && !r.Header
}

// seeWhole looks for the marks of a batch that the end of the log leaves open.
func (e *ending) seeWhole(r *Record) {
	switch {
	case !e.head.Native:
		e.done = true
	case r.Fault == NotJSON || r.Fault == BadChecksum:
		// Unreadable lines belong to the batch around them, if there is one.
	case r.Fault == "" && r.State != NoSum && r.More && !r.Header:
		e.batch, e.first, e.limit = true, r.Offset, r.Offset
		e.count++
	default:
		e.done = true
	}
}

// result names the damage. What stands between Limit and the end is parsed once
// more in file order, which keeps positions right in whatever was found there.
func (e *ending) result(src Source, size int64) (*End, error) {
	end := &End{Limit: e.limit}
	if e.limit == size {
		return end, nil
	}
	if err := end.place(src); err != nil {
		return nil, err
	}
	report := &Report{}
	c := newChunk(e.head, Options{})
	defer c.release()
	line := 0
	for from := e.limit; from < size; from = c.end() {
		if err := c.loadForward(src, from, size, headBlock); err != nil {
			return nil, err
		}
		c.parse()
		for i := range c.recs {
			c.recs[i].Line += line
			e.report(&c.recs[i], report)
		}
		line += c.lines
	}
	end.Damage = report.List()
	return end, nil
}

// place finds out whether the limit is inside a line.
func (end *End) place(src Source) error {
	if end.Limit == 0 {
		return nil
	}
	var before [1]byte
	if n, err := src.ReadAt(before[:], end.Limit-1); n < 1 {
		return err
	}
	end.InLine = before[0] != '\n'
	return nil
}

func (e *ending) report(r *Record, report *Report) {
	d := Damage{Kind: r.Fault, Line: r.Line, Offset: r.Offset, Length: r.Size, Note: r.Fault == BlankLines, Count: 1 + r.blanks}
	switch {
	case e.torn && r.Offset == e.tornAt:
		d.Kind, d.Detail = TornTail, "the last line was not written to its end; it does not count"
	case e.batch && r.Offset == e.first:
		d.Kind, d.Count = IncompleteBatch, e.count
		d.Detail = fmt.Sprintf("%d lines of a batch whose end is missing; they do not count", e.count)
	case r.Fault == "":
		return // the other lines of that batch
	}
	report.Add(d)
}
