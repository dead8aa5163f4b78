package jsonmask

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// naive says the rules as plainly as it can.
func naive(p []byte) []uint64 {
	stops := make([]uint64, Words(len(p)))
	run := 0 // of backslashes right before p[i]
	for i, b := range p {
		escaped := run%2 == 1
		bit := uint64(1) << (i % 64)
		if b == '"' && !escaped {
			stops[i/64] |= bit
		}
		if b < 0x20 || escaped && !strings.ContainsRune(`"\/bfnrt`, rune(b)) {
			stops[i/64] |= bit
		}
		if b == '\\' {
			run++
		} else {
			run = 0
		}
	}
	return stops
}

type maker func(p []byte, stops []uint64)

func compare(t *testing.T, p []byte) {
	t.Helper()
	want := naive(p)
	for name, f := range map[string]maker{"Strings": Strings, "portable": portable} {
		// One word more than needed, and all bits set: the words must be written
		// whole, and no others.
		n := Words(len(p))
		stops := make([]uint64, n+1)
		for i := range stops {
			stops[i] = ^uint64(0)
		}
		f(p, stops)
		for i := range n {
			if stops[i] != want[i] {
				t.Fatalf("%s of %q, word %d: %#x, want %#x", name, p, i, stops[i], want[i])
			}
		}
		if stops[n] != ^uint64(0) {
			t.Fatalf("%s of %d bytes writes past its words", name, len(p))
		}
	}
}

func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, alphabet := range []string{
		`\`, `\"`, `\\\\a`, "\\\"/bfnrtu", "ab\\\"\x00\x1f\x20\x21\x7f\x80\xa2\xdc\xff", "",
	} {
		for n := 0; n <= 300; n++ {
			for range 20 {
				p := make([]byte, n)
				for i := range p {
					p[i] = byte(r.Uint32())
					if alphabet != "" && r.IntN(16) != 0 {
						p[i] = alphabet[r.IntN(len(alphabet))]
					}
				}
				compare(t, p)
			}
		}
	}
}

// Every byte plain and escaped, at every place of a block.
func TestEveryByte(t *testing.T) {
	for b := range 256 {
		for at := range 67 {
			for _, before := range []string{"", `\`, `\\`} {
				p := bytes.Repeat([]byte{'x'}, at)
				p = append(append(p, before...), byte(b))
				compare(t, p)
				compare(t, append(p, `y"`...))
			}
		}
	}
}

func TestRunsAcrossBlocks(t *testing.T) {
	for start := 0; start <= 130; start++ {
		for run := 0; run <= 200; run++ {
			p := bytes.Repeat([]byte{' '}, start)
			p = append(p, bytes.Repeat([]byte{'\\'}, run)...)
			compare(t, p)
			compare(t, append(p, `"u`...))
		}
	}
}

func TestShortMaskPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic with one word for 65 bytes")
		}
	}()
	Strings(nil, nil)
	// Room in the capacity is not room in the slice.
	Strings(make([]byte, 65), make([]uint64, 8)[:1])
}

func FuzzStrings(f *testing.F) {
	f.Add([]byte(`{"a":"b\n\u00e9\\","c":"\x"}`), uint8(3))
	f.Add(bytes.Repeat([]byte{'\\'}, 129), uint8(60))
	f.Fuzz(func(t *testing.T, p []byte, shift uint8) {
		compare(t, p)
		compare(t, append(bytes.Repeat([]byte{'x'}, int(shift)), p...))
	})
}

func BenchmarkStrings(b *testing.B) {
	// An escape about every 40 bytes.
	const text = `{"role":"tool","text":"The test fails because the cache is never cleared.\nIt keeps the rows of the last run, so a row \"that is gone\" is still found by the second run.\n\tClear it when the run ends, then try it again."},`
	for _, size := range []struct {
		name string
		n    int
	}{{"200B", 200}, {"6KB", 6000}, {"256KB", 256 << 10}} {
		p := []byte(strings.Repeat(text, size.n/len(text)+1)[:size.n])
		stops := make([]uint64, Words(len(p)))
		for name, f := range map[string]maker{"Strings": Strings, "portable": portable} {
			b.Run(name+"/"+size.name, func(b *testing.B) {
				b.SetBytes(int64(len(p)))
				for b.Loop() {
					f(p, stops)
				}
			})
		}
	}
}
