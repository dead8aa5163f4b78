package jsonl

import (
	"bytes"
	"iter"
)

// A Line is one line of a file, whoever wrote it: what readers of other programs'
// transcripts start from.
type Line struct {
	Offset int64 // of the first byte
	Number int   // from 1, for who counts them
	Bytes  []byte
	Ended  bool // a newline follows Bytes
}

// A Block is a run of whole lines of a file; the file's last may lack its newline.
type Block struct {
	Offset int64
	Bytes  []byte
	// Found is for who looks at the block. It stays when the block is used for other lines,
	// so that its memory can be, too.
	Found any
}

// Lines gives the lines of the block, without their numbers.
func (b *Block) Lines(yield func(Line) bool) {
	for data := b.Bytes; len(data) > 0; {
		l := Line{Offset: b.Offset + int64(len(b.Bytes)-len(data))}
		l.Bytes, data, l.Ended = bytes.Cut(data, []byte("\n"))
		if !yield(l) {
			return
		}
	}
}

// Blocks gives the blocks of a file up to limit, in order. Each was shown to one of look
// before, which run at the same time, each for one block at a time: while a block is used,
// they look at the next ones. A block is valid until the next one is asked for. An error
// comes last.
func Blocks(src Source, limit int64, look ...func(*Block)) iter.Seq2[*Block, error] {
	return func(yield func(*Block, error) bool) {
		for c, err := range shown(src, limit, look) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(&c.shown, nil) {
				return
			}
		}
	}
}

// shown gives the chunks of a file, each shown to one of look.
func shown(src Source, limit int64, look []func(*Block)) iter.Seq2[*chunk, error] {
	show := func(i int) func(*chunk) { return func(c *chunk) { c.show(look[i]) } }
	switch {
	case len(look) == 0:
		return oneByOne(src, limit, func(c *chunk) { c.show(func(*Block) {}) })
	case limit < 2*forwardBlock:
		return oneByOne(src, limit, show(0))
	}
	return pipelined(src, limit, forwardBlock, func() *chunk { return new(chunk) }, len(look), show)
}

func oneByOne(src Source, limit int64, show func(*chunk)) iter.Seq2[*chunk, error] {
	return func(yield func(*chunk, error) bool) {
		c := &chunk{}
		for from := int64(0); from < limit; from = c.end() {
			err := c.loadForward(src, from, limit, forwardBlock)
			if err == nil {
				show(c)
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

func (c *chunk) show(look func(*Block)) {
	c.shown.Offset, c.shown.Bytes = c.base, c.data
	look(&c.shown)
}
