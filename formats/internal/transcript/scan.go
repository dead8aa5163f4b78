package transcript

import (
	"bytes"

	"github.com/sessctl/sessctl/internal/jsonl"
	"github.com/sessctl/sessctl/internal/syntax"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// A Walker finds the fields of records.
type Walker interface {
	// Walk reads the object that starts at position i of line, which text was reset to,
	// and returns its end as text does.
	Walk(text *syntax.Text, line []byte, i int) (end int)
	// Whole tells whether the object that was walked last is a record by itself: what
	// follows a torn record on its line may be a part of that.
	Whole() bool
}

// A Translator takes the objects of a transcript's lines.
type Translator[W Walker] interface {
	// Walker gives one more walker. One for walking ahead, of which there are many, may leave
	// objects to the others that take much memory.
	Walker(ahead bool) W
	// Take takes the object that walked has walked last.
	Take(walked W, w *Writer, at Place, size int64)
}

// A Scan reads a transcript.
type Scan[W Walker] struct {
	Log *Log
	To  Translator[W]
	// Options say on how many processors (beside the one that takes, others walk ahead), and
	// who is told of the progress. Nil stands for one, and nobody.
	Options *sessiontree.ReadOptions

	walker W
	text   syntax.Text
	w      *Writer
	lines  int // so far
}

var bom = []byte("\xEF\xBB\xBF")

// File reads the lines of file n of the log, up to limit.
func (s *Scan[W]) File(src store.Source, n int32, limit int64) error {
	s.walker, s.w = s.To.Walker(false), s.Log.Writer()
	s.w.file, s.w.limit, s.w.before = n, limit, s.Log.past
	s.Log.past += limit
	for b, err := range jsonl.Blocks(src, limit, s.scouts()...) {
		if err != nil {
			return err
		}
		s.block(b)
		if s.Options != nil && s.Options.Progress != nil {
			s.Options.Progress(b.Offset+int64(len(b.Bytes)), limit)
		}
	}
	return nil
}

func (s *Scan[W]) scouts() (look []func(*jsonl.Block)) {
	if s.Options == nil {
		return nil
	}
	for range min(s.Options.Workers-1, mostAhead) {
		look = append(look, (&scout[W]{to: s.To}).look)
	}
	return look
}

func (s *Scan[W]) block(b *jsonl.Block) {
	seen, _ := b.Found.(*sighted[W])
	i := 0
	for l := range b.Lines {
		s.lines++
		l.Number = s.lines
		if f := seen.line(i); f != nil {
			s.w.line, s.w.at = l.Bytes, l.Offset
			s.To.Take(f.walker, s.w, s.place(l, f.at), int64(f.end-f.at))
		} else {
			s.line(l)
		}
		i++
	}
}

// line reads what a line holds: one object, as a rule.
func (s *Scan[W]) line(l jsonl.Line) {
	s.w.line, s.w.at = l.Bytes, l.Offset
	s.text.Reset(l.Bytes)
	at, objects := s.text.Space(s.start(l)), 0
	budget := 4*len(l.Bytes) + 1<<16
	for at < len(l.Bytes) {
		if l.Bytes[at] == 0 {
			at = s.nuls(l, at)
			continue
		}
		end := s.walker.Walk(&s.text, l.Bytes, at)
		if fault, failed := syntax.Failed(end); failed {
			if at, objects = s.unreadable(l, at, fault, &budget), 0; at >= len(l.Bytes) {
				return
			}
			continue
		}
		if objects++; objects == 2 {
			s.Log.Notes.Damage(jsonl.Concatenated, s.place(l, at), int64(end-at), "two records stand on one line; both are read")
		}
		s.To.Take(s.walker, s.w, s.place(l, at), int64(end-at))
		at = s.text.Space(end)
	}
}

func (s *Scan[W]) place(l jsonl.Line, at int) Place {
	return Place{File: s.w.file, Line: int32(l.Number), Offset: l.Offset + int64(at)}
}

// start skips a byte order mark at the beginning of the file.
func (s *Scan[W]) start(l jsonl.Line) int {
	if l.Offset == 0 && bytes.HasPrefix(l.Bytes, bom) {
		return len(bom)
	}
	return 0
}

func (s *Scan[W]) nuls(l jsonl.Line, at int) (end int) {
	end = len(l.Bytes) - len(bytes.TrimLeft(l.Bytes[at:], "\x00"))
	s.Log.Notes.Damage(jsonl.NUL, s.place(l, at), int64(end-at), "")
	return s.text.Space(end)
}

// unreadable names what stands at position at, where no object is, and returns where
// reading goes on: at the next record on the line, or behind it. A torn record with
// another one written behind it is such a line.
func (s *Scan[W]) unreadable(l jsonl.Line, at, fault int, budget *int) (next int) {
	kind := jsonl.NotJSON
	if l.Bytes[at] != '{' {
		if end := s.text.Value(at); end >= 0 {
			s.Log.Notes.Damage(jsonl.NotObject, s.place(l, at), int64(end-at), "")
			return s.text.Space(end)
		}
	}
	next = s.nextRecord(l.Bytes, at, fault, budget)
	detail := "no JSON; what follows on the line is read"
	switch {
	case next == len(l.Bytes) && !l.Ended:
		kind, detail = jsonl.TornTail, "the last line was not written to its end; it does not count"
	case next == len(l.Bytes):
		detail = ""
	}
	s.Log.Notes.Damage(kind, s.place(l, at), int64(next-at), detail)
	return next
}

// nextRecord finds the next whole record behind the start of something unreadable, or
// the line's end. Looking must not cost more than a few readings of the line.
func (s *Scan[W]) nextRecord(line []byte, at, fault int, budget *int) int {
	for i := at + 1; *budget > 0; i++ {
		n := bytes.Index(line[i:], []byte(`{"`))
		if n < 0 {
			break
		}
		i += n
		end := s.walker.Walk(&s.text, line, i)
		failedAt, failed := syntax.Failed(end)
		switch {
		case failed:
			*budget -= failedAt - i + 16
		case s.walker.Whole() && (i >= fault-2 || s.text.Space(end) == len(line) || s.text.Space(end) == fault):
			return i
		default:
			*budget -= 16
			i = end - 1
		}
	}
	return len(line)
}
