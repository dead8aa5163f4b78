package sessiontree

import (
	"fmt"
	"iter"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonl"
	"github.com/sessctl/sessctl/store"
)

// A Translation says what a log was made from: another program's transcript, told in
// the records that this package reads. Package formats makes such logs.
type Translation struct {
	Agent Agent
	// Damage is what the transcript's reader worked around, left out or did not
	// understand, at its places in the transcript.
	Damage []Damage
	// Place gives the line of the transcript, and the byte offset there, that the record
	// at an offset of the log was made from.
	Place func(offset int64) (line int, at int64)
	// Outlines are what is known of the log's records without reading them, in their
	// order. Where they are nil the log is read for it.
	Outlines iter.Seq[Outline]
}

// An Outline is a record of a translated log in which null may stand for long values. The
// fields that all entries begin with, and a message's role, are there.
type Outline struct {
	Offset, Size int64 // of the record in the log
	Line         int   // of the transcript
	Record       []byte
}

// Translated is From for a log that was made from another program's transcript: its
// agent is that program, and lines and damage are those of the transcript.
func Translated(src store.Source, name string, from Translation, opt *ReadOptions) (*Tree, error) {
	return fromSource(&Tree{path: name, src: src, from: &from}, opt)
}

// outlined adds the records of a log that need not be read for it.
func (x *index) outlined(t *Tree, visit Visit) error {
	r := &jsonl.Record{}
	for o := range t.from.Outlines {
		if !r.Outline(o.Line, o.Offset, o.Size, o.Record) {
			return fmt.Errorf("sessiontree: byte %d of what was made of %s is no record", o.Offset, t.path)
		}
		if err := x.add(t, r); err != nil {
			return err
		}
		if visit != nil {
			visit(o.Offset, r.Role, o.Record)
		}
	}
	return nil
}

// Place gives the line and the byte offset at which an entry of the tree stands in the
// file that the tree was read from. The line is 0 where it is not known (see Scanned).
// In a session of another program the offset is not the entry's own, which names a place
// of the translation.
func (t *Tree) Place(e entries.Entry) (line int, offset int64) {
	if t.from == nil {
		return e.Line, e.Offset
	}
	return t.from.Place(e.Offset)
}
