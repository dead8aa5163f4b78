package sessiontree_test

import (
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// TestBranchIndex: of random logs each entry is told to be on the branch that a walk
// along all branches finds.
func TestBranchIndex(t *testing.T) {
	several := 0
	for seed := range uint64(200) {
		_, x := writeLog(t, randomLog(seed))
		branches := must(t, of(x.Branches()))
		index := must(t, of(x.BranchIndex()))
		tips, active := tipsOf(t, x, branches)
		if len(branches) > 1 {
			several++
		}
		for e := range x.Entries() {
			if held, err := x.Entry(e.ID); err != nil || held.Offset != e.Offset {
				continue // a later entry took its id
			}
			want, at := entries.ID(""), e
			for want = tips[at.ID]; want == "" && at.Parent != ""; want = tips[at.ID] {
				at = must(t, of(x.Entry(at.Parent)))
			}
			tip, on := index.Of(e.ID)
			if tip != want || on != active[e.ID] {
				t.Fatalf("seed %d: %s is told to be on %q (active: %v), want %q (%v)", seed, e.ID, tip, on, want, active[e.ID])
			}
		}
		if tip, on := index.Of("nothere"); tip != "" || on {
			t.Errorf("an entry that is not there is on %q", tip)
		}
	}
	if several < 50 {
		t.Errorf("only %d logs have several branches", several)
	}
}

// tipsOf walks the branches, the active one first, and gives every entry the first one
// through it.
func tipsOf(t *testing.T, x *sessiontree.Tree, branches []sessiontree.Branch) (tips map[entries.ID]entries.ID, active map[entries.ID]bool) {
	t.Helper()
	tips, active = map[entries.ID]entries.ID{}, map[entries.ID]bool{}
	for _, wanted := range []bool{true, false} {
		for _, b := range branches {
			if b.Active != wanted {
				continue
			}
			for e, err := range x.Path(b.Tip) {
				if err != nil {
					t.Fatal(err)
				}
				if tips[e.ID] == "" {
					tips[e.ID] = b.Tip
				}
				active[e.ID] = active[e.ID] || b.Active
			}
		}
	}
	return tips, active
}

func TestBranchIndexOfNothing(t *testing.T) {
	index := must(t, of(tree(t, lines(piHeader), nil).BranchIndex()))
	if tip, active := index.Of("x"); tip != "" || active {
		t.Errorf("got %q, %v in a log without entries", tip, active)
	}
}
