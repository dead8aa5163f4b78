package sessiontree_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sessctl/sessctl/internal/sessgen"
	"github.com/sessctl/sessctl/sessiontree"
)

// TestAppendRaw: a record that is read into a buffer is the one that Raw gives.
func TestAppendRaw(t *testing.T) {
	tree, err := sessiontree.Read("../testdata/story.jsonl", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	var buf []byte
	for e, err := range tree.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		want, err := e.Raw()
		if err != nil {
			t.Fatal(err)
		}
		if buf, err = e.AppendRaw(append(buf[:0], "before"...)); err != nil || !bytes.Equal(buf, append([]byte("before"), want...)) {
			t.Fatalf("entry %s: %q (%v), want %q behind what was there", e.ID, buf, err, want)
		}
	}
	for _, size := range []int64{-1, 1 << 60} {
		if _, err := tree.AppendRecord(buf, 0, size); err == nil {
			t.Errorf("a record of %d bytes was read", size)
		}
	}
}

// TestScanRecords: what a scan shows are the records of the entries, in their order, also
// where lines are damaged, and only the first scan shows them.
func TestScanRecords(t *testing.T) {
	large := sessgen.Tree(rand.New(rand.NewPCG(1, 34)), 30_000, &sessgen.TreeOptions{}) // several blocks
	logs := map[string][]byte{"large": large}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 33))
		log := sessgen.Tree(r, 60, &sessgen.TreeOptions{Native: seed%2 == 0})
		for range seed / 4 { // some are whole
			i := r.IntN(len(log))
			log = slices.Concat(log[:i], [][]byte{[]byte("\n"), []byte("\x00"), []byte("{"), log[i:min(i+300, len(log))]}[r.IntN(4)], log[i:])
		}
		logs[fmt.Sprint("seed ", seed)] = log
	}
	for name, log := range logs {
		for _, workers := range []int{1, 3} {
			tree, err := sessiontree.From(source{bytes.NewReader(log)}, name, &sessiontree.ReadOptions{Workers: workers})
			if err != nil {
				continue // no session any more
			}
			scanRecords(t, name, tree)
		}
	}
}

func scanRecords(t *testing.T, name string, tree *sessiontree.Tree) {
	t.Helper()
	shown, last := map[int64]string{}, int64(-1)
	err := tree.ScanRecords(func(offset int64, role, record []byte) {
		if offset <= last {
			t.Errorf("%s: byte %d comes after byte %d", name, offset, last)
		}
		last, shown[offset] = offset, string(role)+" "+string(record)
	})
	if err != nil || !tree.Scanned() {
		t.Fatalf("%s: scanned %v, %v", name, tree.Scanned(), err)
	}
	for e, err := range tree.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		if raw, err := e.Raw(); err != nil || shown[e.Offset] != e.Role+" "+string(raw) {
			t.Errorf("%s, byte %d: shown %q, want %q %q (%v)", name, e.Offset, shown[e.Offset], e.Role, raw, err)
		}
	}
	if err := tree.ScanRecords(func(int64, []byte, []byte) { t.Errorf("%s: shown again", name) }); err != nil {
		t.Error(err)
	}
}
