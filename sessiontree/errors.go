package sessiontree

import (
	"errors"

	"github.com/sessctl/sessctl/internal/jsonl"
	"github.com/sessctl/sessctl/store"
)

// The errors that callers may want to tell apart, with errors.Is.
var (
	// ErrNotFound: no such entry, or no such session.
	ErrNotFound = store.ErrNotFound
	// ErrChanged: the log is not any more what it was when it was read.
	ErrChanged = jsonl.ErrCut
	// ErrNoSession: the file holds neither a header nor an entry.
	ErrNoSession = errors.New("not a session")
	// ErrConflict: another program wrote to the log, cut or replaced it, or its leaf
	// is not the one that was expected.
	ErrConflict = store.ErrConflict
)

// Damage is one thing about a log that a reader worked around, or notes: see
// docs/format.md, "Damage".
type Damage = jsonl.Damage

// A DamageKind names a sort of damage.
type DamageKind = jsonl.Kind
