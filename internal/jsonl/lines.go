package jsonl

import (
	"bytes"
	"iter"
)

// A Line is one line of a file, whoever wrote it: what readers of other programs'
// transcripts start from.
type Line struct {
	Offset int64 // of the first byte
	Number int   // from 1
	Bytes  []byte
	Ended  bool // a newline follows Bytes
}

// Lines gives the lines of a file up to limit, which is its end or the start of a line.
// The bytes are valid until the next line is asked for. An error comes last.
func Lines(src Source, limit int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		l := Line{}
		for c, err := range blocks(src, limit) {
			if err != nil {
				yield(Line{}, err)
				return
			}
			for data := c.data; len(data) > 0; {
				l.Offset, l.Number = c.end()-int64(len(data)), l.Number+1
				l.Bytes, data, l.Ended = bytes.Cut(data, []byte("\n"))
				if !yield(l, nil) {
					return
				}
			}
		}
	}
}

// blocks gives the blocks of a file in order. In a large one the next block is read while
// the lines of one are looked at.
func blocks(src Source, limit int64) iter.Seq2[*chunk, error] {
	if limit < 2*forwardBlock {
		return oneByOne(src, limit)
	}
	return func(yield func(*chunk, error) bool) {
		p := newPipeline(&Head{}, Options{})
		defer p.wg.Wait()
		defer close(p.stop)
		p.wg.Go(func() { p.load(src, limit) })
		for j := range p.order {
			if j.err != nil {
				yield(nil, j.err)
				return
			}
			<-p.work // nobody is to parse it
			if !yield(j.c, nil) {
				return
			}
			p.free <- j.c
		}
	}
}

func oneByOne(src Source, limit int64) iter.Seq2[*chunk, error] {
	return func(yield func(*chunk, error) bool) {
		c := &chunk{}
		for from := int64(0); from < limit; from = c.end() {
			err := c.loadForward(src, from, limit, forwardBlock)
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}
