package transcript

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/internal/syntax"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// deepBytes is how much of a transcript's beginning and end is looked at where what was
// read at once does not tell.
const deepBytes = 256 << 10

// A Sight is what one record shows of a session.
type Sight struct {
	ID, Cwd, Time string
	Prompt        string // what a person typed
	Said          bool   // a message of a user or a model
	Name          string
	Named         bool
}

// A Describer knows the records of a program.
type Describer struct {
	// See shows what the object at i of a line tells.
	See func(text *syntax.Text, line []byte, i int) (s Sight, end int)
	// Name is in every line that names the session: others need not be looked at for it.
	Name []byte
	// Known tells whether the session's id is known for good; nil stands for its first.
	Known func() bool
}

// Describe looks at the records at the beginning and the end of a transcript, until they have
// told what they can. Names may stand anywhere: NameKnown tells whether all was seen.
func Describe(src store.Source, info sessiontree.Info, by Describer) sessiontree.Info {
	d := description{Describer: by, info: &info}
	if err := d.read(src); err != nil {
		return sessiontree.Info{Path: info.Path, Err: err}
	}
	if info.Modified.IsZero() {
		info.Modified = info.Created
	}
	return info
}

// A description is one on its way.
type description struct {
	Describer
	info *sessiontree.Info
	text syntax.Text
	tail bool
}

func (d *description) read(src store.Source) error {
	ends, ok := src.(*sessiontree.Ends)
	if !ok {
		var err error
		if ends, err = sessiontree.ReadEnds(src); err != nil {
			return err
		}
	}
	d.info.Size, _ = ends.Size()
	head, tail := ends.Head(), ends.Tail()
	if d.head(head); !d.begun() && len(tail) > 0 {
		more, err := part(ends, 0, min(d.info.Size, deepBytes))
		if err != nil {
			return err
		}
		d.head(more)
	}
	if d.info.NameKnown = len(tail) == 0; d.info.NameKnown {
		d.last(head)
		return nil
	}
	if !d.last(tail) {
		more, err := part(ends, max(d.info.Size-deepBytes, 0), d.info.Size)
		if err != nil {
			return err
		}
		d.last(more)
	}
	d.tail = true
	d.names(tail)
	return nil
}

// part reads the bytes [from, to) of a transcript.
func part(src store.Source, from, to int64) ([]byte, error) {
	p := make([]byte, to-from)
	if n, err := src.ReadAt(p, from); n < len(p) {
		return nil, Short(err)
	}
	return p, nil
}

// head looks at lines of the beginning until they have told what the session is, and for its
// name at all.
func (d *description) head(lines []byte) {
	for len(lines) > 0 {
		line, rest, _ := bytes.Cut(lines, []byte("\n"))
		d.line(line, d.take)
		if lines = rest; d.begun() {
			d.names(lines)
			return
		}
	}
}

func (d *description) begun() bool {
	i := d.info
	return i.ID != "" && i.Cwd != "" && !i.Created.IsZero() && i.FirstPrompt != "" && !bare(i.FirstPrompt) && (d.Known == nil || d.Known())
}

// names looks at the lines that may name the session.
func (d *description) names(lines []byte) {
	for {
		at := bytes.Index(lines, d.Name)
		if at < 0 {
			return
		}
		start := bytes.LastIndexByte(lines[:at], '\n') + 1
		line, rest, _ := bytes.Cut(lines[start:], []byte("\n"))
		d.line(line, d.name)
		lines = rest
	}
}

// last looks for the last message, from the end on.
func (d *description) last(lines []byte) (found bool) {
	for len(lines) > 0 && !found {
		lines = bytes.TrimSuffix(lines, []byte("\n"))
		start := bytes.LastIndexByte(lines, '\n') + 1
		d.line(lines[start:], func(s *Sight) {
			if time := entries.ParseTime(s.Time); s.Said && !time.IsZero() {
				d.info.Modified, found = time, true
			}
		})
		lines = lines[:start]
	}
	return found
}

// line shows what a line tells. The lines at the edges are cut.
func (d *description) line(line []byte, take func(*Sight)) {
	d.text.Reset(line)
	for i := d.text.Space(0); i < len(line); {
		s, end := d.See(&d.text, line, i)
		if end < 0 {
			return
		}
		take(&s)
		i = d.text.Space(end)
	}
}

func (d *description) take(s *Sight) {
	info := d.info
	info.ID, info.Cwd = cmp.Or(info.ID, s.ID), cmp.Or(info.Cwd, s.Cwd)
	if info.Created.IsZero() {
		info.Created = entries.ParseTime(s.Time)
	}
	if s.Prompt != "" && (info.FirstPrompt == "" || bare(info.FirstPrompt)) {
		info.FirstPrompt = s.Prompt
	}
	d.name(s)
}

func (d *description) name(s *Sight) {
	if s.Named {
		d.info.Name, d.info.NameKnown = s.Name, d.info.NameKnown || d.tail
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
