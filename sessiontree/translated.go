package sessiontree

import (
	"github.com/sessctl/sessctl/entries"
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
}

// Translated is From for a log that was made from another program's transcript: its
// agent is that program, and lines and damage are those of the transcript.
func Translated(src store.Source, name string, from Translation, opt *ReadOptions) (*Tree, error) {
	return fromSource(&Tree{path: name, src: src, from: &from}, opt)
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
