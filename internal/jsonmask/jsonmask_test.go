package jsonmask

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// naive says the rules as plainly as it can.
func naive(p []byte) (quotes, odd []uint64) {
	quotes, odd = make([]uint64, Words(len(p))), make([]uint64, Words(len(p)))
	run := 0 // of backslashes right before p[i]
	for i, b := range p {
		escaped := run%2 == 1
		bit := uint64(1) << (i % 64)
		if b == '"' && !escaped {
			quotes[i/64] |= bit
		}
		if b < 0x20 || escaped && !strings.ContainsRune(`"\/bfnrt`, rune(b)) {
			odd[i/64] |= bit
		}
		if b == '\\' {
			run++
		} else {
			run = 0
		}
	}
	return quotes, odd
}

type maker func(p []byte, quotes, odd []uint64)

func compare(t *testing.T, p []byte) {
	t.Helper()
	wantQuotes, wantOdd := naive(p)
	for name, f := range map[string]maker{"Strings": Strings, "portable": portable} {
		// One word more than needed, and all bits set: the words must be written
		// whole, and no others.
		n := Words(len(p))
		quotes, odd := make([]uint64, n+1), make([]uint64, n+1)
		for i := range n + 1 {
			quotes[i], odd[i] = ^uint64(0), ^uint64(0)
		}
		f(p, quotes, odd)
		for i := range n {
			if quotes[i] != wantQuotes[i] || odd[i] != wantOdd[i] {
				t.Fatalf("%s of %q, word %d: quotes %#x, want %#x; odd %#x, want %#x",
					name, p, i, quotes[i], wantQuotes[i], odd[i], wantOdd[i])
			}
		}
		if quotes[n] != ^uint64(0) || odd[n] != ^uint64(0) {
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

func TestShortMasksPanic(t *testing.T) {
	for _, short := range [][2]int{{1, 2}, {2, 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic with %d and %d words for 65 bytes", short[0], short[1])
				}
			}()
			// Room in the capacity is not room in the slice.
			room := make([]uint64, 8)
			Strings(make([]byte, 65), room[:short[0]], room[4:4+short[1]])
		}()
	}
	Strings(nil, nil, nil)
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
		quotes, odd := make([]uint64, Words(len(p))), make([]uint64, Words(len(p)))
		for name, f := range map[string]maker{"Strings": Strings, "portable": portable} {
			b.Run(name+"/"+size.name, func(b *testing.B) {
				b.SetBytes(int64(len(p)))
				for b.Loop() {
					f(p, quotes, odd)
				}
			})
		}
	}
}
