package store

import (
	"encoding/binary"
	"math/bits"
)

const (
	prime1 uint64 = 0x9E3779B185EBCA87
	prime2 uint64 = 0xC2B2AE3D27D4EB4F
	prime3 uint64 = 0x165667B19E3779F9
	prime4 uint64 = 0x85EBCA77C2B2AE63
	prime5 uint64 = 0x27D4EB2F165667C5
)

// xxh64 is XXH64 with the seed 0, as the xxHash specification has it. The library's
// own frames need it nowhere, since they end in the same sum; those of other
// programs do.
func xxh64(b []byte) uint64 {
	n := uint64(len(b))
	h := prime5
	if len(b) >= 32 {
		h, b = xxhStripes(b)
	}
	h += n
	for ; len(b) >= 8; b = b[8:] {
		h ^= xxhRound(0, binary.LittleEndian.Uint64(b))
		h = bits.RotateLeft64(h, 27)*prime1 + prime4
	}
	if len(b) >= 4 {
		h ^= uint64(binary.LittleEndian.Uint32(b)) * prime1
		h = bits.RotateLeft64(h, 23)*prime2 + prime3
		b = b[4:]
	}
	for _, c := range b {
		h ^= uint64(c) * prime5
		h = bits.RotateLeft64(h, 11) * prime1
	}
	return avalanche(h)
}

// xxhStripes takes all whole stripes of 32 bytes, and gives the rest.
func xxhStripes(b []byte) (uint64, []byte) {
	p1 := prime1 // a variable, since the sums of constants would not fit
	acc := [4]uint64{p1 + prime2, prime2, 0, -p1}
	for ; len(b) >= 32; b = b[32:] {
		for i := range acc {
			acc[i] = xxhRound(acc[i], binary.LittleEndian.Uint64(b[8*i:]))
		}
	}
	h := bits.RotateLeft64(acc[0], 1) + bits.RotateLeft64(acc[1], 7) + bits.RotateLeft64(acc[2], 12) + bits.RotateLeft64(acc[3], 18)
	for _, a := range acc {
		h = (h^xxhRound(0, a))*prime1 + prime4
	}
	return h, b
}

func xxhRound(acc, input uint64) uint64 {
	return bits.RotateLeft64(acc+input*prime2, 31) * prime1
}

func avalanche(h uint64) uint64 {
	h = (h ^ h>>33) * prime2
	h = (h ^ h>>29) * prime3
	return h ^ h>>32
}
