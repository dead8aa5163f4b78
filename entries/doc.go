// Package entries defines the records of a session log: the header, the types of
// entries, their ids, and the sums at the end of native lines. It does no I/O.
//
// A session log is JSON, one object a line. The first is the header
// ([ParseHeader]); each other is an entry with type, id, parentId and timestamp.
// An [Entry] is this envelope; its body stays in the log until one of the typed
// views (Message, Compaction, Label, ...) or [Entry.Raw] asks for it.
//
// Caveats: an entry from a log that another program wrote may have any content, so
// every view can fail, and every string of it is untrusted. Where an object has a
// key twice the last one counts, as in JavaScript; keys are matched exactly. Views
// decode, and decoding is lossy (lone surrogates, big numbers): what is copied or
// forwarded must come from Raw.
//
// What is promised: docs/format.md describes the format; logs of every released
// version of it will be readable by later versions of this package.
package entries
