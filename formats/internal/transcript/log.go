package transcript

import (
	"errors"
	"io"
	"sort"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonl"
	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// A Place is where a record stands in a transcript.
type Place struct {
	File   int32 // index in the log's files
	Line   int32 // from 1
	Offset int64
}

// A piece is a run of a log's bytes: at a place in a file, or of what was made.
type piece struct {
	at   int64
	size int32
	file int32 // made, or the number of a file, and perhaps inside
}

const (
	made = -1
	// inside marks what stands inside a string; any other piece of a file is a value.
	inside = 1 << 30
)

// mostOfAPiece is how large a piece can be; longer runs are several.
const mostOfAPiece = 1 << 30

// A Draft is a run of pieces that has no place in the log yet.
type Draft struct{ first, end int32 }

// Empty tells of a draft without bytes.
func (d Draft) Empty() bool { return d.first == d.end }

// A Log is a session log made of pieces. It is a [store.Source] once it is finished.
type Log struct {
	files   []store.Source
	full    [][]byte // what was made: parts that are full
	bytes   []byte   // ... and the one that grows
	drafts  []piece  // by Draft
	drafted int
	past    int64   // bytes of the files before the one that is read
	pieces  []piece // of the log
	starts  []int64 // of the pieces
	size    int64
	time    string  // of the last record
	at      []int64 // where each record starts
	from    []Place // ... and what it was made from
	Notes   Notes
}

// NewLog makes an empty log of transcripts in files, which it closes.
func NewLog(files ...store.Source) *Log { return &Log{files: files} }

// AddFile gives the number of one more file, whose path is told where damage is in it.
func (l *Log) AddFile(src store.Source, path string) int32 {
	l.files, l.Notes.others = append(l.files, src), append(l.Notes.others, path)
	return int32(len(l.files) - 1)
}

// fullBytes is when a part of what was made is full: growing one part for all of it
// would move what is there again and again.
const fullBytes = 256 << 10

// room gives the part that grows.
func (l *Log) room() []byte {
	if len(l.bytes) > fullBytes {
		l.full = append(l.full, l.bytes)
		l.bytes = make([]byte, 0, fullBytes+fullBytes/4)
	}
	return l.bytes
}

// since is the piece of what was made from start on. The upper half of its place is the
// number of its part.
func (l *Log) since(start int) piece {
	return piece{at: int64(len(l.full))<<32 | int64(start), size: int32(len(l.bytes) - start), file: made}
}

// madeAt gives what was made from a place on.
func (l *Log) madeAt(at int64) []byte {
	if n := int(at >> 32); n < len(l.full) {
		return l.full[n][at&(1<<32-1):]
	}
	return l.bytes[at&(1<<32-1):]
}

// add appends to a run of pieces, as a part of the last one where that is possible.
func add(run []piece, from int, p piece) []piece {
	if n := len(run); n > from {
		last := &run[n-1]
		if last.file == p.file && last.at+int64(last.size) == p.at && int64(last.size)+int64(p.size) < mostOfAPiece {
			last.size += p.size
			return run
		}
	}
	return append(run, p)
}

// Record starts a record of the log with the four fields that all entries begin with.
// One without a time has that of the record before it: programs stumble over none.
func (l *Log) Record(from Place, kind entries.Type, id, parent, time string) {
	if time == "" || len(time) > mostTime {
		time = l.time
	}
	l.time = time
	l.at, l.from = append(l.at, l.size), append(l.from, from)
	b := l.room()
	start := len(b)
	b = append(append(append(b, `{"type":"`...), kind...), `","id":`...)
	b = append(jsonvalue.AppendString(b, id), `,"parentId":`...)
	if parent == "" {
		b = append(b, "null"...)
	} else {
		b = jsonvalue.AppendString(b, parent)
	}
	l.bytes = jsonvalue.AppendString(append(b, `,"timestamp":`...), time)
	l.putMade(start)
}

// Header writes the log's first line. About as many records follow as is said.
func (l *Log) Header(h Header, records int) {
	l.time = Cut(h.Time, mostTime)
	n := len(l.drafts) + records + records/8 // what is put between the drafts
	l.pieces, l.starts = make([]piece, 0, n), make([]int64, 0, n)
	l.at, l.from = make([]int64, 0, records), make([]Place, 0, records)
	b := l.room()
	start := len(b)
	b = append(b, `{"type":"session","version":3`...)
	b = appendMember(b, "id", h.ID)
	b = appendMember(b, "timestamp", h.Time)
	b = appendMember(b, "cwd", h.Cwd)
	if h.ParentSession != "" {
		b = appendMember(b, "parentSession", h.ParentSession)
	}
	l.bytes = append(appendSpent(b, h.Spent), "}\n"...)
	l.putMade(start)
}

// A Header is what the first line of a log says of the session.
type Header struct {
	ID, Time, Cwd, ParentSession string
	Spent                        []Spent
}

// Spent is what the session's program says that a model cost, where it does not say so of
// each answer. Of sums with the same Run, in whichever session, the largest counts.
type Spent struct {
	Run, Model string
	Cost       float64 // in US dollars
}

func appendSpent(b []byte, list []Spent) []byte {
	for i, s := range list {
		lead := `,{"run":`
		if i == 0 {
			lead = `,"spent":[{"run":`
		}
		b = jsonvalue.AppendString(append(b, lead...), s.Run)
		b = appendMember(b, "model", s.Model)
		b = append(jsonvalue.AppendNumber(append(b, `,"cost":`...), s.Cost), '}')
	}
	if len(list) > 0 {
		b = append(b, ']')
	}
	return b
}

func appendMember(b []byte, name, value string) []byte {
	b = append(append(append(b, `,"`...), name...), `":`...)
	return jsonvalue.AppendString(b, value)
}

// putMade takes what was made from start on into the log.
func (l *Log) putMade(start int) { l.put(l.since(start)) }

func (l *Log) put(p piece) {
	if p.size == 0 {
		return
	}
	n := len(l.pieces)
	l.pieces = add(l.pieces, 0, p)
	if len(l.pieces) > n {
		l.starts = append(l.starts, l.size)
	}
	l.size += int64(p.size)
}

// Put puts a draft into the record that was started.
func (l *Log) Put(d Draft) {
	for _, p := range l.drafts[d.first:d.end] {
		l.put(p)
	}
}

// Text puts text into the record that was started.
func (l *Log) Text(parts ...string) {
	l.bytes = l.room()
	start := len(l.bytes)
	for _, s := range parts {
		l.bytes = append(l.bytes, s...)
	}
	l.putMade(start)
}

// Member puts a string member into the record that was started.
func (l *Log) Member(name, value string) {
	b := l.room()
	start := len(b)
	l.bytes = appendMember(b, name, value)
	l.putMade(start)
}

// Number puts a member that is a number into the record that was started.
func (l *Log) Number(name string, value float64) {
	b := l.room()
	start := len(b)
	l.bytes = jsonvalue.AppendNumber(append(append(append(b, `,"`...), name...), `":`...), value)
	l.putMade(start)
}

// Usage puts the usage of a message into the record that was started.
func (l *Log) Usage(u Usage) {
	b := l.room()
	start := len(b)
	l.bytes = u.append(append(b, `,"usage":`...))
	l.putMade(start)
}

// End ends the record.
func (l *Log) End() { l.Text("}\n") }

// Place gives the place in the transcript that the record at an offset was made from.
func (l *Log) Place(offset int64) Place {
	i := sort.Search(len(l.at), func(i int) bool { return l.at[i] > offset })
	if i == 0 {
		return Place{}
	}
	return l.from[i-1]
}

// Size implements store.Source.
func (l *Log) Size() (int64, error) { return l.size, nil }

// Close implements store.Source.
func (l *Log) Close() error { return l.CloseFrom(0) }

// CloseFrom closes the files from one on.
func (l *Log) CloseFrom(first int) error {
	var errs []error
	for _, f := range l.files[first:] {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// ReadAt implements store.Source.
func (l *Log) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, errors.New("transcript: a negative offset")
	}
	i := sort.Search(len(l.starts), func(i int) bool { return l.starts[i] > off }) - 1
	for ; n < len(p) && i >= 0 && i < len(l.pieces); i++ {
		skip := off + int64(n) - l.starts[i]
		if skip >= int64(l.pieces[i].size) {
			break
		}
		k, err := l.read(p[n:], l.pieces[i], skip)
		if n += k; err != nil {
			return n, err
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// read reads a piece from skip on, as far as p reaches.
func (l *Log) read(p []byte, from piece, skip int64) (int, error) {
	p = p[:min(int64(len(p)), int64(from.size)-skip)]
	if from.file == made {
		return copy(p, l.madeAt(from.at)[skip:]), nil
	}
	n, err := l.files[from.file&^inside].ReadAt(p, from.at+skip)
	if n == len(p) {
		return n, nil
	}
	return n, Short(err)
}

// Short is the error of a reading that gave less than was there: at the end of a file, which
// has then become shorter, it has none of its own.
func Short(err error) error {
	if err == nil || err == io.EOF {
		return sessiontree.ErrChanged
	}
	return err
}

// Tree reads the log as a session of an agent.
func (l *Log) Tree(agent sessiontree.Agent, name string, opt *sessiontree.ReadOptions) (*sessiontree.Tree, error) {
	l.drafts = nil
	return sessiontree.Translated(l, name, sessiontree.Translation{
		Agent: agent, Damage: l.Notes.List(), Outlines: l.Outlines(),
		Place: func(offset int64) (int, int64) {
			p := l.Place(offset)
			return int(p.Line), p.Offset
		},
	}, opt)
}

// Notes collects damage and notes. What is said of many records is one note with their
// number.
type Notes struct {
	report jsonl.Report
	list   []jsonl.Damage
	same   map[string]int // index in list, by kind and detail
	others []string       // the paths of all files but the first
}

// mostSorts bounds the notes that are told apart: a hostile file may make up a kind of
// record on every line.
const mostSorts = 1000

// Damage adds one damage.
func (n *Notes) Damage(kind jsonl.Kind, at Place, length int64, detail string) {
	n.report.Add(jsonl.Damage{Kind: kind, File: n.file(at), Line: int(at.Line), Offset: at.Offset, Length: length, Detail: detail})
}

// Note counts a record of a kind of which detail says what it is.
func (n *Notes) Note(kind jsonl.Kind, at Place, length int64, detail string) {
	if len(n.list) >= mostSorts {
		detail = "of yet other sorts"
	}
	key := string(kind) + " " + detail
	if i, ok := n.same[key]; ok {
		n.list[i].Count++
		return
	}
	if n.same == nil {
		n.same = map[string]int{}
	}
	n.same[key] = len(n.list)
	n.list = append(n.list, jsonl.Damage{
		Kind: kind, File: n.file(at), Line: int(at.Line), Offset: at.Offset, Length: length, Count: 1, Detail: detail, Note: true,
	})
}

// file is the path of a file that is not the first.
func (n *Notes) file(at Place) string {
	if at.File == 0 {
		return ""
	}
	return n.others[at.File-1]
}

// List gives what was collected.
func (n *Notes) List() []jsonl.Damage { return append(n.report.List(), n.list...) }
