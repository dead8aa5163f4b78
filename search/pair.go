package search

import (
	"encoding/binary"
	"math/bits"
)

// A pair is two bytes at a distance: where a text has two rare ones, hardly any other
// place has both. Eight positions are looked at together, which takes the same time
// whatever the data; bytes.Index depends on how common the first byte is, and stops at
// each backslash of a log, of which there are millions, to look for the rare \u.
type pair struct {
	first, second         uint64 // each byte eight times
	anyFirst, anySecond   uint64 // bits that are set before comparing, for letters in any case
	gap                   int
	firstByte, secondByte byte
}

const (
	eachByte  = 0x0101010101010101
	highBits  = 0x8080808080808080
	caseBit   = 0x20
	pairBytes = 8 // that are looked at together
)

// newPair makes a pair of a and of b, which stands gap bytes behind it; with fold letters
// are taken in either case.
func newPair(a, b byte, gap int, fold bool) *pair {
	p := &pair{gap: gap, firstByte: a, secondByte: b}
	if fold && isASCIILetter(a) {
		p.anyFirst, p.firstByte = caseBit*eachByte, a|caseBit
	}
	if fold && isASCIILetter(b) {
		p.anySecond, p.secondByte = caseBit*eachByte, b|caseBit
	}
	p.first, p.second = uint64(p.firstByte)*eachByte, uint64(p.secondByte)*eachByte
	return p
}

func isASCIILetter(b byte) bool {
	b |= caseBit
	return 'a' <= b && b <= 'z'
}

// index finds the pair from position i on, by the place of its first byte; -1 where it is
// not in data.
func (p *pair) index(data []byte, i int) int { return p.indexSlowly(data, p.skip(data, i)) }

// indexSlowly is index eight positions at a time.
func (p *pair) indexSlowly(data []byte, i int) int {
	for end := len(data) - p.gap - pairBytes; i <= end; i += pairBytes {
		a := (binary.LittleEndian.Uint64(data[i:]) | p.anyFirst) ^ p.first
		b := (binary.LittleEndian.Uint64(data[i+p.gap:]) | p.anySecond) ^ p.second
		// The lowest bit is that of a zero byte; higher ones may be wrong.
		if found := zeros(a | b); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i+p.gap < len(data); i++ {
		if data[i]|byte(p.anyFirst) == p.firstByte && data[i+p.gap]|byte(p.anySecond) == p.secondByte {
			return i
		}
	}
	return -1
}

// zeros marks bytes that are zero: of the places that are looked at, those that have both
// bytes of a pair.
func zeros(both uint64) uint64 { return (both - eachByte) &^ both & highBits }

// skip passes what has the pair nowhere, a block at a time where the processor can.
func (p *pair) skip(data []byte, i int) int {
	n := (len(data) - p.gap - i) / blockBytes * blockBytes
	if !hasBlocks || n <= 0 {
		return i
	}
	return i + skipBlocks(&data[i], n, p.gap, p.first, p.second, p.anyFirst, p.anySecond)
}
