package entries

import (
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"
)

// An ID names an entry within its session. Ids written by this module are ULIDs;
// when reading, any string that is not empty is one.
type ID string

// Short gives the last eight bytes of an id, which is how output names entries:
// the first characters of a ULID are a time, and alike within a session. The ids of
// version-1 logs are given whole, and no short form looks like a flag.
func (id ID) Short() string {
	const n = 8
	if len(id) <= n || strings.HasPrefix(string(id), "v1-") {
		return string(id)
	}
	i := len(id) - n
	for i < len(id) && (!utf8.RuneStart(id[i]) || id[i] == '-') {
		i++
	}
	return string(id[i:])
}

// IDs makes ULIDs that are unique and increase in the order in which they are
// made, also when the clock steps back, which the ULID library alone does not
// promise. The zero value is ready to use; it is safe for concurrent use.
type IDs struct {
	// Now and Random may be replaced, by tests above all: nil stands for time.Now
	// and crypto/rand.
	Now    func() time.Time
	Random io.Reader

	mu      sync.Mutex
	last    uint64 // milliseconds of the id made last
	entropy *ulid.MonotonicEntropy
}

// New makes an id. It fails only where randomness cannot be read.
func (s *IDs) New() (ID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entropy == nil {
		s.entropy = ulid.Monotonic(s.random(), 0)
	}
	ms := max(ulid.Timestamp(s.now()), s.last)
	id, err := ulid.New(ms, s.entropy)
	if err == ulid.ErrMonotonicOverflow {
		// The random part of this millisecond is used up: borrow from the next.
		ms++
		id, err = ulid.New(ms, s.entropy)
	}
	if err != nil {
		return "", fmt.Errorf("entries: cannot make an id: %w", err)
	}
	s.last = ms
	return ID(id.String()), nil
}

// After makes later ids greater than id, where id is a ULID of any time but the
// last that ULIDs have.
func (s *IDs) After(id ID) {
	parsed, err := ulid.ParseStrict(string(id))
	if err != nil || parsed.Time() >= ulid.MaxTime() {
		return // no ULID, or one that none is greater than
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(s.last, parsed.Time()+1)
}

func (s *IDs) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

func (s *IDs) random() io.Reader {
	if s.Random != nil {
		return s.Random
	}
	return rand.Reader
}
