package sessgen

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"testing"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func TestTreeIsDeterministic(t *testing.T) {
	opt := &TreeOptions{Native: true, Duplicates: true, Damage: true, ForwardParents: true, MissingParents: true}
	if !bytes.Equal(Tree(seeded(1), 500, opt), Tree(seeded(1), 500, opt)) {
		t.Error("the same seed gave other bytes")
	}
}

func TestSoundTrees(t *testing.T) {
	for seed := range uint64(40) {
		opt := &TreeOptions{Native: seed%2 == 0, Depth: 0.5 + float64(seed%5)/10}
		log := Tree(seeded(seed), 300, opt)
		entries := readLog(t, log)
		checkTree(t, entries)
		if len(entries) != 300 {
			t.Errorf("seed %d: %d entries", seed, len(entries))
		}
		if opt.Native {
			checkSums(t, linesOf(t, log))
		}
	}
}

func TestTreeHasEveryKind(t *testing.T) {
	seen, roots, size := map[string]int{}, 0, 0
	for _, e := range readLog(t, Tree(seeded(1), 3000, nil)) {
		seen[e.Type+e.Message.Role]++
		size += len(e.line)
		if e.ParentID == nil {
			roots++
		}
	}
	for _, kind := range treeKinds {
		if kind.name != "message" && seen[kind.name] == 0 {
			t.Errorf("no %s", kind.name)
		}
	}
	for _, role := range []string{"user", "assistant", "toolResult", "bashExecution"} {
		if seen["message"+role] == 0 {
			t.Errorf("no %s", role)
		}
	}
	if mean := size / 3000; roots < 2 || seen["branch_summary"] == 0 || mean < 150 || mean > 400 {
		t.Errorf("%d roots, %d summaries, mean size %d", roots, seen["branch_summary"], mean)
	}
}

// TestOddTreesHaveNoCycle follows the parents as a reader does that gives an
// id to the last entry that has it.
func TestOddTreesHaveNoCycle(t *testing.T) {
	for seed := range uint64(200) {
		opt := &TreeOptions{Depth: 0.7, MissingParents: true, ForwardParents: true, Duplicates: true}
		entries := readLog(t, Tree(seeded(seed), 200, opt))
		byID := map[string]*record{}
		for i := range entries {
			byID[entries[i].ID] = &entries[i]
		}
		for id := range byID {
			steps := 0
			for e := byID[id]; e != nil; e = byID[e.parent()] {
				if steps++; steps > len(entries) {
					t.Fatalf("seed %d: a cycle above %s", seed, id)
				}
			}
		}
	}
}

func TestOddTreesAreOdd(t *testing.T) {
	opt := &TreeOptions{MissingParents: true, ForwardParents: true, Duplicates: true}
	entries := readLog(t, Tree(seeded(1), 2000, opt))
	first := map[string]*record{}
	identical, different, missing, forward := 0, 0, 0, 0
	for i := range entries {
		e := &entries[i]
		switch before := first[e.ID]; {
		case before == nil:
			first[e.ID] = e
		case bytes.Equal(before.line, e.line):
			identical++
		default:
			different++
		}
	}
	for _, e := range entries {
		switch parent := first[e.parent()]; {
		case e.ParentID != nil && parent == nil:
			missing++
		case parent != nil && parent.at > e.at:
			forward++
		}
	}
	if identical < 10 || different < 10 || missing < 10 || forward < 10 {
		t.Errorf("identical %d, different %d, missing %d, forward %d", identical, different, missing, forward)
	}
}

// TestDamageLiesBetweenRecords checks that each line is a whole record with an
// id, or no JSON at all, and that the sums of the records chain over damage.
func TestDamageLiesBetweenRecords(t *testing.T) {
	for seed := range uint64(20) {
		log := Tree(seeded(seed), 400, &TreeOptions{Native: true, Damage: true})
		before, records := []byte(nil), 0
		for _, line := range linesOf(t, log) {
			if json.Valid(line) {
				records++
				checkChain(t, line, before)
			}
			if len(line) > 0 {
				before = line
			}
		}
		if records != 401 {
			t.Errorf("seed %d: %d records", seed, records)
		}
	}
}

// checkChain compares a sum's second half with the line before it.
func checkChain(t *testing.T, line, before []byte) {
	t.Helper()
	want := "00000000"
	switch {
	case before != nil && json.Valid(before):
		want = string(before[len(before)-18:][:8])
	case before != nil:
		want = string(appendHex32(nil, slowCRC32C(before)))
	}
	if got := string(line[len(line)-10:][:8]); got != want {
		t.Fatalf("chained to %s, want %s: %s", got, want, line)
	}
}

func TestShapes(t *testing.T) {
	for name, shape := range map[string]struct {
		write   func(io.Writer) error
		entries int
		native  bool
	}{
		"chain":        {func(w io.Writer) error { return Chain(w, 3000, false) }, 3000, false},
		"native chain": {func(w io.Writer) error { return Chain(w, 3000, true) }, 3000, true},
		"fork":         {func(w io.Writer) error { return Fork(w, 3000) }, 3001, false},
		"long":         {func(w io.Writer) error { return LongLine(w, 1e6, false) }, 3, false},
		"native long":  {func(w io.Writer) error { return LongLine(w, 1e6, true) }, 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			if err := shape.write(&log); err != nil {
				t.Fatal(err)
			}
			entries := readLog(t, log.Bytes())
			checkTree(t, entries)
			if len(entries) != shape.entries {
				t.Errorf("%d entries", len(entries))
			}
			if shape.native {
				checkSums(t, linesOf(t, log.Bytes()))
			}
		})
	}
}

func TestForkAndChainHaveTheirShape(t *testing.T) {
	var fork, chain, long bytes.Buffer
	_, _, _ = Fork(&fork, 50), Chain(&chain, 50, true), LongLine(&long, 2e6, true)
	f, c, l := readLog(t, fork.Bytes()), readLog(t, chain.Bytes()), readLog(t, long.Bytes())
	for i := 1; i < 50; i++ {
		if f[i].parent() != f[0].ID || c[i].parent() != c[i-1].ID {
			t.Fatalf("entry %d is under %s and %s", i, f[i].parent(), c[i].parent())
		}
	}
	if n := len(l[1].line); n < 2e6 || n > 2e6+1000 {
		t.Errorf("the long line has %d bytes", n)
	}
}
