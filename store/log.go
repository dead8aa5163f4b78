package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// A Log is a log that can be written: a Source with an end that moves. Bytes that
// were appended never change. Its methods may be called concurrently.
//
// Appending is by comparison: the caller says where it believes the log ends, and
// of several that believe the same one wins. So a log has one order that everybody
// agrees on, whoever writes.
type Log interface {
	Source
	// Append adds lines in one write, if the log still ends at after, and returns the
	// new end. When it returns, other readers see the lines; Sync makes them durable.
	// Until then a reader may see their beginning: in a file they become readable page
	// by page. So a last line without its newline may be one on its way.
	//
	// If the log holds exactly these lines at after already, Append returns their
	// end and writes nothing: a caller that did not learn the outcome may simply
	// call again. (Entries have ids, so equal lines are the same append.)
	//
	// If the log has moved on otherwise, Append writes nothing and returns a
	// *ConflictError. After any other error the log is as it was before, or the
	// error wraps ErrUnknown.
	//
	// lines end in a newline. ctx is looked at before anything is written, never
	// in between.
	Append(ctx context.Context, after int64, lines []byte) (end int64, err error)
	// Sync returns when everything that was appended before is as durable as the
	// store ever makes it. Concurrent calls share the work. Where it fails, what
	// was appended since the last success may be lost although it can be read; the
	// error wraps ErrUnknown, and so do those of all later calls.
	Sync(ctx context.Context) error
}

// A Store is a place with many logs.
type Store interface {
	// Open opens the log of a session, ErrNotFound where it has none.
	Open(ctx context.Context, session string) (Log, error)
	// Create makes the log of a session with its first lines, which are durable on
	// return; ErrExists where the session has one.
	Create(ctx context.Context, session string, lines []byte) (Log, error)
	// List gives the sessions that have a log, in any order; an error comes last.
	List(ctx context.Context) iter.Seq2[string, error]
}

// The errors of logs, for errors.Is.
var (
	ErrNotFound = errors.New("not found")
	ErrExists   = errors.New("it exists already")
	// ErrConflict: somebody else wrote to the log or replaced it.
	ErrConflict = errors.New("the log is not as it was left")
	// ErrUnknown: what was appended may be there or not; the log has to be opened
	// anew, and read, to know.
	ErrUnknown = errors.New("the outcome of a write is unknown")
	ErrClosed  = errors.New("store: the log is closed")
	ErrLocked  = errors.New("another writer has the log")
)

// A ConflictError reports that a log does not end where the writer thought.
type ConflictError struct {
	After, End int64  // where the writer thought it ended, and where it does
	Reason     string // in words
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%v: %s (it should end at byte %d, and ends at %d)", ErrConflict, e.Reason, e.After, e.End)
}

// Is makes errors.Is(err, ErrConflict) hold.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }
