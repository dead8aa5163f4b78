package peers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sessctl/sessctl/internal/sessgen"
)

const (
	trees       = 500
	largestTree = 5000
)

// A generated tree is decided by its seed.
type generated struct {
	seed    uint64
	entries int
	opt     sessgen.TreeOptions
}

// treeOf decides about a tree: every second is native, three in eight are sound,
// and the others have the oddities, one by one and all together. Sizes are spread
// evenly over their logarithm; the last tree is the largest.
func treeOf(seed uint64) generated {
	r := rand.New(rand.NewPCG(seed, 1))
	size := math.Exp(r.Float64() * math.Log(largestTree))
	if seed == trees {
		size = largestTree
	}
	kind := seed / 2 % 8
	return generated{seed, max(int(size+0.5), 1), sessgen.TreeOptions{
		Native: seed%2 == 0, Depth: 0.5 + 0.49*r.Float64(),
		MissingParents: kind == 0 || kind == 4, ForwardParents: kind == 1 || kind == 4,
		Duplicates: kind == 2 || kind == 4, Damage: kind == 3 || kind == 4,
	}}
}

func (g generated) String() string {
	return fmt.Sprintf("tree %d (%d entries, %+v)", g.seed, g.entries, g.opt)
}

// sound tells that no parent is to be looked for in the whole log.
func (g generated) sound() bool {
	return !g.opt.MissingParents && !g.opt.ForwardParents && !g.opt.Duplicates
}

func (g generated) log() []byte {
	return sessgen.Tree(rand.New(rand.NewPCG(g.seed, 0)), g.entries, &g.opt)
}

// request writes the log and asks for some of its paths.
func (g generated) request(t *testing.T, dir string) request {
	t.Helper()
	file := writeTree(t, dir, g.seed, g.log())
	return request{File: file, Leaves: chooseEntries(t, file, g.seed)}
}

// writeTree writes the log of a generated tree, and gives its path.
func writeTree(t *testing.T, dir string, seed uint64, log []byte) (file string) {
	t.Helper()
	file = filepath.Join(dir, fmt.Sprintf("%d.jsonl", seed))
	if err := os.WriteFile(file, log, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// chooseEntries chooses up to five tips of a log, and three entries anywhere.
func chooseEntries(t *testing.T, file string, seed uint64) []string {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 2))
	all, inner := entriesOf(t, file)
	if len(all) == 0 {
		return nil
	}
	var tips, chosen []string
	for _, id := range all {
		if !inner[id] {
			tips = append(tips, id)
		}
	}
	r.Shuffle(len(tips), func(i, j int) { tips[i], tips[j] = tips[j], tips[i] })
	chosen = append(chosen, tips[:min(5, len(tips))]...)
	for range 3 {
		chosen = append(chosen, all[r.IntN(len(all))])
	}
	slices.Sort(chosen)
	return slices.Compact(chosen)
}

// entriesOf lists the ids in a log, and tells which of them are parents.
func entriesOf(t *testing.T, file string) (all []string, inner map[string]bool) {
	t.Helper()
	inner = map[string]bool{}
	for _, line := range logLines(t, file) {
		if id, ok := entryID(line); ok {
			all = append(all, id)
			inner[parentID(line)] = true
		}
	}
	return all, inner
}

// TestTreesLikePi compares generated trees: from the leaf, from other tips, and
// from entries in between; read as a whole, and from the end up.
func TestTreesLikePi(t *testing.T) {
	dir := t.TempDir()
	installed(t)
	var all []generated
	var requests []request
	for seed := uint64(1); seed <= trees; seed++ {
		g := treeOf(seed)
		all, requests = append(all, g), append(requests, g.request(t, dir))
	}
	for i, want := range pi.ask(t, requests) {
		compareTree(t, all[i], requests[i], want)
	}
}

func compareTree(t *testing.T, g generated, r request, want answer) {
	t.Helper()
	got := wholeScan(t, r)
	for _, d := range differences(got, want) {
		t.Errorf("%s: %s", g, d)
	}
	fromEnd, scanned := tailFirst(t, r, got.IDs)
	for _, d := range pathDifferences(fromEnd, want) {
		t.Errorf("%s, from the end: %s", g, d)
	}
	if scanned && g.sound() {
		t.Errorf("%s: got a whole scan for a path, want none", g)
	}
}
