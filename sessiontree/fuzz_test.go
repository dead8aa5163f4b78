package sessiontree_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/sessgen"
	"github.com/sessctl/sessctl/sessiontree"
)

// FuzzTree: whatever the bytes are, a tree is a tree, and its answers fit together.
func FuzzTree(f *testing.F) {
	for _, log := range [][]byte{
		lines(piHeader, note("a", "", "1"), note("b", "a", "1")), lines(piHeader, note("a", "b", "1"), note("b", "a", "1"), note("a", "b", "2")),
		lines(note("a", "", "1"), piHeader), lines(`{"type":"session","id":"s"}`, `{"type":"message"}`), []byte(piHeader), []byte("\n"), {}, []byte(note("a", "", "")),
	} {
		f.Add(log)
	}
	for seed := range uint64(32) {
		r := rand.New(rand.NewPCG(seed, 11))
		f.Add(sessgen.Tree(r, 12, &sessgen.TreeOptions{
			Native: seed%2 == 0, Duplicates: seed%3 == 0, ForwardParents: seed%5 < 2, MissingParents: seed%7 < 3, Damage: seed%4 == 0,
		}))
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		x, err := sessiontree.From(source{bytes.NewReader(log)}, "log", nil)
		if err != nil {
			if !errors.Is(err, sessiontree.ErrNoSession) {
				t.Errorf("got %v, want ErrNoSession or none", err)
			}
			return
		}
		leaf := x.Leaf()
		tail := walked(t, x.Path(leaf))
		checkBranches(t, x, leaf)
		if got := walked(t, x.Path(leaf)); !slices.Equal(got, tail) {
			t.Errorf("path: got %v from the tail, want %v", tail, got)
		}
		checkWalks(t, x)
		for _, d := range x.Damage() {
			if d.Offset < 0 || d.Length < 0 || d.Offset+d.Length > int64(len(log)) || d.Line < 1 || d.Count < 1 {
				t.Errorf("got damage %+v, want it inside %d bytes", d, len(log))
			}
		}
		must(t, of(x.Labels()))
		must(t, of(x.Name()))
	})
}

func checkBranches(t *testing.T, x *sessiontree.Tree, leaf entries.ID) {
	t.Helper()
	active := 0
	for _, b := range must(t, of(x.Branches())) {
		path := walked(t, x.Path(b.Tip))
		if len(path) != b.Entries || b.Messages > b.Entries || b.Turns > b.Messages {
			t.Errorf("branch %+v: got a path of %d entries", b, len(path))
		}
		if b.Active {
			active++
		}
		if b.Active && b.Tip != leaf || (b.ForkPoint == "") != (b.Origin == sessiontree.OriginRoot) {
			t.Errorf("got branch %+v, with the leaf %s", b, leaf)
		}
		if b.ForkPoint != "" {
			if id, ok, err := x.CommonAncestor(b.Tip, b.ForkPoint); id != b.ForkPoint || !ok || err != nil {
				t.Errorf("branch %+v: the fork point is not on its path", b)
			}
		}
	}
	if want := min(len(leaf), 1); active != want {
		t.Errorf("got %d active branches, want %d", active, want)
	}
}

// checkWalks: children and parents are each other's reverse, and every entry is
// reached from a root, but for those that lost their id.
func checkWalks(t *testing.T, x *sessiontree.Tree) {
	t.Helper()
	reached := map[entries.ID]bool{}
	below := must(t, of(x.Roots()))
	for len(below) > 0 {
		id := below[0]
		if reached[id] {
			t.Fatalf("%s has two parents, or is in a cycle", id)
		}
		reached[id] = true
		children := must(t, of(x.Children(id)))
		for _, child := range children {
			if e := must(t, of(x.Entry(child))); e.Parent != id {
				t.Errorf("%s is a child of %s, and its parent is %s", child, id, e.Parent)
			}
		}
		below = append(below[1:], children...)
	}
	n := 0
	for e, err := range x.Entries() {
		if n++; err != nil || !reached[e.ID] {
			t.Errorf("entry %d, %s: reached %v (%v)", n, e.ID, reached[e.ID], err)
		}
	}
	if got := must(t, of(x.Len())); got != n {
		t.Errorf("got Len %d, want %d", got, n)
	}
}
