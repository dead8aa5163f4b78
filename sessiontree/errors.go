package sessiontree

import (
	"errors"

	"github.com/sessctl/sessctl/internal/jsonl"
)

// The errors that callers may want to tell apart, with errors.Is.
var (
	// ErrNotFound: no such entry, or no such session.
	ErrNotFound = errors.New("not found")
	// ErrChanged: the log is not any more what it was when it was read.
	ErrChanged = jsonl.ErrCut
	// ErrNoSession: the file holds neither a header nor an entry.
	ErrNoSession = errors.New("not a session")
	// ErrConflict: a cursor does not fit the log, which was cut or replaced.
	ErrConflict = errors.New("the log is not the one that was read before")
)

// Damage is one thing about a log that a reader worked around, or notes: see
// docs/format.md, "Damage".
type Damage = jsonl.Damage

// A DamageKind names a sort of damage.
type DamageKind = jsonl.Kind
