package checkpoint_test

import (
	"os"
	"slices"
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// TestOtherSessionsInsideAreLeftOut: another session keeps its log and its store in a folder
// of the workspace. An undo here must not take that log back, nor remove its contents.
func TestOtherSessionsInsideAreLeftOut(t *testing.T) {
	b := newBench(t, scans)
	b.mkdir("sub", 0o755)
	b.mkdir("sub/sessions", 0o755)
	s, err := sessiontree.Create(b.path("sub/sessions"), entries.Header{Cwd: b.path("sub")}, nil)
	b.must(err)
	defer s.Close()
	var f *checkpoint.Tracker
	b.turn("go", func() {
		b.edit("mine", "1")
		f, err = checkpoint.Follow(t.Context(), s, nil)
		b.must(err)
		_, err = s.Append(t.Context(), entries.UserMessage("hello"))
		b.must(err)
		b.write("sub/f", "0")
		b.must(f.BeforeEdit(t.Context(), "c", "f"))
	})
	defer f.Close()
	before, err := os.ReadFile(s.Path())
	b.must(err)
	p := b.planUndo()
	if !slices.ContainsFunc(p.NotCovered, func(u checkpoint.Uncovered) bool { return u.Path == "sub/sessions/blobs/" }) {
		t.Errorf("the store is not told of: %v", p.NotCovered)
	}
	b.commit(p, &checkpoint.CommitOptions{Force: true})
	if after, err := os.ReadFile(s.Path()); err != nil || string(after) != string(before) {
		t.Errorf("the other session's log was written: %v", err)
	}
	if !f.Store().Has(sum("0")) {
		t.Error("the other session's contents were removed")
	}
	if _, err := s.Append(t.Context(), entries.UserMessage("go on")); err != nil {
		t.Error(err)
	}
}
