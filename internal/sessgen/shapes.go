package sessgen

import (
	"io"
	"math/rand/v2"
)

// A shaper writes small messages under parents that its caller names.
type shaper struct {
	log *logWriter
	ids idSource
}

func newShaper(w io.Writer, native bool) *shaper {
	format := formatOf(native)
	r := rand.New(rand.NewPCG(7, 7))
	p := &shaper{log: newLogWriter(w, format), ids: newIDSource(r, format, 10)}
	p.log.header(&p.ids)
	return p
}

func formatOf(native bool) Format {
	if native {
		return Native
	}
	return Pi
}

// message writes a user's message of escaped text.
func (p *shaper) message(parent entryID, text []byte) entryID {
	id := p.open(parent)
	p.log.buf = append(p.log.buf, text...)
	p.close()
	return id
}

func (p *shaper) open(parent entryID) entryID {
	id, ms := p.ids.next()
	p.log.open("message", stamp{id, parent, ms})
	p.log.raw(`,"message":{"role":"user","content":"`)
	return id
}

func (p *shaper) close() {
	p.log.raw(`"`)
	p.log.number("timestamp", float64(p.log.stamp.ms))
	p.log.raw("}")
	p.log.close(false)
}

var smallText = []byte("go on")

// Chain writes n small entries, each under the one before.
func Chain(w io.Writer, n int, native bool) error {
	p := newShaper(w, native)
	parent := entryID{}
	for range n {
		parent = p.message(parent, smallText)
	}
	return p.log.finish()
}

// Fork writes a root in pi's format, and n children of it.
func Fork(w io.Writer, n int) error {
	p := newShaper(w, false)
	root := p.message(entryID{}, smallText)
	for range n {
		p.message(root, smallText)
	}
	return p.log.finish()
}

// LongLine writes three entries; the text of the middle one has about size
// bytes. The sum of a line needs the line in one piece, so it is held in
// memory once.
func LongLine(w io.Writer, size int64, native bool) error {
	p := newShaper(w, native)
	first := p.message(entryID{}, smallText)
	long := p.open(first)
	for end := int64(len(p.log.buf)) + size; int64(len(p.log.buf)) < end; {
		p.log.buf = append(p.log.buf, codePool().take(p.ids.r, int(min(64<<10, end-int64(len(p.log.buf)))))...)
	}
	p.close()
	p.message(long, smallText)
	return p.log.finish()
}
