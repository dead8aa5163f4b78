package sessiontree

import (
	"bufio"
	"fmt"
	"io"
	"time"

	"github.com/sessctl/sessctl/entries"
)

// A Salvaged says what Salvage copied.
type Salvaged struct {
	Entries int
	// LeftOut counts entries that another one with their id replaced.
	LeftOut int
	// Doubtful are entries whose sum was wrong: they are in the copy, with a sum
	// that is right for what they now hold.
	Doubtful []entries.ID
	// MadeHeader tells that the log had no header and the copy got one.
	MadeHeader bool
	// Marked tells that a leaf marker was added, since the leaf of the copy would be
	// another without it.
	Marked bool
}

// Salvage writes a sound copy of a log to w: its header first, then every entry in
// file order, each byte for byte on a line of its own. Of a native log the sums and
// batch marks are renewed, and nothing else; so entries of other programs get sums.
// What no reader counts (torn and void lines, repetitions, junk) stays behind; what
// cannot be mended by copying (a missing parent, a cycle) stays as it is. Where the
// copy would have another leaf, it gets a leaf marker.
func Salvage(t *Tree, w io.Writer) (Salvaged, error) {
	x, err := t.whole()
	if err != nil {
		return Salvaged{}, err
	}
	s := &salvage{t: t, index: x, w: bufio.NewWriterSize(w, 1<<16)}
	if err := s.copy(); err != nil {
		return s.Salvaged, fmt.Errorf("%s: cannot salvage: %w", t.path, err)
	}
	return s.Salvaged, s.w.Flush()
}

type salvage struct {
	Salvaged
	t *Tree
	*index
	w    *bufio.Writer
	line []byte
	prev uint32
	last entries.ID // that was copied
	next int        // behind the batch that was looked at last
	ends bool       // ... which has its end
}

func (s *salvage) copy() error {
	if err := s.header(); err != nil {
		return err
	}
	for i := range s.recs {
		r := &s.recs[i]
		if r.flags&lost != 0 {
			if r.flags&superseded != 0 {
				s.LeftOut++
			}
			continue
		}
		raw, err := s.t.ReadRecord(r.offset, r.size)
		if err != nil {
			return err
		}
		if s.t.head.Native && r.flags&badSum != 0 {
			s.Doubtful = append(s.Doubtful, s.id(r))
		}
		if err := s.write(raw, s.inBatch(i)); err != nil {
			return err
		}
		s.Entries++
		s.last = s.id(r)
	}
	return s.returnLeaf()
}

// returnLeaf appends a marker where the leaf of the copy would be another: a line
// that was written twice makes its entry the leaf again, and is copied once.
func (s *salvage) returnLeaf() error {
	if s.leaf < 0 || s.id(&s.recs[s.leaf]) == s.last || s.t.head.V1 {
		return nil
	}
	var ids entries.IDs
	ids.After(s.last)
	id, err := ids.New()
	if err != nil {
		return err
	}
	s.Marked = true
	marker := entries.LeafDraft(s.last, string(ReasonReturn))
	return s.write(append(marker.Append(nil, id, s.id(&s.recs[s.leaf]), time.Now()), '}'), false)
}

// header writes the title line, where there is one, and the header. A log without
// one gets one, since no reader accepts a copy without.
func (s *salvage) header() error {
	if s.t.head.Title != nil {
		if err := s.title(); err != nil {
			return err
		}
	}
	if s.t.head.Found {
		return s.write(s.t.head.Header.Raw(), false)
	}
	s.MadeHeader = true
	var ids entries.IDs
	id, err := ids.New()
	if err != nil {
		return err
	}
	start := timeOf(0)
	if len(s.recs) > 0 && s.recs[0].millis != noTime {
		start = timeOf(s.recs[0].millis)
	}
	if s.t.head.Native {
		return s.write(append(entries.Header{ID: string(id), Time: start}.Append(nil), '}'), false)
	}
	version := 3
	if s.t.head.V1 {
		version = 1
	}
	return s.write(fmt.Appendf(nil, `{"type":"session","version":%d,"id":"%s","timestamp":"%s","cwd":""}`,
		version, id, start.Format("2006-01-02T15:04:05.000Z")), false)
}

func (s *salvage) title() error {
	line := make([]byte, entries.TitleSize)
	if err := readFull(s.t.src, line, 0); err != nil {
		return err
	}
	_, err := s.w.Write(line)
	return err
}

// inBatch tells whether the batch mark of the entry at i is still true in the copy:
// its batch has to have its end there.
func (s *salvage) inBatch(i int) bool {
	if i >= s.next {
		s.next, s.ends = s.batchFrom(i)
	}
	return s.ends
}

// batchFrom finds where the batch is over that i is in, and whether it has its end.
func (s *salvage) batchFrom(i int) (next int, ends bool) {
	for ; i < len(s.recs); i++ {
		r := &s.recs[i]
		if r.flags&foreign != 0 || r.flags&more == 0 {
			return i + 1, r.flags&(foreign|lost) == 0
		}
	}
	return i, false
}

// write copies one record; of a native log with a new sum.
func (s *salvage) write(raw []byte, batch bool) error {
	if s.t.head.Native {
		body, marked := entries.Unsummed(raw)
		s.line = append(s.line[:0], entries.Unmarked(body)...)
		s.line, s.prev = seal(s.line, 0, marked && batch, s.prev)
	} else {
		s.line = append(append(s.line[:0], raw...), '\n')
	}
	_, err := s.w.Write(s.line)
	return err
}
