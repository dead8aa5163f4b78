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
		c := &chunk{}
		l := Line{}
		for from := int64(0); from < limit; from = c.end() {
			if err := c.loadForward(src, from, limit, forwardBlock); err != nil {
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
