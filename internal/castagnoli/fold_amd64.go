package castagnoli

import "golang.org/x/sys/cpu"

// canFold reports whether this processor has what fold needs. The crc32
// instruction fold ends with is older than all of AVX-512, but a hypervisor may
// hide either.
var canFold = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL &&
	cpu.X86.HasAVX512VPCLMULQDQ && cpu.X86.HasSSE42

// Multiplying the two halves of a 16-byte lane by these constants, and adding
// the products, moves the lane the named number of bits ahead in the message
// without changing the remainder modulo the Castagnoli polynomial P. For a
// distance of D bits the first half needs x^(D+32) mod P and the second
// x^(D-32) mod P, both bit-reflected; the shift by one makes up for the product
// of two reflected numbers falling one bit short. The test recomputes them.
var (
	ahead2048 = [2]uint64{0xDCB1_7AA4, 0xB9E0_2B86} // four registers
	ahead512  = [2]uint64{0x740E_EF02, 0x9E4A_DDF8} // one register
)

// fold returns the raw (not complemented) CRC state after the n bytes at p,
// starting from the raw state. n must be a multiple of foldUnit and at least 256.
//
//go:noescape
func fold(state uint32, p *byte, n int) uint32

// foldLine returns the raw CRC state after the first done bytes of the n at p, from
// the state that a checksum starts with. They are followed by at least 256 bytes
// without a newline; done is a multiple of 256, and 0 where the line is short.
//
//go:noescape
func foldLine(p *byte, n int) (state uint32, done int)
