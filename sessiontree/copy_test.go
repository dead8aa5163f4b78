package sessiontree_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// torn damages a log at some places, whatever stands there.
func torn(seed uint64, log []byte) []byte {
	r := rand.New(rand.NewPCG(seed, 12))
	for range r.IntN(5) {
		at := r.IntN(len(log))
		size := r.IntN(min(400, len(log)-at))
		switch r.IntN(4) {
		case 0:
			log = slices.Delete(log, at, at+size)
		case 1:
			log = slices.Insert(log, at, make([]byte, size)...)
		case 2:
			log = slices.Insert(log, r.IntN(len(log)), bytes.Clone(log[at:at+size])...)
		case 3:
			log[at] ^= 1
		}
	}
	return log
}

// TestSalvage: of whatever log, the copy is sound, and has the same entries.
func TestSalvage(t *testing.T) {
	for seed := range uint64(300) {
		log := randomLog(seed)
		if seed%3 == 0 {
			log = batches(seed)
		}
		x, err := sessiontree.From(source{bytes.NewReader(torn(seed, log))}, "log", nil)
		if err != nil || x.Header().Version == 1 {
			continue // no session any more, or one whose ids are places
		}
		checkSalvage(t, fmt.Sprintf("seed %d", seed), x)
	}
	h, prev := seal(nativeHeader, 0, false)
	y, prev := seal(note("y", "", "1"), prev, false)
	z, prev := seal(note("z", "", "1"), prev, true)
	again, _ := seal(note("y", "", "1"), prev, false)
	checkSalvage(t, "batch whose end is a repetition", tree(t, lines(h, y, z, again), nil))
}

const nativeHeader = `{"type":"session","version":3,"id":"s","format":"sessiontree/1"}`

// seal gives a record its sum, and what the next one repeats of it.
func seal(record string, prev uint32, more bool) (string, uint32) {
	line, sum := entries.AppendSum([]byte(strings.TrimSuffix(record, "}")), 0, more, prev)
	return string(line), sum.Self
}

// batches is a native log whose entries are written in batches of random sizes, with
// lines of other programs among them.
func batches(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 14))
	line, prev := seal(nativeHeader, 0, false)
	log, parent := lines(line), ""
	for i := range 20 {
		id := fmt.Sprintf("e%d", i-r.IntN(2)*r.IntN(2)) // now and then one twice
		if r.IntN(8) == 0 {
			line = note(id, parent, "foreign")
			prev = entries.Checksum([]byte(line))
		} else {
			line, prev = seal(note(id, parent, "1"), prev, r.IntN(2) == 0)
		}
		log, parent = append(log, lines(line)...), id
	}
	return log
}

func checkSalvage(t *testing.T, what string, x *sessiontree.Tree) {
	t.Helper()
	var out bytes.Buffer
	salvaged, err := sessiontree.Salvage(x, &out)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	y := tree(t, out.Bytes(), &sessiontree.ReadOptions{Verify: true})
	got, want := entriesOf(t, y), entriesOf(t, x)
	if salvaged.Marked {
		got = got[:len(got)-1]
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: got entries\n%s\nwant\n%s\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"), &out)
	}
	for _, d := range y.Damage() {
		switch d.Kind {
		case "missing-parent", "cycle", "forward-parent", "leaf-moved": // a copy does not mend them
		case "invalid-utf8": // nor this: bytes are kept
		default:
			t.Errorf("%s: the copy has %+v", what, d)
		}
	}
}

// entriesOf shows the entries that have their id, without their sums.
func entriesOf(t *testing.T, x *sessiontree.Tree) (list []string) {
	t.Helper()
	for e, err := range x.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		if own := must(t, of(x.Entry(e.ID))); own.Offset != e.Offset {
			continue
		}
		raw := must(t, of(e.Raw()))
		if x.Native() {
			raw, _ = entries.Unsummed(raw)
		}
		list = append(list, fmt.Sprintf("%s under %s: %s", e.ID, e.Parent, raw))
	}
	return list
}

// TestFollowGrowingFile: a log that grows by any bytes gives each entry once.
func TestFollowGrowingFile(t *testing.T) {
	for seed := range uint64(40) {
		log := randomLog(seed &^ 0b11000) // neither damage nor double ids
		path := filepath.Join(t.TempDir(), "log.jsonl")
		var want, got []string
		for e := range tree(t, log, nil).Entries() {
			want = append(want, string(e.ID))
		}
		r := rand.New(rand.NewPCG(seed, 13))
		at := sessiontree.Cursor{}
		for size := 0; size < len(log); {
			size = min(size+r.IntN(900), len(log))
			if err := os.WriteFile(path, log[:size], 0o600); err != nil {
				t.Fatal(err)
			}
			for e, err := range sessiontree.Follow(context.Background(), path, &at, &sessiontree.FollowOptions{Stop: true}) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(e.ID))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("seed %d: got %v, want %v", seed, got, want)
		}
		if end := must(t, of(read(t, path).Cursor())); end != at {
			t.Errorf("seed %d: got cursor %+v, want %+v", seed, at, end)
		}
	}
}

// TestFollowProvesItself: a cursor into a log that is another one now is refused.
func TestFollowProvesItself(t *testing.T) {
	log := lines(piHeader, note("a", "", strings.Repeat("x", 300_000)), note("b", "a", "2"), note("c", "b", "3"))
	for _, until := range []string{"header", "a", "b", "c"} {
		path, x := writeLog(t, log)
		at := sessiontree.Cursor{Offset: int64(len(piHeader) + 1), Sum: entries.Checksum([]byte(piHeader))}
		if until != "header" {
			e := must(t, of(x.Entry(entries.ID(until))))
			at = sessiontree.Cursor{Offset: e.Offset + e.Size + 1, Sum: entries.Checksum(must(t, of(e.Raw())))}
		}
		for _, change := range []func(){
			func() { log[at.Offset-3] ^= 1 },
			func() { log = append([]byte("\n\n"), log...) },
			func() { log = log[:at.Offset-1] },
		} {
			before := bytes.Clone(log)
			if err := followed(path, at); err != nil {
				t.Errorf("behind %s: got %v, want none", until, err)
			}
			change()
			if err := errors.Join(os.WriteFile(path, log, 0o600), followed(path, at)); !errors.Is(err, sessiontree.ErrConflict) {
				t.Errorf("behind %s, changed: got %v, want ErrConflict", until, err)
			}
			log = before
			if err := os.WriteFile(path, log, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func followed(path string, at sessiontree.Cursor) (last error) {
	for _, err := range sessiontree.Follow(context.Background(), path, &at, &sessiontree.FollowOptions{Stop: true}) {
		last = err
	}
	return last
}
