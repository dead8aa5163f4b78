package castagnoli

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

func randomBytes(r *rand.Rand, n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return p
}

func check(t *testing.T, crc uint32, p []byte) {
	t.Helper()
	if got, want := Update(crc, p), crc32.Update(crc, table, p); got != want {
		t.Fatalf("Update(%#x, %d bytes) = %#x, want %#x", crc, len(p), got, want)
	}
}

func TestKnownValue(t *testing.T) {
	if got := Checksum([]byte("123456789")); got != 0xE3069283 {
		t.Fatalf("got %#x", got)
	}
}

func TestLengthsAndAlignments(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	data := randomBytes(r, 5<<20)
	for n := 0; n <= 2000; n++ {
		for _, start := range []int{0, 1, 7, 33, 64} {
			p := data[start : start+n]
			check(t, 0, p)
			check(t, r.Uint32(), p)
			if got, want := Checksum(p), crc32.Checksum(p, table); got != want {
				t.Fatalf("Checksum of %d bytes = %#x, want %#x", n, got, want)
			}
		}
	}
	for _, n := range []int{4095, 4096, 65537, 1 << 20, 1<<20 + 255, 4<<20 + 300} {
		for start := range 65 {
			check(t, r.Uint32(), data[start:start+n])
		}
	}
}

// A single set bit at every place finds a constant that is wrong for one lane.
func TestSingleBits(t *testing.T) {
	p := make([]byte, 1024+64+17)
	for i := range 8 * len(p) {
		p[i/8] = 1 << (i % 8)
		check(t, 0, p)
		check(t, ^uint32(0), p)
		p[i/8] = 0
	}
}

func TestSplitUpdates(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	data := randomBytes(r, 8192)
	want := crc32.Checksum(data, table)
	for range 2000 {
		crc, rest := uint32(0), data
		for len(rest) > 0 {
			n := 1 + r.IntN(min(len(rest), 3000))
			crc, rest = Update(crc, rest[:n]), rest[n:]
		}
		if crc != want {
			t.Fatalf("split update gives %#x, want %#x", crc, want)
		}
	}
}

func TestDoesNotAllocate(t *testing.T) {
	p := make([]byte, 6000)
	if n := testing.AllocsPerRun(100, func() { Checksum(p) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func FuzzUpdate(f *testing.F) {
	f.Add(uint32(0), []byte("123456789"), uint16(1), uint8(3))
	f.Add(^uint32(0), make([]byte, 300), uint16(9), uint8(40))
	f.Fuzz(func(t *testing.T, crc uint32, seed []byte, repeat uint16, start uint8) {
		// Repeating the seed reaches the folded lengths quickly.
		p := append([]byte(nil), seed...)
		for len(seed) > 0 && repeat > 0 && len(p) < 8192 {
			p = append(p, seed...)
			repeat--
		}
		p = p[min(int(start), len(p)):]
		check(t, crc, p)
		half := len(p) / 2
		if got, want := Update(Update(crc, p[:half]), p[half:]), Update(crc, p); got != want {
			t.Fatalf("in two halves %#x, at once %#x", got, want)
		}
	})
}

func BenchmarkChecksum(b *testing.B) {
	for _, n := range []int{300, 6000, 1 << 20} {
		p := randomBytes(rand.New(rand.NewPCG(5, 6)), n)
		run := func(name string, sum func([]byte) uint32) {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					sum(p)
				}
			})
		}
		run("this", Checksum)
		run("hash-crc32", func(p []byte) uint32 { return crc32.Checksum(p, table) })
	}
}

func TestLine(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 3000 {
		p := make([]byte, n)
		for i := range p {
			p[i] = byte('a' + r.IntN(20))
		}
		end := r.IntN(n + 1)
		if end < n {
			p[end] = '\n'
		}
		crc, done := Line(p)
		if want := Checksum(p[:done]); crc != want {
			t.Fatalf("line of %d bytes: checksum of the first %d is %#x, want %#x", end, done, crc, want)
		}
		if done > max(end-LineMargin, 0) || canFold && done < end-2*LineMargin-LineMargin {
			t.Fatalf("line of %d bytes in %d: took %d", end, n, done)
		}
	}
}
