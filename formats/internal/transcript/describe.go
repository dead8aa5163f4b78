package transcript

import (
	"strings"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonl"
	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/internal/syntax"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// endBytes is how much of a transcript's beginning and end is looked at to describe it.
const endBytes = 256 << 10

// A Sight is what one record shows of a session.
type Sight struct {
	ID, Cwd, Time string
	Prompt        string // what a person typed
	Said          bool   // a message of a user or a model
	Name          string
	Named         bool
}

// Describe goes over the records at the beginning and the end of a transcript; see shows
// what the object at i of a line tells. Names may stand anywhere: NameKnown tells whether
// all was seen.
func Describe(src store.Source, info sessiontree.Info, see func(text *syntax.Text, line []byte, i int) (s Sight, end int)) sessiontree.Info {
	size, err := src.Size()
	if err != nil {
		return sessiontree.Info{Path: info.Path, Err: err}
	}
	d := description{info: &info, see: see}
	info.Size = size
	if err = d.read(section{src, 0}, size); err == nil && size > endBytes {
		d.tail = true
		start := max(endBytes, size-endBytes)
		err = d.read(section{src, start}, size-start)
	}
	if err != nil {
		return sessiontree.Info{Path: info.Path, Err: err}
	}
	info.NameKnown = info.NameKnown || size <= endBytes
	if info.Modified.IsZero() {
		info.Modified = info.Created
	}
	return info
}

// A description is one on its way.
type description struct {
	info *sessiontree.Info
	see  func(text *syntax.Text, line []byte, i int) (Sight, int)
	text syntax.Text
	tail bool
}

// A section is a file from some byte on.
type section struct {
	src store.Source
	at  int64
}

func (s section) ReadAt(p []byte, off int64) (int, error) { return s.src.ReadAt(p, s.at+off) }

// read reads lines, about as many as are looked at.
func (d *description) read(src section, size int64) error {
	for l, err := range jsonl.Lines(src, min(size, endBytes)) {
		if err != nil {
			return err
		}
		d.line(l.Bytes)
	}
	return nil
}

func (d *description) line(line []byte) {
	d.text.Reset(line)
	for i := d.text.Space(0); i < len(line); {
		s, end := d.see(&d.text, line, i)
		if end < 0 {
			return // the lines at the edges are cut
		}
		d.take(&s)
		i = d.text.Space(end)
	}
}

func (d *description) take(s *Sight) {
	info, time := d.info, entries.ParseTime(s.Time)
	if info.ID == "" && !d.tail {
		info.ID = s.ID
	}
	if info.Cwd == "" {
		info.Cwd = s.Cwd
	}
	if info.Created.IsZero() {
		info.Created = time
	}
	if s.Prompt != "" && !d.tail && (info.FirstPrompt == "" || bare(info.FirstPrompt)) {
		info.FirstPrompt = s.Prompt
	}
	if s.Said && !time.IsZero() {
		info.Modified = time
	}
	if s.Named {
		info.Name, info.NameKnown = s.Name, info.NameKnown || d.tail
	}
}

// bare tells a command without arguments, such as /clear: it does not tell what a session
// is about, where anything else was typed.
func bare(prompt string) bool {
	return strings.HasPrefix(prompt, "/") && !strings.ContainsAny(prompt, " \n")
}

// String decodes a span of a line that is a string; any other is "".
func (s Span) String(line []byte) string {
	if s.None() {
		return ""
	}
	return jsonvalue.String(s.Of(line))
}
