package checkpoint_test

import (
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// TestForkElsewhere: a fork in another folder has the files of its source.
func TestForkElsewhere(t *testing.T) {
	b := newBench(t, nil)
	b.write("a", "0")
	b.prompt("one")
	b.edit("a", "1")
	b.prompt("two")
	b.edit("a", "2")
	source, err := b.s.Tree()
	b.must(err)
	fork, err := sessiontree.Fork(b.Context(), source, "", t.TempDir(), entries.Header{}, nil)
	b.must(err)
	st, err := checkpoint.OpenStore(checkpoint.StoreOf(fork.Path()))
	b.must(err)
	copied, missing, err := checkpoint.CopyContents(b.Context(), fork.Path(), b.st, st)
	if err != nil || copied != 3 || missing != 0 {
		t.Errorf("%d copied, %d missing: %v", copied, missing, err)
	}
	b.must(st.Close())
	b.stop()
	b.s = fork
	b.start()
	b.undo(checkpoint.Both, nil)
	b.has("a=1")
	b.undo(checkpoint.Both, nil)
	b.has("a=0")
}
