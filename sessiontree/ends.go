package sessiontree

import (
	"io"
	"sync"

	"github.com/sessctl/sessctl/store"
)

// Ends is a log whose beginning and end were read at once: what is looked at there, again
// and again, costs no further call of the system. It is for one goroutine, and for who
// describes many logs; package formats tells by it whose a file is.
type Ends struct {
	store.Source
	size       int64
	head, tail []byte // tail is empty where head is all of the log
	buf        *[]byte
}

// endBytes is how much of either end is read.
const endBytes = 64 << 10

var endBuffers = sync.Pool{New: func() any { b := make([]byte, 2*endBytes); return &b }}

// ReadEnds reads the ends of src, and closes it where that fails. Closing the ends closes
// src.
func ReadEnds(src store.Source) (*Ends, error) {
	size, err := src.Size()
	if err != nil {
		src.Close()
		return nil, err
	}
	e := &Ends{Source: src, size: size, buf: endBuffers.Get().(*[]byte)}
	if size <= 2*endBytes {
		e.head = (*e.buf)[:size]
	} else {
		e.head, e.tail = (*e.buf)[:endBytes], (*e.buf)[endBytes:]
	}
	if err = readFull(src, e.head, 0); err == nil {
		err = readFull(src, e.tail, size-int64(len(e.tail)))
	}
	if err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// Head gives the first 64 KiB of the log, all of one of up to 128 KiB. It is valid until
// the ends are closed.
func (e *Ends) Head() []byte { return e.head }

// Tail gives the last 64 KiB of a log that Head is not all of.
func (e *Ends) Tail() []byte { return e.tail }

// Size implements store.Source: the log as it was when it was opened.
func (e *Ends) Size() (int64, error) { return e.size, nil }

// View gives the bytes [from, to) of the log where they were read, nil where they were not.
// They are valid until the ends are closed.
func (e *Ends) View(from, to int64) []byte {
	tail := e.size - int64(len(e.tail))
	switch {
	case from < 0 || to < from:
	case to <= int64(len(e.head)):
		return e.head[from:to:to]
	case from >= tail && to <= e.size:
		return e.tail[from-tail : to-tail : to-tail]
	}
	return nil
}

// ReadAt implements store.Source.
func (e *Ends) ReadAt(p []byte, off int64) (int, error) {
	end := off + int64(len(p))
	if view := e.View(off, min(end, e.size)); view != nil {
		n := copy(p, view)
		if n < len(p) {
			return n, io.EOF
		}
		return n, nil
	}
	return e.Source.ReadAt(p, off)
}

// Close implements store.Source.
func (e *Ends) Close() error {
	if e.buf != nil {
		endBuffers.Put(e.buf)
		e.buf, e.head, e.tail = nil, nil, nil
	}
	return e.Source.Close()
}
