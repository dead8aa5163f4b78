package sessiontree_test

import (
	"bytes"
	"testing"

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
