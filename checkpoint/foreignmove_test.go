package checkpoint_test

import (
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/sessiontree"
)

// TestCarriedAfterAForeignMove: where another program has moved the leaf before, what the
// next move carries along is what the files are, and not what that place says.
func TestCarriedAfterAForeignMove(t *testing.T) {
	b := newBench(t, nil)
	b.write("a", "1")
	start := b.prompt("one")
	b.edit("a", "22")
	_, err := b.s.MoveLeaf(t.Context(), start, sessiontree.ReasonCheckout)
	b.must(err)
	other := b.prompt("two")
	b.prompt("three")
	v, tree := b.look()
	if u, err := v.Unsettled(); err != nil || !u.Carried {
		t.Errorf("got %+v (%v), want a move that is not told of", u, err)
	}
	d, ok, err := checkpoint.Carried(tree, tree.Leaf(), other, b.st)
	if b.must(err); !ok {
		t.Fatal("nothing is carried along")
	}
	_, err = b.s.MoveLeaf(t.Context(), other, sessiontree.ReasonCheckout, d)
	b.must(err)
	v, _ = b.look()
	list, err := v.Drift(b.s.Leaf())
	b.must(err)
	if got := changesOf(list); got != "" {
		t.Errorf("the log does not know what the files are: %s", got)
	}
	if u, err := v.Unsettled(); err != nil || u.Carried {
		t.Errorf("got %+v (%v), want nothing left to be told", u, err)
	}
}
