package entries_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/sessctl/sessctl/entries"
)

func TestShort(t *testing.T) {
	for id, want := range map[entries.ID]string{
		"":                                     "",
		"12345678":                             "12345678",
		"x12345678":                            "12345678",
		"01KB0000000000000000000SES":           "00000SES",
		"v1-2370398":                           "v1-2370398",
		"session-7-uuids":                      "7-uuids",
		"äöüß€":                                "üß€", // 11 bytes, cut at a character
		"€€€€":                                 "€€",
		"\x80\x80\x80\x80\x80\x80\x80\x80\x80": "", // no character starts in it
	} {
		if got := id.Short(); got != want {
			t.Errorf("%q: got %q, want %q", id, got, want)
		}
	}
}

// newIDs makes n ids and fails where one is not greater than the one before.
func newIDs(t *testing.T, ids *entries.IDs, last entries.ID, n int) entries.ID {
	t.Helper()
	for range n {
		id, err := ids.New()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ulid.ParseStrict(string(id)); err != nil || id <= last {
			t.Fatalf("got %s behind %s (%v)", id, last, err)
		}
		last = id
	}
	return last
}

func TestIDsIncreaseWhenTheClockStepsBack(t *testing.T) {
	now := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	ids := &entries.IDs{Now: func() time.Time { return now }}
	last := newIDs(t, ids, "", 3)
	for _, step := range []time.Duration{0, time.Millisecond, -time.Hour, time.Minute, -24 * 365 * time.Hour, 2 * time.Hour} {
		now = now.Add(step)
		last = newIDs(t, ids, last, 3)
	}
}

// TestIDsWhenAMillisecondIsUsedUp: the random part is the greatest there is, so the
// next id of this millisecond has to borrow from the next one.
func TestIDsWhenAMillisecondIsUsedUp(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	ids := &entries.IDs{
		Now:    func() time.Time { return now },
		Random: io.MultiReader(bytes.NewReader(bytes.Repeat([]byte{0xff}, 10)), rand.Reader),
	}
	first := newIDs(t, ids, "", 1)
	second := newIDs(t, ids, first, 1)
	a, b := ulid.MustParse(string(first)), ulid.MustParse(string(second))
	if b.Time() != a.Time()+1 {
		t.Errorf("got the second id at %d ms, want %d", b.Time(), a.Time()+1)
	}
	now = now.Add(-time.Second)
	newIDs(t, ids, second, 3)
}

func TestIDsAfter(t *testing.T) {
	for _, test := range []struct {
		id    entries.ID
		above bool // later ids are greater
	}{
		{"01KB0000000000000000000SES", true},
		{"6ZZZZZZZZZZZZZZZZZZZZZZZZZ", true}, // a foreign clock, centuries ahead
		{"7ZZZZZZZZZZZZZZZZZZZZZZZZZ", false},
		{"7ZZZZZZZZY0000000000000000", true},
		{"short", false},
		{"", false},
		{"zzzzzzzzzzzzzzzzzzzzzzzzzz", false},
	} {
		ids := &entries.IDs{}
		ids.After(test.id)
		last := entries.ID("")
		if test.above {
			last = test.id
		}
		newIDs(t, ids, last, 2) // whatever stands in a log, ids can be made
	}
}

func TestIDsWithoutRandomness(t *testing.T) {
	broken := errors.New("broken")
	ids := &entries.IDs{Random: iotest.ErrReader(broken)}
	if id, err := ids.New(); id != "" || !errors.Is(err, broken) {
		t.Errorf("got %q, %v, want the reader's error", id, err)
	}
}

func TestIDsConcurrently(t *testing.T) {
	var ids entries.IDs
	const workers, each = 8, 500
	made := make(chan entries.ID, workers*each)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			last := entries.ID("")
			for range each {
				id, err := ids.New()
				if err != nil || id <= last {
					t.Errorf("got %s behind %s (%v)", id, last, err)
				}
				made <- id
				last = id
			}
		})
	}
	wg.Wait()
	close(made)
	seen := map[entries.ID]bool{}
	for id := range made {
		seen[id] = true
	}
	if len(seen) != workers*each {
		t.Errorf("got %d different ids, want %d", len(seen), workers*each)
	}
}
