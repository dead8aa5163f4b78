package transcript

import (
	"iter"

	"github.com/sessctl/sessctl/sessiontree"
)

// Outlines gives the records without what is kept in the files: null stands for each
// value. Nothing is read for it. Outlines are valid until the next one is asked for.
func (l *Log) Outlines() iter.Seq[sessiontree.Outline] {
	return func(yield func(sessiontree.Outline) bool) {
		o := outliner{log: l}
		for i, at := range l.at {
			end := l.size
			if i+1 < len(l.at) {
				end = l.at[i+1]
			}
			size := end - at - 1 // without the newline
			if !yield(sessiontree.Outline{Offset: at, Size: size, Line: int(l.from[i].Line), Record: o.record(at, at+size)}) {
				return
			}
		}
	}
}

// An outliner goes over the pieces of a log.
type outliner struct {
	log *Log
	n   int // the piece that it is at
	buf []byte
}

// record gives what was made of the bytes [at, end) of the log.
func (o *outliner) record(at, end int64) []byte {
	l := o.log
	for o.n+1 < len(l.starts) && l.starts[o.n+1] <= at {
		o.n++
	}
	if p := l.pieces[o.n]; p.file == made && end <= l.starts[o.n]+int64(p.size) {
		return o.part(at, end)
	}
	o.buf = o.buf[:0]
	for at < end {
		p := l.pieces[o.n]
		to := min(end, l.starts[o.n]+int64(p.size))
		switch {
		case p.file == made:
			o.buf = append(o.buf, o.part(at, to)...)
		case p.file&inside == 0:
			o.buf = append(o.buf, "null"...)
		}
		if at = to; at < end {
			o.n++
		}
	}
	return o.buf
}

// part gives the bytes [at, end) of the log, which are of the piece that it is at.
func (o *outliner) part(at, end int64) []byte {
	start := o.log.starts[o.n]
	return o.log.madeAt(o.log.pieces[o.n].at + at - start)[:end-at]
}
