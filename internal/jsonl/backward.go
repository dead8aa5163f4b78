package jsonl

// A Back reads the entries of a log from the last one that counts to the first.
// It reads no further than it is asked to. Lines are not numbered, and what only
// the order of lines shows (missing ones, open batches) is left to Forward.
type Back struct {
	src  Source
	c    *chunk
	f    *fold
	next int // the record of c to see next, plus one
	at   int64
	// block is little at first: most who start at the end want no more than the leaf.
	block int
}

// Backward starts at the end of a log. What is wrong with the lines that are
// passed is added to report.
func Backward(src Source, head *Head, end *End, report *Report) *Back {
	f := &fold{head: head, report: report, inLine: end.InLine}
	return &Back{src: src, c: newChunk(head, Options{}), f: f, at: end.Limit, block: lastBlock}
}

// Next gives the entry before the last one given, and nil at the log's beginning.
// It is valid until Next is called again.
func (b *Back) Next() (*Record, error) {
	for {
		for b.next > 0 {
			b.next--
			if r := &b.c.recs[b.next]; b.f.passed(r) {
				return r, nil
			}
		}
		if b.at <= 0 {
			return nil, nil
		}
		if err := b.c.loadBackward(b.src, b.at, b.block); err != nil {
			return nil, err
		}
		b.c.parse()
		b.block = min(2*b.block, backwardBlock)
		b.at, b.next = b.c.base, len(b.c.recs)
	}
}

// Release gives up what was read; Next then has no more to give.
func (b *Back) Release() {
	if b.c != nil {
		b.c.release()
		b.c, b.next, b.at = nil, 0, 0
	}
}

// passed reports what r itself shows and tells whether it is an entry.
func (f *fold) passed(r *Record) bool {
	r.Line = 0
	f.prev = neighbour{}
	f.open = nil
	return f.see(r)
}
