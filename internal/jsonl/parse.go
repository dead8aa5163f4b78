package jsonl

import (
	"bytes"
	"unicode/utf8"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/castagnoli"
	"github.com/sessctl/sessctl/internal/syntax"
)

// A parser turns lines into records. It is the only place that looks at a line.
type parser struct {
	native bool // sums are expected
	deep   bool // look inside every line, and at its encoding

	recs  []Record
	begun begun

	text  *syntax.Text // of line: own or block
	line  []byte
	own   syntax.Text // for one line
	block syntax.Text // for many
	rec   Record      // of the object being walked
	named bool        // ... and whether it says anything of a parent
	crcAt int         // where the object's last crc member starts, or -1
	crc   []byte
	top   syntax.Visitor
	inner syntax.Visitor
}

// A begun checksum is that of a line's first bytes, which was computed while the
// line's end was looked for.
type begun struct {
	sum   uint32
	bytes int
}

// matches tells whether sum is right for body, the line's bytes before it.
func (b begun) matches(sum entries.Sum, body []byte) bool {
	return castagnoli.Update(b.sum, body[b.bytes:]) == sum.Self
}

var bom = []byte("\xEF\xBB\xBF")

// parseLine appends the records of one line, at least one: a blank line is a
// record with the fault BlankLines.
func (p *parser) parseLine(offset int64, line []byte, number int, ended bool) {
	first := len(p.recs)
	whole := line
	line, cr := bytes.CutSuffix(line, []byte("\r"))
	marked := false
	skip := 0
	if offset == 0 && bytes.HasPrefix(line, bom) {
		marked, skip = true, len(bom)
	}
	if skip > 0 || p.deep || !p.vouched(line) {
		p.walk(line, skip)
	}
	for i := first; i < len(p.recs); i++ {
		r := &p.recs[i]
		r.Offset += offset
		r.Line, r.Ended, r.CR, r.BOM = number, ended, cr, marked
		r.line, r.lineStart = whole, offset
	}
}

// wholeLine reads the line that starts at position i of the block data, if it is
// one object and nothing else, and appends its record. It returns where the next
// line starts; 0 where only parseLine can tell what the line is.
func (p *parser) wholeLine(data []byte, i int) int {
	p.line, p.text = data, &p.block
	end := p.walkBehind(i)
	if end < 0 || end >= len(data) || p.rec.State != NoSum {
		return 0
	}
	cr := data[end] == '\r' && end+1 < len(data)
	newline := end
	if cr {
		newline++
	}
	if data[newline] != '\n' {
		return 0
	}
	p.rec.CR, p.rec.Ended, p.rec.line = cr, true, data[i:newline]
	p.recs = append(p.recs, p.rec)
	return newline + 1
}

// walkBehind is walkObject for a record that begins as all writers begin theirs, and
// walks only behind those fields.
func (p *parser) walkBehind(i int) int {
	p.begin()
	line := p.line[i:]
	rest, ok := p.rec.four(line)
	at := len(p.line) - len(rest)
	quotes := 14
	if p.rec.Parent != nil {
		quotes = 16
	}
	// Any further stop is a character that may not stand in a string.
	if !ok || escapes(line, rest) || p.text.Stops(i, at) != quotes {
		return p.walkObject(i)
	}
	p.named = true
	return p.finish(i, p.text.Rest(at, p.top))
}

// vouched reads a line whose sum is right and whose fields are where our writers
// put them; it needs no other look.
func (p *parser) vouched(line []byte) bool {
	body, sum, ok := entries.SplitSum(line)
	if !ok || !p.begun.matches(sum, body) {
		return false
	}
	// The record is made in its place: it is large, and there are many.
	n := len(p.recs)
	p.recs = append(p.recs, Record{})
	r := &p.recs[n]
	if !r.leading(line) {
		p.recs = p.recs[:n]
		return false
	}
	r.Size, r.State, r.Sum, r.More = int64(len(line)), GoodSum, sum, entries.HasMore(body)
	r.Header = string(r.Type) == string(entries.TypeSession)
	return true
}

// walk reads whatever the line holds from position i on: one object, as a rule.
func (p *parser) walk(line []byte, i int) {
	p.line, p.text = line, &p.own
	p.text.Reset(line)
	first := len(p.recs)
	// Looking for records behind a fault must not cost more than a few readings
	// of the line, whatever the line is made of.
	budget := 4*len(line) + 1<<16
	for i = p.text.Space(i); i < len(line); i = p.text.Space(i) {
		if line[i] == 0 {
			i = p.fault(NUL, i, i+nulRun(line[i:]))
			continue
		}
		if len(p.recs)-first >= mostOnALine {
			p.fault(NotJSON, i, len(line))
			break
		}
		end := p.object(i)
		if at, failed := syntax.Failed(end); failed {
			end = p.unreadable(i, at, &budget)
		}
		i = end
	}
	if len(p.recs) == first {
		p.fault(BlankLines, 0, len(line))
	}
	if p.deep && !utf8.Valid(line) {
		p.recs[len(p.recs)-1].invalidUTF8 = true
	}
}

// mostOnALine bounds the objects that are read of one line: a lost newline fuses a
// few records, and a line of millions of objects is no log.
const mostOnALine = 100_000

func nulRun(line []byte) int {
	n := 0
	for n < len(line) && line[n] == 0 {
		n++
	}
	return n
}

// fault appends a record for bytes that are none, and returns their end.
func (p *parser) fault(kind Kind, from, to int) int {
	p.recs = append(p.recs, Record{Fault: kind, Offset: int64(from), Size: int64(to - from)})
	return to
}

// object walks the object at i and appends its record.
func (p *parser) object(i int) int {
	end := p.walkObject(i)
	if end < 0 {
		return end
	}
	r := &p.rec
	if n := len(p.recs); n > 0 && p.recs[n-1].Fault == "" && p.recs[n-1].line == nil {
		r.glued = true
	}
	p.recs = append(p.recs, *r)
	return end
}

// walkObject walks the object at i and leaves its record in p.rec.
func (p *parser) walkObject(i int) int {
	p.begin()
	return p.finish(i, p.text.Object(i, p.top))
}

func (p *parser) begin() {
	if p.top == nil {
		p.top, p.inner = p.member, p.messageMember
	}
	p.rec, p.named, p.crcAt = Record{}, false, -1
}

// finish completes the record of the object at i, whose end was found.
func (p *parser) finish(i, end int) int {
	if end < 0 {
		return end
	}
	r := &p.rec
	r.Offset, r.Size = int64(i), int64(end-i)
	r.Header = string(r.Type) == string(entries.TypeSession)
	if !r.message() {
		r.Role = nil
	}
	p.judgeSum(i)
	return end
}

// crcKey is how a sum's field starts; in any other spelling it is none.
const crcKey = `,"crc":`

// judgeSum checks the last crc member of the object that starts at i. Behind it
// another program may have added fields; what it covers is before it.
func (p *parser) judgeSum(i int) {
	if p.crcAt < 0 {
		return
	}
	sum, ok := entries.ParseSum(p.crc)
	p.rec.Sum, p.rec.State = sum, BadSum
	// The mark of a batch is one where its writer puts it, just before the sum.
	p.rec.More = entries.HasMore(p.line[i:p.crcAt])
	if ok && sum.Matches(p.line[i:p.crcAt]) {
		p.rec.State = GoodSum
	}
}

// plainKey decodes a key that has escapes, if it can be one that is looked for: in
// fewer bytes none of them has room for the escape of a letter.
func plainKey(key []byte) []byte {
	if len(key) >= len(`\u0069d`) && bytes.IndexByte(key, '\\') >= 0 {
		key, _ = stringValue(append(append([]byte{'"'}, key...), '"'))
	}
	return key
}

// member visits a top-level member.
func (p *parser) member(key []byte, at int) int {
	key = plainKey(key)
	if string(key) == "message" {
		p.rec.Role = nil
		if p.line[min(at, len(p.line)-1)] == '{' {
			return p.text.Object(at, p.inner)
		}
	}
	end := p.text.Value(at)
	if end >= 0 {
		p.set(key, at, p.line[at:end])
	}
	return end
}

func (p *parser) set(key []byte, at int, value []byte) {
	r := &p.rec
	switch string(key) {
	case "type":
		r.Type, _ = stringValue(value)
	case "id":
		r.ID, _ = stringValue(value)
		r.HasID = len(r.ID) > 0
	case "parentId":
		r.Parent, _ = stringValue(value)
		p.named = true
	case "timestamp":
		r.Time, _ = stringValue(value)
	case "crc":
		p.crcAt = -1
		if start := at - len(crcKey); start >= 0 && string(p.line[start:at]) == crcKey {
			p.crcAt = start
			p.crc, _ = stringValue(value)
		}
	}
}

func (p *parser) messageMember(key []byte, at int) int {
	end := p.text.Value(at)
	if end >= 0 && string(plainKey(key)) == "role" {
		p.rec.Role, _ = stringValue(p.line[at:end])
	}
	return end
}

// unreadable names what stands at i, where no object is (the fault is at position
// at), and returns where reading goes on: behind the line, or at the next record
// in it. A torn record with another one written behind it is such a line.
func (p *parser) unreadable(i, at int, budget *int) int {
	line := p.line
	if line[i] != '{' {
		if end := p.text.Value(i); end >= 0 && p.text.Space(end) == len(line) {
			return p.fault(NotObject, i, len(line))
		}
	}
	_, _, summed := entries.SplitSum(line[i:])
	summed = summed && p.native
	end := p.nextRecord(i+1, at, summed, budget)
	if n := nulsBefore(line[i:end]); n > 0 {
		end -= n
	}
	kind := NotJSON
	if summed && end == len(line) {
		kind = BadChecksum
	}
	return p.fault(kind, i, end)
}

// nulsBefore counts the NULs that end b.
func nulsBefore(b []byte) int {
	return len(b) - len(bytes.TrimRight(b, "\x00"))
}

// recordStart is how every writer starts its records.
var recordStart = []byte(`{"type":"`)

// nextRecord finds the next whole record from i on, behind the start of something
// that is unreadable from position fault on, or the line's end. Objects before the
// fault are that thing's own values (a message's tool calls have a type and an id,
// too), unless they end where the fault is: then it was torn where a value was due,
// and the record written behind it looks like one. Where the line ends in a sum it
// may be one damaged record, and only a sum of its own makes another of a part.
func (p *parser) nextRecord(i, fault int, summed bool, budget *int) int {
	const back = 2 // a fragment torn inside a string swallows the record's {"
	for *budget > 0 {
		n := bytes.Index(p.line[i:], recordStart)
		if n < 0 {
			break
		}
		i += n
		end := p.walkObject(i)
		if at, failed := syntax.Failed(end); failed {
			*budget -= at - i + 16
			fault = at
			i++
			continue
		}
		if (i >= fault-back || p.text.Space(end) == fault) && p.isRecord(summed) {
			return i
		}
		i = end
	}
	return len(p.line)
}

// isRecord tells a record from other objects with a type, by what every writer
// puts into each: a time, and a parent unless it is a header or of version 1.
func (p *parser) isRecord(summed bool) bool {
	r := &p.rec
	if r.State == GoodSum || summed {
		return r.State == GoodSum
	}
	return r.Header && r.HasID || len(r.Time) > 0 && r.HasID == p.named
}
