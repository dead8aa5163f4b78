package jsonl

import (
	"iter"
	"sync"
)

// Options say how a log is read.
type Options struct {
	// Workers is how many goroutines parse; below 2 everything happens in the
	// caller's.
	Workers int
	// Deep looks inside every line, also where a right sum vouches for it, and at
	// its encoding.
	Deep bool
	// Progress, where set, is called now and then with the bytes read so far.
	Progress func(done int64)
}

// Forward gives the entries of a log in file order, up to end.Limit, and adds what
// is wrong with it to report. A record is valid until the next one is asked for.
// An error comes last.
func Forward(src Source, head *Head, end *End, report *Report, opt Options) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		f := &fold{head: head, report: report, inLine: end.InLine}
		f.begin()
		line := 0
		for c, err := range chunks(src, head, end.Limit, opt) {
			if err != nil {
				yield(nil, err)
				return
			}
			if opt.Progress != nil {
				opt.Progress(c.end())
			}
			for more := true; more; more = c.parseOn(someRecords) {
				for i := range c.recs {
					r := &c.recs[i]
					r.Line += line
					if f.see(r) && !yield(r, nil) {
						return
					}
				}
			}
			line += c.lines
		}
		f.finish(end, line)
	}
}

// begin reports what a log lacks as a whole.
func (f *fold) begin() {
	if !f.head.Found && !f.head.Empty {
		f.report.Add(Damage{Kind: NoHeader, Line: 1, Detail: "no line is a session header"})
	}
}

// finish takes over what the end of the log showed. Where the end starts inside a
// line, that line was counted already.
func (f *fold) finish(end *End, lines int) {
	f.closeBatch()
	if end.InLine {
		lines--
	}
	for _, d := range end.Damage {
		d.Line += lines
		f.report.Add(d)
	}
}

// chunks gives the parsed blocks of a log in order.
func chunks(src Source, head *Head, limit int64, opt Options) iter.Seq2[*chunk, error] {
	if opt.Workers < 2 || limit < 2*forwardBlock {
		return serial(src, head, limit, opt)
	}
	return parallel(src, head, limit, opt)
}

// chunks that were used: who lists thousands of logs would else spend half of the time
// on fresh memory.
var used = sync.Pool{New: func() any { return new(chunk) }}

func newChunk(head *Head, opt Options) *chunk {
	c := used.Get().(*chunk)
	c.native, c.deep = head.Native, opt.Deep
	return c
}

// release gives a chunk up, its records with it.
func (c *chunk) release() {
	if cap(c.buf) > keptBlock {
		return
	}
	clear(c.recs)
	c.recs, c.data, c.part, c.line = c.recs[:0], nil, nil, nil
	c.rec, c.crc = Record{}, nil
	used.Put(c)
}

func serial(src Source, head *Head, limit int64, opt Options) iter.Seq2[*chunk, error] {
	return func(yield func(*chunk, error) bool) {
		c := newChunk(head, opt)
		for from := int64(0); from < limit; from = c.end() {
			if err := c.loadForward(src, from, limit, forwardBlock); err != nil {
				yield(nil, err)
				return
			}
			c.parseFirst(someRecords)
			if !yield(c, nil) {
				return
			}
		}
	}
}
