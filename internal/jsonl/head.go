package jsonl

import (
	"bytes"

	"github.com/sessctl/sessctl/entries"
)

// headLimit bounds the search for the header, as pi does.
const headLimit = 1 << 20

// A Head is what the beginning of a log says about all of it.
type Head struct {
	Header entries.Header // zero where there is none
	Found  bool           // there is a header
	Late   bool           // records stand before it
	Offset int64          // of the header
	Title  *entries.Title // oh-my-pi's line in front, or nil
	Empty  bool           // the log has no bytes

	// Other tells that there is no header, and that the first record is of no type
	// that a session log has: another program's file.
	Other bool
	// Native logs have sums and batches.
	Native bool
	// V1 logs have no ids and no parents: each record follows the one before.
	V1 bool
	// V2 logs call custom messages hookMessage.
	V2 bool
}

// Rewritten tells that oh-my-pi rewrote a native log: its sums are then notes.
func (h *Head) Rewritten() bool { return h.Native && h.Title != nil }

// ReadHead reads the beginning of a log of size bytes: as little of it as shows
// the header, at most a MiB and the line that begins there.
func ReadHead(src Source, size int64) (*Head, error) {
	h := &Head{Empty: size == 0}
	var first *Record // the first record that is no header
	c := newChunk(h, Options{})
	defer c.release()
	block := firstBlock
	for from := int64(0); from < min(size, headLimit) && !h.Found; from = c.end() {
		if err := c.loadForward(src, from, size, block); err != nil {
			return nil, err
		}
		block = headBlock
		if c.base == 0 {
			h.readTitle(c.data)
		}
		// The header is the first record, as a rule: others are not looked at.
		c.parseFirst(1)
		for more := true; more && !h.Found; more = c.parseOn(1) {
			h.see(c, &first)
		}
	}
	h.judge(first)
	return h, nil
}

// see looks for the header among the records of c.
func (h *Head) see(c *chunk, first **Record) {
	for i := range c.recs {
		r := &c.recs[i]
		if r.Fault != "" || h.Title != nil && r.Offset == 0 {
			continue
		}
		if r.Header {
			header, err := entries.ParseHeader(c.data[r.Offset-c.base:][:r.Size])
			if err == nil {
				h.Header, h.Found, h.Offset = header, true, r.Offset
				h.Late = *first != nil
				return
			}
			continue // a header that is none says nothing about the entries
		}
		if *first == nil {
			*first = &Record{HasID: r.HasID, State: r.State, Type: bytes.Clone(r.Type)}
		}
	}
}

func (h *Head) readTitle(data []byte) {
	line, _, ended := bytes.Cut(data, []byte("\n"))
	if !ended {
		return
	}
	if t, ok := entries.ParseTitle(line); ok {
		h.Title = &t
	}
}

// judge decides what kind of log this is; without a header by its first record.
func (h *Head) judge(first *Record) {
	if h.Found {
		h.Native = h.Header.Native()
		h.V1 = h.Header.Version < 2
		h.V2 = h.Header.Version < 3
		return
	}
	if first != nil {
		h.Native = first.State == GoodSum
		h.V1 = !first.HasID
		h.Other = !entries.Type(first.Type).Known()
	}
}
