package search

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestPair: wherever it stands, the first place is found, as by looking at each.
func TestPair(t *testing.T) {
	for seed := range uint64(1000) {
		dice := rand.New(rand.NewPCG(seed, 3))
		data := make([]byte, dice.IntN(300))
		for i := range data {
			data[i] = "aAbB\\u\x00\xff\x80\x5b"[dice.IntN(10)]
			if seed%3 == 0 && dice.IntN(40) > 0 {
				data[i] = '.' // long stretches without
			}
		}
		a, b, gap, fold := data, byte('b'), 1+dice.IntN(12), dice.IntN(2) == 0
		first := "aA\\\xff"[dice.IntN(4)]
		p := newPair(first, b, gap, fold)
		same := func(x, y byte) bool {
			return x == y || fold && isASCIILetter(x) && bytes.EqualFold([]byte{x}, []byte{y})
		}
		for from := range len(data) + 1 {
			want := -1
			for i := from; i+gap < len(a) && want < 0; i++ {
				if same(data[i], first) && same(data[i+gap], b) {
					want = i
				}
			}
			if got, slowly := p.index(data, from), p.indexSlowly(data, from); got != want || slowly != want {
				t.Fatalf("seed %d: %q and %q %d apart in %q from %d on (any case: %v): got %d and %d, want %d", seed, first, b, gap, data, from, fold, got, slowly, want)
			}
		}
	}
}

func BenchmarkPair(b *testing.B) {
	data := bytes.Repeat([]byte(`some \"text\" with\n escapes, `), 1<<14)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if escape.index(data, 0) >= 0 {
			b.Fatal("found")
		}
	}
}
