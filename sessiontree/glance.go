package sessiontree

import (
	"io"
	"sync"

	"github.com/sessctl/sessctl/store"
)

// A glance is a log whose beginning and end were read at once: what is looked at there,
// again and again, costs no further call of the system. It is for one goroutine.
type glance struct {
	store.Source
	size       int64
	head, tail []byte // tail is empty where head is all of the log
	buf        *[]byte
}

// glanceBytes is how much of either end is read.
const glanceBytes = 64 << 10

var glanceBuffers = sync.Pool{New: func() any { b := make([]byte, 2*glanceBytes); return &b }}

// newGlance reads the ends of src, and closes it where that fails.
func newGlance(src store.Source) (*glance, error) {
	size, err := src.Size()
	if err != nil {
		return nil, err
	}
	g := &glance{Source: src, size: size, buf: glanceBuffers.Get().(*[]byte)}
	if size <= 2*glanceBytes {
		g.head = (*g.buf)[:size]
	} else {
		g.head, g.tail = (*g.buf)[:glanceBytes], (*g.buf)[glanceBytes:]
	}
	if err = readFull(src, g.head, 0); err == nil {
		err = readFull(src, g.tail, size-int64(len(g.tail)))
	}
	if err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// Size implements store.Source: the log as it was when it was opened.
func (g *glance) Size() (int64, error) { return g.size, nil }

// ReadAt implements store.Source.
func (g *glance) ReadAt(p []byte, off int64) (int, error) {
	end := off + int64(len(p))
	tail := g.size - int64(len(g.tail))
	switch {
	case off >= 0 && end <= int64(len(g.head)):
		return copy(p, g.head[off:]), nil
	case off >= tail && end <= g.size:
		return copy(p, g.tail[off-tail:]), nil
	case off >= 0 && off < g.size && end > g.size && g.tail == nil:
		return copy(p, g.head[off:]), io.EOF
	}
	return g.Source.ReadAt(p, off)
}

// Close implements store.Source.
func (g *glance) Close() error {
	if g.buf != nil {
		glanceBuffers.Put(g.buf)
		g.buf, g.head, g.tail = nil, nil, nil
	}
	return g.Source.Close()
}
