package jsonl

import (
	"fmt"

	"github.com/sessctl/sessctl/entries"
)

// A fold goes over records in file order and reports what only their order shows:
// lines that are missing or moved, batches without an end, second headers.
type fold struct {
	head   *Head
	report *Report
	prev   neighbour

	inLine bool // the log's limit is inside its last line, which goes on

	open     *Damage // the batch that has not ended yet
	lastLine int     // what concerns a line as a whole was reported for this one
}

// A neighbour is the line before, as the second half of a sum sees it.
type neighbour struct {
	state neighbourState
	check uint32
	line  int
}

type neighbourState uint8

const (
	unseen  neighbourState = iota // nothing to compare with
	sound                         // a line with a right sum
	foreign                       // a line without one
	damaged                       // anything else: not compared
)

// see reports what is wrong with r and tells whether it is an entry.
func (f *fold) see(r *Record) bool {
	f.line(r)
	if r.Offset == 0 && f.head.Title != nil {
		f.add(r, TitleSlot, true, "")
		return false
	}
	if r.Fault != "" {
		f.fault(r)
		return false
	}
	if r.glued {
		f.add(r, Concatenated, false, "two records stand on one line; both are read")
	}
	if f.head.Native {
		f.batch(r)
		f.sum(r)
	}
	return f.kind(r)
}

// line reports, once a line, what concerns it as a whole.
func (f *fold) line(r *Record) {
	if r.invalidUTF8 {
		f.add(r, InvalidUTF8, false, "")
	}
	if r.Line == f.lastLine && r.Line > 0 {
		return
	}
	f.lastLine = r.Line
	if r.CR {
		f.add(r, CRLF, true, "")
	}
	if r.BOM {
		f.add(r, BOM, true, "")
	}
	if !r.Ended && !f.inLine && r.Fault == "" {
		f.add(r, NoFinalNewline, true, "")
	}
}

func (f *fold) add(r *Record, kind Kind, note bool, detail string) {
	f.report.Add(Damage{Kind: kind, Line: r.Line, Offset: r.Offset, Length: r.Size, Detail: detail, Note: note})
}

func (f *fold) fault(r *Record) {
	if r.Fault == BlankLines {
		f.add(r, BlankLines, true, "")
		f.report.count(BlankLines, r.blanks)
		return
	}
	f.add(r, r.Fault, r.Fault == BadChecksum && f.head.Rewritten(), "")
	f.prev = neighbour{state: damaged}
}

// kind tells entries from headers and from objects that are neither.
func (f *fold) kind(r *Record) bool {
	switch {
	case r.Header && f.head.Found && r.Offset == f.head.Offset:
		if f.head.Late {
			f.add(r, LateHeader, false, "the header stands behind the first record")
		}
		return false
	case r.Header:
		f.add(r, ExtraHeader, false, "a second header; it is not an entry")
		return false
	case !r.entry(f.head.V1) && f.head.Native && r.State == BadSum:
		return false // reported already
	case !r.entry(f.head.V1):
		f.add(r, NoID, false, "an object without an id is no entry")
		return false
	}
	return true
}

// sum checks a native record's place: that the line before it is the one that it
// was written behind.
func (f *fold) sum(r *Record) {
	switch r.State {
	case BadSum:
		f.add(r, BadChecksum, f.head.Rewritten(), f.badDetail(r))
		f.prev = neighbour{state: damaged}
	case GoodSum:
		f.order(r)
		f.prev = neighbour{state: sound, check: r.Sum.Self, line: r.Line}
	default:
		if !r.Header {
			f.add(r, ForeignLine, true, "written by another program")
		}
		if f.prev.line != r.Line || f.prev.state != foreign {
			f.prev = neighbour{state: foreign, check: entries.Checksum(r.line), line: r.Line}
		}
	}
}

func (f *fold) badDetail(r *Record) string {
	if r.entry(f.head.V1) {
		return "its sum is wrong; it stays an entry"
	}
	return "its sum is wrong"
}

func (f *fold) order(r *Record) {
	want := f.prev.check
	switch f.prev.state {
	case damaged:
		return
	case unseen:
		if !r.Header {
			return
		}
	}
	if r.Sum.Prev == want {
		return
	}
	f.add(r, Order, f.head.Rewritten() || f.prev.state == foreign, "a line before it is missing, moved or new")
}

// batch follows the marks of batches. One that is left open by a line of another
// program never ends: its lines count, and are reported.
func (f *fold) batch(r *Record) {
	summed := r.State != NoSum
	switch {
	case r.Header:
	case f.open != nil && !summed:
		f.closeBatch()
	case f.open != nil && r.More:
		f.open.Count++
	case f.open != nil:
		f.open = nil
	case summed && r.More:
		f.open = &Damage{Kind: IncompleteBatch, Line: r.Line, Offset: r.Offset, Length: r.Size, Count: 1}
	}
}

// closeBatch reports a batch that was left open.
func (f *fold) closeBatch() {
	if f.open == nil {
		return
	}
	f.open.Detail = fmt.Sprintf("%d lines of a batch whose end is missing; they count, since lines follow", f.open.Count)
	f.report.Add(*f.open)
	f.open = nil
}
