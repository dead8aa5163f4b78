package sessgen

import (
	"math/rand/v2"
	"strings"
)

const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// An entryID is an id without an allocation; its zero value stands for null.
type entryID struct {
	text [26]byte
	n    uint8
}

func (id entryID) String() string { return string(id.text[:id.n]) }

func appendID(b []byte, id entryID) []byte {
	if id.n == 0 {
		return append(b, "null"...)
	}
	b = append(b, '"')
	b = append(b, id.text[:id.n]...)
	return append(b, '"')
}

// A stamp is what every entry begins with, besides its type.
type stamp struct {
	id, parent entryID
	ms         int64
}

// An idSource hands out ids that are unique in one log, with the time at which
// the entry was made. It needs no memory of the ids that it gave.
type idSource struct {
	r     *rand.Rand
	ulids bool
	ms    int64
	step  int64 // the longest pause between two ids
	count uint32
	key   uint32
}

func newIDSource(r *rand.Rand, f Format, step int64) idSource {
	return idSource{r: r, ulids: f == Native, ms: startTime, step: step, key: r.Uint32()}
}

// next moves the clock by a millisecond at least, which makes ULIDs increase.
func (s *idSource) next() (entryID, int64) {
	s.ms += 1 + s.r.Int64N(s.step)
	if s.ulids {
		return s.ulid(), s.ms
	}
	s.count++
	return shortID(scramble(s.count + s.key)), s.ms
}

func (s *idSource) ulid() entryID {
	id := entryID{n: 26}
	putBase32(id.text[:10], uint64(s.ms))
	putBase32(id.text[10:18], s.r.Uint64())
	putBase32(id.text[18:], s.r.Uint64())
	return id
}

// putBase32 fills dst with the lowest bits of v.
func putBase32(dst []byte, v uint64) {
	for i := len(dst) - 1; i >= 0; i-- {
		dst[i] = crockford[v&31]
		v >>= 5
	}
}

func shortID(v uint32) entryID {
	id := entryID{n: 8}
	appendHex32(id.text[:0], v)
	return id
}

// scramble is a bijection (the finalizer of MurmurHash3), so that counting up
// gives ids that look random and never repeat.
func scramble(v uint32) uint32 {
	v ^= v >> 16
	v *= 0x85ebca6b
	v ^= v >> 13
	v *= 0xc2b2ae35
	return v ^ v>>16
}

// appendUUID writes a version 7 UUID, pi's session id.
func appendUUID(b []byte, r *rand.Rand, ms int64) []byte {
	b = append(b, '"')
	b = appendHex32(b, uint32(ms>>16))
	b = append(b, '-')
	b = appendHex32(b, uint32(ms)<<16|0x7000|r.Uint32()&0xfff)
	b = append(b[:len(b)-4], '-', b[len(b)-4], b[len(b)-3], b[len(b)-2], b[len(b)-1], '-')
	tail := r.Uint64()
	b = appendHex32(b, 0x80000000|uint32(tail>>32)&0x3fffffff)
	b = append(b[:len(b)-4], '-', b[len(b)-4], b[len(b)-3], b[len(b)-2], b[len(b)-1])
	b = appendHex32(b, uint32(tail))
	return append(b, '"')
}

// milliseconds reads the time back from a ULID.
func (id entryID) milliseconds() int64 {
	ms := int64(0)
	for _, c := range id.text[:10] {
		ms = ms<<5 | int64(strings.IndexByte(crockford, c))
	}
	return ms
}
