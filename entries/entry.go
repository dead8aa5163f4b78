package entries

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// ErrBody is wrapped by the errors of the typed views: the entry is of another
// type, or its body cannot be read as that type.
var ErrBody = errors.New("entries: body is not as its type demands")

// An Entry is the envelope of one record of a log. Its body is read when asked
// for. Entries are values; a zero Entry has no body.
type Entry struct {
	ID     ID
	Parent ID // "" where the entry is a root
	Type   Type
	Time   time.Time // zero where the record has none that can be read
	Role   string    // of messages: user, assistant, toolResult, ...; else ""

	Line   int   // in the file, from 1; 0 where it is not known (see sessiontree.Tree.Scanned)
	Offset int64 // of the record's first byte in the log
	Size   int64 // of the record in bytes, without the newline

	// More is the mark of a native batch that goes on in the next entry.
	More bool

	body Body
}

// A Body gives the bytes of a record. It must be safe for concurrent use.
type Body interface {
	// ReadRecord returns size bytes from offset, in a slice that the caller owns.
	ReadRecord(offset, size int64) ([]byte, error)
}

// WithBody returns e with the place that its body is read from.
func (e Entry) WithBody(b Body) Entry {
	e.body = b
	return e
}

// Raw gives the record exactly as it is in the log, without the newline.
func (e Entry) Raw() ([]byte, error) {
	if e.body == nil {
		return nil, fmt.Errorf("%w: entry %s has none", ErrBody, e.ID.Short())
	}
	raw, err := e.body.ReadRecord(e.Offset, e.Size)
	if err != nil {
		return nil, fmt.Errorf("entry %s at byte %d: %w", e.ID.Short(), e.Offset, err)
	}
	return raw, nil
}

// AppendRaw appends to buf what Raw gives: for who looks at many entries, and keeps nothing
// of one when he looks at the next.
func (e Entry) AppendRaw(buf []byte) ([]byte, error) {
	body, ok := e.body.(interface {
		AppendRecord(buf []byte, offset, size int64) ([]byte, error)
	})
	if !ok {
		raw, err := e.Raw()
		return append(buf, raw...), err
	}
	buf, err := body.AppendRecord(buf, e.Offset, e.Size)
	if err != nil {
		return nil, fmt.Errorf("entry %s at byte %d: %w", e.ID.Short(), e.Offset, err)
	}
	return buf, nil
}

// Fields reads the body and visits its members in order. Where a key is doubled
// the last one counts.
func (e Entry) Fields(visit func(name string, value []byte)) error {
	raw, err := e.Raw()
	if err != nil {
		return err
	}
	if err := jsonvalue.Members(raw, visit); err != nil {
		return fmt.Errorf("%w: entry %s: %w", ErrBody, e.ID.Short(), err)
	}
	return nil
}

// view is Fields for an entry that must be of the type want.
func (e Entry) view(want Type, visit func(name string, value []byte)) error {
	if e.Type != want {
		return fmt.Errorf("%w: entry %s is %q, not %q", ErrBody, e.ID.Short(), e.Type, want)
	}
	return e.Fields(visit)
}

// clone copies a value out of the record, so that holding it does not hold a
// record of possibly many megabytes.
func clone(value []byte) []byte { return bytes.Clone(value) }
