package castagnoli

import (
	"hash/crc32"
	"math/bits"
	"testing"
)

// powerModP returns x^n modulo the Castagnoli polynomial, bit-reflected.
func powerModP(n int) uint32 {
	r := uint32(1) << 31 // x^0, reflected
	for range n {
		carry := r & 1
		r >>= 1
		if carry != 0 {
			r ^= crc32.Castagnoli // already reflected
		}
	}
	return r
}

func aheadConstants(distance int) [2]uint64 {
	return [2]uint64{
		uint64(powerModP(distance+32)) << 1,
		uint64(powerModP(distance-32)) << 1,
	}
}

func TestConstants(t *testing.T) {
	t.Logf("this processor can fold: %v", canFold)
	// x^32 mod P is P without its top bit: a check on powerModP itself.
	if got := powerModP(32); got != crc32.Castagnoli || bits.Reverse32(got) != 0x1EDC6F41 {
		t.Fatalf("x^32 mod P = %#x", got)
	}
	for _, c := range []struct {
		distance int
		got      [2]uint64
	}{{2048, ahead2048}, {512, ahead512}} {
		if want := aheadConstants(c.distance); c.got != want {
			t.Errorf("distance %d: got %#x, want %#x", c.distance, c.got, want)
		}
	}
}
