// Package transcript makes a session log, in pi's records, of what another program
// wrote, without writing it anywhere: a [Log] is a list of pieces, some made here, the
// others places in the transcript's own file, which are read when they are asked for.
// So its memory is that of the entries and not of what they say.
//
// A translator reads the objects of a transcript with [Scan], drafts what becomes of
// each in a [Writer], decides on the tree when it has seen all of them, and puts the
// drafts into the log in their order.
//
// It knows pi's records and no other program's.
package transcript
