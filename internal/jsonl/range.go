package jsonl

import (
	"iter"

	"github.com/sessctl/sessctl/entries"
)

// Range gives the records of the lines that start in [from, limit), where from is
// the start of a line, as they stand there: no record is judged by its neighbours,
// and a last line without its newline is left out. Records with a fault come too.
func Range(src Source, head *Head, from, limit int64) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		c := newChunk(head, Options{})
		defer c.release()
		for ; from < limit; from = c.end() {
			if err := c.loadForward(src, from, limit, backwardBlock); err != nil {
				yield(nil, err)
				return
			}
			c.parse()
			for i := range c.recs {
				r := &c.recs[i]
				if !r.Ended || !yield(r, nil) {
					return
				}
			}
		}
	}
}

// Entry tells whether a record takes part in the tree of the log.
func (h *Head) Entry(r *Record) bool { return r.entry(h.V1) }

// Object gives the bytes of the record.
func (r *Record) Object() []byte { return r.line[r.Offset-r.lineStart:][:r.Size] }

// LineEnd is the offset behind the newline of the line that r is on.
func (r *Record) LineEnd() int64 { return r.lineStart + int64(len(r.line)) + 1 }

// LineSum is the CRC-32C of the line that r is on, without its newline.
func (r *Record) LineSum() uint32 { return entries.Checksum(r.line) }
