package store_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/sessctl/sessctl/store"
)

const benchSize = 200 << 20

// BenchmarkArchive measures an archive of a log of 200 MB: writing it, reading it in
// the blocks of a whole scan, and reading entries at random, cold.
func BenchmarkArchive(b *testing.B) {
	log := generate(b, benchSize)
	archive := pack(b, log, nil)
	s := unpack(b, archive)
	b.Run("create", func(b *testing.B) {
		b.SetBytes(int64(len(log)))
		for b.Loop() {
			if err := store.CreateArchive(io.Discard, inMemory(log), nil); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(log))/float64(len(archive)), "ratio")
	})
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			unpack(b, archive)
		}
	})
	b.Run("scan", func(b *testing.B) {
		b.SetBytes(int64(len(log)))
		for b.Loop() {
			scanBlocks(b, s)
		}
	})
	b.Run("entry", func(b *testing.B) {
		lines := bytes.SplitAfter(log, []byte("\n"))
		starts := make([]int64, len(lines))
		for i := 1; i < len(lines); i++ {
			starts[i] = starts[i-1] + int64(len(lines[i-1]))
		}
		for b.Loop() {
			i := rand.IntN(len(lines) - 1)
			p := make([]byte, len(lines[i]))
			if _, err := s.ReadAt(p, starts[i]); err != nil || !bytes.Equal(p, lines[i]) {
				b.Fatalf("line %d: %v", i, err)
			}
		}
	})
}

// scanBlocks reads as a whole scan does: blocks of 2 MiB, each from where the last
// whole line of the one before ended.
func scanBlocks(b *testing.B, s store.Source) {
	p := make([]byte, 2<<20)
	for at := int64(0); ; {
		n, err := s.ReadAt(p, at)
		if err == io.EOF {
			return
		}
		if err != nil {
			b.Fatal(err)
		}
		at += int64(bytes.LastIndexByte(p[:n], '\n') + 1)
	}
}
