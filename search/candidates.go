package search

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/sessctl/sessctl/store"
)

// A span is where a needle stands in a log: from its first byte to the end of its line.
// A record that shares bytes with it may have a match.
type span struct{ from, to int64 }

// blockSize is as much of a log as is looked at together: it stays in the processor's
// cache.
const blockSize = 512 << 10

// blocks are buffers that were used before: most logs are smaller than the buffer for them.
var blocks = sync.Pool{New: func() any { return new([]byte) }}

// candidates finds the lines of a log that a match may be on: at most one span for each.
// It looks at the log in blocks of some bytes.
func (p *Pattern) candidates(ctx context.Context, src store.Source, block int) (list []span, err error) {
	buf := blocks.Get().(*[]byte)
	defer blocks.Put(buf)
	*buf = slices.Grow((*buf)[:0], p.overlap()+block)
	s := &scanner{pattern: p, buf: (*buf)[:p.overlap()+block]}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := src.ReadAt(s.buf[s.kept:], s.base+int64(s.kept))
		s.data = s.buf[:s.kept+n]
		s.see()
		if errors.Is(err, io.EOF) {
			s.endLine(s.base + int64(len(s.data)))
			return s.list, nil
		}
		if err != nil {
			return nil, err
		}
		s.keep(p.overlap())
	}
}

// overlap is how much of a block is looked at again with the next one.
func (p *Pattern) overlap() (n int) {
	for _, needle := range p.needles {
		n = max(n, needle.reach())
	}
	return n
}

// A scanner goes over a log in blocks.
type scanner struct {
	pattern *Pattern
	list    []span
	open    bool // the last span's line goes on

	buf, data []byte
	base      int64 // where data starts in the log
	kept      int   // bytes of buf that were looked at before
}

// keep moves the end of the block to the start of the next one.
func (s *scanner) keep(overlap int) {
	s.kept = min(overlap, len(s.data))
	s.base += int64(len(s.data) - s.kept)
	copy(s.buf, s.data[len(s.data)-s.kept:])
}

// see looks at a block. Behind a candidate it goes on with the next line.
func (s *scanner) see() {
	at := 0
	if s.open {
		// The part that was kept belongs to the open line, up to its end if that is new.
		at = s.endLineFrom(s.kept)
	} else if n := len(s.list); n > 0 {
		at = int(max(s.list[n-1].to-s.base, 0))
	}
	finds := make([]find, 2*len(s.pattern.needles))
	for at < len(s.data) {
		next := s.nearest(finds, at)
		if next == len(s.data) {
			return
		}
		s.list = append(s.list, span{from: s.base + int64(next)})
		s.open = true
		at = s.endLineFrom(next)
	}
}

// endLineFrom closes the open span at the next newline, and gives the position behind
// it.
func (s *scanner) endLineFrom(at int) int {
	n := bytes.IndexByte(s.data[at:], '\n')
	if n < 0 {
		return len(s.data)
	}
	s.endLine(s.base + int64(at+n))
	return at + n + 1
}

func (s *scanner) endLine(to int64) {
	if s.open {
		s.list[len(s.list)-1].to, s.open = to, false
	}
}

// A find remembers where a needle, in one of its spellings, comes next.
type find struct {
	at   int
	done bool // it was looked for, and is at at
}

// nearest gives where any needle comes first from position at on; the end of the data
// where none does.
func (s *scanner) nearest(finds []find, at int) int {
	nearest := len(s.data)
	for k, n := range s.pattern.needles {
		nearest = min(nearest, finds[2*k].next(n.plain, s.data, at), finds[2*k+1].next(n.escaped, s.data, at))
	}
	return nearest
}

func (f *find) next(look func([]byte, int) int, data []byte, at int) int {
	if !f.done || f.at < at {
		if f.at = look(data, at); f.at < 0 {
			f.at = len(data)
		}
		f.done = true
	}
	return f.at
}
