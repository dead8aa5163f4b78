package checkpoint_test

import (
	"os"
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
)

func TestCopyContents(t *testing.T) {
	b := newBench(t, nil)
	b.write("a", "1")
	start := b.prompt("one")
	b.edit("a", "22")
	v, tree := b.look()
	to, err := checkpoint.OpenStore(t.TempDir())
	b.must(err)
	defer to.Close()
	if missing, err := checkpoint.CopyContents(t.Context(), tree, b.st, to); err != nil || missing != 0 {
		t.Fatalf("%d are missing (%v)", missing, err)
	}
	list, err := v.Compare(start, tree.Leaf())
	b.must(err)
	for sum, want := range map[string]string{list[0].Before.SHA256: "1", list[0].After.SHA256: "22"} {
		if data, err := to.Get(sum); err != nil || string(data) != want {
			t.Errorf("got %q (%v), want %q", data, err, want)
		}
	}
	lost, err := checkpoint.OpenStore(t.TempDir())
	b.must(err)
	defer lost.Close()
	b.must(os.RemoveAll(b.st.Dir() + "/sha256"))
	if missing, err := checkpoint.CopyContents(t.Context(), tree, b.st, lost); err != nil || missing != 2 {
		t.Errorf("%d are missing (%v), want 2", missing, err)
	}
}
