#include "textflag.h"

// AHEAD sets acc to (acc moved ahead by the distance of the constants in k) XOR
// next. tmp is overwritten.
#define AHEAD(k, next, acc, tmp) \
	VPCLMULQDQ $0x11, k, acc, tmp \
	VPCLMULQDQ $0x00, k, acc, acc \
	VPTERNLOGD $0x96, next, tmp, acc

// func fold(state uint32, p *byte, n int) uint32
TEXT ·fold(SB), NOSPLIT, $64-28
	MOVL state+0(FP), AX
	MOVQ p+8(FP), SI
	MOVQ n+16(FP), CX

	// A CRC state is equivalent to itself XORed into the first four bytes of the
	// message, with the state then zero.
	VMOVD     AX, X8
	VMOVDQU64 (SI), Z0
	VMOVDQU64 64(SI), Z1
	VMOVDQU64 128(SI), Z2
	VMOVDQU64 192(SI), Z3
	VPXORQ    Z8, Z0, Z0

	VBROADCASTI32X4 ·ahead2048(SB), Z9
	JMP  check

	PCALIGN $32
loop:
	// Four independent accumulators hide the latency of the multiplication.
	AHEAD(Z9, 0(SI), Z0, Z4)
	AHEAD(Z9, 64(SI), Z1, Z5)
	AHEAD(Z9, 128(SI), Z2, Z6)
	AHEAD(Z9, 192(SI), Z3, Z7)

check:
	ADDQ $256, SI
	SUBQ $256, CX
	CMPQ CX, $256
	JGE  loop

	// One accumulator from the four, then what is left in single registers.
	VBROADCASTI32X4 ·ahead512(SB), Z9
	AHEAD(Z9, Z1, Z0, Z4)
	AHEAD(Z9, Z2, Z0, Z4)
	AHEAD(Z9, Z3, Z0, Z4)
	JMP  checkLast

last:
	AHEAD(Z9, 0(SI), Z0, Z4)
	ADDQ $64, SI

checkLast:
	SUBQ $64, CX
	JGE  last

	// What is left is a 64-byte message with the remainder of the whole. Reducing
	// it here rather than through hash/crc32 keeps it off the heap.
	VMOVDQU64 Z0, residue-64(SP)
	VZEROUPPER
	XORL   AX, AX
	CRC32Q residue-64(SP), AX
	CRC32Q residue-56(SP), AX
	CRC32Q residue-48(SP), AX
	CRC32Q residue-40(SP), AX
	CRC32Q residue-32(SP), AX
	CRC32Q residue-24(SP), AX
	CRC32Q residue-16(SP), AX
	CRC32Q residue-8(SP), AX
	MOVL   AX, ret+24(FP)
	RET
