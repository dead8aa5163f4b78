package jsonmask

import (
	"encoding/binary"
	"math/bits"
)

// mayFollow tells the bytes that may be escaped, u left out.
var mayFollow = func() (t [256]bool) {
	for _, b := range []byte(`"\/bfnrt`) {
		t[b] = true
	}
	return t
}()

// portable does the work of Strings without vector instructions.
func portable(p []byte, stops []uint64) {
	carry := uint64(0)
	w := 0
	for ; len(p) >= BlockSize; p = p[BlockSize:] {
		stops[w], carry = portableBlock((*[BlockSize]byte)(p), carry)
		w++
	}
	if len(p) > 0 {
		var block [BlockSize]byte
		copy(block[:], p)
		stops[w], _ = portableBlock(&block, carry)
		stops[w] &= 1<<len(p) - 1 // the padding is not part of the text
	}
}

// portableBlock makes the mask of one block. carry is 1 if the block before ended
// in an escaping backslash, next if this one does.
func portableBlock(block *[BlockSize]byte, carry uint64) (stops, next uint64) {
	var quotes, slashes, odd uint64
	for i := 0; i < BlockSize; i += 8 {
		v := binary.LittleEndian.Uint64(block[i:])
		// Most of a string is plain text, which leaves no mark.
		if plain(v) {
			continue
		}
		quotes |= zeroBytes(v^ones*'"') << i
		slashes |= zeroBytes(v^ones*'\\') << i
		odd |= zeroBytes(v&(ones*0xe0)) << i // below 0x20
	}
	if slashes|carry == 0 {
		return quotes | odd, 0
	}
	escaped, next := escapedBytes(slashes, carry)
	for e := escaped; e != 0; e &= e - 1 {
		if bit := e & -e; !mayFollow[block[bits.TrailingZeros64(e)]] {
			odd |= bit
		}
	}
	return quotes&^escaped | odd, next
}

// escapedBytes returns the bits of the bytes that a backslash escapes. A
// backslash that is not escaped itself escapes what follows it, so going from
// one to the next takes a step for each escape.
func escapedBytes(slashes, carry uint64) (escaped, next uint64) {
	escaped = carry
	rest := slashes &^ carry
	for rest != 0 {
		bit := rest & -rest
		escaped |= bit << 1
		next = bit >> 63
		rest &^= bit | bit<<1
	}
	return escaped, next
}

const (
	ones = 0x0101010101010101
	tops = ones * 0x80
)

// plain reports whether none of the eight bytes of v is a quote, a backslash or
// below 0x20. Subtracting n from a byte borrows into its top bit exactly if the
// byte, having no top bit itself, is below n. A borrow can spoil only the bytes
// above one that has been found already.
func plain(v uint64) bool {
	quote := v ^ ones*'"'
	slash := v ^ ones*'\\'
	found := (v-ones*0x20)&^v | (quote-ones)&^quote | (slash-ones)&^slash
	return found&tops == 0
}

// zeroBytes returns a bit for each of the eight bytes of v that is zero.
func zeroBytes(v uint64) uint64 {
	const low7 = ^uint64(tops)
	// The addition reaches the top bit of a byte from any of the seven below it,
	// and never the next byte.
	zero := ^((v&low7 + low7) | v | low7)
	// The product has the bit of byte k at place 56+k, and no two terms meet.
	return (zero >> 7) * 0x0102040810204080 >> 56
}
