package formats_test

import (
	"strings"
	"testing"

	"github.com/sessctl/sessctl/formats"
	"github.com/sessctl/sessctl/sessiontree"
)

// TestStrangeRecordsAreBounded: a file of nothing but records that nobody knows does not
// take a hundred times its size; those that are not kept are counted.
func TestStrangeRecordsAreBounded(t *testing.T) {
	const kept, all = 100_000, 150_000
	for name, head := range map[string]string{"claude": claudeLine + claudeSaid, "codex": codexMeta + codexSaid} {
		path := file(t, name+".jsonl", head+strings.Repeat("{\"type\":\"x\"}\n", all))
		for _, workers := range []int{1, 2} {
			tree, err := formats.Read(path, &sessiontree.ReadOptions{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			defer tree.Close()
			n, err := tree.Len()
			if err != nil {
				t.Fatal(err)
			}
			if n < kept || n > kept+2 || noted(tree, "left-out") != all-kept || noted(tree, "unknown-record") != kept {
				t.Errorf("%s: %d entries, %d left out, %d unknown", name, n, noted(tree, "left-out"), noted(tree, "unknown-record"))
			}
		}
	}
}

// TestBlocksAreBounded: so does a message of many blocks, whose rest is told of.
func TestBlocksAreBounded(t *testing.T) {
	blocks := strings.Repeat(`{"type":"text","text":"a"},`, 70_000) + `{"type":"text","text":"end"}`
	path := file(t, "s1.jsonl", claudeLine+strings.Replace(claudeSaid, `{"type":"text","text":"a"}`, blocks, 1))
	tree, err := formats.Read(path, &sessiontree.ReadOptions{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	e, err := tree.Entry("a1")
	if err != nil {
		t.Fatal(err)
	}
	m, err := e.Message()
	if err != nil {
		t.Fatal(err)
	}
	if got := len(m.Blocks()); got != 65_536 || noted(tree, "left-out") != 1 {
		t.Errorf("%d blocks, %d messages told of", got, noted(tree, "left-out"))
	}
}

// noted counts the records that are told of with a kind of damage.
func noted(tree *sessiontree.Tree, kind sessiontree.DamageKind) (n int) {
	for _, d := range tree.Damage() {
		if d.Kind == kind {
			n += d.Count
		}
	}
	return n
}
